/*
 * What selects launches. The runtime without a GPU decides within the program, and tells each launch with
 * what it decided. Of a program on a GPU it is decided here, from the program's calls in their order: what
 * a driver then tells of others is left out when the run has ended (measured.h).
 */
#include "ingest_private.h"

#include "trace/base/error.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* UM_TRAFFIC_UNKNOWN, in SQL */
#define UNKNOWN_CODE "11"
_Static_assert(UM_TRAFFIC_UNKNOWN == 11, "as SQL has it");

static const char *text_of(const struct um_ingest *ingest)
{
	return ingest->selection.text;
}

int um_ingest_expect_selection(struct um_ingest *ingest, const char *text)
{
	const char *at = NULL, *value;
	enum um_criterion criterion;
	int error = 0;

	memcpy(ingest->selection.text, text, UM_SELECTION_BYTES);
	um_selection_begin(&ingest->selection.state, ingest->selection.text, um_ingest_demangle);
	while (!error && um_selection_next(text_of(ingest), &at, &criterion, &value)) {
		const struct um_selection_row row = {um_criterion_names[criterion], value, UM_NULL};

		error = um_db_insert(ingest->db, &um_table_selection, &row);
	}
	return error;
}

/* --- of hardware: the part of the program that is selected --- */

static bool has_ranges(const struct um_ingest *ingest)
{
	return um_selection_has(text_of(ingest), UM_SELECT_RANGES);
}

static bool is_in_range(const struct um_ingest *ingest, uint32_t thread)
{
	const struct um_ingest_selection *selection = &ingest->selection;

	for (size_t i = 0; i < selection->open_count; i++)
		if (selection->open[i].thread == thread)
			return true;
	return false;
}

/* Calls of a thread. */
static bool is_selected(const struct um_ingest *ingest, uint32_t thread)
{
	return um_selection_is_on(&ingest->selection.state, 0) &&
	       (!has_ranges(ingest) || is_in_range(ingest, thread));
}

/* What no call tells of: whether any thread is in a range. */
static int note_span(struct um_ingest *ingest, uint64_t at_ns)
{
	bool is_open = um_selection_is_on(&ingest->selection.state, 0) &&
		       (!has_ranges(ingest) || ingest->selection.open_count);

	return um_measured_span(ingest->measured, is_open, (int64_t)at_ns);
}

static int note_switch(struct um_ingest *ingest, const struct um_record_op *op)
{
	bool on = op->kind == UM_OP_PROFILER_START;
	/* Before the first there was the time since the beginning. */
	int error = note_span(ingest, (uint64_t)ingest->run.start_ns);

	um_selection_switch(&ingest->selection.state, on, 0);
	return error ? error : note_span(ingest, op->start_ns);
}

static int note_range_end(struct um_ingest *ingest, const struct um_record_op *op)
{
	struct um_ingest_selection *selection = &ingest->selection;

	for (size_t i = 0; i < selection->open_count; i++) {
		if (selection->open[i].op != op->op)
			continue;
		selection->open[i] = selection->open[--selection->open_count];
		return note_span(ingest, op->end_ns);
	}
	return 0;
}

int um_ingest_select_begin(struct um_ingest *ingest)
{
	bool is_part = has_ranges(ingest) || ingest->selection.state.is_off;

	return is_part ? note_span(ingest, (uint64_t)ingest->run.start_ns) : 0;
}

int um_ingest_select_op(struct um_ingest *ingest, const struct um_record_op *op, bool is_new)
{
	bool is_switch = op->kind == UM_OP_PROFILER_START || op->kind == UM_OP_PROFILER_STOP;

	if (!ingest->measured)
		return 0;
	if (is_new && is_switch)
		return note_switch(ingest, op);
	if (op->kind == UM_OP_RANGE)
		return op->end_ns ? note_range_end(ingest, op) : 0;
	if (is_new && !is_selected(ingest, op->thread))
		um_measured_leave_out(ingest->measured, op->op);
	return 0;
}

int um_ingest_select_range(struct um_ingest *ingest, uint32_t op, const char *name)
{
	struct um_ingest_selection *selection = &ingest->selection;

	if (!ingest->measured || !um_selection_takes_range(text_of(ingest), name))
		return 0;
	if (selection->open_count == selection->open_capacity) {
		size_t wanted = selection->open_capacity ? 2 * selection->open_capacity : 16;
		void *grown = reallocarray(selection->open, wanted, sizeof(*selection->open));

		if (!grown)
			return um_fail(UM_ENOMEM, "out of memory for %zu ranges", wanted);
		selection->open = grown;
		selection->open_capacity = wanted;
	}
	selection->open[selection->open_count++] =
		(struct um_open_range){op, um_measured_op_thread(ingest->measured, op)};
	return note_span(ingest, um_measured_op_call_ns(ingest->measured, op));
}

