#include "calibrate_times.h"

#include "calibrate_batches.h"
#include "trace/base/error.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* As times.tsv has them. */
static const char *const modes[UM_TIMES_MODES] = {"untraced", "off", "all"};

/* One line, until the medians are known. */
struct time_line {
	char *name;
	int mode;
	double all_ns, gpu_ns;
};
struct time_lines {
	struct time_line *at;
	size_t count, capacity;
};

static void free_lines(struct time_lines *lines)
{
	for (size_t i = 0; i < lines->count; i++)
		free(lines->at[i].name);
	free(lines->at);
}

static int keep_line(struct time_lines *lines, const struct time_line *line)
{
	if (lines->count == lines->capacity) {
		size_t capacity = lines->capacity ? 2 * lines->capacity : 64;
		struct time_line *grown = reallocarray(lines->at, capacity, sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "out of memory");
		lines->at = grown;
		lines->capacity = capacity;
	}
	lines->at[lines->count] = *line;
	lines->at[lines->count].name = strdup(line->name);
	if (!lines->at[lines->count].name)
		return um_fail(UM_ENOMEM, "out of memory");
	lines->count++;
	return 0;
}

static int mode_of(const char *word)
{
	for (int mode = 0; mode < UM_TIMES_MODES; mode++)
		if (strcmp(modes[mode], word) == 0)
			return mode;
	return -1;
}

/* Cut at its tabs. Too few fields, or no numbers: not what is looked for. */
static int read_line(struct time_lines *lines, char *text, const char *path, unsigned number)
{
	char *fields[5] = {NULL}, *rest = text, *end;
	size_t count = 0;

	text[strcspn(text, "\n")] = '\0';
	while (count < 5 && (fields[count] = strsep(&rest, "\t")))
		count++;
	if (count < 4)
		return um_fail_at(UM_EFORMAT, path, number, 0,
				  "no line of times: mode, repetition, name, ns, ns of the GPU's "
				  "steps, with tabs between");
	struct time_line line = {.name = fields[2], .mode = mode_of(fields[0])};

	if (line.mode < 0 || count < 5 || !fields[4][0])
		return 0;
	line.all_ns = strtod(fields[3], &end);
	if (!*end)
		line.gpu_ns = strtod(fields[4], &end);
	if (*end || !isfinite(line.all_ns) || !(line.gpu_ns >= 0 && line.gpu_ns <= line.all_ns))
		return um_fail_at(UM_EFORMAT, path, number, 0,
				  "\"%.40s\" and \"%.40s\" are no times", fields[3], fields[4]);
	if (line.gpu_ns == 0)
		return um_fail_at(UM_EFORMAT, path, number, 0,
				  "%.40s took %.0f ns, its GPU steps 0 ns: nothing was measured",
				  line.name, line.all_ns);
	return keep_line(lines, &line);
}

static int read_lines(struct time_lines *lines, FILE *file, const char *path)
{
	char *text = NULL;
	size_t capacity = 0;
	unsigned number = 0;
	int error = 0;

	while (!error && getline(&text, &capacity, file) >= 0)
		error = read_line(lines, text, path, ++number);
	if (!error && ferror(file))
		error = um_fail_errno(UM_EIO, "%s", path);
	free(text);
	return error;
}

static int compare_lines(const void *left, const void *right)
{
	const struct time_line *a = left, *b = right;
	int order = strcmp(a->name, b->name);

	return order ? order : a->mode - b->mode;
}

static int compare_doubles(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return *a < *b ? -1 : *a > *b;
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), compare_doubles);
	return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

/* Sorted lines of one name and mode, [first, end). */
static void take_medians(struct um_times_row *row, const struct time_lines *lines, size_t first,
			 size_t end, double *room)
{
	int mode = lines->at[first].mode;

	for (size_t i = first; i < end; i++)
		room[i - first] = lines->at[i].all_ns;
	row->all_ns[mode] = median(room, end - first);
	for (size_t i = first; i < end; i++)
		room[i - first] = lines->at[i].gpu_ns;
	row->gpu_ns[mode] = median(room, end - first);
}

static bool is_same_row(const struct time_lines *lines, size_t a, size_t b)
{
	return strcmp(lines->at[a].name, lines->at[b].name) == 0;
}

