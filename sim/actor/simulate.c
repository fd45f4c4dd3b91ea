#include "simulation.h"

#include "sim/machine/machine_check.h"

#include "trace/base/error.h"
#include "trace/base/units.h"

#include <stdlib.h>
#include <string.h>

/* Of managed allocations; any driver's largest unit. */
#define DEFAULT_ALIGNMENT_BYTES (2ull << 20)

void um_ignore(struct um_simulation_state *state, const char *what, const char *why)
{
	char **grown;

	for (size_t i = 0; i < state->told_count; i++)
		if (!strcmp(state->told[i], what))
			return;
	grown = realloc(state->told, (state->told_count + 1) * sizeof(*grown));
	if (grown) {
		state->told = grown;
		state->told[state->told_count] = strdup(what);
		state->told_count += state->told[state->told_count] != NULL;
	}
	if (state->request->ignored)
		state->request->ignored(state->request->ignored_context, what, why);
}

static void driver_ignores(void *context, const char *what, const char *why)
{
	um_ignore(context, what, why);
}

/* --- what several actors ask --- */

/* 0: there is no such kind. */
static enum um_home home_of(int kind)
{
	switch (kind) {
	case UM_ALLOCATION_MANAGED:
		return UM_HOME_MANAGED;
	case UM_ALLOCATION_DEVICE:
		return UM_HOME_DEVICE;
	case UM_ALLOCATION_PINNED:
	case UM_ALLOCATION_REGISTERED:
	case UM_ALLOCATION_PAGEABLE:
		return UM_HOME_HOST;
	default:
		return 0;
	}
}

/*
 * Where the next allocation begins: one behind the other, aligned as the driver has it. Pageable
 * memory lies as far from there as it did in the program: nobody aligned it for a device.
 */
static uint64_t take_address(struct um_simulation_state *state, const struct um_allocation_row *row,
			     int kind, uint64_t bytes)
{
	uint64_t alignment = state->driver->ops->alignment_bytes;
	uint64_t address;

	alignment = alignment ? alignment : DEFAULT_ALIGNMENT_BYTES;
	address = (state->next_address + alignment - 1) & ~(alignment - 1);
	if (kind == UM_ALLOCATION_PAGEABLE && row->address != UM_NULL)
		address += (uint64_t)row->address & (alignment - 1) & ~(UM_PAGE_BYTES - 1ull);
	state->next_address = address + bytes;
	return address;
}

static int make_allocation(struct um_simulation_state *state, const struct um_allocation_row *row,
			   um_ns *done_at)
{
	const struct um_driver_ops *ops = state->driver->ops;
	int kind = um_player_kind(state->player, row);
	enum um_home home = home_of(kind);
	um_device_id device = row->device >= 0 ? (um_device_id)row->device : 0;
	struct um_alloc alloc = {
		.allocation = (um_alloc_id)row->allocation,
		.kind = (uint32_t)kind,
		.flags = (uint32_t)row->flags,
		.bytes = (uint64_t)row->bytes,
		.device = device,
		.op = row->op > 0 ? (uint32_t)row->op : 0,
	};
	uint64_t bytes = (alloc.bytes + UM_PAGE_BYTES - 1) & ~(uint64_t)(UM_PAGE_BYTES - 1);
	int error = 0;

	if (!home)
		return um_fail(UM_EFORMAT, "allocation %lld is of a kind that there is not",
			       (long long)row->allocation);
	if (row->bytes < 0)
		return um_fail(UM_EFORMAT, "allocation %lld has %lld bytes",
			       (long long)row->allocation, (long long)row->bytes);
	alloc.address = take_address(state, row, kind, bytes);
	if (ops->home && (kind == UM_ALLOCATION_MANAGED || kind == UM_ALLOCATION_PAGEABLE))
		home = ops->home(state->driver, &alloc);
	if (home == UM_HOME_DEVICE && (uint32_t)device < um_machine_spec(state->machine)->devices &&
	    bytes > um_machine_memory_free(state->machine, device))
		error = ops->on_pressure(state->driver,
					 &(struct um_pressure){device, bytes, alloc.op}, done_at);
	if (!error)
		error = um_machine_add(state->machine, alloc.allocation, home, device, alloc.bytes);
	state->far_allocations +=
		home == UM_HOME_HOST ||
		(home == UM_HOME_DEVICE && um_machine_spec(state->machine)->devices > 1);
	return error ? error : ops->on_alloc(state->driver, &alloc, done_at);
}

int um_simulation_make(struct um_simulation_state *state, int64_t allocation, int64_t op,
		       um_ns *done_at)
{
	const struct um_allocation_row *row;

	if (allocation > 0 && allocation <= UINT32_MAX &&
	    um_machine_home(state->machine, (um_alloc_id)allocation))
		return 0;
	row = um_source_allocation(state->source, allocation);
	if (!row || allocation <= 0 || allocation > UINT32_MAX)
		return um_fail(UM_EFORMAT, "op %lld is about allocation %lld, which there is not",
			       (long long)op, (long long)allocation);
	if (row->freed_op != UM_NULL && row->freed_op < op)
		return um_fail(UM_EFORMAT,
			       "op %lld is about allocation %lld, which op %lld has freed",
			       (long long)op, (long long)allocation, (long long)row->freed_op);
	return make_allocation(state, row, done_at);
}

