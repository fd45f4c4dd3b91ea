/* PROOF */
#include "ideal_core.h"
#include "ideal_order.h"

#include "sim/source/id_map.h"
#include "sim/source/source.h"
#include "trace/base/error.h"
#include "trace/spool/spool_record.h"

#include <stdlib.h>

struct known_allocation {
	uint64_t pages;
	uint32_t device; /* of device memory */
	bool managed, on_device;
	bool made, touched, freed;
};

struct reading {
	const struct um_ideal_request *request;
	struct um_source *source;
	struct um_op_order *order;
	struct um_ideal_core *core;
	struct known_allocation *allocations;
	uint32_t allocation_count, allocation_capacity;
	struct um_id_map places; /* of allocations, by id */
	uint64_t room_pages[UM_DEVICES_MAX];
	struct um_op_row op; /* the next that is not done */
	bool has_op;	     /* it was read */
	bool open;	     /* it has begun, and its page accesses come */
};

/* --- allocations --- */

/* The op's device as the simulator takes it. */
static uint32_t device_of(const struct reading *reading, int64_t device)
{
	return device >= 0 && device < reading->request->machine->devices ? (uint32_t)device : 0;
}

static int take_allocation(const void *row, void *context)
{
	const struct um_allocation_row *allocation = row;
	struct reading *reading = context;
	int kind = um_word_code(um_allocation_words, allocation->kind);
	uint64_t bytes = allocation->bytes > 0 ? (uint64_t)allocation->bytes : 0;

	if (reading->allocation_count == reading->allocation_capacity) {
		uint32_t capacity =
			reading->allocation_capacity ? reading->allocation_capacity * 2 : 64;
		struct known_allocation *grown =
			realloc(reading->allocations, capacity * sizeof(*grown));

		if (!grown)
			return um_fail(UM_ENOMEM, "no memory for %u allocations", capacity);
		reading->allocations = grown;
		reading->allocation_capacity = capacity;
	}
	reading->allocations[reading->allocation_count] = (struct known_allocation){
		.pages = bytes / UM_PAGE_BYTES + (bytes % UM_PAGE_BYTES > 0),
		.device = device_of(reading, allocation->device),
		.managed = kind == UM_ALLOCATION_MANAGED,
		.on_device = kind == UM_ALLOCATION_DEVICE,
	};
	return um_id_map_add(&reading->places, (uint64_t)allocation->allocation,
			     reading->allocation_count++);
}

static struct known_allocation *find_allocation(const struct reading *reading, int64_t id)
{
	const uint32_t *place = um_id_map_find(&reading->places, (uint64_t)id);

	return place ? &reading->allocations[*place] : NULL;
}

static uint32_t place_of(const struct reading *reading, const struct known_allocation *allocation)
{
	return (uint32_t)(allocation - reading->allocations);
}

/* Device memory goes to what was allocated there first. */
static void change_room(struct reading *reading, const struct known_allocation *allocation,
			bool less)
{
	uint64_t *room = &reading->room_pages[allocation->device];
	uint64_t pages = allocation->pages;

	if (!allocation->on_device)
		return;
	*room = !less ? *room + pages : *room > pages ? *room - pages : 0;
	um_ideal_core_room(reading->core, (um_device_id)allocation->device, *room);
}

/* Whether there can ever be more than the device holds. */
static void find_limits(const struct reading *reading, struct um_ideal_terms *terms)
{
	uint64_t managed = 0, taken[UM_DEVICES_MAX] = {0};

	for (uint32_t i = 0; i < reading->allocation_count; i++) {
		const struct known_allocation *allocation = &reading->allocations[i];

		managed += allocation->managed ? allocation->pages : 0;
		taken[allocation->device] += allocation->on_device ? allocation->pages : 0;
	}
	for (uint32_t i = 0; i < terms->devices; i++)
		terms->limited[i] =
			managed + taken[i] > reading->request->memory_bytes / UM_PAGE_BYTES;
}

/* --- operations without page accesses --- */

typedef int (*op_fn)(struct reading *);

static int do_alloc(struct reading *reading)
{
	struct known_allocation *allocation = find_allocation(reading, reading->op.allocation);

	if (!allocation || allocation->made)
		return 0;
	allocation->made = true;
	change_room(reading, allocation, true);
	return 0;
}