int um_ingest_select_launch(struct um_ingest *ingest, uint32_t op, const char *symbol)
{
	if (!ingest->measured)
		return 0;
	bool is_selected_now = um_selection_launch(
		&ingest->selection.state, symbol, 0,
		is_in_range(ingest, um_measured_op_thread(ingest->measured, op)));

	if (is_selected_now)
		return 0;
	um_measured_leave_out(ingest->measured, op);
	ingest->totals.unselected++;
	return um_db_update(ingest->db, "UPDATE op SET flags = flags | 8 WHERE op = ?",
			    (int64_t[]){um_ingest_op_id(ingest, op)}, 1);
}

/* --- the end: how much of it there was --- */

struct counting {
	const char *pattern;
	bool is_kernel;
	int64_t matched;
};

static int count_kernel(const void *row, void *context)
{
	struct counting *counting = context;

	counting->matched += um_selection_is_kernel(counting->pattern,
						    ((const struct um_kernel_row *)row)->name);
	return 0;
}

static int count_range(const void *row, void *context)
{
	struct counting *counting = context;

	counting->matched +=
		fnmatch(counting->pattern, ((const struct um_user_range_row *)row)->name, 0) == 0;
	return 0;
}

/* Of the run, or of each kernel: those that have such a number. */
static int count_launches(struct um_ingest *ingest, const char *value, int64_t *matched)
{
	const char *of = um_selection_has(text_of(ingest), UM_SELECT_KERNELS)
				 ? "PARTITION BY COALESCE(symbol, name)"
				 : "";
	uint64_t first = 0, last = 0;
	char sql[256];

	if (!um_selection_launches(value, &first, &last))
		return 0;
	snprintf(sql, sizeof(sql),
		 "SELECT COUNT(*) FROM (SELECT ROW_NUMBER() OVER (%s ORDER BY op) AS number"
		 " FROM kernel) WHERE number BETWEEN %" PRIu64 " AND %" PRIu64 " AND ?1 = 0",
		 of, first < INT64_MAX ? first : INT64_MAX, last < INT64_MAX ? last : INT64_MAX);
	return um_db_integer(ingest->db, sql, 0, matched);
}

static int count(struct um_ingest *ingest, enum um_criterion criterion, const char *value,
		 int64_t *matched)
{
	struct counting counting = {.pattern = value};
	int error;

	switch (criterion) {
	case UM_SELECT_KERNELS:
	case UM_SELECT_EXCLUDE_KERNELS:
		error = um_db_each(ingest->db, &um_table_kernel, NULL, 0, count_kernel, &counting);
		break;
	case UM_SELECT_RANGES:
		error = um_db_each(ingest->db, &um_table_user_range, NULL, 0, count_range,
				   &counting);
		break;
	case UM_SELECT_LAUNCHES:
		return count_launches(ingest, value, matched);
	default:
		return um_db_integer(ingest->db,
				     "SELECT COUNT(*) FROM op WHERE kind = 'profiler_start' AND "
				     "?1 = 0",
				     0, matched);
	}
	*matched = counting.matched;
	return error;
}

static uint64_t sum(struct um_ingest *ingest, const char *sql, int64_t key, int *error)
{
	int64_t value = 0;
	int failed = um_db_integer(ingest->db, sql, key, &value);

	*error = *error ? *error : failed;
	return value > 0 ? (uint64_t)value : 0;
}

/* Of what was kept, in place of what was told. */
static int count_kept(struct um_ingest *ingest)
{
	struct um_ingest_totals *totals = &ingest->totals;
	int error = 0;

	totals->device_faults =
		sum(ingest, "SELECT SUM(faults) FROM fault WHERE device >= ?", 0, &error);
	totals->host_faults =
		sum(ingest, "SELECT SUM(faults) FROM fault WHERE device = ?", -1, &error);
	totals->remote_mappings = sum(ingest, "SELECT COUNT(*) FROM mapping WHERE change_code = ?",
				      UM_CHANGE_REMOTE, &error);
	for (int cause = 0; cause < UM_TRAFFIC_CAUSES; cause++) {
		totals->migrated_to_device[cause] =
			sum(ingest,
			    "SELECT SUM(bytes) FROM migration WHERE source = -1 AND "
			    "COALESCE(cause_code, " UNKNOWN_CODE ") = ?",
			    cause, &error);
		totals->migrated_to_host[cause] = sum(
			ingest,
			"SELECT SUM(bytes) FROM migration WHERE destination = -1 AND source <> -1 AND "
			"COALESCE(cause_code, " UNKNOWN_CODE ") = ?",
			cause, &error);
	}
	return error;
}

int um_ingest_selection_end(struct um_ingest *ingest)
{
	const char *at = NULL, *value;
	enum um_criterion criterion;
	int error = *text_of(ingest) ? um_db_exec(ingest->db, "DELETE FROM selection") : 0;

	while (!error && um_selection_next(text_of(ingest), &at, &criterion, &value)) {
		struct um_selection_row row = {um_criterion_names[criterion], value, 0};

		error = count(ingest, criterion, value, &row.matched);
		if (!error)
			error = um_db_insert(ingest->db, &um_table_selection, &row);
	}
	if (!error && ingest->measured && um_measured_has_left_out(ingest->measured))
		error = count_kept(ingest);
	return error;
}
