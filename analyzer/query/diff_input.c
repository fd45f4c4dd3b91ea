/* One of two databases that are compared: its figures by kernel and by allocation. */
#include "diff_parts.h"
#include "query.h"

#include "trace/base/error.h"
#include "trace/base/kernel_name.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct um_diff_quantity_info um_diff_quantities[UM_DIFF_QUANTITIES] = {
	[UM_DIFF_MOVED_TO_DEVICE] = {"moved_bytes_to_device", "moved to device", "moved\nin",
				     "migration", UM_DIFF_BYTES},
	[UM_DIFF_MOVED_TO_HOST] = {"moved_bytes_to_host", "moved to host", "moved\nout",
				   "migration", UM_DIFF_BYTES},
	[UM_DIFF_MOVED_BETWEEN_DEVICES] = {"moved_bytes_between_devices", "moved between devices",
					   "moved\nacross", "migration", UM_DIFF_BYTES},
	[UM_DIFF_EVICTED] = {"evicted_bytes", "of these evicted", "evicted\nout", "migration",
			     UM_DIFF_BYTES},
	[UM_DIFF_REMOTE_TO_DEVICE] = {"remote_bytes_to_device", "read from afar", "remote\nin",
				      "remote_access", UM_DIFF_BYTES},
	[UM_DIFF_REMOTE_TO_HOST] = {"remote_bytes_to_host", "written from afar", "remote\nout",
				    "remote_access", UM_DIFF_BYTES},
	[UM_DIFF_PEER] = {"peer_bytes", "between devices, not moved", "between\ndevices",
			  "peer_traffic", UM_DIFF_BYTES},
	[UM_DIFF_COPIED_TO_DEVICE] = {"copied_bytes_to_device", "copied to device", "copied\nin",
				      "copy_traffic", UM_DIFF_BYTES},
	[UM_DIFF_COPIED_TO_HOST] = {"copied_bytes_to_host", "copied to host", "copied\nout",
				    "copy_traffic", UM_DIFF_BYTES},
	[UM_DIFF_TRANSFERS_TO_DEVICE] = {"transfers_to_device", "transfers to device",
					 "transfers\nin", "migration", UM_DIFF_COUNT},
	[UM_DIFF_TRANSFERS_TO_HOST] = {"transfers_to_host", "transfers to host", "transfers\nout",
				       "migration", UM_DIFF_COUNT},
	[UM_DIFF_DEVICE_FAULTS] = {"device_faults", "page faults of devices", "GPU\nfaults",
				   "fault", UM_DIFF_COUNT},
	[UM_DIFF_HOST_FAULTS] = {"host_faults", "page faults of the host", "host\nfaults",
				 "fault.host", UM_DIFF_COUNT},
	[UM_DIFF_REMOTE_MAPS] = {"remote_maps", "remote mappings", "remote\nmaps", "mapping",
				 UM_DIFF_COUNT},
	[UM_DIFF_TRANSFER_TIME] = {"transfer_ns", "time of transfers", "transfer\ntime",
				   "migration", UM_DIFF_NS},
	[UM_DIFF_KERNEL_TIME] = {"kernel_ns", "time of kernels", "kernel\ntime", "op.time",
				 UM_DIFF_NS},
	[UM_DIFF_LAUNCHES] = {"launches", "launches", "launches", NULL, UM_DIFF_COUNT},
};

void um_diff_values_add(struct um_diff_values *to, const struct um_diff_values *values)
{
	for (size_t i = 0; i < UM_DIFF_QUANTITIES; i++) {
		int64_t a = to->value[i], b = values->value[i];

		if (a == UM_NULL || b == UM_NULL)
			to->value[i] = UM_NULL;
		else if (__builtin_add_overflow(a, b, &to->value[i]))
			to->value[i] = INT64_MAX;
	}
}

/* --- rows by a key: the kernel's name, or the allocation --- */

/* The quantities that a query's columns are, behind the key. */
struct figures {
	const char *sql; /* %1$s: the key, with a join that makes it */
	enum um_diff_quantity columns[UM_DIFF_QUANTITIES];
	size_t count;
	bool by_launch_only;
};

#define IF_KNOWN(sum) "CASE WHEN COUNT(*) = COUNT(bytes) THEN " sum " END"

