#include "curve.h"

#include "curve_order.h"
#include "sim/sweep/sweep.h"
#include "trace/base/error.h"
#include "trace/spool/spool_record.h"

#include <stdio.h>
#include <stdlib.h>

/* What lists side by side may take; more memories take one more simulation. */
#define LISTS_BYTES_MAX (UINT64_C(1) << 30)

static void tell_progress(const struct um_curve *curve, size_t done, size_t all)
{
	if (curve->progress)
		curve->progress(curve->context, done, all);
}

/* --- by replays --- */

/* The policy and the machine of a point. */
struct setting {
	struct um_policy policy;
	struct um_machine_spec machine;
};

struct replaying {
	struct um_curve *curve;
	struct um_curve_point *points;
	size_t done;
};

static void settle(struct setting *setting, const struct um_curve *curve,
		   const struct um_curve_point *point)
{
	*setting = (struct setting){*curve->policy, *curve->machine};
	setting->policy.memory_bytes = point->memory_bytes;
	if (setting->machine.memory_bytes < point->memory_bytes)
		setting->machine.memory_bytes = point->memory_bytes;
}

static int take_result(void *context, size_t which, const struct um_sweep_result *result)
{
	struct replaying *replaying = context;
	struct um_curve *curve = replaying->curve;
	struct um_curve_point *point = &replaying->points[which];

	point->error = result->error;
	snprintf(point->message, sizeof(point->message), "%s", result->message);
	point->device_faults = result->totals.device_faults;
	point->host_faults = result->totals.host_faults;
	point->bytes_to_device = result->totals.bytes_to_device;
	point->bytes_to_host = result->totals.bytes_to_host;
	for (size_t i = 0; i < result->note_count && curve->ignored; i++)
		curve->ignored(curve->context, result->notes[i].what, result->notes[i].why);
	tell_progress(curve, ++replaying->done, curve->count);
	return 0;
}

static int replay_points(struct um_curve *curve, struct um_curve_point *points, size_t count)
{
	struct setting *settings = malloc((count + 1) * sizeof(*settings));
	struct um_sweep_point *all = malloc((count + 1) * sizeof(*all));
	struct replaying replaying = {curve, points, 0};
	struct um_sweep sweep = {.trace_path = um_db_path(curve->trace),
				 .points = all,
				 .count = count,
				 .threads = curve->threads ? curve->threads : 1,
				 .result = take_result,
				 .context = &replaying};
	int error = settings && all ? 0 : um_fail(UM_ENOMEM, "no memory for the points");

	for (size_t i = 0; i < count && !error; i++) {
		settle(&settings[i], curve, &points[i]);
		all[i] = (struct um_sweep_point){&settings[i].policy, &settings[i].machine};
	}
	if (!error && count)
		error = um_sweep_run(&sweep);
	free(settings);
	free(all);
	return error;
}

static int replay_all(struct um_curve *curve)
{
	curve->method = UM_CURVE_REPLAYS;
	return replay_points(curve, curve->points, curve->count);
}

/* --- by an order of touches --- */

static uint32_t units_in(const struct um_curve_order *order, uint64_t memory_bytes)
{
	uint64_t units = memory_bytes > order->taken_bytes
				 ? (memory_bytes - order->taken_bytes) / order->unit_bytes
				 : 0;

	return units < UINT32_MAX ? (uint32_t)units : UINT32_MAX;
}

/* What managed memory moved is the model's, the rest the simulation's, which memory does not change. */
static void take_sums(struct um_curve_point *point, const struct um_curve_sums *sums,
		      const struct um_totals *totals)
{
	point->device_faults = sums->device_faults;
	point->host_faults = sums->host_faults;
	point->bytes_to_device = totals->bytes_to_device -
				 totals->migrated_to_device[UM_CAUSE_DEVICE_FAULT] +
				 sums->pages_in * UM_PAGE_BYTES;
	point->bytes_to_host = totals->bytes_to_host -
			       totals->migrated_to_host[UM_CAUSE_HOST_FAULT] +
			       sums->pages_out * UM_PAGE_BYTES;
}

