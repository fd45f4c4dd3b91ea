/*
 * Prefetches that the kernel behind them has to wait for, although the device was busy with something
 * else before. "prefetch-stream": on the stream of that work, a prefetch starts when it has ended; on a
 * stream of its own it would run beside it. "prefetch-late": it stands behind that work, one launch too
 * late.
 */
#include "finding_calls.h"

#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What a line of prefetches is for. */
struct purpose {
	const struct um_fact_op *call, *launch, *before; /* that needs it; the launch before that */
	int64_t moved_bytes, busy_ns;
	size_t calls; /* like it */
};

static const struct um_fact_op *launch_before(const struct um_facts *facts,
					      const struct um_fact_op *op)
{
	while (op-- > facts->ops)
		if (op->kind == UM_OP_LAUNCH && !op->result)
			return op;
	return NULL;
}

static int64_t duration(const struct um_fact_op *op)
{
	return op->run_start_ns == UM_NULL || op->run_end_ns == UM_NULL
		       ? 0
		       : op->run_end_ns - op->run_start_ns;
}

/* Only prefetches to a device that one kernel needs, which is always the same. */
static struct purpose purpose_of(const struct um_facts *facts, const struct um_call_line *line)
{
	struct purpose purpose = {0};
	int64_t pages;

	for (size_t i = 0; i < line->count; i++) {
		const struct um_fact_op *call = line->calls[i];
		const struct um_fact_op *next = um_facts_next_use(facts, call, &pages);

		if (call->device < 0 || !next || next->kind != UM_OP_LAUNCH || !next->kernel)
			continue;
		if (purpose.launch && strcmp(purpose.launch->kernel, next->kernel) != 0)
			return (struct purpose){0};
		if (!purpose.launch || !purpose.before) {
			purpose.call = call;
			purpose.launch = next;
			purpose.before = launch_before(facts, next);
		}
		purpose.moved_bytes += (int64_t)call->traffic.moved_to_device;
		purpose.busy_ns += duration(call);
		purpose.calls++;
	}
	return purpose;
}

/* Allocations that the line prefetches, as rules of a policy; NULL: out of memory. */
static const char *rules_of(struct um_finding_draft *draft, const struct um_call_line *line,
			    const struct purpose *purpose, bool own, unsigned ahead)
{
	const char *slash = line->at.text ? strrchr(line->at.text, '/') : NULL;
	const char *place = um_finding_quote(draft->out, slash ? slash + 1 : line->at.text);
	const char *kernel = um_finding_quote(draft->out, purpose->launch->kernel);
	const char *text;

	if (!place || !kernel)
		return NULL;
	text = um_finding_text(draft->out, "program: {without: [%s]}\nprefetch:\n", place);
	for (size_t i = 0; i < draft->finding->allocation_count && text; i++) {
		const struct um_fact_allocation *allocation =
			um_facts_allocation(draft->facts, draft->finding->allocations[i]);

		text = um_finding_text(draft->out,
				       "%s  - on: {index: %lld}\n    to: gpu%lld\n    before: %s\n"
				       "    ahead: %u\n    stream: %s\n",
				       text, (long long)(allocation ? allocation->index : 0),
				       (long long)purpose->call->device, kernel, ahead,
				       own ? "own" : "kernel");
	}
	return text;
}

/* "(char *)data + 4096, 65536": what the call names; NULL: out of memory. */
static const char *what_of(struct um_finding_draft *draft, const struct um_fact_op *call)
{
	const struct um_fact_allocation *one = um_facts_allocation(draft->facts, call->allocation);
	const struct um_fact_group group = {&one, 1, one ? one->bytes : 0};
	const char *pointer = one ? um_group_pointer(&group) : "p";

	if (call->offset_bytes)
		return um_finding_text(draft->out, "(char *)%s + %lld, %lld", pointer,
				       (long long)call->offset_bytes, (long long)call->bytes);
	return um_finding_text(draft->out, "%s, %lld", pointer, (long long)call->bytes);
}

