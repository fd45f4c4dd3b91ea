/*
 * What no driver and no policy can do without, and why.
 *
 * THE MODEL: what a driver and a policy may do, at any time, to any pages, knowing all that comes
 *
 * A page is 4 KiB of managed memory; larger units are several pages. A page with data has copies
 * at one or more places: host memory, or that of a device.
 *  M1 A page gets a copy at another place: 4096 bytes over the link between host and device; from
 *     one device to another over both links. (Migration is this and M2; so are eviction, prefetch
 *     and duplication.)
 *  M2 A copy is dropped, but not the last one. Free.
 *  M3 A page without data may be given any place, and another, as often as one likes. Free. It
 *     gets data when something writes it.
 *  M4 A side accesses its own copy. Free. What it writes it keeps as the only copy, or the lines
 *     that it wrote are sent to each other copy that stays, 64 bytes a line.
 *  M5 A device without a copy accesses the page over the link, where it is: 64 bytes to the device
 *     for each line that the operation reads of the page, 64 bytes to the host for each that it
 *     writes, once for the operation however often and for however much of it. That is how the
 *     simulator counts (remote_tally.c): a line that was written first counts as read all the
 *     same, and no cache keeps anything for the next operation. An atomic reads and writes its
 *     line. What another device holds goes through the host, over both links.
 *  M6 The host without a copy can do nothing but wait for M1; over a coherent link it accesses the
 *     page where it is as in M5, with the directions exchanged.
 *  M7 Of what is known by the page only (the host's accesses) all lines of the page count.
 *  M8 An explicit copy reads and writes a page at a place that has a copy, and leaves one that was
 *     there; what it carries is the program's own and not counted. So it makes no copy for
 *     nothing, whatever it writes, but for pages without data (M3).
 *  M9 At every moment a device has copies of no more pages than fit into memory_bytes less the
 *     device allocations that are there.
 * M10 Freed memory is gone with all its copies. Free.
 * Accesses that nobody saw (untraced launches, host accesses that were not watched) keep to these
 * rules too. They may come in anywhere below: no lemma needs that nothing else happens.
 *
 * Order. Everything happens one after the other, host operations in the trace's order. Tasks
 * overlap and interleave as streams allow (ideal_order.h). "a before b" is said only where it is
 * certain: a is over when b begins. An operation of a device is alone if all that the trace has
 * before it are before it. Operations that failed do not happen.
 *
 * r(i), w(i): lines of the page at hand that operation i reads, writes.
 *
 * BYTES
 *
 * Lemma 0. A side that has no copy of a page with data at one moment and has one at a later moment
 * has got it by M1 in between: 64 lines over the link of a device to it. No other rule makes one.
 *
 * Lemma 1 (to a device). Let W write the page: the host's, or another device's. Let S be
 * operations of device d that read it, W before each. From the beginning of W to the end of the
 * last of S at least min(64, sum of r over S) lines cross to d; if W is another device's, no more
 * than w(W) of them need to.
 *   In W, d's copy goes or d is sent w(W) lines (64 of the host, M7). If it goes and M1 brings one
 *   back, 64 lines cross. If neither, d has none throughout, and each of S is M5.
 * Such times may be counted one after the other if they do not overlap: the next W begins another
 * only where all operations of d on the page are before it. (page_state.due, crossed)
 *
 * Lemma 2 (to the host). Let T be an access of the host (over a coherent link: one that reads), or
 * another device's that reads; S operations of d that write the page, each before T. From the
 * beginning of the first of S, or of any moment before it, to the end of T at least min(64, sum of
 * w over S) lines cross from d; if T is another device's, no more than r(T) of them need to.
 *   If M1 takes the page over d's link to the host, 64. If not: had an operation of S written d's
 *   own copy as the only one, the only copy would be d's until T, where the host had to have one
 *   (M6; over a coherent link it reads 64 lines from d, M7), or another device read r(T) lines
 *   from d (M5) or had got a copy, which left d by M1. So each of S sent its lines to another copy
 *   or is M5: w(i) each.
 * The times from one T to the next do not overlap; what is counted in one was begun after the last,
 * which is certain after a T of the host, and after one of a device for what is alone.
 * (page_state.dirty)
 *
 * Lemma 3 (to a device that cannot hold all). Let j of d read the page, and i before j be the one
 * that read it last, or that gave it data. If d has no copy at some moment from the end of i to
 * the beginning of j, then at least r(j) lines cross to d from the end of i to the end of j: 64 by
 * M1, or M5. The first j after a W of lemma 1 has no such i, and what lemma 1 says of j alone
 * crosses in any case.
 *   So all r(j) cross but for those pages that d keeps from i to j, in the memory that there is at
 *   each moment between (M9). Moments are the beginning g of each operation that is alone, and
 *   those where everything is over (a free, the end): with j alone and i < g <= j in the trace, i
 *   is over at g and j has not begun. How many pages can be kept through all of them is what
 *   ideal_keep.c answers, and ideal_savings.c where pages have different r(j). Where j is not
 *   alone, its r(j) are not counted. (page_state.held)
 *
 * Lemma 4 (from a device that cannot hold all). Let i of d write the page, and k of d be the next
 * that does, or the page's end; both alone. If d has no copy at some moment between, at least w(i)
 * lines cross from d from the beginning of i to that of k: i was M5, or sent them to another copy,
 * or had the only copy, which left by M1. If T of lemma 2 comes in between they cross in any case.
 * The rest is as in lemma 3. (page_state.unsent)
 *
 * The bound. Of each device and direction the larger of lemmas 1 and 3, or 2 and 4: both are of
 * the same bytes. Different devices have different links and the two directions are different
 * bytes, so that all of them add up, and the sum of the two directions bounds the sum.
 *
 * Where all accesses are of whole pages and operations are alone each direction is the least that
 * there is: tests/unit/sim/ideal_bytes_test.c searches everything that M1 to M9 allow. The sum of
 * both can be more than the two bounds, as what spares one direction may cost the other; so can
 * pages of few lines, of which M1 takes 64.
 *
 * A line whose writer cannot be told by the trace is nobody's here: the rules are by the page, as
 * page tables are. A machine that moved single lines could do with less where host and device
 * write different lines of one page, or where a page is written whole before it is read; none of
 * the drivers here can. In one memory (apu) nothing crosses. Where a policy allocates as something
 * else the bytes are another program's, and are not compared. Devices with a link of their own
 * (peers): what only lemmas 1 and 2 say of "another device" is left out.
 *
 * Shared pages. Where small allocations lie side by side (packed_bytes), one M1 brings what several of
 * them have in a page. They begin at multiples of 512 bytes, so that an allocation of several pages has
 * at least 512 bytes of the page it begins in for itself, all of those between, and of its n-th what is
 * beyond n - 1 pages; one of a page, 512 bytes or all that it has. Lines are whole there: no line is of
 * two. Of such a page no more lines count than surely are the allocation's own, in place of 64 in all
 * lemmas, M7 included: of the 64 lines that M1 takes they are those, and no two allocations count one
 * twice. Lemmas 3 and 4, which are about room, are left out for such pages. (touch.own)
 *
 * FAULTS (shared pages apart: a neighbour's fault brings them too)
 *
 * Demand paging: memory is in units of page_bytes. A device that touches a page that it does not
 * have faults; the fault may bring the unit, nothing else brings any of it. What the host writes
 * the device has no more (over a coherent link it may still have it), and so with what another
 * device writes. Pages leave a device by the host's faults, by another device's, and for want of
 * room; a touched page is there as it is touched. The host's first touch is no fault.
 *
 * Lemma 5. Of operations of d that touch a unit, the first ever faults. Let W write a page of the
 * unit, i touch that page, W before i: from W to the end of i the unit faults. Such times do not
 * overlap if what has been counted of the unit is before W. (page_state.lost)
 *
 * Lemma 6. Let j alone touch m pages of a unit, and i be the last before it in the trace that
 * touched the unit at all. If the unit does not fault from the end of i to the end of j, those m
 * pages are there at every moment between: m pages at the beginning of each g as in lemma 3; and
 * with one page more, of another unit, within each g of d between i and j. So the fewest faults
 * are all that ask less the most that can be kept, and no order of touches within an operation, or
 * of groups beside each other, is assumed. For operations of one page each it is what MIN (Belady,
 * 1966) says, and tests/unit/sim/ideal_faults_test.c compares it with every choice of what leaves.
 * An order of touches within operations could only add to it.
 *
 * Lemma 7. Let i of d write a page of a unit and T of the host touch it, i before T: from i to T
 * the host faults on the unit, unless the page has left d otherwise: where d may run out of
 * memory, where another device has touched the allocation, and over a coherent link nothing is
 * counted. Such times do not overlap if i comes after the last T that was counted of the unit.
 */
