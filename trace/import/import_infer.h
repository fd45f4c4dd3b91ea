/*
 * What no driver tells and a replay needs, inferred from what it does tell. All of it is a lower bound of
 * what the program did, and marked 'inferred' in table origin:
 *
 * - Allocations, where the format has none of managed memory: the spans of addresses that faulted, moved or
 *   were mapped, with less than 2 MiB (a block of the drivers) between neighbours.
 * - Accesses of launches and of the host: a page that faulted was accessed, written where the fault was a
 *   write; of what moved for a fault the first page was read, all pages where a driver moves just those
 *   that faulted (um_import_format.transfers_faulted). What was resident already is not seen, and of what
 *   faulted no more than that it did.
 * - Their order: that of the faults' times; one work-group, as nobody tells which one faulted.
 */
#ifndef UM_IMPORT_INFER_H
#define UM_IMPORT_INFER_H

#include "trace/db/trace_db.h"

#include <stdbool.h>

/*
 * Calls `call` with each span of addresses that rows of fault, migration, mapping and driver_event name,
 * ascending. Before they are attributed.
 */
int um_infer_spans(struct um_db *, int (*call)(void *context, uint64_t address, uint64_t bytes),
		   void *context);
/* Adds page_access and access_chunk; *rows: how many of the first. Within a transaction. */
int um_infer_accesses(struct um_db *, bool transfers_faulted, uint64_t *rows);

#endif
