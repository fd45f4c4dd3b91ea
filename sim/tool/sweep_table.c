/* The results of a sweep as text: a row a configuration, the best of each value, and what they are. */
#include "sweep_command.h"

#include "sim/sweep/sweep_columns.h"
#include "trace/base/error.h"
#include "trace/base/units.h"

#include <stdarg.h>
#include <string.h>

/* ---------------------------------------------------------------- figures */

static uint64_t figure(const struct um_sweep_outcome *outcome, const char *name)
{
	for (size_t i = 0; um_sweep_columns[i].name; i++)
		if (strcmp(um_sweep_columns[i].name, name) == 0)
			return outcome->figures[i];
	return 0;
}

static bool is_better(const struct um_sweep_outcome *a, const struct um_sweep_outcome *b)
{
	uint64_t end_a = figure(a, "end_ns"), end_b = figure(b, "end_ns");
	uint64_t bytes_a = figure(a, "bytes_to_device") + figure(a, "bytes_to_host");
	uint64_t bytes_b = figure(b, "bytes_to_device") + figure(b, "bytes_to_host");

	return end_a < end_b || (end_a == end_b && bytes_a < bytes_b);
}

size_t um_sweep_best(const struct um_sweep_command *sweep, size_t axis, const char *value)
{
	size_t best = UM_SWEEP_NONE;

	for (size_t i = 0; i < sweep->plan.count; i++) {
		const struct um_sweep_outcome *outcome = &sweep->outcomes[i];

		if (outcome->status != UM_SWEEP_DONE)
			continue;
		if (axis != UM_SWEEP_NONE &&
		    strcmp(um_sweep_plan_value(&sweep->plan, i, axis), value) != 0)
			continue;
		if (best == UM_SWEEP_NONE || is_better(outcome, &sweep->outcomes[best]))
			best = i;
	}
	return best;
}

/* ---------------------------------------------------------------- rows */

static bool names_policies(const struct um_sweep_plan *plan)
{
	return plan->policy_count > 1 || plan->policies[0].path || !plan->axis_count;
}

static size_t name_columns(struct um_text_column *columns, const struct um_sweep_plan *plan)
{
	size_t count = 0;

	if (names_policies(plan))
		columns[count++] = (struct um_text_column){"policy", UM_ALIGN_LEFT};
	for (size_t i = 0; i < plan->axis_count; i++)
		columns[count++] = (struct um_text_column){plan->axes[i].key, UM_ALIGN_LEFT};
	return count;
}

static void name_cells(struct um_text_table *table, const struct um_sweep_plan *plan, size_t which)
{
	if (names_policies(plan))
		um_text_table_cell(table, "%s", plan->configurations[which].from->name);
	for (size_t i = 0; i < plan->axis_count; i++)
		um_text_table_cell(table, "%s", um_sweep_plan_value(plan, which, i));
}

struct shown {
	const char *title, *name, *also; /* figures of which it is the sum */
	char *(*format)(char *, size_t, uint64_t);
};

static const struct shown shown[] = {
	{"device\nfaults", "device_faults", NULL, um_format_count},
	{"host\nfaults", "host_faults", NULL, um_format_count},
	{"to\ndevice", "bytes_to_device", NULL, um_format_bytes},
	{"to\nhost", "bytes_to_host", NULL, um_format_bytes},
	{"evicted", "eviction_to_host", NULL, um_format_bytes},
	{"remote", "remote_to_device", "remote_to_host", um_format_bytes},
	{"end", "end_ns", NULL, um_format_duration},
};

#define SHOWN (sizeof(shown) / sizeof(*shown))

static void figure_cells(struct um_text_table *table, const struct um_sweep_outcome *outcome)
{
	char text[32];

	for (size_t i = 0; i < SHOWN; i++) {
		uint64_t value;

		if (outcome->status != UM_SWEEP_DONE) {
			um_text_table_cell(table, "%s",
					   i + 1 < SHOWN ? ""
							 : um_sweep_status_word(outcome->status));
			continue;
		}
		value = figure(outcome, shown[i].name);
		value += shown[i].also ? figure(outcome, shown[i].also) : 0;
		um_text_table_cell(table, "%s", shown[i].format(text, sizeof(text), value));
	}
}