static int do_free(struct reading *reading)
{
	struct known_allocation *allocation = find_allocation(reading, reading->op.allocation);

	if (!allocation || !allocation->made || allocation->freed)
		return 0;
	allocation->freed = true;
	um_op_order_wait_all(reading->order);
	change_room(reading, allocation, false);
	return um_ideal_core_remove(reading->core, place_of(reading, allocation));
}

/* A copy moves what it moves itself, and a launch without accesses none that is known. */
static int do_task(struct reading *reading)
{
	bool alone;

	return um_op_order_task(reading->order, &reading->op, false, &alone);
}

static int begin_device_op(struct reading *reading)
{
	bool alone;
	int error = um_op_order_task(reading->order, &reading->op, true, &alone);

	return error ? error
		     : um_ideal_core_device_op(reading->core,
					       (um_device_id)device_of(reading, reading->op.device),
					       alone);
}

static int touch(struct reading *reading, struct known_allocation *allocation, uint64_t first,
		 uint64_t pages, unsigned read, unsigned written)
{
	uint32_t place = place_of(reading, allocation);
	int error = 0;

	if (allocation->freed || !pages)
		return 0;
	if (!allocation->touched)
		error = um_ideal_core_add(reading->core, place, allocation->pages);
	allocation->touched = allocation->made = true;
	return error ? error
		     : um_ideal_core_touch(reading->core, place, first, pages, read, written);
}

/* A fill writes bytes [offset, end); of its first and last page only some lines. */
static int touch_fill(struct reading *reading, struct known_allocation *allocation, uint64_t offset,
		      uint64_t end)
{
	int error = 0;

	while (offset < end && !error) {
		uint64_t page = offset / UM_PAGE_BYTES, whole = (end - offset) / UM_PAGE_BYTES;
		uint64_t stop = (page + 1) * UM_PAGE_BYTES;
		bool is_whole = offset % UM_PAGE_BYTES == 0 && whole;
		uint64_t lines;

		stop = is_whole ? offset + whole * UM_PAGE_BYTES : stop < end ? stop : end;
		lines = is_whole ? UM_PAGE_LINES
				 : (stop - 1) / UM_LINE_BYTES - offset / UM_LINE_BYTES + 1;
		error = touch(reading, allocation, page, is_whole ? whole : 1, 0, (unsigned)lines);
		offset = stop;
	}
	return error;
}

static int do_memset(struct reading *reading)
{
	struct known_allocation *allocation = find_allocation(reading, reading->op.allocation);
	uint64_t offset = reading->op.offset_bytes > 0 ? (uint64_t)reading->op.offset_bytes : 0;
	uint64_t bytes = reading->op.bytes > 0 ? (uint64_t)reading->op.bytes : 0;
	uint64_t all = allocation ? allocation->pages * UM_PAGE_BYTES : 0;
	int error;

	if (!allocation || !allocation->managed || offset >= all || !bytes)
		return do_task(reading);
	bytes = bytes < all - offset ? bytes : all - offset;
	error = begin_device_op(reading);
	if (!error)
		error = touch_fill(reading, allocation, offset, offset + bytes);
	return error ? error : um_ideal_core_op_end(reading->core);
}

static int do_op(struct reading *reading)
{
	static const op_fn calls[] = {
		[UM_OP_ALLOC] = do_alloc, [UM_OP_FREE] = do_free,     [UM_OP_COPY] = do_task,
		[UM_OP_LAUNCH] = do_task, [UM_OP_MEMSET] = do_memset,
	};
	int code = um_word_code(um_op_words, reading->op.kind);

	if (code >= 0 && (size_t)code < sizeof(calls) / sizeof(*calls) && calls[code])
		return calls[code](reading);
	return um_op_order_host(reading->order, &reading->op);
}

/* --- in order --- */

static bool failed(const struct um_op_row *op)
{
	return op->result != UM_NULL && op->result != 0;
}

/* The next op into reading->op; has_op false at the end. */
static int read_op(struct reading *reading)
{
	const struct um_op_row *op;
	int error = 0;

	if (reading->has_op)
		return 0;
	do
		op = um_source_next(reading->source, &error);
	while (op && failed(op));
	reading->has_op = op;
	if (op)
		reading->op = *op;
	return error;
}

