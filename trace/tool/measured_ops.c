/*
 * Which op was under way when: swept over time, as everything that is asked about comes in its order.
 * The rules are those of schema.sql (table fault).
 */
#include "measured_private.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

/* More than any GPU runs at once, or any program calls; what is beyond is not looked at. */
#define AT_ONCE 256
/* How many prefetches back the one is looked for that named the page. */
#define PREFETCHES_BACK 256

/* Ops in order of their start. */
struct list {
	const struct um_measured_op **op;
	size_t count;
	size_t next; /* the first that has not begun */
};

/* Those of a list that are under way. */
struct runner {
	struct list list;
	const struct um_measured_op *active[AT_ONCE];
	size_t active_count;
};

struct um_under_way {
	struct um_measured *measured;
	struct runner calls; /* that name pages */
	struct runner device[UM_MEASURED_DEVICES];
	struct list untimed[UM_MEASURED_DEVICES]; /* launches */
	struct list prefetches;
	struct list all;
	int64_t run_start_ns;
	int64_t returned_ns; /* the latest end of those of `all` that have begun */
};

static bool is_device_work(const struct um_measured_op *op)
{
	return op->timed && op->device >= 0 && op->device < UM_MEASURED_DEVICES;
}

static bool is_untimed_launch(const struct um_measured_op *op)
{
	return !op->timed && op->kind == UM_OP_LAUNCH && op->device >= 0 &&
	       op->device < UM_MEASURED_DEVICES && op->result == 0;
}

static bool names_pages(const struct um_measured_op *op)
{
	switch (op->kind) {
	case UM_OP_ADVISE:
	case UM_OP_PREFETCH:
	case UM_OP_COPY:
	case UM_OP_MEMSET:
	case UM_OP_ATTACH:
	case UM_OP_FREE:
		return true;
	default:
		return false;
	}
}

/* --- lists --- */

static int64_t device_start(const struct um_measured_op *op)
{
	return op->start_ns - UM_MEASURED_SLACK_NS;
}

static int compare_call(const void *left, const void *right)
{
	const struct um_measured_op *a = *(const struct um_measured_op *const *)left;
	const struct um_measured_op *b = *(const struct um_measured_op *const *)right;

	if (a->call_ns != b->call_ns)
		return a->call_ns < b->call_ns ? -1 : 1;
	return (a->op > b->op) - (a->op < b->op);
}

static int compare_start(const void *left, const void *right)
{
	const struct um_measured_op *a = *(const struct um_measured_op *const *)left;
	const struct um_measured_op *b = *(const struct um_measured_op *const *)right;

	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	return (a->op > b->op) - (a->op < b->op);
}

static int add(struct list *list, const struct um_measured_op *op)
{
	bool is_full =
		list->count == 0 || (list->count >= 16 && !(list->count & (list->count - 1)));

	if (is_full) {
		size_t room = list->count ? 2 * list->count : 16;
		void *grown = reallocarray(list->op, room, sizeof(*list->op));

		if (!grown)
			return um_fail(UM_ENOMEM, "out of memory for %zu operations", room);
		list->op = grown;
	}
	list->op[list->count++] = op;
	return 0;
}

static int add_op(struct um_under_way *under_way, const struct um_measured_op *op)
{
	int error = 0;

	if (is_device_work(op))
		error = add(&under_way->device[op->device].list, op);
	if (!error && is_untimed_launch(op))
		error = add(&under_way->untimed[op->device], op);
	if (!error && names_pages(op))
		error = add(&under_way->calls.list, op);
	if (!error && op->kind == UM_OP_PREFETCH)
		error = add(&under_way->prefetches, op);
	if (!error && op->kind != UM_OP_RANGE)
		error = add(&under_way->all, op);
	return error;
}

static void sort(struct list *list, int (*compare)(const void *, const void *))
{
	if (list->count)
		qsort(list->op, list->count, sizeof(*list->op), compare);
}