static int make_rows(struct um_times *times, const struct time_lines *lines, double *room)
{
	size_t end;

	for (size_t first = 0; first < lines->count; first = end) {
		end = first + 1;
		while (end < lines->count && is_same_row(lines, first, end) &&
		       lines->at[end].mode == lines->at[first].mode)
			end++;
		if (!first || !is_same_row(lines, first, first - 1)) {
			times->rows[times->count].name = strdup(lines->at[first].name);
			if (!times->rows[times->count].name)
				return um_fail(UM_ENOMEM, "out of memory");
			times->count++;
		}
		take_medians(&times->rows[times->count - 1], lines, first, end, room);
	}
	return 0;
}

int um_times_read(struct um_times *times, const char *path)
{
	struct time_lines lines = {0};
	FILE *file = fopen(path, "re");

	*times = (struct um_times){0};
	if (!file)
		return um_fail_errno(errno == ENOENT ? UM_ENOENT : UM_EIO, "%s", path);
	int error = read_lines(&lines, file, path);
	fclose(file);
	double *room = calloc(lines.count + 1, sizeof(*room));
	times->rows = calloc(lines.count + 1, sizeof(*times->rows));
	if (!error && (!room || !times->rows))
		error = um_fail(UM_ENOMEM, "out of memory");
	if (lines.count)
		qsort(lines.at, lines.count, sizeof(*lines.at), compare_lines);
	if (!error)
		error = make_rows(times, &lines, room);
	free(room);
	free_lines(&lines);
	if (error)
		um_times_free(times);
	return error;
}

void um_times_free(struct um_times *times)
{
	for (size_t i = 0; i < times->count; i++)
		free(times->rows[i].name);
	free(times->rows);
	*times = (struct um_times){0};
}

const struct um_times_row *um_times_find(const struct um_times *times, const char *name)
{
	for (size_t i = 0; i < times->count; i++)
		if (strcmp(times->rows[i].name, name) == 0)
			return &times->rows[i];
	return NULL;
}

/* --- samples --- */

static int add_pair(struct um_samples *samples, size_t group, double count, double with_ns,
		    double without_ns)
{
	const struct um_sample sample = {
		.terms = {count}, .value_ns = with_ns, .fixed_ns = without_ns, .group = group};

	samples->terms = 1;
	return count > 0 && with_ns > 0 && without_ns > 0 ? um_samples_add(samples, &sample) : 0;
}

enum what { RECORDS, FAULT_RECORDS, CPU_FAULT_RECORDS };

static int add_sample(struct um_samples *samples, size_t group, enum what what,
		      const struct um_batch_sums *sums, const struct um_times_row *row)
{
	const double *all = row->all_ns, *gpu = row->gpu_ns;

	switch (what) {
	case RECORDS:
		return add_pair(samples, group, sums->transfers, gpu[UM_TIMES_OFF],
				gpu[UM_TIMES_UNTRACED]);
	case FAULT_RECORDS:
		return add_pair(samples, group, sums->pages, gpu[UM_TIMES_ALL], gpu[UM_TIMES_OFF]);
	default:
		return add_pair(samples, group, sums->cpu_faults,
				all[UM_TIMES_ALL] - gpu[UM_TIMES_ALL],
				all[UM_TIMES_UNTRACED] - gpu[UM_TIMES_UNTRACED]);
	}
}

static int add_samples(struct um_samples *samples, const struct um_measured *measured,
		       const struct um_times *times, enum what what)
{
	int error = 0;

	samples->terms = 1;
	for (size_t i = 0; i < measured->range_count && !error; i++) {
		const struct um_measured_range *range = &measured->ranges[i];
		const struct um_times_row *row = um_times_find(times, range->name);
		struct um_batch_sums sums;

		if (!row || range->thrashes)
			continue;
		sums = um_calibrate_sums(measured, range);
		error = add_sample(samples, i, what, &sums, row);
	}
	return error;
}

int um_calibrate_records(struct um_samples *samples, const struct um_measured *measured,
			 const struct um_times *times)
{
	return add_samples(samples, measured, times, RECORDS);
}

int um_calibrate_fault_records(struct um_samples *samples, const struct um_measured *measured,
			       const struct um_times *times)
{
	return add_samples(samples, measured, times, FAULT_RECORDS);
}

int um_calibrate_cpu_fault_records(struct um_samples *samples, const struct um_measured *measured,
				   const struct um_times *times)
{
	return add_samples(samples, measured, times, CPU_FAULT_RECORDS);
}
