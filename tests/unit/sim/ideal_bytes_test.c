/*
 * The bounds of bytes, beside a search over everything that a driver may do in the model of
 * sim/ideal/ideal.c: for each operation all states that pages can be in, with the least that has
 * crossed to reach each. The bounds are never above it; where accesses are of whole pages and
 * operations run alone, each direction's is equal to it.
 */
#include "sim/ideal/ideal_core.h"
#include "sim/ideal/ideal_order.h"
#include "trace/base/error.h"
#include "trace/spool/spool_record.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PAGES_MAX 4u
#define STATES	  (1u << 3 * PAGES_MAX)
#define OPS_MAX	  10u
#define NEVER	  UINT32_MAX

/* Of a page, three bits each. */
#define ON_HOST		 1u
#define ON_DEVICE	 2u
#define HAS_DATA	 4u
#define BITS(page, bits) ((bits) << 3 * (page))
#define OF(state, page)	 ((state) >> 3 * (page)&7u)

struct access {
	bool by_host;
	unsigned page, read, written; /* lines; of the host all or none */
	unsigned stream;	      /* of a device's, 1 and up */
	bool waits;		      /* the host waits for all before it */
};

struct program {
	unsigned pages, memory, ops;
	bool coherent;
	struct access op[OPS_MAX];
};

/* What a byte costs each way: what is made least. */
struct price {
	unsigned to_device, to_host;
};
static const struct price to_device = {1, 0}, to_host = {0, 1}, both = {1, 1};

static uint32_t least[STATES], next[STATES];

static void check(int error)
{
	if (error)
		fail_msg("%s", um_error_message());
}

/* --- the search --- */

static bool fits(const struct program *program, unsigned state)
{
	unsigned count = 0;

	for (unsigned page = 0; page < program->pages; page++)
		count += OF(state, page) >> 1 & 1;
	return count <= program->memory;
}

static bool lower(uint32_t *costs, unsigned state, uint32_t cost)
{
	if (cost >= costs[state])
		return false;
	costs[state] = cost;
	return true;
}

/* Each way in which one page can change between accesses; true if that reached anything cheaper. */
static bool move_page(const struct program *program, const struct price *price, unsigned state,
		      unsigned page)
{
	unsigned bits = OF(state, page), there = state & ~BITS(page, 7u);
	uint32_t cost = least[state];
	bool changed = false;

	if (!(bits & HAS_DATA)) { /* it can have any home for nothing */
		for (unsigned home = 0; home <= ON_DEVICE; home++)
			if (fits(program, there | BITS(page, home)))
				changed |= lower(least, there | BITS(page, home), cost);
		return changed;
	}
	if (bits & ON_HOST && !(bits & ON_DEVICE) &&
	    fits(program, there | BITS(page, HAS_DATA | ON_HOST | ON_DEVICE)))
		changed |= lower(least, there | BITS(page, HAS_DATA | ON_HOST | ON_DEVICE),
				 cost + price->to_device * UM_PAGE_LINES);
	if (!(bits & ON_HOST))
		changed |= lower(least, there | BITS(page, HAS_DATA | ON_HOST | ON_DEVICE),
				 cost + price->to_host * UM_PAGE_LINES);
	if ((bits & 3) == 3) {
		changed |= lower(least, there | BITS(page, HAS_DATA | ON_HOST), cost);
		changed |= lower(least, there | BITS(page, HAS_DATA | ON_DEVICE), cost);
	}
	return changed;
}

static void move_pages(const struct program *program, const struct price *price)
{
	unsigned states = 1u << 3 * program->pages;

	for (bool changed = true; changed;) {
		changed = false;
		for (unsigned state = 0; state < states; state++)
			for (unsigned page = 0; page < program->pages && least[state] != NEVER;
			     page++)
				changed |= move_page(program, price, state, page);
	}
}

/* An access by a side whose memory is `here`; it can use the page there, or where it is. */
static void access_page(const struct program *program, const struct access *access, unsigned state,
			unsigned page, unsigned read, unsigned written, const struct price *price)
{
	unsigned here = access->by_host ? ON_HOST : ON_DEVICE, bits = OF(state, page);
	unsigned there = state & ~BITS(page, 7u);
	unsigned price_in = access->by_host ? price->to_host : price->to_device;
	unsigned price_out = access->by_host ? price->to_device : price->to_host;
	bool reaches = !access->by_host || program->coherent;
	unsigned copies = bits & 3u;

	if (!(bits & HAS_DATA) && !written) {
		lower(next, state, least[state]);
		return;
	}
	if (copies & here) {
		unsigned after = written ? here : copies;

		lower(next, there | BITS(page, HAS_DATA | after), least[state]);
		/* or what was written is sent to the other copy */
		if (written && copies == 3)
			lower(next, there | BITS(page, HAS_DATA | copies),
			      least[state] + written * price_out);
	} else if (copies && reaches) {
		lower(next, there | BITS(page, HAS_DATA | copies),
		      least[state] + read * price_in + written * price_out);
	}
}

