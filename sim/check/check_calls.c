/* Calls are compared by a hash of what they ask for. */
#include "check_calls.h"

#include "check_edits.h"
#include "trace/base/error.h"
#include "trace/base/kernel_name.h"
#include "trace/base/sorted.h"

#include <stdlib.h>
#include <string.h>

bool um_check_is_on_stream(enum um_check_call_kind kind)
{
	return kind == UM_CHECK_CALL_PREFETCH || kind == UM_CHECK_CALL_COPY ||
	       kind == UM_CHECK_CALL_MEMSET || kind == UM_CHECK_CALL_LAUNCH;
}

/* --- which allocation a call names --- */

struct numbered {
	const struct um_check_allocation *allocation;
	size_t place;
};

/* Of a side's allocations, one each: the n-th of its kind and size, of those in the part or of all. */
struct numbers {
	uint32_t *nth;
	bool *is_inside;
};

static int by_kind_size_and_place(const void *left, const void *right)
{
	const struct numbered *a = left, *b = right;
	int kinds = strcmp(a->allocation->kind, b->allocation->kind);

	if (kinds)
		return kinds;
	if (a->allocation->bytes != b->allocation->bytes)
		return a->allocation->bytes > b->allocation->bytes ? 1 : -1;
	return (a->place > b->place) - (a->place < b->place);
}

static bool is_alike(const struct numbered *a, const struct numbered *b)
{
	return a->allocation->bytes == b->allocation->bytes &&
	       strcmp(a->allocation->kind, b->allocation->kind) == 0;
}

static void number(struct numbers *numbers, struct numbered *sorted, size_t count,
		   const struct um_check_part *part)
{
	uint32_t inside = 0, all = 0;

	if (count)
		qsort(sorted, count, sizeof(*sorted), by_kind_size_and_place);
	for (size_t i = 0; i < count; i++) {
		size_t op = sorted[i].allocation->op, place = sorted[i].place;

		if (i && !is_alike(&sorted[i], &sorted[i - 1]))
			inside = all = 0;
		numbers->is_inside[place] = op >= part->first && op < part->end;
		all++;
		inside += numbers->is_inside[place];
		numbers->nth[place] = numbers->is_inside[place] ? inside : all;
	}
}

static void free_numbers(struct numbers *numbers)
{
	free(numbers->nth);
	free(numbers->is_inside);
}

static int make_numbers(struct numbers *numbers, const struct um_check_side *side,
			const struct um_check_part *part)
{
	size_t count = side->allocation_count;
	struct numbered *sorted = calloc(count + 1, sizeof(*sorted));

	numbers->nth = calloc(count + 1, sizeof(*numbers->nth));
	numbers->is_inside = calloc(count + 1, sizeof(*numbers->is_inside));
	if (!sorted || !numbers->nth || !numbers->is_inside) {
		free(sorted);
		return um_fail(UM_ENOMEM, "no memory for allocations");
	}
	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct numbered){&side->allocations[i], i};
	number(numbers, sorted, count, part);
	free(sorted);
	return 0;
}

/* --- what a call asks for, as a number --- */

/* Streams are told apart up to so many in a part. */
#define STREAMS_MAX 64

struct hashing {
	const struct um_check_side *side;
	struct numbers numbers;
	int64_t streams[STREAMS_MAX]; /* as they are first used */
	size_t stream_count;
	bool but_advice;
};

/* FNV-1a, 64 bits. */
static void mix(uint64_t *hash, const void *bytes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*hash = (*hash ^ ((const unsigned char *)bytes)[i]) * UINT64_C(0x100000001b3);
}

static void mix_number(uint64_t *hash, int64_t number)
{
	mix(hash, &number, sizeof(number));
}

static int by_id(const void *left, const void *right)
{
	const struct um_check_allocation *a = left, *b = right;

	return (a->allocation > b->allocation) - (a->allocation < b->allocation);
}

size_t um_check_allocation_place(const struct um_check_side *side, int64_t id)
{
	const struct um_check_allocation key = {.allocation = id};
	size_t place = um_sorted_first(side->allocations, side->allocation_count,
				       sizeof(*side->allocations), &key, by_id);

	return place < side->allocation_count && side->allocations[place].allocation == id
		       ? place
		       : SIZE_MAX;
}

static void mix_allocation(uint64_t *hash, const struct hashing *hashing, int64_t id)
{
	size_t place = um_check_allocation_place(hashing->side, id);
	const struct um_check_allocation *allocation;

	mix_number(hash, place == SIZE_MAX);
	if (place == SIZE_MAX)
		return;
	allocation = &hashing->side->allocations[place];
	mix(hash, allocation->kind, strlen(allocation->kind));
	mix_number(hash, allocation->bytes);
	mix_number(hash, hashing->numbers.nth[place]);
	mix_number(hash, hashing->numbers.is_inside[place]);
}

static int by_op(const void *left, const void *right)
{
	const struct um_check_launch *a = left, *b = right;

	return (a->op > b->op) - (a->op < b->op);
}

const struct um_check_launch *um_check_launch_of(const struct um_check_side *side, size_t op)
{
	const struct um_check_launch key = {.op = op};
	size_t place = um_sorted_first(side->launches, side->launch_count, sizeof(*side->launches),
				       &key, by_op);

	return place < side->launch_count && side->launches[place].op == op ? &side->launches[place]
									    : NULL;
}

