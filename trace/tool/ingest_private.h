/* What the files of the ingest share. */
#ifndef UM_INGEST_PRIVATE_H
#define UM_INGEST_PRIVATE_H

#include "ingest.h"
#include "measured.h"

#include "trace/spool/access_stream.h"
#include "trace/spool/selection_state.h"
#include "trace/spool/spool_ring.h"

#include <jansson.h>
#include <stddef.h>

#define UM_INGEST_TEXT	  4096u
#define UM_INGEST_DEVICES 64 /* of hardware */

struct um_known_allocation {
	uint32_t allocation;
	uint32_t pages;
	bool freed;
	bool named; /* by um_name() */
};

struct um_known_site {
	uint32_t site, parent;
	uint32_t frames;    /* rows of it */
	const char *module; /* path; NULL: not known */
	uint64_t offset;
	uint32_t user;	     /* the innermost from here on that is no runtime's; 0: none */
	const char *symbol;  /* function that it lies in, mangled; NULL: not known */
	const char *inlined; /* innermost function, if that was inlined; else NULL */
};

/* An allocation that has the name of a variable of the stack. */
struct um_named_variable {
	uint32_t allocation, site;
	uint32_t depth; /* among the frames of the stack, whose variable it is */
};

/* What selects launches; of hardware, where the program is and which ranges of it select. */
struct um_ingest_selection {
	char text[UM_SELECTION_BYTES];
	struct um_selection_state state;
	struct um_open_range {
		uint32_t op, thread;
	} * open; /* those that select */
	size_t open_count, open_capacity;
};

struct um_ingest {
	struct um_db *db;
	struct um_run_row run;
	struct um_ingest_totals totals;
	uint64_t committed_ns; /* CLOCK_MONOTONIC, of the transaction before; 0: none is open */
	int error;	       /* of the database */

	struct um_known_allocation *known; /* ascending */
	size_t known_count, known_capacity;
	uint32_t allocation, allocation_site; /* that came last */
	uint32_t last_op;
	uint32_t last_untraced; /* launch */
	uint32_t nameless;	/* launch whose kernel has still to be told; 0: none */
	struct um_stream_decoder *decoder;
	struct um_source_lines *lines;
	struct um_known_site *sites; /* ascending */
	size_t site_count, site_capacity;
	struct um_named_variable *variables; /* ascending */
	size_t variable_count, variable_capacity;
	struct um_live_parts *parts;  /* NULL: none was named so far */
	uint64_t parts_unknown;	      /* um_unname() where none begins */
	struct um_measured *measured; /* NULL: no hardware takes part */
	enum um_tap_faults faults;    /* that the tap asks for */
	struct um_ingest_selection selection;
	uint64_t devices; /* bit i: device i was named */
	json_t *clocks;	  /* of those that told any */
	char *clocks_text;
	char runtime[UM_INGEST_TEXT], driver_version[UM_INGEST_TEXT];
};

/* What a record turned out to be; errors of the database are negative. */
#define UM_RECORD_INVALID 1

/* --- ingest_origin.c --- */

/* What each kind of record in the file is, as soon as the program has said how it is watched. */
int um_ingest_origins(struct um_ingest *);

/* --- ingest_text.c --- */

/*
 * The next text of [*at, end), cut to UM_INGEST_TEXT; bytes that are not UTF-8 or not printable
 * become '?'. False: it has no end. Steps over it.
 */
bool um_ingest_text(const char **at, const char *end, char out[UM_INGEST_TEXT]);
/* The same for a field that need not have an end. */
void um_ingest_field(const char *field, size_t capacity, char out[UM_INGEST_TEXT]);
/* The name as in the source, malloc'ed; a copy if it is not mangled. NULL without memory. */
char *um_ingest_demangle(const char *symbol);

/* --- ingest_ids.c --- */

struct um_known_allocation *um_ingest_known(struct um_ingest *, uint32_t allocation);
/* UM_RECORD_INVALID: not above those before; UM_ENOMEM. */
int um_ingest_know(struct um_ingest *, uint32_t allocation, uint64_t bytes);

/* --- ingest_sites.c --- */