static int create_table(struct um_text_table **out, struct um_text_column *columns, size_t names)
{
	for (size_t i = 0; i < SHOWN; i++)
		columns[names + i] = (struct um_text_column){shown[i].title, UM_ALIGN_RIGHT};
	columns[names + SHOWN] = (struct um_text_column){NULL, UM_ALIGN_LEFT};
	return um_text_table_create(out, columns);
}

static int print_rows(FILE *out, const struct um_sweep_command *sweep)
{
	struct um_text_column columns[UM_SWEEP_AXES_MAX + SHOWN + 3] = {{"", UM_ALIGN_LEFT}};
	size_t best = um_sweep_best(sweep, UM_SWEEP_NONE, NULL);
	struct um_text_table *table;
	size_t names = 1 + name_columns(columns + 1, &sweep->plan);
	int error = create_table(&table, columns, names);

	if (error)
		return error;
	for (size_t i = 0; i < sweep->plan.count; i++) {
		um_text_table_cell(table, "%s", i == best ? "*" : "");
		name_cells(table, &sweep->plan, i);
		figure_cells(table, &sweep->outcomes[i]);
	}
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}

/* ---------------------------------------------------------------- the best of each value */

static void best_cells(struct um_text_table *table, const struct um_sweep_command *sweep,
		       size_t axis, size_t value)
{
	const struct um_sweep_axis *of = &sweep->plan.axes[axis];
	size_t best = um_sweep_best(sweep, axis, of->values[value].text);
	char label[256], end[32];

	um_text_table_cell(table, "%s", value ? "" : of->key);
	um_text_table_cell(table, "%s", of->values[value].text);
	if (best == UM_SWEEP_NONE) {
		um_text_table_cell(table, "none");
		um_text_table_cell(table, "%s", "");
		return;
	}
	um_text_table_cell(
		table, "%s",
		um_format_duration(end, sizeof(end), figure(&sweep->outcomes[best], "end_ns")));
	um_text_table_cell(table, "%s",
			   um_sweep_plan_label(label, sizeof(label), &sweep->plan, best));
}

/* Where a single key is varied the rows say it all. */
static int print_best(FILE *out, const struct um_sweep_command *sweep)
{
	static const struct um_text_column columns[] = {{"the best with", UM_ALIGN_LEFT},
							{"", UM_ALIGN_LEFT},
							{"end", UM_ALIGN_RIGHT},
							{"is", UM_ALIGN_LEFT},
							{NULL, UM_ALIGN_LEFT}};
	const struct um_sweep_plan *plan = &sweep->plan;
	struct um_text_table *table;
	int error;

	if (plan->axis_count + (plan->policy_count > 1) < 2)
		return 0;
	error = um_text_table_create(&table, columns);
	if (error)
		return error;
	for (size_t axis = 0; axis < plan->axis_count; axis++)
		for (size_t value = 0; value < plan->axes[axis].count; value++)
			best_cells(table, sweep, axis, value);
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	fputc('\n', out);
	return error;
}

/* ---------------------------------------------------------------- notes */