/* All that come before the op. */
static int do_ops_before(struct reading *reading, int64_t op)
{
	int error = read_op(reading);

	while (!error && reading->has_op && reading->op.op < op) {
		error = do_op(reading);
		reading->has_op = false;
		if (!error)
			error = read_op(reading);
	}
	return error;
}

static int end_op(struct reading *reading)
{
	if (!reading->open)
		return 0;
	reading->open = reading->has_op = false;
	return um_ideal_core_op_end(reading->core);
}

/* What no simulation touches is not counted here either. */
static int begin_op(struct reading *reading)
{
	int code = um_word_code(um_op_words, reading->op.kind);

	reading->open = code == UM_OP_HOST ||
			(code == UM_OP_LAUNCH && !(reading->op.flags & UM_OP_UNTRACED));
	if (!reading->open)
		return 0;
	if (code == UM_OP_LAUNCH)
		return begin_device_op(reading);
	return um_ideal_core_host_op(reading->core, um_op_order_over(reading->order));
}

static unsigned lines_of(const struct um_page_access_row *row, int64_t mask, int64_t touched)
{
	if (!(row->touch & touched))
		return 0;
	if (row->touch & UM_TOUCH_LINES_UNKNOWN)
		return UM_PAGE_LINES;
	return (unsigned)__builtin_popcountll((uint64_t)mask);
}

static int take_access(const void *row, void *context)
{
	const struct um_page_access_row *access = row;
	struct reading *reading = context;
	struct known_allocation *allocation;
	int error = 0;

	if (!reading->open || reading->op.op != access->op) {
		error = end_op(reading);
		if (!error)
			error = do_ops_before(reading, access->op);
		if (!error && reading->has_op && reading->op.op == access->op)
			error = begin_op(reading);
	}
	if (error || !reading->open || access->first_page < 0 || access->pages < 1)
		return error;
	allocation = find_allocation(reading, access->allocation);
	if (!allocation || !allocation->managed)
		return 0;
	return touch(reading, allocation, (uint64_t)access->first_page, (uint64_t)access->pages,
		     lines_of(access, access->lines_read, UM_TOUCH_READ),
		     lines_of(access, access->lines_written, UM_TOUCH_WRITTEN));
}

/* --- all of it --- */

static int prepare(struct reading *reading)
{
	const struct um_ideal_request *request = reading->request;
	struct um_ideal_terms terms = {
		.devices = request->machine->devices,
		.coherent = request->machine->link.coherent,
		.unit_pages = request->page_bytes / UM_PAGE_BYTES,
	};
	int error = um_source_open(&reading->source, request->trace);

	if (!error)
		error = um_db_each(request->trace, &um_table_allocation, NULL, 0, take_allocation,
				   reading);
	find_limits(reading, &terms);
	if (!error)
		error = um_op_order_create(&reading->order);
	if (!error)
		error = um_ideal_core_create(&reading->core, &terms);
	for (uint32_t i = 0; i < terms.devices && !error; i++) {
		reading->room_pages[i] = request->memory_bytes / UM_PAGE_BYTES;
		um_ideal_core_room(reading->core, (um_device_id)i, reading->room_pages[i]);
	}
	return error;
}

static void release(struct reading *reading)
{
	um_ideal_core_destroy(reading->core);
	um_op_order_destroy(reading->order);
	um_source_close(reading->source);
	um_id_map_fini(&reading->places);
	free(reading->allocations);
}

static int check_request(const struct um_ideal_request *request)
{
	uint64_t bytes = request->page_bytes;

	if (bytes < UM_PAGE_BYTES || bytes & (bytes - 1))
		return um_fail(UM_EINVAL,
			       "a page size of %llu bytes: not 4 KiB times a power of two",
			       (unsigned long long)bytes);
	return 0;
}

int um_ideal_bounds(struct um_ideal *out, const struct um_ideal_request *request)
{
	struct reading reading = {.request = request};
	int error = check_request(request);

	*out = (struct um_ideal){0};
	if (error || request->machine->apu)
		return error;
	error = prepare(&reading);
	if (!error)
		error = um_db_each(request->trace, &um_table_page_access, NULL, 0, take_access,
				   &reading);
	if (!error)
		error = end_op(&reading);
	if (!error)
		error = do_ops_before(&reading, INT64_MAX);
	if (!error)
		error = um_ideal_core_finish(reading.core, out);
	release(&reading);
	return error;
}
