#include "kernel_shape.h"

#include <math.h>

/* Thirty years: a damaged trace's launch, but a time that can still be added to. */
#define MOST_NS 1e18

static double waves_of(const struct um_machine_spec *spec, const struct um_kernel_row *row)
{
	double lanes = (double)row->block_x * (double)row->block_y * (double)row->block_z;
	double waves = ceil(lanes / spec->wave_lanes);

	return waves < 1 ? 1 : waves;
}

uint32_t um_kernel_groups_in_flight(const struct um_machine_spec *spec,
				    const struct um_kernel_row *row)
{
	double groups = spec->compute_units * floor(spec->waves_per_unit / waves_of(spec, row));
	double all = (double)row->grid_x * (double)row->grid_y * (double)row->grid_z;

	groups = groups > all ? all : groups;
	return groups < 1 ? 1 : (uint32_t)groups;
}

/* A file from anyone may say any number. */
static int64_t sum_known(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a == UM_NULL ? 0 : a, b == UM_NULL ? 0 : b, &sum))
		return a < 0 ? 0 : INT64_MAX;
	return sum;
}

/*
 * How many touches a group makes at once, all of its lanes one access each: of its lanes' accesses a
 * touch is what came to another page. Where nobody counted them, each of its waves makes one.
 */
static double touches_at_once(const struct um_machine_spec *spec, const struct um_kernel_row *row,
			      const struct um_groups *groups)
{
	double lanes = (double)row->block_x * (double)row->block_y * (double)row->block_z;
	double accesses = (double)sum_known(sum_known(row->reads, row->writes), row->atomics);

	if (accesses < 1)
		return fmin(waves_of(spec, row), spec->waves_per_unit);
	return fmax(lanes, 1) * (double)um_groups_touches(groups) / accesses;
}

/* Estimated. */
static um_ns roofline_ns(const struct um_simulation_state *state, int64_t bytes, int64_t accesses)
{
	const struct um_machine_spec *spec = um_machine_spec(state->machine);
	double scale = state->request->estimate_scale, ns = 0;

	if (bytes > 0)
		ns = (double)bytes * 1e9 / spec->memory_bytes_per_s;
	if (accesses > 0 && spec->accesses_per_s > 0)
		ns = fmax(ns, (double)accesses * 1e9 / spec->accesses_per_s);
	ns = ceil(scale > 0 ? ns * scale : ns);
	return ns < MOST_NS ? (um_ns)ns : (um_ns)MOST_NS;
}

um_ns um_kernel_fill_ns(const struct um_simulation_state *state, int64_t bytes)
{
	return roofline_ns(state, bytes, 0);
}

um_ns um_kernel_compute_ns(struct um_simulation_state *state, const struct um_kernel_row *row)
{
	const struct um_kernel_times *times = state->request->kernel_times;
	uint64_t measured = times ? um_kernel_times_find(times, row) : 0;

	if (measured)
		return measured;
	if (times)
		um_ignore(state, "measured compute times of some kernels",
			  "no launch of their name and shape was measured: they are estimated");
	return roofline_ns(state, sum_known(row->bytes_read, row->bytes_written),
			   sum_known(sum_known(row->reads, row->writes), row->atomics));
}

/* At least 1, and no more than a client faults on at once. */
static uint32_t whole(double touches, const struct um_fault_path *path)
{
	double most = path->entry_ns ? path->accesses : UINT16_MAX;

	touches = floor(touches + 0.5);
	touches = touches < most ? touches : most;
	return touches < 1 ? 1 : (uint32_t)touches;
}

/*
 * What a touch takes, of which so many are made at once. Where there is less than one an access, the
 * others are of the page that was touched just before: caches have that, and only its bytes take time.
 */
static um_ns time_of_touch(um_ns ns, double touches)
{
	return (um_ns)((double)ns / fmax(touches, 1));
}

void um_kernel_shape(struct um_kernel_shape *shape, const struct um_simulation_state *state,
		     const struct um_kernel_row *row, const struct um_groups *groups)
{
	const struct um_machine_spec *spec = um_machine_spec(state->machine);
	struct um_driver *driver = state->driver;
	struct um_fault_path path = {0};
	double touches = touches_at_once(spec, row, groups);
	double waves = fmin(waves_of(spec, row), spec->waves_per_unit);
	bool stores = sum_known(row->writes, row->atomics) > 0;

	if (driver->ops->fault_path)
		driver->ops->fault_path(driver, &path);
	*shape = (struct um_kernel_shape){
		.reads_most = 1,
		.writes_most = whole(stores ? touches * path.stores : 1, &path),
		.waves = (uint32_t)(waves / (touches > 1 ? touches : 1) + 0.5),
		.read_ns = time_of_touch(path.touch_ns, touches),
		.write_ns = time_of_touch(path.store_ns, touches),
	};
	if (driver->ops->faults_side_by_side)
		shape->reads_most = driver->ops->faults_side_by_side(driver, whole(touches, &path));
	if (shape->writes_most < shape->reads_most)
		shape->writes_most = shape->reads_most;
}
