/*
 * What one database says, a trace or a simulation alike, added up: by cause, by kernel, by
 * allocation. Integers that the file does not know are UM_NULL, strings NULL. Everything belongs to
 * the summary and lives as long.
 */
#ifndef UM_SUMMARY_H
#define UM_SUMMARY_H

#include "trace/db/trace_db.h"

#include <stdbool.h>

/* UM_NULL: not in the file, or rows of it do not say. */
struct um_traffic {
	int64_t bytes_to_device, bytes_to_host, transfers, requests;
};

/* Faults of the devices together, or of the host. UM_NULL as above. */
struct um_fault_totals {
	int64_t faults, pages, batches;
	int64_t records;		      /* that they came in: rows */
	int64_t by_access[UM_FAULT_ACCESSES]; /* where it is known */
};

struct um_kernel_summary {
	const char *name;		      /* demangled */
	int64_t first_op, launches, untraced; /* launches of which no access was recorded */
	/* Launches that were recorded in detail; all figures below but times are theirs alone. UM_NULL: an
	 * older file does not say, where all were. */
	int64_t recorded;
	int64_t duration_ns, shortest_ns, longest_ns; /* of all launches; of one */
	int64_t reads, writes, atomics, requests;     /* by lanes; requests coalesced */
	int64_t faults;				      /* of devices */
	int64_t migrated_to_device_bytes, migrated_to_host_bytes;
	int64_t remote_to_device_bytes, remote_to_host_bytes;
	int64_t remote_mappings;
	/*
	 * Of all launches, as if those that were not recorded had been like the others on average: inferred,
	 * and no figure of the file's. UM_NULL where all were recorded, or none.
	 */
	int64_t extrapolated_reads, extrapolated_writes, extrapolated_atomics,
		extrapolated_requests;
};

struct um_part_summary;

struct um_allocation_summary {
	int64_t allocation;
	const char *name;     /* as the program or the runtime named it */
	const char *site;     /* "file:line", else "function", else "module+0xOFFSET" */
	bool has_line;	      /* it is "file:line" */
	const char *function; /* that the site lies in */
	const char *kind;
	int64_t bytes,
		touched_bytes; /* whole pages that an op or the host touched, at most `bytes` */
	int64_t device_faults, host_faults;
	int64_t migrated_to_device_bytes, migrated_to_host_bytes;
	int64_t evicted_bytes; /* of migrated_to_host_bytes */
	int64_t remote_to_device_bytes, remote_to_host_bytes;
	int64_t copied_to_device_bytes, copied_to_host_bytes;
	int64_t remote_mappings;
	int64_t host_touched_pages; /* added up over the intervals between device operations */
	const struct um_part_summary
		*parts;	      /* of it, in the order in which their names came first */
	size_t part_count;    /* 0: none has a name of its own */
	int64_t shared_pages; /* that lie in parts of several names */
	int64_t shared_rows; /* of faults, migrations, remote accesses, copies: over several names */
};

/*
 * The parts of one name in an allocation (schema.sql, table part), or all of it that lay in none. Pages are
 * known of allocations alone: a row belongs to the parts that lived at its op and hold any of its pages.
 * Of bytes that crossed, each has a share by its pages; a fault counts for each that has a page of it. A
 * page in which parts of several names lie counts for each.
 */
struct um_part_summary {
	/* name NULL: what lay in no part. bytes: those that ever had the name, once each. */
	struct um_allocation_summary of;
	int64_t times;	      /* that it was given; 0: in no part */
	int64_t shared_pages; /* of its pages, in which parts of other names lie beside it */
	int64_t shared_rows; /* of which it has but a share: its faults and bytes are estimates then */
};

/* Of measured runs: the transfers of managed memory in one direction. */
struct um_transfer_summary {
	const char *direction; /* "to_device", "to_host", "between_devices" */
	int64_t count, bytes;
	int64_t median_bytes, least_bytes, most_bytes; /* of one */
	int64_t duration_ns;			       /* added up */
};

/* Of measured runs: where in the program the host faulted. */
struct um_line_summary {
	const char *site; /* as of an allocation; NULL: not told */
	bool has_line;
	const char *function;
	int64_t faults, read_faults, write_faults;
	int64_t allocations; /* how many of them */
};

/* Of traces with --host-sync: where in the program the host touched an allocation first, in an interval. */
struct um_host_line_summary {
	const char *site; /* as of an allocation; NULL: not known */
	bool has_line;
	const char *function;
	int64_t allocation;
	int64_t read_pages, written_pages;	/* added up over the intervals */
	int64_t faults, migrated_to_host_bytes; /* that followed from it */
};