static const struct figures figure_list[] = {
	{.sql = "SELECT %s, " IF_KNOWN("TOTAL(bytes * (source = -1))") ", " IF_KNOWN("TOTAL(bytes * (destination = -1))") ", " IF_KNOWN(
		 "TOTAL(bytes * (source >= 0 AND "
		 "destination >= 0))") ", " IF_KNOWN("TOTAL(bytes * (cause_code = 3))") ","
											" TOTAL(transfers * (source = -1 AND bytes IS NOT 0)),"
											" TOTAL(transfers * (destination = -1 AND bytes IS NOT 0)), TOTAL(duration_ns)"
											" FROM migration AS row %s GROUP BY 1",
	 .columns = {UM_DIFF_MOVED_TO_DEVICE, UM_DIFF_MOVED_TO_HOST, UM_DIFF_MOVED_BETWEEN_DEVICES,
		     UM_DIFF_EVICTED, UM_DIFF_TRANSFERS_TO_DEVICE, UM_DIFF_TRANSFERS_TO_HOST,
		     UM_DIFF_TRANSFER_TIME},
	 .count = 7},
	{.sql = "SELECT %s, TOTAL(bytes_to_device), TOTAL(bytes_to_host)"
		" FROM remote_access AS row %s GROUP BY 1",
	 .columns = {UM_DIFF_REMOTE_TO_DEVICE, UM_DIFF_REMOTE_TO_HOST},
	 .count = 2},
	{.sql = "SELECT %s, TOTAL(bytes) FROM peer_traffic AS row %s GROUP BY 1",
	 .columns = {UM_DIFF_PEER},
	 .count = 1},
	{.sql = "SELECT %s, TOTAL(bytes_to_device), TOTAL(bytes_to_host)"
		" FROM copy_traffic AS row %s GROUP BY 1",
	 .columns = {UM_DIFF_COPIED_TO_DEVICE, UM_DIFF_COPIED_TO_HOST},
	 .count = 2},
	{.sql = "SELECT %s, TOTAL(COALESCE(faults, pages) * (device >= 0)),"
		" TOTAL(COALESCE(faults, pages) * (device < 0)) FROM fault AS row %s GROUP BY 1",
	 .columns = {UM_DIFF_DEVICE_FAULTS, UM_DIFF_HOST_FAULTS},
	 .count = 2},
	{.sql = "SELECT %s, TOTAL(change_code = 0) FROM mapping AS row %s GROUP BY 1",
	 .columns = {UM_DIFF_REMOTE_MAPS},
	 .count = 1},
	{.sql = "SELECT %s, CASE WHEN COUNT(*) = COUNT(end_ns - start_ns)"
		" THEN TOTAL(end_ns - start_ns) END, COUNT(*) FROM op AS row %s"
		" WHERE row.kind = 'launch' GROUP BY 1",
	 .columns = {UM_DIFF_KERNEL_TIME, UM_DIFF_LAUNCHES},
	 .count = 2,
	 .by_launch_only = true},
};

struct reading {
	struct um_diff_input *input;
	const struct figures *figures;
};

/* What a file from anyone adds up to may be anything; what is no count is damage. */
static int read_figures(const struct reading *reading, struct sqlite3_stmt *row,
			struct um_diff_values *values)
{
	for (size_t i = 0; i < reading->figures->count; i++) {
		double sum = sqlite3_column_double(row, 1 + (int)i);
		int64_t *value = &values->value[reading->figures->columns[i]];

		if (sqlite3_column_type(row, 1 + (int)i) == SQLITE_NULL)
			*value = UM_NULL;
		else if (!(sum >= 0 && sum < 0x1p63))
			return um_fail(UM_EFORMAT, "%s: damaged: %s add up to %g",
				       um_db_path(reading->input->db),
				       um_diff_quantities[reading->figures->columns[i]].title, sum);
		else
			*value = (int64_t)sum;
	}
	return 0;
}

static int take_kernel(struct sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	const char *signature = um_query_text(row, 0);
	struct um_diff_named *named = um_query_append(
		&reading->input->kernels, &reading->input->kernel_count, sizeof(*named));

	if (!named)
		return UM_ENOMEM;
	if (signature) {
		struct um_kernel_name name = um_kernel_name(signature);

		named->name = strndup(name.start, name.length);
		if (!named->name)
			return um_fail(UM_ENOMEM, "out of memory");
	}
	return read_figures(reading, row, &named->values);
}

static int take_allocation(struct sqlite3_stmt *row, void *context)
{
	struct reading *reading = context;
	struct um_diff_input *input = reading->input;
	struct um_diff_values values = {0};
	size_t place = um_check_allocation_place(&input->program, um_query_integer(row, 0));
	int error = read_figures(reading, row, &values);

	if (!error && place != SIZE_MAX)
		um_diff_values_add(&input->allocations[place], &values);
	return error;
}

