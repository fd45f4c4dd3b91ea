/*
 * How much memory of a device the program may use: bytes, a multiple of the program's footprint, or
 * what it had when it was traced.
 */
#include "policy.h"

#include "trace/base/error.h"
#include "trace/base/units.h"
#include "trace/db/trace_db.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TIMES_MAX  1e6
#define PAGE_BYTES 4096u

/* ---------------------------------------------------------------- as it is written */

int um_memory_limit_parse(struct um_memory_limit *out, const char *text)
{
	size_t length = strlen(text);
	char last = length ? text[length - 1] : '\0';
	int error;

	*out = (struct um_memory_limit){0};
	if (last == '%')
		return um_fail(UM_EINVAL, "\"%.48s\": a part of the footprint is written like 0.8x",
			       text);
	if (last != 'x')
		return um_parse_memory_bytes(text, &out->bytes);
	error = um_parse_multiple(text, &out->times);
	if (!error && out->times <= 0)
		error = um_fail(UM_EINVAL, "a device without memory runs nothing");
	if (!error && out->times > TIMES_MAX)
		error = um_fail(UM_EINVAL, "\"%.48s\" is too large", text);
	return error;
}

void um_policy_set_memory(struct um_policy *policy, const struct um_memory_limit *limit)
{
	policy->memory_bytes = limit->bytes;
	policy->memory_times = limit->times;
	policy->memory_source = UM_MEMORY_BY_OPTION;
}

/* ---------------------------------------------------------------- the footprint */

/* An allocation comes or goes at an op. */
struct step {
	int64_t op, bytes;
};

struct steps {
	struct step *at;
	size_t count, capacity;
};

static int add_step(struct steps *steps, int64_t op, int64_t bytes)
{
	if (steps->count == steps->capacity) {
		size_t capacity = steps->capacity ? 2 * steps->capacity : 256;
		struct step *grown = reallocarray(steps->at, capacity, sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "out of memory");
		steps->at = grown;
		steps->capacity = capacity;
	}
	steps->at[steps->count++] = (struct step){op, bytes};
	return 0;
}

/* A damaged file may say any size; what no machine has is the machine's to refuse. */
static int add_allocation(const void *row, void *context)
{
	const struct um_allocation_row *of = row;
	const int64_t most = INT64_C(1) << 48;
	int64_t bytes = of->bytes < 0 ? 0 : of->bytes > most ? most : of->bytes;
	int error;

	if (!of->kind || (strcmp(of->kind, "managed") != 0 && strcmp(of->kind, "device") != 0))
		return 0;
	bytes = (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	error = add_step(context, of->op == UM_NULL ? 0 : of->op, bytes);
	return error || of->freed_op == UM_NULL ? error : add_step(context, of->freed_op, -bytes);
}

/* What goes at an op is gone before something else comes. */
static int compare_steps(const void *left, const void *right)
{
	const struct step *a = left, *b = right;

	if (a->op != b->op)
		return a->op < b->op ? -1 : 1;
	return (a->bytes > b->bytes) - (a->bytes < b->bytes);
}

int um_policy_footprint(uint64_t *out, struct um_db *trace)
{
	struct steps steps = {0};
	int64_t now = 0, most = 0;
	int error = um_db_each(trace, &um_table_allocation, NULL, 0, add_allocation, &steps);

	if (steps.count)
		qsort(steps.at, steps.count, sizeof(*steps.at), compare_steps);
	for (size_t i = 0; i < steps.count; i++) {
		if (__builtin_add_overflow(now, steps.at[i].bytes, &now))
			now = INT64_MAX / 2;
		most = now > most ? now : most;
	}
	free(steps.at);
	*out = (uint64_t)most;
	return error;
}

static int settle_multiple(struct um_policy *policy, struct um_db *trace)
{
	int error = um_policy_footprint(&policy->footprint_bytes, trace);
	char text[32];
	double bytes;

	if (error)
		return error;
	if (!policy->footprint_bytes)
		return um_fail(UM_EINVAL,
			       "memory: %gx of nothing: %s has no managed or device memory; give "
			       "bytes",
			       policy->memory_times, um_db_path(trace));
	bytes = round(policy->memory_times * (double)policy->footprint_bytes);
	if (bytes < PAGE_BYTES || bytes >= 0x1p62)
		return um_fail(UM_EINVAL, "memory: %gx of %s is no device's memory",
			       policy->memory_times,
			       um_format_bytes(text, sizeof(text), policy->footprint_bytes));
	policy->memory_bytes = (uint64_t)bytes / PAGE_BYTES * PAGE_BYTES;
	return 0;
}

/* ---------------------------------------------------------------- as traced */

struct traced {
	const struct um_machine_spec *machine; /* that is simulated */
	uint64_t bytes;			       /* 0: not known, or of another machine */
};

static int take_memory(const void *row, void *context)
{
	const struct um_run_row *run = row;
	struct traced *traced = context;

	if (run->machine && strcmp(run->machine, traced->machine->name) == 0 &&
	    run->memory_bytes > 0)
		traced->bytes = (uint64_t)run->memory_bytes;
	return 0;
}

int um_policy_settle_memory(struct um_policy *policy, const struct um_machine_spec *machine,
			    struct um_db *trace)
{
	struct traced traced = {.machine = machine};
	int error = 0;

	if (policy->memory_times > 0) {
		error = settle_multiple(policy, trace);
	} else if (!policy->memory_bytes) {
		error = um_db_run(trace, take_memory, &traced);
		if (!error && traced.bytes && traced.bytes < machine->memory_bytes) {
			policy->memory_bytes = traced.bytes;
			policy->memory_source = UM_MEMORY_BY_TRACE;
		}
	}
	return error ? error : um_machine_check_memory(machine, policy->memory_bytes);
}