/* The simulation had memory for all: what the model says of that must be what it did. */
static bool agrees(const struct um_curve_sums *with_all, const struct um_totals *totals)
{
	return with_all->device_faults == totals->device_faults &&
	       with_all->host_faults == totals->host_faults &&
	       with_all->pages_in * UM_PAGE_BYTES ==
		       totals->migrated_to_device[UM_CAUSE_DEVICE_FAULT] &&
	       with_all->pages_out * UM_PAGE_BYTES == totals->migrated_to_host[UM_CAUSE_HOST_FAULT];
}

/* Of some points, which have memory for a unit at least; sums has room for one more than they are. */
static int run_order(struct um_curve *curve, struct um_curve_order *order,
		     struct um_curve_point *points, size_t count, uint32_t *capacities,
		     struct um_curve_sums *sums)
{
	uint32_t all = order->units.count ? order->units.count : 1;
	struct um_totals totals;
	int error;

	for (size_t i = 0; i < count; i++)
		capacities[i] = units_in(order, points[i].memory_bytes);
	capacities[count] = count && capacities[count - 1] > all ? capacities[count - 1] : all;
	error = um_curve_order_run(order, curve, capacities, count + 1, sums, &totals);
	if (error)
		return error;
	if (!agrees(&sums[count], &totals)) {
		curve->why_replays =
			"the order of touches does not account for what the simulation "
			"did";
		return 0;
	}
	for (size_t i = 0; i < count; i++)
		take_sums(&points[i], &sums[i], &totals);
	return 0;
}

static size_t points_at_once(const struct um_curve_order *order)
{
	uint64_t bytes = (uint64_t)order->model->bytes_a_unit_and_memory * order->units.count;

	return bytes && LISTS_BYTES_MAX / bytes < SIZE_MAX ? (size_t)(LISTS_BYTES_MAX / bytes) + 1
							   : SIZE_MAX;
}

static int run_orders(struct um_curve *curve, struct um_curve_order *order)
{
	uint32_t *capacities = malloc((curve->count + 1) * sizeof(*capacities));
	struct um_curve_sums *sums = malloc((curve->count + 1) * sizeof(*sums));
	size_t first = 0, most = points_at_once(order);
	int error = capacities && sums ? 0 : um_fail(UM_ENOMEM, "no memory for the points");

	while (first < curve->count && !units_in(order, curve->points[first].memory_bytes))
		first++;
	if (!error) /* without memory for one unit the replay says what is wrong */
		error = replay_points(curve, curve->points, first);
	while (first < curve->count && !error && !curve->why_replays) {
		size_t count = curve->count - first < most ? curve->count - first : most;

		tell_progress(curve, first, curve->count);
		error = run_order(curve, order, &curve->points[first], count, capacities, sums);
		first += count;
	}
	tell_progress(curve, curve->count, curve->count);
	free(capacities);
	free(sums);
	return error;
}

int um_curve_run(struct um_curve *curve)
{
	struct um_curve_order order;
	int error;

	for (size_t i = 0; i < curve->count; i++)
		curve->points[i] =
			(struct um_curve_point){.memory_bytes = curve->points[i].memory_bytes};
	curve->why_replays = NULL;
	if (curve->only_replays) {
		curve->why_replays = "as asked";
		return replay_all(curve);
	}
	error = um_curve_order_find(&order, curve->trace, curve->policy, curve->machine,
				    &curve->why_replays);
	if (error || curve->why_replays)
		return error ? error : replay_all(curve);
	curve->method = order.model == &um_curve_lru ? UM_CURVE_STACK : UM_CURVE_LISTS;
	error = run_orders(curve, &order);
	um_curve_order_fini(&order);
	return error || !curve->why_replays ? error : replay_all(curve);
}