int um_simulation_ensure(struct um_simulation_state *state, int64_t allocation, int64_t op)
{
	um_ns done_at = um_engine_now(state->engine);

	return um_simulation_make(state, allocation, op, &done_at);
}

bool um_simulation_takes_advice(struct um_simulation_state *state, int64_t allocation)
{
	const struct um_allocation_row *row;

	if (um_machine_home(state->machine, (um_alloc_id)allocation) == UM_HOME_MANAGED)
		return true;
	row = um_source_allocation(state->source, allocation);
	if (row && um_player_kind(state->player, row) == UM_ALLOCATION_MANAGED)
		um_ignore(state, "advice and prefetches",
			  "managed memory is pinned host memory here: they succeed, and nothing "
			  "happens");
	return false;
}

bool um_simulation_prefetch_waits(const struct um_simulation_state *state)
{
	const struct um_driver_ops *ops = state->driver->ops;

	return ops->prefetch_waits && ops->prefetch_waits(state->driver);
}

int um_simulation_advise(struct um_simulation_state *state, const struct um_advice *advice,
			 um_ns *done_at)
{
	const struct um_driver_ops *ops = state->driver->ops;

	if (ops->on_advice)
		return ops->on_advice(state->driver, advice, done_at);
	um_ignore(state, "advice", "the driver model takes none");
	return 0;
}

um_device_id um_simulation_device(const struct um_simulation_state *state,
				  const struct um_op_row *op)
{
	int64_t devices = um_machine_spec(state->machine)->devices;

	return op->device >= 0 && op->device < devices ? (um_device_id)op->device : 0;
}

struct um_page_range um_simulation_pages(const struct um_simulation_state *state,
					 int64_t allocation, int64_t offset_bytes, int64_t bytes)
{
	um_alloc_id id = (um_alloc_id)allocation;
	uint64_t all = (uint64_t)um_machine_pages(state->machine, id) * UM_PAGE_BYTES;
	uint64_t first = offset_bytes > 0 ? (uint64_t)offset_bytes : 0;
	uint64_t length = bytes > 0 ? (uint64_t)bytes : 0;

	if (first >= all || !length)
		return (struct um_page_range){id, 0, 0};
	if (length > all - first)
		length = all - first;

	uint64_t first_page = first / UM_PAGE_BYTES;
	uint64_t last_page = (first + length - 1) / UM_PAGE_BYTES;

	return (struct um_page_range){id, (um_page)first_page,
				      (uint32_t)(last_page - first_page + 1)};
}

void um_simulation_report(struct um_simulation_state *state, const struct um_op_row *op,
			  um_ns start, um_ns end)
{
	struct um_op_row row = *op;

	row.start_ns = (int64_t)start;
	row.end_ns = (int64_t)end;
	um_probe_op(state->probe, &row);
}

static bool is_all_done(const struct um_simulation_state *state)
{
	return um_host_at_end(state->host) && um_streams_idle(state->streams);
}

int um_simulation_check_exit(struct um_simulation_state *state)
{
	const struct um_driver_ops *ops = state->driver->ops;

	if (state->has_exited || !is_all_done(state))
		return 0;
	state->has_exited = true;
	return ops->on_exit ? ops->on_exit(state->driver) : 0;
}

/* --- putting it together --- */

static bool takes_page_bytes(const struct um_driver_ops *ops, uint64_t page_bytes)
{
	const uint64_t *size = ops->page_bytes;

	if (!page_bytes || page_bytes == ops->default_page_bytes)
		return true;
	while (size && *size && *size != page_bytes)
		size++;
	return size && *size;
}

static int make_params(struct um_simulation_state *state, const struct um_driver_ops *ops)
{
	size_t count = 0;
	int error = 0;

	state->env.params = state->policy->params;
	if (state->env.params)
		return 0;
	while (ops->params && ops->params[count].name)
		count++;
	state->own_params = calloc(count + 1, sizeof(*state->own_params));
	if (!state->own_params)
		return um_fail(UM_ENOMEM, "no memory for the driver's parameters");
	for (size_t i = 0; i < count && !error; i++)
		error = um_param_default(&state->own_params[i], &ops->params[i]);
	state->env.params = state->own_params;
	return error;
}

/* env.evict: none where the driver's own order is meant, in whatever words. */
static int make_evict_choice(struct um_simulation_state *state, const struct um_driver_ops *ops)
{
	const struct um_evict_ops *order = state->policy->evict;
	uint64_t page_bytes = state->policy->page_bytes;
	int error = 0;

	if (!order || order == ops->evict)
		return 0;
	if (!ops->evict)
		return um_fail(UM_EINVAL, "driver %s takes no eviction order", ops->name);
	if (order->needs_future)
		error = um_look_ahead(&state->future, state,
				      page_bytes ? page_bytes : ops->default_page_bytes);
	state->evict = (struct um_evict_choice){order, state->policy->evict_seed, state->future};
	state->env.evict = &state->evict;
	return error;
}