static void do_access(const struct program *program, const struct access *access,
		      const struct price *price)
{
	unsigned states = 1u << 3 * program->pages;

	move_pages(program, price);
	memset(next, 0xff, sizeof(next));
	for (unsigned state = 0; state < states; state++)
		if (least[state] != NEVER)
			access_page(program, access, state, access->page, access->read,
				    access->written, price);
	memcpy(least, next, sizeof(least));
}

static uint64_t least_bytes(const struct program *program, const unsigned *order,
			    const struct price *price)
{
	uint32_t all = NEVER;

	memset(least, 0xff, sizeof(least));
	least[0] = 0;
	for (unsigned i = 0; i < program->ops; i++)
		do_access(program, &program->op[order[i]], price);
	for (unsigned state = 0; state < STATES; state++)
		all = least[state] < all ? least[state] : all;
	assert_true(all != NEVER);
	return (uint64_t)all * UM_LINE_BYTES;
}

/* --- the bounds --- */

static void tell_device_op(struct um_op_order *order, struct um_ideal_core *core,
			   const struct access *access)
{
	const struct um_op_row row = {
		.kind = "launch", .flags = UM_OP_ASYNC, .stream = access->stream};
	bool alone;

	check(um_op_order_task(order, &row, true, &alone));
	check(um_ideal_core_device_op(core, 0, alone));
}

static struct um_ideal bounds_of(const struct program *program)
{
	const struct um_ideal_terms terms = {.devices = 1,
					     .coherent = program->coherent,
					     .unit_pages = 1,
					     .limited = {program->pages > program->memory}};
	struct um_op_order *order;
	struct um_ideal_core *core;
	struct um_ideal ideal;

	check(um_op_order_create(&order));
	check(um_ideal_core_create(&core, &terms));
	check(um_ideal_core_add(core, 0, program->pages, UM_PAGE_LINES, UM_PAGE_LINES));
	um_ideal_core_room(core, 0, program->memory);
	for (unsigned i = 0; i < program->ops; i++) {
		const struct access *access = &program->op[i];

		if (access->waits)
			um_op_order_wait_all(order);
		if (access->by_host)
			check(um_ideal_core_host_op(core, um_op_order_over(order)));
		else
			tell_device_op(order, core, access);
		check(um_ideal_core_touch(core, 0, access->page, 1, access->read, access->written));
		check(um_ideal_core_op_end(core));
	}
	check(um_ideal_core_finish(core, &ideal));
	um_ideal_core_destroy(core);
	um_op_order_destroy(order);
	return ideal;
}

/* --- beside each other, in the program's order --- */

static void describe(const struct program *program, uint64_t seed)
{
	print_error("program %llu: memory for %u of %u pages%s\n", (unsigned long long)seed,
		    program->memory, program->pages, program->coherent ? ", coherent link" : "");
	for (unsigned i = 0; i < program->ops; i++) {
		const struct access *access = &program->op[i];

		print_error("  %s%s %u: page %u, %u lines read, %u written\n",
			    access->waits ? "wait, " : "", access->by_host ? "host" : "stream",
			    access->stream, access->page, access->read, access->written);
	}
}

static void compare(const struct program *program, bool equal, uint64_t seed)
{
	static const unsigned in_order[OPS_MAX] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9};
	struct um_ideal ideal = bounds_of(program);
	uint64_t in = least_bytes(program, in_order, &to_device);
	uint64_t out = least_bytes(program, in_order, &to_host);
	uint64_t sum = least_bytes(program, in_order, &both);
	bool below = ideal.bytes_to_device <= in && ideal.bytes_to_host <= out &&
		     ideal.bytes_to_device + ideal.bytes_to_host <= sum;

	if (below && (!equal || (ideal.bytes_to_device == in && ideal.bytes_to_host == out)))
		return;
	describe(program, seed);
	fail_msg("to device %llu, bound %llu; to host %llu, bound %llu; both %llu",
		 (unsigned long long)in, (unsigned long long)ideal.bytes_to_device,
		 (unsigned long long)out, (unsigned long long)ideal.bytes_to_host,
		 (unsigned long long)sum);
}

/* --- all short programs of whole pages --- */

static struct access whole_access(unsigned kind, unsigned page)
{
	static const struct access kinds[] = {
		{.by_host = true, .read = UM_PAGE_LINES, .waits = true},
		{.by_host = true, .written = UM_PAGE_LINES, .waits = true},
		{.read = UM_PAGE_LINES, .stream = 1},
		{.written = UM_PAGE_LINES, .stream = 1},
	};
	struct access access = kinds[kind];

	access.page = page;
	return access;
}

static unsigned all_ops = 5;

static void go_on(struct program *program, unsigned done)
{
	if (done == program->ops) {
		compare(program, true, 0);
		return;
	}
	for (unsigned kind = 0; kind < 4; kind++)
		for (unsigned page = 0; page < program->pages; page++) {
			program->op[done] = whole_access(kind, page);
			go_on(program, done + 1);
		}
}

static void bounds_are_the_least_of_whole_pages(void **state)
{
	(void)state;
	for (unsigned memory = 1; memory <= 2; memory++) {
		struct program program = {.pages = 2, .memory = memory, .ops = all_ops};

		go_on(&program, 0);
	}
}

