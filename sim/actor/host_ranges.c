#include "host_ranges.h"

#include "trace/base/error.h"

#include <stdlib.h>

struct range {
	int64_t op, last_op; /* last_op INT64_MAX: it never ended */
	bool has_begun;
	um_ns start;
	struct um_op_row row;
};

struct um_host_ranges {
	struct range *ranges; /* by op */
	size_t count, room;
	struct range **by_end; /* the same, by last_op */
	size_t ended;	       /* of those, so many are told */
};

static int add_range(const void *row, void *context)
{
	const struct um_user_range_row *range = row;
	struct um_host_ranges *ranges = context;
	int64_t last_op = range->last_op;

	/* In a damaged trace one may end before it begins. */
	if (last_op == UM_NULL)
		last_op = INT64_MAX;
	else if (last_op < range->op)
		last_op = range->op;

	if (ranges->count == ranges->room) {
		size_t room = ranges->room ? 2 * ranges->room : 64;
		struct range *grown = reallocarray(ranges->ranges, room, sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for ranges");
		ranges->ranges = grown;
		ranges->room = room;
	}
	ranges->ranges[ranges->count++] = (struct range){.op = range->op, .last_op = last_op};
	return 0;
}

/* Of those that end with the same op the one that began last ends first. */
static int compare_ends(const void *a, const void *b)
{
	const struct range *left = *(const struct range *const *)a;
	const struct range *right = *(const struct range *const *)b;

	if (left->last_op != right->last_op)
		return left->last_op < right->last_op ? -1 : 1;
	return (left->op < right->op) - (left->op > right->op);
}

static int sort_by_end(struct um_host_ranges *ranges)
{
	ranges->by_end = calloc(ranges->count + 1, sizeof(*ranges->by_end));
	if (!ranges->by_end)
		return um_fail(UM_ENOMEM, "no memory for ranges");
	for (size_t i = 0; i < ranges->count; i++)
		ranges->by_end[i] = &ranges->ranges[i];
	qsort(ranges->by_end, ranges->count, sizeof(*ranges->by_end), compare_ends);
	return 0;
}

int um_host_ranges_create(struct um_host_ranges **out, struct um_db *trace)
{
	struct um_host_ranges *ranges = calloc(1, sizeof(*ranges));
	int error;

	*out = ranges;
	if (!ranges)
		return um_fail(UM_ENOMEM, "no memory for ranges");
	error = um_db_each(trace, &um_table_user_range, NULL, 0, add_range, ranges);
	return error ? error : sort_by_end(ranges);
}

void um_host_ranges_destroy(struct um_host_ranges *ranges)
{
	if (!ranges)
		return;
	free(ranges->ranges);
	free(ranges->by_end);
	free(ranges);
}

static int compare_ops(const void *key, const void *item)
{
	int64_t wanted = *(const int64_t *)key, op = ((const struct range *)item)->op;

	return (wanted > op) - (wanted < op);
}

bool um_host_ranges_begin(struct um_host_ranges *ranges, const struct um_op_row *op, um_ns now)
{
	struct range *range = ranges->count ? bsearch(&op->op, ranges->ranges, ranges->count,
						      sizeof(*range), compare_ops)
					    : NULL;

	if (!range)
		return false;
	range->has_begun = true;
	range->start = now;
	range->row = *op;
	/* The source's text does not live as long. */
	range->row.kind = um_word(um_op_words, UM_OP_RANGE);
	range->row.advice = NULL;
	return true;
}

static void report(struct range *range, struct um_probe *probe, int64_t end_ns)
{
	if (!range->has_begun)
		return; /* a damaged trace */
	range->row.start_ns = (int64_t)range->start;
	range->row.end_ns = end_ns;
	um_probe_op(probe, &range->row);
}

void um_host_ranges_end(struct um_host_ranges *ranges, struct um_probe *probe, int64_t op,
			um_ns now)
{
	for (; ranges->ended < ranges->count; ranges->ended++) {
		struct range *range = ranges->by_end[ranges->ended];

		if (op != UM_NULL && range->last_op >= op)
			break;
		report(range, probe, range->last_op == INT64_MAX ? UM_NULL : (int64_t)now);
	}
}