static int make_driver(struct um_simulation_state *state)
{
	const struct um_driver_ops *ops = state->policy->driver;
	char text[32];
	int error;

	if (!ops)
		ops = um_driver_find(UM_DRIVER_DEFAULT);
	if (!takes_page_bytes(ops, state->policy->page_bytes))
		return um_fail(UM_EINVAL, "driver %s has no page size of %s", ops->name,
			       um_format_bytes(text, sizeof(text), state->policy->page_bytes));
	error = make_params(state, ops);
	if (!error)
		error = make_evict_choice(state, ops);
	state->env.machine = state->machine;
	state->env.engine = state->engine;
	state->env.faults = state->faults;
	state->env.probe = state->probe;
	state->env.page_bytes = state->policy->page_bytes;
	state->env.ignored = driver_ignores;
	state->env.ignored_context = state;
	if (!error)
		error = ops->create(&state->driver, &state->env);
	return error ? error : um_fault_buffers_attach(state->faults, state->driver);
}

/* What names a device that the machine lacks is device 0's, which has to be said. */
static int compare_devices(struct um_simulation_state *state)
{
	int64_t devices = state->spec.devices, seen, used = 0;
	int error = um_db_integer(state->request->trace, "SELECT COUNT(*) FROM device WHERE ? = 0",
				  0, &seen);

	if (!error && seen > devices)
		error = um_db_integer(
			state->request->trace,
			"SELECT MAX(device) + 1 FROM op WHERE kind = 'launch' AND op > ?", 0,
			&used);
	if (!error && used > devices)
		um_ignore(state, "devices",
			  "the program used more than the machine has: what ran on those runs on "
			  "device 0");
	return error;
}

static int make(struct um_simulation_state *state)
{
	const struct um_simulation *request = state->request;
	int error = um_engine_create(&state->engine);

	state->spec = *request->machine;
	if (!request->traced)
		state->spec.tracing = (struct um_tracing_spec){0};

	if (!error)
		error = um_machine_create(&state->machine, &state->spec, state->engine,
					  state->probe, state->policy->memory_bytes);
	if (!error)
		error = um_fault_buffers_create(&state->faults, state->engine, state->probe,
						request->machine->devices);
	if (!error)
		error = make_driver(state);
	if (!error)
		error = compare_devices(state);
	if (!error)
		error = um_source_open(&state->source, request->trace, request->cache);
	if (!error)
		error = um_streams_create(&state->streams, state);
	if (!error)
		error = um_player_create(&state->player, state);
	if (!error)
		error = um_host_create(&state->host, state);
	return error;
}

static void unmake(struct um_simulation_state *state)
{
	um_host_destroy(state->host);
	um_streams_destroy(state->streams);
	um_player_destroy(state->player);
	um_source_close(state->source);
	if (state->driver)
		state->driver->ops->destroy(state->driver);
	um_future_destroy(state->future);
	um_fault_buffers_destroy(state->faults);
	um_machine_destroy(state->machine);
	um_engine_destroy(state->engine);
	free(state->own_params);
	for (size_t i = 0; i < state->told_count; i++)
		free(state->told[i]);
	free(state->told);
}

/*
 * Runs all events, in debug builds with the machine's books checked after each. The check goes
 * before the machine does, and watches nothing then.
 */
static int run_events(struct um_simulation_state *state)
{
#ifdef UM_CHECK_EVERY_EVENT
	struct um_machine_check *check;
	int error = um_machine_check_create(&check, state->machine, state->probe);

	if (error)
		return error;
	um_engine_watch(state->engine, um_machine_check_event, check);
	error = um_engine_run(state->engine);
	if (!error)
		um_machine_check_walk(check);
	um_engine_watch(state->engine, NULL, NULL);
	um_machine_check_destroy(check);
	return error;
#else
	return um_engine_run(state->engine);
#endif
}

static void report_links(struct um_simulation_state *state)
{
	uint32_t devices = um_machine_spec(state->machine)->devices;

	for (um_device_id i = 0; i < (um_device_id)devices; i++)
		um_probe_link_time(state->probe, i, um_machine_link_busy(state->machine, i, true),
				   um_machine_link_busy(state->machine, i, false));
}

int um_simulate(const struct um_simulation *request)
{
	struct um_simulation_state state = {
		.request = request, .policy = request->policy, .probe = request->probe};
	int error = make(&state);

	if (!error)
		error = um_host_start(state.host);
	if (!error)
		error = run_events(&state);
	if (!error && !state.has_exited)
		error = um_fail(UM_EFORMAT,
				"%s: operations wait for each other, which no program's can",
				um_db_path(request->trace));
	if (!error)
		report_links(&state);
	unmake(&state);
	return error;
}
