/*
 * One chunk of an access stream, shared by the cursors of the groups in it, also those of several
 * simulations: nothing changes it. A chunk of several groups is decoded whole, each group's runs
 * chained. A chunk of one group stays packed where many groups may be open side by side, and its cursor
 * decodes as it goes, so that long groups cost 64 KiB each and not their runs.
 */
#ifndef UM_GROUP_CHUNK_H
#define UM_GROUP_CHUNK_H

#include "id_map.h"
#include "trace/db/trace_db.h"
#include "trace/spool/access_stream.h"

#define UM_NO_RUN UINT32_MAX

struct um_chained_run {
	uint32_t allocation, first_page;
	int32_t stride;
	uint32_t count;
	uint32_t next; /* of the same group, UM_NO_RUN at its end */
	bool write;
};

struct um_group_chunk {
	unsigned char *payload; /* of one group; else NULL */
	size_t payload_bytes;
	uint64_t only_group;
	struct um_chained_run *runs; /* of several */
	size_t run_count, run_capacity;
	struct um_chunk_group {
		uint64_t group;
		uint32_t first_run, last_run;
	} * groups; /* in the order in which they ran */
	size_t group_count, group_capacity;
	struct um_id_map places; /* group -> place in `groups` */
};

/* whole: also a chunk of one group is decoded. UM_EFORMAT, UM_ENOMEM. */
int um_group_chunk_load(struct um_group_chunk **out, struct um_db *, int64_t op, int64_t chunk,
			bool whole);
/* About what it takes. */
size_t um_group_chunk_bytes(const struct um_group_chunk *);
void um_group_chunk_destroy(struct um_group_chunk *);

#endif
