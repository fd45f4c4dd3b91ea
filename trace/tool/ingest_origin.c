#include "ingest_private.h"

#include <stdio.h>
#include <string.h>

static const char not_modelled[] = "no driver model has been run";
static const char no_accesses[] = "a GPU does not tell what its kernels touch";

static int insert_all(struct um_ingest *ingest, const struct um_origin_row *rows)
{
	int error = 0;

	for (; rows->record && !error; rows++)
		error = um_db_replace(ingest->db, &um_table_origin, rows);
	return error;
}

static int insert_emulated(struct um_ingest *ingest)
{
	bool watched = ingest->run.host_watch && strcmp(ingest->run.host_watch, "none");
	bool requests = ingest->totals.requests != 0, places = watched && ingest->totals.host_sync;
	char host[96], order[128];
	const struct um_origin_row rows[] = {
		{"op.time", "emulated", "run", "kernels ran on the CPU: no times of a GPU"},
		{"page_access", "emulated", "run",
		 ingest->totals.pageable
			 ? "of kernels: each access of the lanes, counted, also to memory that HIP "
			   "did not allocate (--pageable)"
			 : "of kernels: each access of the lanes, counted"},
		{"page_access.host", watched ? "measured" : "absent", "run", host},
		{"host_access", places ? "measured" : "absent", "run",
		 places ? "the first instruction to read and to write a page in an interval, by its "
			  "fault"
			: "--host-sync records them"},
		{"page_access.requests", requests ? "emulated" : "absent", "run",
		 requests ? "distinct lines of a wave and instruction" : "--no-requests"},
		{"access_chunk", "emulated", "run", order},
		{"fault", "absent", "run", not_modelled},
		{"migration", "absent", "run", not_modelled},
		{"mapping", "absent", "run", not_modelled},
		{"remote_access", "absent", "run", not_modelled},
		{"driver_event", "absent", "run", not_modelled},
		{"copy_traffic", "absent", "run", not_modelled},
		{NULL, NULL, NULL, NULL},
	};

	snprintf(host, sizeof(host), watched ? "by page and interval, seen by %s" : "not watched",
		 ingest->run.host_watch);
	snprintf(order, sizeof(order),
		 "groups one after another, lanes in step; repeats among the "
		 "last %lld pages of a group left out",
		 (long long)ingest->run.filter_pages);
	return insert_all(ingest, rows);
}

static int insert_measured(struct um_ingest *ingest)
{
	bool device = ingest->faults != UM_TAP_FAULTS_OFF,
	     host = ingest->faults == UM_TAP_FAULTS_ALL;
	const struct um_origin_row rows[] = {
		{"op.time", "measured", "run",
		 "kernels, copies and memsets: of the GPU; all else: of the call"},
		{"page_access", "absent", "run", no_accesses},
		{"page_access.host", "absent", "run", no_accesses},
		{"host_access", "absent", "run", no_accesses},
		{"page_access.requests", "absent", "run", no_accesses},
		{"access_chunk", "absent", "run", no_accesses},
		{"fault", device ? "measured" : "absent", "run",
		 device ? "as the driver tells of them: fewer than the pages that faulted"
			: "--faults=off"},
		{"fault.host", host ? "measured" : "absent", "run",
		 host ? "each fault of the host on managed memory" : "--faults=all records them"},
		{"migration", "measured", "run", "each transfer of the driver"},
		{"mapping", "measured", "run", "of the GPU onto memory elsewhere"},
		{"driver_event", "measured", "run", "thrashing and throttling"},
		{"remote_access", "absent", "run", no_accesses},
		{"copy_traffic", "measured", "run",
		 "between memory of the host and of the GPU, by their calls; not those of managed "
		 "memory, which may lie on either side"},
		{NULL, NULL, NULL, NULL},
	};

	return insert_all(ingest, rows);
}

int um_ingest_origins(struct um_ingest *ingest)
{
	return ingest->measured ? insert_measured(ingest) : insert_emulated(ingest);
}
