/*
 * The words that schema.sql has for a few things of a kind, each list once: with their codes, which
 * the tables of many rows keep instead, and with what people are told, where that says more.
 */
#ifndef UM_WORDS_H
#define UM_WORDS_H

#include "trace/spool/spool_record.h" /* UM_PAGEABLE_*, of allocation.flags */

struct um_word {
	int code;
	const char *word; /* NULL ends a list */
	const char *label;
};

/* fault.access */
enum um_fault_access {
	UM_FAULT_READ,
	UM_FAULT_WRITE,
	UM_FAULT_ATOMIC,
	UM_FAULT_PREFETCH, /* the fault of a prefetch instruction */
	UM_FAULT_ACCESSES
};

/* migration.cause, mapping.cause */
enum um_cause {
	UM_CAUSE_DEVICE_FAULT,
	UM_CAUSE_HOST_FAULT,
	UM_CAUSE_PREFETCH, /* that the program asked for */
	UM_CAUSE_EVICTION,
	UM_CAUSE_ADVICE,
	UM_CAUSE_DUPLICATE,
	UM_CAUSE_DRIVER_PREFETCH, /* what a driver brings along with pages that faulted */
	UM_CAUSE_ACCESS_COUNTER,  /* many remote accesses, counted by the hardware */
	UM_CAUSE_THRASHING,
	UM_CAUSE_OUT_OF_MEMORY, /* mapped remotely since there was no room */
	UM_CAUSE_HOST_UNMAP,	/* the host changed its own mapping */
	UM_CAUSES
};

/* What crosses the link: with a page, for the causes above, and without. */
enum um_traffic_cause {
	UM_TRAFFIC_UNKNOWN = UM_CAUSES, /* migrations whose cause is not known */
	UM_TRAFFIC_REMOTE_ACCESS,
	UM_TRAFFIC_COPY,
	UM_TRAFFIC_CAUSES
};

/* device.link where host and device share one memory */
#define UM_LINK_NONE "shared memory"

/* driver_event.kind */
#define UM_EVENT_QUEUE_EVICTION "queue_eviction"
#define UM_EVENT_VRAM_REFUSED	"vram_refused"	/* no room on the device: they stay on the host */
#define UM_EVENT_FAULT_DROPPED	"fault_dropped" /* accesses wait for the driver to take them up */
/* pages that went to and fro, and a processor that had to wait on their account */
#define UM_EVENT_WORD_THRASHING	 "thrashing"
#define UM_EVENT_WORD_THROTTLING "throttling"

/* bound.quantity */
#define UM_BOUND_BYTES_TO_DEVICE "bytes_to_device"
#define UM_BOUND_BYTES_TO_HOST	 "bytes_to_host"
#define UM_BOUND_DEVICE_FAULTS	 "device_faults"
#define UM_BOUND_HOST_FAULTS	 "host_faults"

/* mapping.change */
enum um_mapping_change {
	UM_CHANGE_REMOTE,
	UM_CHANGE_LOCAL,
	UM_CHANGE_UNMAPPED,
	UM_CHANGE_FIRST_TOUCH,
};

extern const struct um_word um_access_words[], um_cause_words[], um_change_words[];
extern const struct um_word um_traffic_words[];	   /* by place as by code */
extern const struct um_word um_op_words[];	   /* enum um_op_kind */
extern const struct um_word um_allocation_words[]; /* enum um_allocation_kind */
extern const struct um_word um_advice_words[];	   /* hipMemoryAdvise */

/* NULL, or -1: there is none in the list. A word that is NULL is none. */
const char *um_word(const struct um_word *words, int code);
int um_word_code(const struct um_word *words, const char *word);

#endif