/* NULL: it was not told. */
const struct um_known_site *um_ingest_known_site(const struct um_ingest *, uint32_t site);
/* The site whose call it was: of a stack, the innermost that is neither HIP's nor CUDA's. */
uint32_t um_ingest_user_site(const struct um_ingest *, uint32_t site);
/* The same for a launch of the kernel with this symbol, whose host function is none either. */
uint32_t um_ingest_launch_site(const struct um_ingest *, uint32_t site, const char *kernel);

/* --- ingest_selection.c; of hardware: what is not selected --- */

/* The program has said that it runs on hardware. UM_ENOMEM. */
int um_ingest_select_begin(struct um_ingest *);
/* An op that is new, or about which more is told. UM_ENOMEM. */
int um_ingest_select_op(struct um_ingest *, const struct um_record_op *, bool is_new);
/* The name of a range that has begun. UM_ENOMEM. */
int um_ingest_select_range(struct um_ingest *, uint32_t op, const char *name);
/* A launch whose kernel is told. The database's error. */
int um_ingest_select_launch(struct um_ingest *, uint32_t op, const char *symbol);
/* When the run has ended and rows are attributed: counts of what was selected. */
int um_ingest_selection_end(struct um_ingest *);

/* --- handlers, one a kind: 0, UM_RECORD_INVALID, or the database's error --- */

int um_ingest_hello(struct um_ingest *, const void *record, const char *end);
int um_ingest_device(struct um_ingest *, const void *record, const char *end);
int um_ingest_site(struct um_ingest *, const void *record, const char *end);
int um_ingest_allocation(struct um_ingest *, const void *record, const char *end);
int um_ingest_op(struct um_ingest *, const void *record, const char *end);
int um_ingest_kernel(struct um_ingest *, const void *record, const char *end);
int um_ingest_variable(struct um_ingest *, const void *record, const char *end);
int um_ingest_pages(struct um_ingest *, const void *record, const char *end);
int um_ingest_stream(struct um_ingest *, const void *record, const char *end);
int um_ingest_record_loss(struct um_ingest *, const void *record, const char *end);
int um_ingest_bye(struct um_ingest *, const void *record, const char *end);
int um_ingest_host_access(struct um_ingest *, const void *record, const char *end);
/* Of hardware only: ingest_measured.c */
int um_ingest_time(struct um_ingest *, const void *record, const char *end);
int um_ingest_fault(struct um_ingest *, const void *record, const char *end);
int um_ingest_migration(struct um_ingest *, const void *record, const char *end);
int um_ingest_mapping(struct um_ingest *, const void *record, const char *end);
int um_ingest_event(struct um_ingest *, const void *record, const char *end);
int um_ingest_range(struct um_ingest *, const void *record, const char *end);
int um_ingest_part(struct um_ingest *, const void *record, const char *end);
/* The op of a um_unname() that HIP's memory had, or of a free: ends what it ends. */
int um_ingest_parts_op(struct um_ingest *, const struct um_record_op *);
/* How long the part is that a um_unname() ends; 0: none begins there. */
uint64_t um_ingest_part_bytes(const struct um_ingest *, const struct um_record_op *);
/* When the program has ended: says how many of these ended nothing. */
int um_ingest_parts_end(struct um_ingest *);
void um_live_parts_destroy(struct um_live_parts *);
/* When the program has ended: takes back the names of wrappers' variables. */
int um_ingest_variables_end(struct um_ingest *);
/* When the program has ended; nothing without hardware. */
int um_ingest_measured_end(struct um_ingest *);

/* --- what several use --- */

static inline int64_t um_or_null(uint64_t value)
{
	return value ? (int64_t)value : UM_NULL;
}

/* The id of an op in the database; UM_NULL of none. */
static inline int64_t um_ingest_op_id(const struct um_ingest *ingest, uint32_t op)
{
	return ingest->measured ? um_measured_op_id(op) : um_or_null(op);
}

/* Addresses that a program can have, with what the database can hold. */
static inline bool um_ingest_is_memory(uint64_t address, uint64_t bytes)
{
	uint64_t end;

	return !__builtin_add_overflow(address, bytes, &end) && end <= INT64_MAX;
}

/* A row that the schema refuses (a key twice) makes the record invalid. */
int um_ingest_insert(struct um_ingest *, const struct um_table *, const void *row);
int um_ingest_insert_loss(struct um_ingest *, int64_t op, uint32_t kind, uint64_t count,
			  const char *detail);

#endif
