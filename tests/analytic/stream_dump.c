/*
 * stream_dump TRACE: the ordered access stream of every launch as lines "group allocation page
 * r|w", in order, for tests to compare. Through the same reader as everything else.
 */
#include "trace/base/error.h"
#include "trace/db/trace_db.h"
#include "trace/spool/access_stream.h"

#include <stdio.h>
#include <stdlib.h>

static void print_run(const struct um_access_run *run)
{
	for (uint32_t i = 0; i < run->count; i++)
		printf("%llu %u %lld %c\n", (unsigned long long)run->group, run->allocation,
		       (long long)run->first_page + (long long)i * run->stride,
		       run->write ? 'w' : 'r');
}

static int print_chunk(const void *row, void *context)
{
	const struct um_access_chunk_row *chunk = row;
	struct um_access_run runs[256];
	struct um_stream_decoder *decoder = NULL;
	unsigned char *payload;
	long got = 0;
	int error = um_db_chunk_payload(chunk, &payload);

	(void)context;
	if (error)
		return error;
	error = um_stream_decoder_create(&decoder, payload, (size_t)chunk->payload_bytes);
	while (!error && (got = um_stream_decode(decoder, runs, 256)) > 0)
		for (long i = 0; i < got; i++)
			print_run(&runs[i]);
	um_stream_decoder_destroy(decoder);
	free(payload);
	return error ? error : (int)got;
}

int main(int argc, char **argv)
{
	struct um_db *db = NULL;
	int error = argc == 2 ? um_db_open(&db, argv[1]) : um_fail(UM_EINVAL, "one trace, please");

	if (!error)
		error = um_db_each(db, &um_table_access_chunk, NULL, 0, print_chunk, NULL);
	if (error)
		fprintf(stderr, "stream_dump: %s\n", um_error_message());
	um_db_close(db);
	return um_exit_status(error);
}