static void print_note(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void print_note(FILE *out, const char *format, ...)
{
	char text[1024];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	um_text_print_wrapped(out, text, 0, 2);
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

/* Each reason once, with how many have it. */
static void print_reasons(FILE *out, const struct um_sweep_command *sweep)
{
	const struct um_sweep_outcome *outcomes = sweep->outcomes;

	for (size_t i = 0; i < sweep->plan.count; i++) {
		size_t alike = 0, before = 0;
		char label[256];

		if (!outcomes[i].reason)
			continue;
		for (size_t other = 0; other < sweep->plan.count; other++)
			if (outcomes[other].reason &&
			    outcomes[other].status == outcomes[i].status &&
			    !strcmp(outcomes[other].reason, outcomes[i].reason)) {
				alike++;
				before += other < i;
			}
		if (before)
			continue;
		print_note(out, "%s: %zu configuration%s, the first %s: %s",
			   um_sweep_status_word(outcomes[i].status), alike, plural(alike),
			   um_sweep_plan_label(label, sizeof(label), &sweep->plan, i),
			   outcomes[i].reason);
	}
}

/* Each driver that any configuration went by. */
static void print_drivers(FILE *out, const struct um_sweep_command *sweep)
{
	const struct um_driver_ops *told[8];
	size_t count = 0;

	for (size_t i = 0; i < sweep->plan.count; i++) {
		const struct um_policy *policy = sweep->plan.configurations[i].policy;
		bool is_told = !policy;

		for (size_t at = 0; at < count && !is_told; at++)
			is_told = told[at] == policy->driver;
		if (is_told || count == sizeof(told) / sizeof(*told))
			continue;
		told[count++] = policy->driver;
		print_note(out, "driver model %s: %s", policy->driver->name,
			   policy->driver->validated);
	}
}

static void print_orders(FILE *out, const struct um_sweep_command *sweep)
{
	const struct um_evict_ops *told[8];
	size_t count = 0;

	for (size_t i = 0; i < sweep->plan.count; i++) {
		const struct um_policy *policy = sweep->plan.configurations[i].policy;
		const struct um_evict_ops *order =
			policy ? um_policy_hypothetical_order(policy) : NULL;
		bool is_told = !order;

		for (size_t at = 0; at < count && !is_told; at++)
			is_told = told[at] == order;
		if (is_told || count == sizeof(told) / sizeof(*told))
			continue;
		told[count++] = order;
		print_note(out, "eviction %s: hypothetical, %s", order->name, order->hypothetical);
	}
}

static int print_not_simulated(void *context, const char *what, const char *why, int64_t count)
{
	print_note(context, "not simulated: %s (%s), in %lld configuration%s", what, why,
		   (long long)count, plural((size_t)count));
	return 0;
}

static void print_gaps(FILE *out, const struct um_replay_gaps *gaps)
{
	char some[32], all[32];

	if (gaps->not_recorded)
		print_note(out,
			   "not in it: %s of %s launches, which were not selected when it was "
			   "recorded: here they touch nothing and move nothing",
			   um_format_count(some, sizeof(some), gaps->not_recorded),
			   um_format_count(all, sizeof(all), gaps->launches));
	if (gaps->outside_accesses)
		print_note(out, "not in it: %s accesses of kernels to memory that is no allocation",
			   um_format_count(some, sizeof(some), gaps->outside_accesses));
}

static int print_notes(FILE *out, const struct um_sweep_command *sweep)
{
	int error;

	if (um_sweep_best(sweep, UM_SWEEP_NONE, NULL) != UM_SWEEP_NONE)
		print_note(out,
			   "*: ends first; end: when the program ends, %s; modelled, of accesses "
			   "that are %s",
			   sweep->facts.host_time
				   ? "with the time that the host took while the trace was recorded"
				   : "the host taking no time but to wait",
			   sweep->facts.accesses);
	print_drivers(out, sweep);
	print_orders(out, sweep);
	print_reasons(out, sweep);
	error = um_sweep_db_notes(sweep->db, print_not_simulated, out);
	print_gaps(out, &sweep->gaps);
	return error;
}

int um_sweep_print_text(FILE *out, const struct um_sweep_command *sweep)
{
	int error = print_rows(out, sweep);

	fputc('\n', out);
	if (!error)
		error = print_best(out, sweep);
	return error ? error : print_notes(out, sweep);
}

/* ---------------------------------------------------------------- --dry-run */

int um_sweep_print_plan(FILE *out, const struct um_sweep_plan *plan)
{
	struct um_text_column columns[UM_SWEEP_AXES_MAX + 4];
	size_t names = name_columns(columns, plan);
	struct um_text_table *table;
	int error;

	columns[names] = (struct um_text_column){"machine", UM_ALIGN_LEFT};
	columns[names + 1] = (struct um_text_column){"driver", UM_ALIGN_LEFT};
	columns[names + 2] = (struct um_text_column){NULL, UM_ALIGN_LEFT};
	error = um_text_table_create(&table, columns);
	if (error)
		return error;
	for (size_t i = 0; i < plan->count; i++) {
		const struct um_sweep_configuration *configuration = &plan->configurations[i];

		name_cells(table, plan, i);
		um_text_table_cell(table, "%s",
				   configuration->machine ? configuration->machine->name
							  : "refused:");
		um_text_table_cell(table, "%s",
				   configuration->policy ? configuration->policy->driver->name
							 : configuration->reason);
	}
	error = um_text_table_print(table, out, 0);
	um_text_table_destroy(table);
	return error;
}