static int by_name(const void *left, const void *right)
{
	const struct um_diff_named *a = left, *b = right;

	if (!a->name || !b->name)
		return (a->name != NULL) - (b->name != NULL);
	return strcmp(a->name, b->name);
}

static void merge_kernels(struct um_diff_input *input)
{
	size_t kept = 0;

	if (input->kernel_count)
		qsort(input->kernels, input->kernel_count, sizeof(*input->kernels), by_name);
	for (size_t i = 0; i < input->kernel_count; i++) {
		if (kept && by_name(&input->kernels[kept - 1], &input->kernels[i]) == 0) {
			um_diff_values_add(&input->kernels[kept - 1].values,
					   &input->kernels[i].values);
			free(input->kernels[i].name);
		} else {
			input->kernels[kept++] = input->kernels[i];
		}
	}
	input->kernel_count = kept;
}

/* TOTAL() does not overflow; beyond 2^53 it is rounded. */
static int read_by(struct um_diff_input *input, const struct figures *figures, const char *key,
		   const char *join, int (*take)(struct sqlite3_stmt *, void *))
{
	struct reading reading = {input, figures};
	char sql[1024];

	snprintf(sql, sizeof(sql), figures->sql, key, join);
	return um_query_each(input->db, sql, take, &reading);
}

static int read_figures_of_file(struct um_diff_input *input)
{
	int error = 0;

	for (size_t i = 0; i < sizeof(figure_list) / sizeof(*figure_list) && !error; i++) {
		const struct figures *figures = &figure_list[i];

		error = read_by(input, figures, "kernel.name",
				"LEFT JOIN kernel ON kernel.op = row.op", take_kernel);
		if (!error && !figures->by_launch_only)
			error = read_by(input, figures, "row.allocation", "", take_allocation);
	}
	merge_kernels(input);
	return error;
}

/* --- names of allocations --- */

struct naming {
	struct um_diff_input *input;
	size_t place;
};

static const char *without_folders(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* "#3 grid.cells app.hip:42" */
static char *name_of(const struct um_diff_input *input, const struct um_allocation_row *row)
{
	const struct um_stack_frame *frame =
		um_stacks_user(input->stacks, row->site, "alloc", NULL);
	char *line = frame ? um_stack_frame_text(frame) : NULL, *name = NULL;

	if (asprintf(&name, "#%lld%s%s%s%s", (long long)row->allocation, row->name ? " " : "",
		     row->name ? row->name : "", line ? " " : "",
		     line ? without_folders(line) : "") < 0)
		name = NULL;
	free(line);
	return name;
}

static int take_name(const void *row, void *context)
{
	struct naming *naming = context;
	struct um_diff_input *input = naming->input;

	if (naming->place == input->program.allocation_count)
		return 0;
	input->allocation_names[naming->place] = name_of(input, row);
	return input->allocation_names[naming->place++] ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

int um_diff_input_read(struct um_diff_input *input, const char *path,
		       const char *const *skip_frames)
{
	struct naming naming = {input, 0};
	int error = um_db_open(&input->db, path);

	if (error)
		return error;
	error = um_query_check_run(input->db);
	if (!error)
		error = um_check_side_program(&input->program, input->db);
	if (!error)
		error = um_stacks_load(&input->stacks, input->db, skip_frames);
	if (error)
		return error;
	input->allocations =
		calloc(input->program.allocation_count + 1, sizeof(*input->allocations));
	input->allocation_names = calloc(input->program.allocation_count + 1, sizeof(char *));
	if (!input->allocations || !input->allocation_names)
		return um_fail(UM_ENOMEM, "out of memory");
	error = um_db_each(input->db, &um_table_allocation, NULL, 0, take_name, &naming);
	return error ? error : read_figures_of_file(input);
}

void um_diff_input_free(struct um_diff_input *input)
{
	for (size_t i = 0; i < input->kernel_count; i++)
		free(input->kernels[i].name);
	for (size_t i = 0; input->allocation_names && i < input->program.allocation_count; i++)
		free(input->allocation_names[i]);
	free(input->kernels);
	free(input->allocations);
	free(input->allocation_names);
	um_stacks_destroy(input->stacks);
	um_check_side_free(&input->program);
	um_db_close(input->db);
}
