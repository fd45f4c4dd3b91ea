#include "replay.h"

#include "trace/base/error.h"

#include <jansson.h>

static json_t *causes_of(const struct um_totals *totals)
{
	json_t *all = json_object();

	for (const struct um_replay_cause *cause = um_replay_causes; cause->name; cause++)
		json_object_set_new(all, cause->name,
				    json_pack("{s:I, s:I}", "to_device",
					      (json_int_t)cause->to_device(totals), "to_host",
					      (json_int_t)cause->to_host(totals)));
	return all;
}

static json_t *totals_of(const struct um_totals *totals)
{
	return json_pack(
		"{s:I, s:I, s:I, s:I, s:o, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I}",
		"device_faults", (json_int_t)totals->device_faults, "host_faults",
		(json_int_t)totals->host_faults, "bytes_to_device",
		(json_int_t)totals->bytes_to_device, "bytes_to_host",
		(json_int_t)totals->bytes_to_host, "bytes_by_cause", causes_of(totals),
		"remote_lines_read", (json_int_t)totals->remote_lines_read, "remote_lines_written",
		(json_int_t)totals->remote_lines_written, "remote_requests",
		(json_int_t)totals->remote_requests, "remote_lines_uncounted",
		(json_int_t)totals->remote_lines_uncounted, "link_to_device_ns",
		(json_int_t)totals->link_to_device_ns, "link_to_host_ns",
		(json_int_t)totals->link_to_host_ns, "queue_evictions",
		(json_int_t)totals->queue_evictions, "queues_stopped_ns",
		(json_int_t)totals->queues_stopped_ns, "dropped_faults",
		(json_int_t)totals->dropped_faults, "dropped_waited_ns",
		(json_int_t)totals->dropped_waited_ns, "dropped_ns", (json_int_t)totals->dropped_ns,
		"end_ns", (json_int_t)totals->end_ns);
}

static json_t *params_of(const struct um_replay *replay)
{
	const struct um_param *params = replay->driver->params;
	json_t *all = json_object();
	char text[64];

	for (size_t i = 0; params && params[i].name; i++)
		json_object_set_new(
			all, params[i].name,
			json_string(um_param_text(text, sizeof(text), &replay->policy->params[i])));
	return all;
}

static json_t *ignored_of(const struct um_replay *replay)
{
	json_t *all = json_array();

	for (size_t i = 0; i < replay->ignored_count; i++)
		json_array_append_new(all, json_pack("{s:s, s:s}", "what", replay->ignored[i].what,
						     "why", replay->ignored[i].why));
	return all;
}

/* The order in which memory is given up; null where the driver has none. */
static json_t *order_of(const struct um_replay *replay)
{
	const struct um_policy *policy = replay->policy;
	const struct um_evict_ops *order = policy->evict ? policy->evict : replay->driver->evict;
	const struct um_evict_ops *hypothetical = um_policy_hypothetical_order(policy);
	json_t *all;

	if (!order)
		return json_null();
	all = json_pack("{s:s, s:s?}", "order", order->name, "hypothetical",
			hypothetical ? hypothetical->hypothetical : NULL);
	if (order->takes_seed)
		json_object_set_new(all, "seed", json_integer(policy->evict_seed));
	return all;
}

/* Of a multiple; else null. */
static json_t *footprint_of(const struct um_replay *replay)
{
	uint64_t bytes = replay->policy->footprint_bytes;

	return bytes ? json_integer((json_int_t)bytes) : json_null();
}

static json_t *replay_of(const struct um_replay *replay, const struct um_replay_run *run)
{
	return json_pack(
		"{s:s, s:s, s:s, s:s, s:s, s:o, s:o, s:s?, s:s?, s:s, s:I, s:I, s:s?, s:o, s:s, s:s, s:o, "
		"s:I, s:I, s:I, s:b, s:s?, s:o, s:o, s:o}",
		"trace", replay->trace_path, "output", replay->output_path, "policy",
		replay->policy_name, "driver", replay->driver->name, "driver_validated",
		replay->driver->validated, "driver_parameters", params_of(replay), "evict",
		order_of(replay), "xnack", replay->xnack, "xnack_source", replay->xnack_source,
		"machine", replay->machine->name, "page_bytes", (json_int_t)replay->page_bytes,
		"memory_bytes", (json_int_t)replay->memory_bytes, "memory_source",
		um_replay_memory_source(replay), "footprint_bytes", footprint_of(replay), "link",
		replay->machine->link.name, "accesses", replay->accesses, "ignored",
		ignored_of(replay), "outside_accesses", (json_int_t)run->gaps.outside_accesses,
		"launches", (json_int_t)run->gaps.launches, "launches_not_recorded",
		(json_int_t)run->gaps.not_recorded, "host_time", run->arguments->host_time,
		"kernel_times", run->arguments->kernel_times, "compute_estimated",
		um_replay_sensitivity_json(replay, run), "totals", totals_of(&replay->totals),
		"ideal", um_replay_ideal_json(replay));
}

int um_replay_print_json(FILE *out, const struct um_replay_run *run)
{
	json_t *all = json_array();
	int failed = !all;

	for (size_t i = 0; i < um_replay_done(run) && !failed; i++)
		failed = json_array_append_new(all, replay_of(&run->replays[i], run));
	failed = failed || json_dumpf(all, out, JSON_INDENT(2)) || fputc('\n', out) == EOF;
	json_decref(all);
	return failed ? um_fail(UM_EIO, "cannot write the results as JSON") : 0;
}
