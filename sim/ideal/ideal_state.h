/* Between the files of the core (ideal_core.c, ideal_bytes.c, ideal_faults.c): what is known of pages. */
#ifndef UM_IDEAL_STATE_H
#define UM_IDEAL_STATE_H

#include "ideal_core.h"
#include "ideal_map.h"
#include "ideal_savings.h"

/*
 * Of a page, for one device. Operations are numbers, 0 none. Every byte is a field, since pages are
 * compared as memory.
 */
struct page_state {
	uint32_t touched; /* last operation of the device on it */
	uint32_t held;	  /* since this one it can have been on the device without crossing again */
	uint32_t wrote;	  /* last one that wrote it */
	uint32_t lost;	  /* written elsewhere when all operations before this one were over */
	uint8_t due;	  /* lines that cross to the device at most before it is written elsewhere
			     again; 0: none need */
	uint8_t crossed;  /* of them, those that do for certain */
	uint8_t dirty;	/* lines that cross from the device for certain if another reads the page */
	uint8_t unsent; /* lines that the last writing operation wrote, until they have crossed */
	bool has_data;	/* was ever written */
	bool by_device; /* `due` and `lost` come of another device's operation, not of the host's */
	bool read_by_device; /* another device's reading ended what was dirty before */
	bool wrote_alone;
};

struct unit_state {
	uint32_t
		touched; /* by the device; of the host: operations of devices before its last fault */
};

/* Of one unit, as far as the operation has touched it. */
struct unit_touch {
	uint32_t allocation;
	bool any;
	uint64_t unit, pages;
	uint32_t stamp; /* the latest of page_state.lost, or of .wrote */
};

struct device_books {
	struct um_moments moments;
	/* bytes, in lines: for certain, and what keeping can save */
	uint64_t epoch_lines_in, epoch_lines_out; /* with room for all */
	uint64_t certain_lines_in, certain_lines_out;
	struct um_savings in, out;
	/* faults */
	uint64_t certain_faults;
	struct um_fault_savings faults;
	struct unit_touch unit;
};

struct allocation_books {
	uint64_t pages;			 /* 0: not there */
	uint8_t first_lines, last_lines; /* that are its own, of its first and last page */
	uint32_t devices;		 /* bit n: device n has touched it */
	struct um_page_map *page, *unit; /* [device] */
	struct um_page_map host_unit;
};

struct um_ideal_core {
	struct um_ideal_terms terms;
	bool limited;		     /* any device */
	struct device_books *device; /* [terms.devices] */
	struct allocation_books *allocations;
	uint32_t allocation_slots;
	uint64_t host_faults;

	/* the operation that goes on */
	uint32_t op; /* its number, or how many there were */
	um_device_id by;
	bool alone;
	uint32_t over; /* of the host's */
	/* [operation]: how many ran alone up to it, itself too; where a device is limited */
	uint32_t *moments_up_to;
	uint32_t op_capacity;
};

/* What an operation does to pages that are alike. */
struct touch {
	struct um_ideal_core *core;
	struct device_books *books;
	uint32_t allocation;
	uint8_t read, written; /* lines */
	uint8_t own; /* lines of the page that are the allocation's; none counts that is not */
};

static inline uint32_t first_moment_behind(const struct um_ideal_core *core, uint32_t op)
{
	return core->limited ? core->moments_up_to[op] + 1 : 1;
}

static inline uint8_t least_of(unsigned a, unsigned b)
{
	return (uint8_t)(a < b ? a : b);
}

/* --- bytes; the operation of `touch` is the device's own, another's, or the host's --- */
int um_ideal_bytes_own(const struct touch *, struct page_state *, uint64_t pages);
void um_ideal_bytes_other(const struct touch *, struct page_state *, uint64_t pages);
void um_ideal_bytes_host(const struct touch *, struct page_state *, uint64_t pages);
/* Nobody reads the page any more: what it holds may stay on the device to the last moment. */
int um_ideal_bytes_last(const struct touch *, struct page_state *, uint64_t pages);

/* --- faults: pages that were touched, with their state before --- */
int um_ideal_faults_touch(const struct touch *, uint64_t first, uint64_t pages, uint32_t stamp);
/* The operation touches no more of the unit that it touched last. */
int um_ideal_faults_flush(struct um_ideal_core *, struct device_books *);

#endif