/* Ranges of one name. */
struct um_range_summary {
	const char *name;
	int64_t times, duration_ns;
	int64_t launches, launch_ns; /* of what was called within; the GPU may have run it later */
	int64_t device_faults, host_faults;
	int64_t migrated_to_device_bytes, migrated_to_host_bytes;
};

/* Rows of driver_event of one kind and reason. */
struct um_event_summary {
	const char *kind, *reason; /* reason: NULL where there is none */
	/* Added up; UM_NULL where one is not known. */
	int64_t count, duration_ns, pages, waited_ns;
};

/* The least that any driver could have done, beside what this one did. */
struct um_bound_summary {
	const char *quantity;
	int64_t page_bytes; /* UM_NULL where it does not matter */
	int64_t least;
	int64_t simulated; /* the same, of managed memory, in this file; UM_NULL if it has none */
};

struct um_count {
	const char *name;
	int64_t count, bytes;
};

struct um_summary {
	const char *path;
	struct um_run_row run;
	struct um_device_row *devices;
	size_t device_count;
	struct um_origin_row *origins;
	size_t origin_count;
	bool is_measured;     /* migrations and so on are of a driver that ran */
	bool is_imported;     /* and another tool recorded them */
	bool is_unattributed; /* measured, and ended before it was known whose records are whose */
	bool has_host_faults;
	bool has_faults, has_migrations, has_remote_accesses, has_copies; /* were to be had */
	struct um_loss_row *losses;
	size_t loss_count;
	struct um_count *calls; /* by op kind, most first; bytes is UM_NULL */
	size_t call_count;
	struct um_count *memory; /* allocations by kind */
	size_t memory_count;
	struct um_traffic traffic[UM_TRAFFIC_CAUSES], total; /* by enum um_traffic_cause */
	int64_t peer_copied, peer_remote; /* bytes from device to device, over links of their own */
	struct um_fault_totals device_faults, host_faults;
	struct um_transfer_summary transfers[3]; /* of measured runs; count 0: none */
	int64_t remote_mappings;
	int64_t beside_bytes;	       /* of transfers that touched no allocation */
	struct um_line_summary *lines; /* most faults first */
	size_t line_count;
	struct um_host_line_summary *host_lines; /* most bytes first */
	size_t host_line_count;
	struct um_range_summary *ranges; /* in the order in which their names first began */
	size_t range_count;
	const char *chosen; /* pattern of the ranges that it is of; NULL: it is of the whole run */
	int64_t chosen_times, chosen_ns;
	struct um_event_summary *events; /* by kind, most first */
	size_t event_count;
	struct um_bound_summary *bounds;
	size_t bound_count;
	struct um_selection_row *criteria; /* what selected launches; none: all were */
	size_t criterion_count;
	int64_t launches, recorded;	   /* as of kernels, together */
	struct um_kernel_summary *kernels; /* in order of their first launch */
	size_t kernel_count;
	struct um_allocation_summary *allocations; /* in program order */
	size_t allocation_count;
	struct um_part_summary *parts; /* those of the allocations */
	size_t part_count;
	bool is_brief;		    /* as um_summary_choice.brief */
	struct um_text_pool *texts; /* owns the strings */
};

/* Whether the file could tell of it; of UM_TRAFFIC_CAUSES: of any. */
bool um_summary_has_traffic(const struct um_summary *, unsigned cause);
/* The origin of a kind of record ("modelled"); NULL if the file does not say. */
const char *um_summary_origin(const struct um_summary *, const char *record);

/* What is asked for: NULL is none. */
struct um_summary_choice {
	/* A pattern as the shell has them: only what was called, and what the host did, within
	 * ranges of such names; the connection then shows no more than that. */
	const char *range;
	const char *const *skip_frames; /* as of um_stacks_load() */
	/* Totals, kernels and allocations alone, for who adds up many: no transfers, lines, ranges, driver
	 * events, bounds, nor what of allocations was touched. */
	bool brief;
};

/*
 * UM_ENOENT: there is no such range; UM_EFORMAT where the rows make no sense together, UM_ENOMEM.
 * `choice` may be NULL.
 */
int um_summary_load(struct um_summary **out, struct um_db *, const struct um_summary_choice *);
void um_summary_destroy(struct um_summary *); /* NULL is legal */

#endif