int um_under_way_create(struct um_under_way **out, struct um_measured *measured,
			int64_t run_start_ns)
{
	struct um_under_way *under_way = calloc(1, sizeof(*under_way));
	int error = under_way ? 0 : um_fail(UM_ENOMEM, "out of memory");

	*out = under_way;
	if (error)
		return error;
	under_way->measured = measured;
	under_way->run_start_ns = run_start_ns;
	for (size_t i = 0; i < measured->op_count && !error; i++)
		error = add_op(under_way, measured->ops + i);
	if (error)
		return error;
	sort(&under_way->calls.list, compare_call);
	sort(&under_way->prefetches, compare_call);
	sort(&under_way->all, compare_call);
	for (size_t i = 0; i < UM_MEASURED_DEVICES; i++) {
		sort(&under_way->device[i].list, compare_start);
		sort(&under_way->untimed[i], compare_call);
	}
	um_under_way_rewind(under_way);
	return 0;
}

void um_under_way_destroy(struct um_under_way *under_way)
{
	if (!under_way)
		return;
	free(under_way->calls.list.op);
	free(under_way->prefetches.op);
	free(under_way->all.op);
	for (size_t i = 0; i < UM_MEASURED_DEVICES; i++) {
		free(under_way->device[i].list.op);
		free(under_way->untimed[i].op);
	}
	free(under_way);
}

static void rewind_runner(struct runner *runner)
{
	runner->list.next = runner->active_count = 0;
}

void um_under_way_rewind(struct um_under_way *under_way)
{
	rewind_runner(&under_way->calls);
	under_way->prefetches.next = under_way->all.next = 0;
	under_way->returned_ns = under_way->run_start_ns;
	for (size_t i = 0; i < UM_MEASURED_DEVICES; i++) {
		rewind_runner(&under_way->device[i]);
		under_way->untimed[i].next = 0;
	}
}

/* --- what names a page --- */

static bool covers(const struct um_measured *measured, uint32_t number, uint64_t offset,
		   uint64_t bytes, const struct um_happening *happening)
{
	const struct um_measured_allocation *allocation = um_measured_allocation(measured, number);

	if (!allocation || offset > allocation->bytes)
		return false;
	uint64_t start = (allocation->address + offset) & ~(uint64_t)(UM_PAGE_BYTES - 1);
	uint64_t end = allocation->address + offset +
		       (bytes < allocation->bytes - offset ? bytes : allocation->bytes - offset);

	return happening->address < end && start < happening->address + happening->bytes;
}

static bool concerns(const struct um_measured *measured, const struct um_measured_op *op,
		     const struct um_happening *happening)
{
	if (!names_pages(op))
		return false;
	return covers(measured, op->allocation, op->offset, op->bytes, happening) ||
	       (op->kind == UM_OP_COPY &&
		covers(measured, op->source_allocation, op->source_offset, op->bytes, happening));
}

/* --- what is under way --- */

static void pass(struct list *list, int64_t at_ns)
{
	while (list->next < list->count && list->op[list->next]->call_ns <= at_ns)
		list->next++;
}

static void leave(struct runner *runner, int64_t at_ns, bool on_device)
{
	size_t kept = 0;

	for (size_t i = 0; i < runner->active_count; i++) {
		const struct um_measured_op *op = runner->active[i];
		int64_t end = op->call_end_ns;

		if (on_device)
			end = op->end_ns > INT64_MAX - UM_MEASURED_SLACK_NS
				      ? INT64_MAX
				      : op->end_ns + UM_MEASURED_SLACK_NS;
		if (end >= at_ns)
			runner->active[kept++] = op;
	}
	runner->active_count = kept;
}

static void enter(struct runner *runner, int64_t at_ns, bool on_device)
{
	struct list *list = &runner->list;

	for (; list->next < list->count; list->next++) {
		const struct um_measured_op *op = list->op[list->next];

		if ((on_device ? device_start(op) : op->call_ns) > at_ns)
			return;
		if (runner->active_count == AT_ONCE)
			leave(runner, at_ns, on_device);
		if (runner->active_count < AT_ONCE)
			runner->active[runner->active_count++] = op;
	}
}

