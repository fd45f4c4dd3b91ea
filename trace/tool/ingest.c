#include "ingest_private.h"

#include "source_lines.h"
#include "trace_options.h"

#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define COMMIT_NS 50000000ull /* a reader sees what is older than this */

static const struct {
	size_t bytes; /* at least */
	int (*handle)(struct um_ingest *, const void *record, const char *end);
} handlers[] = {
	[UM_RECORD_HELLO] = {sizeof(struct um_record_hello), um_ingest_hello},
	[UM_RECORD_DEVICE] = {sizeof(struct um_record_device), um_ingest_device},
	[UM_RECORD_SITE] = {sizeof(struct um_record_site), um_ingest_site},
	[UM_RECORD_ALLOCATION] = {sizeof(struct um_record_allocation), um_ingest_allocation},
	[UM_RECORD_OP] = {sizeof(struct um_record_op), um_ingest_op},
	[UM_RECORD_KERNEL] = {sizeof(struct um_record_kernel), um_ingest_kernel},
	[UM_RECORD_PAGES] = {sizeof(struct um_record_pages), um_ingest_pages},
	[UM_RECORD_STREAM] = {sizeof(struct um_record_stream), um_ingest_stream},
	[UM_RECORD_LOSS] = {sizeof(struct um_record_loss), um_ingest_record_loss},
	[UM_RECORD_BYE] = {sizeof(struct um_record_bye), um_ingest_bye},
	[UM_RECORD_TIME] = {sizeof(struct um_record_time), um_ingest_time},
	[UM_RECORD_FAULT] = {sizeof(struct um_record_fault), um_ingest_fault},
	[UM_RECORD_MIGRATION] = {sizeof(struct um_record_migration), um_ingest_migration},
	[UM_RECORD_MAPPING] = {sizeof(struct um_record_mapping), um_ingest_mapping},
	[UM_RECORD_EVENT] = {sizeof(struct um_record_event), um_ingest_event},
	[UM_RECORD_RANGE] = {sizeof(struct um_record_range), um_ingest_range},
	[UM_RECORD_VARIABLE] = {sizeof(struct um_record_variable), um_ingest_variable},
	[UM_RECORD_PART] = {sizeof(struct um_record_part), um_ingest_part},
	[UM_RECORD_HOST_ACCESS] = {sizeof(struct um_record_host_access), um_ingest_host_access},
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

int um_ingest_create(struct um_ingest **out, struct um_db *db, const struct um_run_row *run)
{
	struct um_ingest *ingest = calloc(1, sizeof(*ingest));

	*out = NULL;
	if (!ingest)
		return um_fail(UM_ENOMEM, "out of memory");
	ingest->db = db;
	ingest->run = *run;
	um_selection_begin(&ingest->selection.state, ingest->selection.text, um_ingest_demangle);
	ingest->lines = um_source_lines_create();
	int error = ingest->lines ? um_stream_decoder_create(&ingest->decoder, NULL, 0)
				  : um_fail(UM_ENOMEM, "out of memory");
	if (error == 0)
		error = um_db_insert(db, &um_table_run, &ingest->run);
	if (error) {
		um_ingest_destroy(ingest);
		return error;
	}
	*out = ingest;
	return 0;
}

void um_ingest_destroy(struct um_ingest *ingest)
{
	if (!ingest)
		return;
	um_stream_decoder_destroy(ingest->decoder);
	um_source_lines_destroy(ingest->lines);
	um_measured_destroy(ingest->measured);
	json_decref(ingest->clocks);
	free(ingest->clocks_text);
	um_selection_end(&ingest->selection.state);
	free(ingest->selection.open);
	free(ingest->known);
	free(ingest->sites);
	free(ingest->variables);
	um_live_parts_destroy(ingest->parts);
	free(ingest);
}

void um_ingest_expect_faults(struct um_ingest *ingest, enum um_tap_faults faults)
{
	ingest->faults = faults;
}

static int commit(struct um_ingest *ingest)
{
	ingest->committed_ns = 0;
	return ingest->error = um_db_commit(ingest->db);
}

int um_ingest_tick(struct um_ingest *ingest)
{
	/* Whoever reads the file finds no launch without its kernel. */
	if (ingest->error || ingest->committed_ns == 0 || ingest->nameless ||
	    now_ns() - ingest->committed_ns < COMMIT_NS)
		return ingest->error;
	return commit(ingest);
}

static int begin(struct um_ingest *ingest)
{
	if (ingest->committed_ns)
		return 0;
	ingest->committed_ns = now_ns();
	return um_db_begin(ingest->db);
}

static int handle(struct um_ingest *ingest, const struct um_record *record)
{
	size_t kinds = sizeof(handlers) / sizeof(*handlers);

	/* Kinds of a later version, and padding. */
	if (record->kind >= kinds || !handlers[record->kind].handle)
		return 0;
	if (record->bytes < handlers[record->kind].bytes)
		return UM_RECORD_INVALID;
	/* Whatever speaks before it says what it is cannot be understood. */
	if (!ingest->totals.hello && record->kind != UM_RECORD_HELLO)
		return UM_RECORD_INVALID;
	return handlers[record->kind].handle(ingest, record, (const char *)record + record->bytes);
}

int um_ingest_record(struct um_ingest *ingest, const struct um_record *record)
{
	if (ingest->error)
		return ingest->error;
	ingest->totals.records++;
	ingest->totals.bytes += record->bytes;
	int result = begin(ingest);
	if (result == 0)
		result = handle(ingest, record);
	if (result == UM_RECORD_INVALID) {
		ingest->totals.invalid++;
		result = 0;
	}
	if (result == 0)
		result = um_ingest_tick(ingest);
	return ingest->error = result;
}

const struct um_ingest_totals *um_ingest_totals(const struct um_ingest *ingest)
{
	return &ingest->totals;
}

const struct um_run_row *um_ingest_run(const struct um_ingest *ingest)
{
	return &ingest->run;
}

int um_ingest_insert(struct um_ingest *ingest, const struct um_table *table, const void *row)
{
	int error = um_db_insert(ingest->db, table, row);

	return error == UM_EINVAL ? UM_RECORD_INVALID : error;
}

/* --- the end --- */

int um_ingest_loss(struct um_ingest *ingest, enum um_loss_kind kind, uint64_t count,
		   const char *detail)
{
	return um_ingest_insert_loss(ingest, UM_NULL, kind, count, detail);
}

static int insert_invalid(struct um_ingest *ingest)
{
	char detail[128];
	struct um_loss_row row = {
		.op = UM_NULL,
		.device = UM_NULL,
		.kind = "invalid_record",
		.count = (int64_t)(ingest->totals.invalid + ingest->totals.invalid_rows),
		.start_ns = UM_NULL,
		.end_ns = UM_NULL,
		.detail = detail,
	};

	if (row.count == 0)
		return 0;
	snprintf(detail, sizeof(detail), "%llu records and %llu page runs that cannot be right",
		 (unsigned long long)ingest->totals.invalid,
		 (unsigned long long)ingest->totals.invalid_rows);
	return um_db_insert(ingest->db, &um_table_loss, &row);
}

static int insert_uncounted(struct um_ingest *ingest)
{
	const struct um_loss_row row = {
		.op = UM_NULL,
		.device = UM_NULL,
		.record = "page_access.requests",
		.kind = "uncounted",
		.count = (int64_t)ingest->totals.uncounted,
		.start_ns = UM_NULL,
		.end_ns = UM_NULL,
		.detail = "runs of pages with more requests a page than can be counted",
	};

	return row.count ? um_db_insert(ingest->db, &um_table_loss, &row) : 0;
}

static int insert_failed(const char *path, void *ingest)
{
	char detail[UM_INGEST_TEXT + 64], clean[UM_INGEST_TEXT];
	const struct um_loss_row row = {
		.op = UM_NULL,
		.device = UM_NULL,
		.record = "frame",
		.kind = "debug_info",
		.count = 1,
		.start_ns = UM_NULL,
		.end_ns = UM_NULL,
		.detail = detail,
	};

	um_ingest_field(path, strlen(path), clean);
	snprintf(detail, sizeof(detail), "%s: its debug information could not be read", clean);
	return um_db_insert(((struct um_ingest *)ingest)->db, &um_table_loss, &row);
}

int um_ingest_finish(struct um_ingest *ingest, const struct um_run_row *ended)
{
	ingest->run.ended = ended->ended;
	ingest->run.exit_status = ended->exit_status;
	ingest->run.exit_signal = ended->exit_signal;
	if (ingest->run.end_ns == UM_NULL)
		ingest->run.end_ns = ended->end_ns;
	int error = um_db_begin(ingest->db);
	if (error == 0)
		error = insert_invalid(ingest);
	if (error == 0)
		error = insert_uncounted(ingest);
	if (error == 0 && ingest->totals.hello && !ingest->totals.bye)
		error = um_ingest_loss(ingest, UM_LOSS_CUT_OFF, 1,
				       "the program did not end by exit(): what the host touched "
				       "last is not known");
	if (error == 0)
		error = um_source_lines_each_failed(ingest->lines, insert_failed, ingest);
	if (error == 0)
		error = um_ingest_variables_end(ingest);
	if (error == 0)
		error = um_ingest_parts_end(ingest);
	if (error == 0)
		error = um_ingest_measured_end(ingest);
	if (error == 0)
		error = um_ingest_selection_end(ingest);
	if (error == 0)
		error = um_db_exec(ingest->db, "DELETE FROM run");
	if (error == 0)
		error = um_db_insert(ingest->db, &um_table_run, &ingest->run);
	return error ? error : um_db_commit(ingest->db);
}