#include "ideal_core.h"
#include "ideal_order.h"

#include "sim/source/id_map.h"
#include "sim/source/source.h"
#include "trace/base/error.h"
#include "trace/spool/spool_record.h"

#include <stdlib.h>

/* Where allocations that share pages begin: multiples of it. */
#define PACKED_AT_BYTES 512u

struct known_allocation {
	uint64_t pages, bytes;
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
		.bytes = bytes,
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

static unsigned lines_up_to(uint64_t bytes)
{
	return (unsigned)((bytes + UM_LINE_BYTES - 1) / UM_LINE_BYTES);
}

static int add(struct reading *reading, const struct known_allocation *allocation)
{
	unsigned first = UM_PAGE_LINES, last = UM_PAGE_LINES;

	if (allocation->pages && allocation->bytes < reading->request->packed_bytes) {
		first = PACKED_AT_BYTES / UM_LINE_BYTES;
		last = lines_up_to(allocation->bytes - (allocation->pages - 1) * UM_PAGE_BYTES);
	}
	return um_ideal_core_add(reading->core, place_of(reading, allocation), allocation->pages,
				 first, last);
}

static int touch(struct reading *reading, struct known_allocation *allocation, uint64_t first,
		 uint64_t pages, unsigned read, unsigned written)
{
	uint32_t place = place_of(reading, allocation);
	int error = 0;

	if (allocation->freed || !pages)
		return 0;
	if (!allocation->touched)
		error = add(reading, allocation);
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

	reading->open =
		code == UM_OP_HOST || (code == UM_OP_LAUNCH &&
				       !(reading->op.flags & (UM_OP_UNTRACED | UM_OP_UNSELECTED)));
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
		.peers = request->peers,
		.unit_pages = request->page_bytes / UM_PAGE_BYTES,
	};
	int error = um_source_open(&reading->source, request->trace, NULL);

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
