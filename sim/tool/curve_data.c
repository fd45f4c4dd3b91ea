/* A curve for other programs: JSON and CSV. */
#include "curve_command.h"

#include "trace/base/error.h"

#include <jansson.h>

static json_t *point_of(const struct um_curve_point *point)
{
	if (point->error)
		return json_pack("{s:I, s:s}", "memory_bytes", (json_int_t)point->memory_bytes,
				 "error", point->message);
	return json_pack("{s:I, s:I, s:I, s:I, s:I}", "memory_bytes",
			 (json_int_t)point->memory_bytes, "device_faults",
			 (json_int_t)point->device_faults, "host_faults",
			 (json_int_t)point->host_faults, "bytes_to_device",
			 (json_int_t)point->bytes_to_device, "bytes_to_host",
			 (json_int_t)point->bytes_to_host);
}

static json_t *points_of(const struct um_curve *curve)
{
	json_t *all = json_array();

	for (size_t i = 0; i < curve->count; i++)
		json_array_append_new(all, point_of(&curve->points[i]));
	return all;
}

static json_t *knees_of(const struct um_curve_result *result)
{
	const struct um_curve_point *points = result->curve.points;
	json_t *all = json_array();

	for (size_t i = 0; i < result->knee_count; i++) {
		const struct um_curve_point *above = &points[result->knees[i].above];
		const struct um_curve_point *below = &points[result->knees[i].below];

		json_array_append_new(all, json_pack("{s:I, s:I, s:I, s:I}", "from_memory_bytes",
						     (json_int_t)above->memory_bytes,
						     "down_to_memory_bytes",
						     (json_int_t)below->memory_bytes, "from_bytes",
						     (json_int_t)um_curve_bytes(above), "to_bytes",
						     (json_int_t)um_curve_bytes(below)));
	}
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

static json_t *evict_of(const struct um_policy *policy)
{
	const struct um_evict_ops *order = policy->evict ? policy->evict : policy->driver->evict;
	const struct um_evict_ops *hypothetical = um_policy_hypothetical_order(policy);

	return order ? json_pack("{s:s, s:s?}", "order", order->name, "hypothetical",
				 hypothetical ? hypothetical->hypothetical : NULL)
		     : json_null();
}

static const char *method_of(const struct um_curve *curve)
{
	static const char *const names[] = {[UM_CURVE_REPLAYS] = "replays",
					    [UM_CURVE_STACK] = "stack",
					    [UM_CURVE_LISTS] = "lists"};

	return names[curve->method];
}

int um_curve_print_json(FILE *out, const struct um_curve_result *result)
{
	const struct um_replay *replay = result->run.replays;
	const struct um_curve *curve = &result->curve;
	json_t *all = json_pack(
		"{s:s, s:s, s:s, s:s, s:o, s:s?, s:s?, s:s, s:I, s:I, s:I, s:s, s:s, s:o, s:I, s:s, s:s?, "
		"s:o, s:o}",
		"trace", replay->trace_path, "policy", replay->policy_name, "driver",
		replay->driver->name, "driver_validated", replay->driver->validated, "evict",
		evict_of(replay->policy), "xnack", replay->xnack, "xnack_source",
		replay->xnack_source, "machine", replay->machine->name, "machine_memory_bytes",
		(json_int_t)replay->machine->memory_bytes, "page_bytes",
		(json_int_t)replay->page_bytes, "footprint_bytes",
		(json_int_t)result->footprint_bytes, "link", replay->machine->link.name, "accesses",
		replay->accesses, "ignored", ignored_of(replay), "launches_not_recorded",
		(json_int_t)result->run.gaps.not_recorded, "method", method_of(curve),
		"why_replays", curve->why_replays, "points", points_of(curve), "knees",
		knees_of(result));
	int failed = !all || json_dumpf(all, out, JSON_INDENT(2)) || fputc('\n', out) == EOF;

	json_decref(all);
	return failed ? um_fail(UM_EIO, "cannot write the results as JSON") : 0;
}

/* A point that failed has its memory only. */
int um_curve_print_csv(FILE *out, const struct um_curve_result *result)
{
	fputs("memory_bytes,device_faults,host_faults,bytes_to_device,bytes_to_host\n", out);
	for (size_t i = 0; i < result->curve.count; i++) {
		const struct um_curve_point *point = &result->curve.points[i];

		fprintf(out, "%llu,", (unsigned long long)point->memory_bytes);
		if (point->error)
			fputs(",,,\n", out);
		else
			fprintf(out, "%llu,%llu,%llu,%llu\n",
				(unsigned long long)point->device_faults,
				(unsigned long long)point->host_faults,
				(unsigned long long)point->bytes_to_device,
				(unsigned long long)point->bytes_to_host);
	}
	return ferror(out) ? um_fail_errno(UM_EIO, "writing") : 0;
}