static int add_change(struct um_finding_draft *draft, const struct um_call_line *line,
		      const struct purpose *purpose, bool own, unsigned ahead)
{
	const char *what = what_of(draft, purpose->call);
	const char *device = um_device_code(draft, (int)purpose->call->device);
	const char *code =
		what && device
			? um_finding_text(
				  draft->out, "hipMemPrefetchAsync(%s, %s, %s);%s%s", what, device,
				  own ? "prefetch_stream" : "stream",
				  own ? " // a stream of its own, made with hipStreamNonBlocking"
				      : "",
				  ahead ? " // before the launch before" : "")
			: NULL;
	const char *policy = rules_of(draft, line, purpose, own, ahead);

	if (!code || !policy)
		return UM_ENOMEM;
	return um_finding_change(draft->out, draft->finding, &line->at, code, policy, NULL);
}

static int add_evidence(struct um_finding_draft *draft, const struct purpose *purpose)
{
	int error = um_draft_moved(draft, "moved by the prefetches", UM_UNIT_BYTES,
				   purpose->moved_bytes);

	if (!error)
		error = um_draft_moved(draft, "time that they take", UM_UNIT_NS, purpose->busy_ns);
	if (!error)
		error = um_finding_evidence_text(draft->out, draft->finding, "for the kernel",
						 draft->facts->accesses, "%s",
						 purpose->launch->kernel);
	if (!error && purpose->before->kernel)
		error = um_finding_evidence_text(draft->out, draft->finding, "launched before it",
						 draft->facts->accesses, "%s",
						 purpose->before->kernel);
	return error ? error
		     : um_finding_kernel(draft->out, draft->finding, purpose->launch->kernel);
}

static int begin(struct um_finding_draft *draft, const struct um_call_line *line,
		 const struct purpose *purpose)
{
	int error = um_finding_begin_calls(draft, line);

	if (error)
		return error;
	draft->finding->concerned_bytes = purpose->moved_bytes;
	draft->finding->concerned_ns = purpose->busy_ns;
	return 0;
}

static bool is_useful(const struct purpose *purpose, const struct um_call_line *line)
{
	return line->at.text && purpose->before && purpose->moved_bytes > 0;
}

/* --- on a stream where it cannot overlap --- */

static int look_at_stream(const struct um_call_line *line, void *context)
{
	struct um_finding_draft *draft = context;
	struct purpose purpose = purpose_of(draft->facts, line);
	int error;

	if (!is_useful(&purpose, line) || purpose.call->stream != purpose.before->stream ||
	    purpose.before->op > purpose.call->op)
		return 0;
	error = begin(draft, line, &purpose);
	if (!error)
		error = um_draft_title(draft, "a prefetch of %s waits for the kernel before it",
				       draft->finding->subject);
	if (!error)
		error = um_draft_because(draft,
					 "It is on the stream of that kernel, so that link and "
					 "device take turns.");
	if (!error)
		error = add_evidence(draft, &purpose);
	return error ? error : add_change(draft, line, &purpose, true, 0);
}

static int find_stream(const struct um_finding_rule *rule, const struct um_facts *facts,
		       struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_call_lines(facts, UM_OP_PREFETCH, look_at_stream, &draft);
}

const struct um_finding_rule um_finding_prefetch_stream = {
	.name = "prefetch-stream",
	.help = "prefetches on a stream where they cannot overlap with the kernel before",
	.find = find_stream,
};

/* --- too late --- */

static int look_at_time(const struct um_call_line *line, void *context)
{
	struct um_finding_draft *draft = context;
	struct purpose purpose = purpose_of(draft->facts, line);
	int error;

	if (!is_useful(&purpose, line) || purpose.before->op > purpose.call->op)
		return 0;
	error = begin(draft, line, &purpose);
	if (!error)
		error = um_draft_title(draft, "a prefetch of %s comes too late to overlap",
				       draft->finding->subject);
	if (!error)
		error = um_draft_because(draft, "It is asked for when the kernel before has ended; "
						"one launch earlier it would run beside that.");
	if (!error)
		error = add_evidence(draft, &purpose);
	if (!error)
		error = add_change(draft, line, &purpose, true, 1);
	return error ? error : add_change(draft, line, &purpose, false, 1);
}

static int find_late(const struct um_finding_rule *rule, const struct um_facts *facts,
		     struct um_findings *out)
{
	struct um_finding_draft draft = {.rule = rule, .facts = facts, .out = out};

	return um_facts_call_lines(facts, UM_OP_PREFETCH, look_at_time, &draft);
}

const struct um_finding_rule um_finding_prefetch_late = {
	.name = "prefetch-late",
	.help = "prefetches that come when the device waits for them already",
	.find = find_late,
};