/* Without parameters: CUDA and HIP have other types of the same name there. */
static void mix_launch(uint64_t *hash, const struct hashing *hashing, size_t op)
{
	const struct um_check_launch *launch = um_check_launch_of(hashing->side, op);
	struct um_kernel_name name;

	if (!launch)
		return;
	name = um_kernel_name(launch->name);
	mix(hash, name.start, name.bare_length);
	mix(hash, launch->groups, sizeof(launch->groups));
	mix(hash, launch->lanes, sizeof(launch->lanes));
}

/* 0: the null stream; else the how-manieth in the part it is. */
static int64_t stream_number(struct hashing *hashing, int64_t stream)
{
	size_t i = 0;

	if (!stream)
		return 0;
	while (i < hashing->stream_count && hashing->streams[i] != stream)
		i++;
	if (i == hashing->stream_count && i < STREAMS_MAX)
		hashing->streams[hashing->stream_count++] = stream;
	return (int64_t)i + 1;
}

static uint64_t hash_of(struct hashing *hashing, const struct um_check_call *call)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	mix_number(&hash, call->kind);
	if (um_check_is_on_stream(call->kind))
		mix_number(&hash, stream_number(hashing, call->stream));
	if (call->kind == UM_CHECK_CALL_LAUNCH) {
		mix_launch(&hash, hashing, call->op);
		return hash;
	}
	mix_allocation(&hash, hashing, call->allocation);
	mix_number(&hash, call->offset_bytes);
	mix_number(&hash, call->bytes);
	if (call->kind == UM_CHECK_CALL_COPY) {
		mix_allocation(&hash, hashing, call->source_allocation);
		mix_number(&hash, call->source_offset_bytes);
	}
	if (call->kind == UM_CHECK_CALL_ADVISE || call->kind == UM_CHECK_CALL_PREFETCH)
		mix_number(&hash, call->device);
	if (call->kind == UM_CHECK_CALL_ADVISE)
		mix_number(&hash, call->advice);
	if (call->kind == UM_CHECK_CALL_ATTACH)
		mix_number(&hash, call->value);
	return hash;
}

static bool is_left_out(const struct hashing *hashing, const struct um_check_call *call)
{
	return hashing->but_advice &&
	       (call->kind == UM_CHECK_CALL_ADVISE || call->kind == UM_CHECK_CALL_PREFETCH);
}

/* The calls of a part: their hashes, and their places in the side's. */
struct calls {
	uint64_t *hashes;
	size_t *places, count;
};

static void free_calls(struct calls *calls)
{
	free(calls->hashes);
	free(calls->places);
}

static int by_call_op(const void *left, const void *right)
{
	const struct um_check_call *a = left, *b = right;

	return (a->op > b->op) - (a->op < b->op);
}

static int make_calls(struct calls *calls, const struct um_check_side *side,
		      const struct um_check_part *part, bool but_advice)
{
	const struct um_check_call from = {.op = part->first}, to = {.op = part->end};
	size_t first =
		um_sorted_first(side->calls, side->call_count, sizeof(from), &from, by_call_op);
	size_t end = um_sorted_first(side->calls, side->call_count, sizeof(to), &to, by_call_op);
	struct hashing hashing = {.side = side, .but_advice = but_advice};
	int error = make_numbers(&hashing.numbers, side, part);

	end = end > first ? end : first;
	calls->hashes = malloc((end - first + 1) * sizeof(*calls->hashes));
	calls->places = malloc((end - first + 1) * sizeof(*calls->places));
	if (!error && (!calls->hashes || !calls->places))
		error = um_fail(UM_ENOMEM, "no memory for calls");
	for (size_t i = first; i < end && !error; i++) {
		if (is_left_out(&hashing, &side->calls[i]))
			continue;
		calls->hashes[calls->count] = hash_of(&hashing, &side->calls[i]);
		calls->places[calls->count++] = i;
	}
	free_numbers(&hashing.numbers);
	return error;
}

/* --- how many differ --- */

static int compare(struct um_check_difference *difference, const struct calls *here,
		   const struct calls *there)
{
	size_t alike = 0, least = here->count < there->count ? here->count : there->count, tail = 0;

	while (alike < least && here->hashes[alike] == there->hashes[alike])
		alike++;
	*difference = (struct um_check_difference){
		.calls_here = here->count,
		.calls_there = there->count,
		.first_here = alike < here->count ? here->places[alike] : SIZE_MAX,
		.first_there = alike < there->count ? there->places[alike] : SIZE_MAX,
	};
	while (tail < least - alike &&
	       here->hashes[here->count - 1 - tail] == there->hashes[there->count - 1 - tail])
		tail++;
	return um_check_edits(&difference->only_here, &difference->only_there,
			      &difference->is_least, here->hashes + alike,
			      here->count - alike - tail, there->hashes + alike,
			      there->count - alike - tail);
}

int um_check_calls_compare(struct um_check_difference *difference,
			   const struct um_check_side *here_side,
			   const struct um_check_part *here_part,
			   const struct um_check_side *there_side,
			   const struct um_check_part *there_part, bool but_advice)
{
	struct calls here = {0}, there = {0};
	int error = make_calls(&here, here_side, here_part, but_advice);

	if (!error)
		error = make_calls(&there, there_side, there_part, but_advice);
	if (!error)
		error = compare(difference, &here, &there);
	free_calls(&here);
	free_calls(&there);
	return error;
}

void um_check_difference_add(struct um_check_difference *to, const struct um_check_difference *more)
{
	if (!um_check_calls_differ(to)) {
		to->first_here = more->first_here;
		to->first_there = more->first_there;
	}
	to->calls_here += more->calls_here;
	to->calls_there += more->calls_there;
	to->only_here += more->only_here;
	to->only_there += more->only_there;
	to->is_least = to->is_least || more->is_least;
}