/* --- random ones --- */

static uint64_t seed;
static uint64_t programs = 200;

static unsigned below(unsigned limit)
{
	seed = seed * 6364136223846793005u + 1442695040888963407u; /* Knuth's MMIX */
	return (unsigned)(seed >> 33) % limit;
}

static void random_programs_of_whole_pages(void **state)
{
	(void)state;
	for (uint64_t number = 1; number <= programs; number++) {
		struct program program = {.ops = OPS_MAX};

		seed = number;
		program.pages = 2 + below(PAGES_MAX - 1);
		program.memory = 1 + below(program.pages);
		for (unsigned i = 0; i < program.ops; i++)
			program.op[i] = whole_access(below(4), below(program.pages));
		compare(&program, true, number);
	}
}

static unsigned some_lines(void)
{
	static const unsigned lines[] = {0, 1, 3, 8, 20, 40, 64};

	return lines[below(7)];
}

static struct access some_access(const struct program *program, unsigned streams)
{
	struct access access = {.by_host = below(3) == 0, .page = below(program->pages)};

	if (access.by_host) {
		access.read = below(2) ? UM_PAGE_LINES : 0;
		access.written = !access.read || below(2) ? UM_PAGE_LINES : 0;
		access.waits = streams == 1;
		return access;
	}
	access.stream = 1 + below(streams);
	access.read = some_lines();
	access.written = !access.read ? 1 + below(UM_PAGE_LINES) : below(2) ? some_lines() : 0;
	return access;
}

static void random_programs_of_lines(void **state)
{
	(void)state;
	for (uint64_t number = 1; number <= programs; number++) {
		struct program program = {.ops = OPS_MAX};

		seed = number + 1000000;
		program.pages = 2 + below(PAGES_MAX - 1);
		program.memory = 1 + below(program.pages);
		program.coherent = below(3) == 0;
		for (unsigned i = 0; i < program.ops; i++)
			program.op[i] = some_access(&program, 1);
		compare(&program, false, number + 1000000);
	}
}

/* --- every order that streams allow --- */

#define ASYNC_OPS 6u

/* Whether op `b`, which comes later in the program, has to wait for op `a`. */
static bool is_before(const struct program *program, unsigned a, unsigned b)
{
	if (program->op[a].by_host)
		return true;
	if (!program->op[b].by_host && program->op[a].stream == program->op[b].stream)
		return true;
	for (unsigned i = a + 1; i <= b; i++)
		if (program->op[i].waits)
			return true;
	return false;
}

/* Host accesses are in the program's order among themselves and before what comes after them. */
static uint64_t least_of_orders(const struct program *program, const struct price *price,
				unsigned *order, unsigned done, unsigned taken)
{
	uint64_t all = UINT64_MAX;

	if (done == program->ops)
		return least_bytes(program, order, price);
	for (unsigned op = 0; op < program->ops; op++) {
		bool ready = !(taken >> op & 1);
		uint64_t bytes;

		for (unsigned before = 0; before < op && ready; before++)
			ready = taken >> before & 1 || !is_before(program, before, op);
		if (!ready)
			continue;
		order[done] = op;
		bytes = least_of_orders(program, price, order, done + 1, taken | 1u << op);
		all = bytes < all ? bytes : all;
	}
	return all;
}

static void bounds_hold_for_every_order(void **state)
{
	unsigned order[OPS_MAX];

	(void)state;
	for (uint64_t number = 1; number <= programs; number++) {
		struct program program = {.ops = ASYNC_OPS};
		struct um_ideal ideal;
		uint64_t in, out, sum;

		seed = number + 2000000;
		program.pages = 1 + below(2);
		program.memory = 1 + below(program.pages);
		for (unsigned i = 0; i < program.ops; i++) {
			program.op[i] = some_access(&program, 2);
			program.op[i].waits |= below(3) == 0;
		}
		ideal = bounds_of(&program);
		in = least_of_orders(&program, &to_device, order, 0, 0);
		out = least_of_orders(&program, &to_host, order, 0, 0);
		sum = least_of_orders(&program, &both, order, 0, 0);
		if (ideal.bytes_to_device <= in && ideal.bytes_to_host <= out &&
		    ideal.bytes_to_device + ideal.bytes_to_host <= sum)
			continue;
		describe(&program, number + 2000000);
		fail_msg("to device %llu, bound %llu; to host %llu, bound %llu; both %llu",
			 (unsigned long long)in, (unsigned long long)ideal.bytes_to_device,
			 (unsigned long long)out, (unsigned long long)ideal.bytes_to_host,
			 (unsigned long long)sum);
	}
}

int main(void)
{
	const char *more = getenv("UM_IDEAL_PROGRAMS");
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds_are_the_least_of_whole_pages),
		cmocka_unit_test(random_programs_of_whole_pages),
		cmocka_unit_test(random_programs_of_lines),
		cmocka_unit_test(bounds_hold_for_every_order),
	};

	if (more && atoll(more) > 0) {
		programs = (uint64_t)atoll(more);
		all_ops = 6;
	}
	return cmocka_run_group_tests_name("ideal_bytes", tests, NULL, NULL);
}