static const struct um_measured_op *find_call(struct um_under_way *under_way,
					      const struct um_happening *happening)
{
	struct runner *calls = &under_way->calls;

	enter(calls, happening->at_ns, false);
	leave(calls, happening->at_ns, false);
	for (size_t i = 0; i < calls->active_count; i++)
		if (concerns(under_way->measured, calls->active[i], happening))
			return calls->active[i];
	return NULL;
}

/* The fewer the better. */
static unsigned misfit(const struct um_measured *measured, const struct um_measured_op *op,
		       const struct um_happening *happening)
{
	bool is_exact = op->start_ns <= happening->at_ns && happening->at_ns <= op->end_ns;

	return (is_exact ? 0 : 2) + (concerns(measured, op, happening) ? 0 : 1);
}

static const struct um_measured_op *find_device_work(struct um_under_way *under_way,
						     const struct um_happening *happening)
{
	struct runner *device = &under_way->device[happening->device];
	const struct um_measured_op *best = NULL;
	unsigned best_misfit = 4;

	enter(device, happening->at_ns, true);
	leave(device, happening->at_ns, true);
	for (size_t i = 0; i < device->active_count && best_misfit > 0; i++) {
		unsigned fits = misfit(under_way->measured, device->active[i], happening);

		if (fits < best_misfit) {
			best = device->active[i];
			best_misfit = fits;
		}
	}
	if (best)
		return best;
	struct list *untimed = &under_way->untimed[happening->device];

	pass(untimed, happening->at_ns);
	return untimed->next ? untimed->op[untimed->next - 1] : NULL;
}

static const struct um_measured_op *find_prefetch(struct um_under_way *under_way,
						  const struct um_happening *happening)
{
	struct list *list = &under_way->prefetches;

	pass(list, happening->at_ns);
	for (size_t i = list->next; i > 0 && list->next - i < PREFETCHES_BACK; i--) {
		const struct um_measured_op *op = list->op[i - 1];

		if (op->device == happening->target && concerns(under_way->measured, op, happening))
			return op;
	}
	return NULL;
}

/* --- the host --- */

static int64_t find_host(struct um_under_way *under_way, int64_t at_ns)
{
	struct um_measured *measured = under_way->measured;
	struct list *all = &under_way->all;

	for (; all->next < all->count && all->op[all->next]->call_ns <= at_ns; all->next++) {
		int64_t end = all->op[all->next]->call_end_ns;

		if (end != INT64_MAX && end > under_way->returned_ns)
			under_way->returned_ns = end;
	}
	struct um_measured_op *next = &measured->last;

	if (all->next < all->count)
		next = um_measured_op(measured, all->op[all->next]->op);
	else
		next->op = measured->op_count ? measured->ops[measured->op_count - 1].op + 1 : 1;
	int64_t since = under_way->returned_ns < at_ns ? under_way->returned_ns : at_ns;

	if (next->host_ns == UM_NULL || since < next->host_ns)
		next->host_ns = since;
	return um_measured_op_id(next->op) - 1;
}

int64_t um_under_way_find(struct um_under_way *under_way, const struct um_happening *happening)
{
	const struct um_measured_op *op = NULL;
	bool on_device = happening->device >= 0;

	if (happening->by_prefetch)
		op = find_prefetch(under_way, happening);
	if (!op && !(on_device && happening->is_fault))
		op = find_call(under_way, happening);
	if (!op && on_device && happening->device < UM_MEASURED_DEVICES)
		op = find_device_work(under_way, happening);
	if (!op && (!on_device || happening->is_mapping))
		return find_host(under_way, happening->at_ns);
	return op ? um_measured_op_id(op->op) : UM_NULL;
}
