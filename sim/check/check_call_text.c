/* Calls as people read them. */
#include "check_calls.h"

#include "trace/base/kernel_name.h"

#include <stdio.h>
#include <stdlib.h>

char *um_check_allocation_text(const struct um_check_allocation *allocation)
{
	char size[32], *name;

	um_check_format(size, sizeof(size), UM_CHECK_BYTES, (double)allocation->bytes);
	if (asprintf(&name, "%s%s#%lld %s %s", allocation->name ? allocation->name : "",
		     allocation->name ? " " : "", (long long)allocation->allocation,
		     allocation->kind, size) < 0)
		return NULL;
	return name;
}

/* Where a call's memory is: "4 KiB of x #1 managed 2 MiB, from 64 KiB on". */
static void put_memory(FILE *out, const struct um_check_side *side, int64_t id,
		       int64_t offset_bytes, int64_t bytes)
{
	size_t place = um_check_allocation_place(side, id);
	const struct um_check_allocation *allocation =
		place == SIZE_MAX ? NULL : &side->allocations[place];
	char *name = allocation ? um_check_allocation_text(allocation) : NULL, size[32];
	bool is_part = bytes != UM_NULL && (!allocation || bytes != allocation->bytes);

	if (is_part)
		fprintf(out, "%s of ",
			um_check_format(size, sizeof(size), UM_CHECK_BYTES, (double)bytes));
	fputs(name ? name : "memory that is no allocation", out);
	if (name && offset_bytes != UM_NULL && offset_bytes != 0)
		fprintf(out, " from %s on",
			um_check_format(size, sizeof(size), UM_CHECK_BYTES, (double)offset_bytes));
	free(name);
}

static void put_launch(FILE *out, const struct um_check_side *side, size_t op)
{
	const struct um_check_launch *launch = um_check_launch_of(side, op);
	struct um_kernel_name name;

	if (!launch) {
		fputs("launch", out);
		return;
	}
	name = um_kernel_name(launch->name);
	fprintf(out, "launch of %.*s, %lld x %lld x %lld groups of %lld x %lld x %lld lanes",
		(int)name.length, name.start, (long long)launch->groups[0],
		(long long)launch->groups[1], (long long)launch->groups[2],
		(long long)launch->lanes[0], (long long)launch->lanes[1],
		(long long)launch->lanes[2]);
}

static void put_place(FILE *out, int64_t device)
{
	if (device < 0)
		fputs("the host", out);
	else
		fprintf(out, "device %lld", (long long)device);
}

static void put_what(FILE *out, const struct um_check_side *side, const struct um_check_call *call)
{
	static const char *const verbs[] = {
		[UM_CHECK_CALL_ALLOC] = "allocation of ",
		[UM_CHECK_CALL_FREE] = "free of ",
		[UM_CHECK_CALL_ADVISE] = "advice ",
		[UM_CHECK_CALL_PREFETCH] = "prefetch of ",
		[UM_CHECK_CALL_ATTACH] = "attachment of ",
		[UM_CHECK_CALL_COPY] = "copy to ",
		[UM_CHECK_CALL_MEMSET] = "memset of ",
	};

	if (call->kind == UM_CHECK_CALL_LAUNCH) {
		put_launch(out, side, call->op);
		return;
	}
	fputs(verbs[call->kind], out);
	if (call->kind == UM_CHECK_CALL_ADVISE) {
		const char *word = um_word(um_advice_words, call->advice);

		fprintf(out, "%s (", word ? word : "?");
		put_place(out, call->device);
		fputs(") for ", out);
	}
	put_memory(out, side, call->allocation, call->offset_bytes, call->bytes);
	if (call->kind == UM_CHECK_CALL_COPY) {
		fputs(" from ", out);
		put_memory(out, side, call->source_allocation, call->source_offset_bytes,
			   call->bytes);
	}
	if (call->kind == UM_CHECK_CALL_PREFETCH) {
		fputs(" to ", out);
		put_place(out, call->device);
	}
	if (call->kind == UM_CHECK_CALL_ATTACH && call->value != UM_NULL)
		fprintf(out, ", flags %lld", (long long)call->value);
}

static void put_call(FILE *out, const struct um_check_side *side, const struct um_check_call *call)
{
	put_what(out, side, call);
	if (um_check_is_on_stream(call->kind) && call->stream)
		fprintf(out, " on stream %lld", (long long)call->stream);
}

char *um_check_call_text(const struct um_check_side *side, size_t call)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return NULL;
	put_call(out, side, &side->calls[call]);
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
