/*
 * Spool records into a trace. A record is believed only as far as it can be checked: ids, sizes,
 * lengths, texts, the access stream. One that cannot be right is counted (loss 'invalid_record')
 * and left out. Rows go in short transactions, so that the file can be read at any moment.
 */
#ifndef UM_INGEST_H
#define UM_INGEST_H

#include "trace/db/trace_db.h"
#include "trace/spool/spool_record.h"
#include "trace/spool/spool_ring.h"

#include <stdbool.h>

struct um_ingest_totals {
	uint64_t records, bytes; /* as they came */
	uint64_t ops, launches, managed_bytes;
	uint64_t unselected;   /* launches that were not asked for */
	uint64_t invalid;      /* records */
	uint64_t invalid_rows; /* page runs of records that were else right */
	uint64_t uncounted;    /* page runs with more requests than can be counted */
	/* Of hardware: */
	uint64_t device_faults, host_faults, remote_mappings;
	uint64_t migrated_to_device[UM_TRAFFIC_CAUSES], migrated_to_host[UM_TRAFFIC_CAUSES];
	bool measured;
	bool hello, bye;
	uint32_t requests, pageable, host_sync; /* as the program said */
};

struct um_ingest;

/*
 * Writes the run as it begins; `run` is copied, its strings stay the caller's and must last. `db`
 * stays the caller's too.
 */
int um_ingest_create(struct um_ingest **out, struct um_db *db, const struct um_run_row *run);
void um_ingest_destroy(struct um_ingest *); /* NULL is legal */
/* Which faults a tap was asked for, before the first record; none otherwise. */
void um_ingest_expect_faults(struct um_ingest *, enum um_tap_faults);
/* What selects launches (selection.h, copied), before the first record. An error is the database's. */
int um_ingest_expect_selection(struct um_ingest *, const char *text);
/* An error is the database's, and the ingest then takes no more. */
int um_ingest_record(struct um_ingest *, const struct um_record *);
/* Commits what has waited for long enough. To be called now and then while no record comes. */
int um_ingest_tick(struct um_ingest *);
const struct um_ingest_totals *um_ingest_totals(const struct um_ingest *);

/* A loss that the ingest's caller knows of. */
int um_ingest_loss(struct um_ingest *, enum um_loss_kind, uint64_t count, const char *detail);
/* Ends the recording: losses, origins, what the program ended with; committed. */
int um_ingest_finish(struct um_ingest *, const struct um_run_row *ended);
/* What finish() wrote, for who changes the run's row later. */
const struct um_run_row *um_ingest_run(const struct um_ingest *);

#endif
