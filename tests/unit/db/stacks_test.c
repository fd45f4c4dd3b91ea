/* Whose a call is, by stacks as programs have them. */
#include "trace/db/stacks.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

struct frame {
	const char *function, *file; /* NULL: not known */
	int64_t line;
};

struct fixture {
	char path[64];
	struct um_db *db;
	int64_t sites, ops;
};

static int start(void **state)
{
	struct fixture *fixture = calloc(1, sizeof(*fixture));

	snprintf(fixture->path, sizeof(fixture->path), "/tmp/um-stacks-%d.um.db", (int)getpid());
	assert_int_equal(um_db_create(&fixture->db, fixture->path, true), 0);
	*state = fixture;
	return 0;
}

static int stop(void **state)
{
	struct fixture *fixture = *state;

	um_db_close(fixture->db);
	unlink(fixture->path);
	free(fixture);
	return 0;
}

/* A call of this kind with this stack, innermost first; returns its site. */
static int64_t call(struct fixture *fixture, const char *kind, const struct frame *frames,
		    size_t count)
{
	int64_t parent = UM_NULL;

	for (size_t i = count; i-- > 0;) {
		struct um_site_row site = {++fixture->sites, parent};
		struct um_frame_row row = {
			.site = fixture->sites,
			.module = "/home/u/bin/app",
			.offset_bytes = 16 * fixture->sites,
			.function = frames[i].function,
			.file = frames[i].file,
			.line = frames[i].line ? frames[i].line : UM_NULL,
		};

		assert_int_equal(um_db_insert(fixture->db, &um_table_site, &site), 0);
		assert_int_equal(um_db_insert(fixture->db, &um_table_frame, &row), 0);
		parent = fixture->sites;
	}
	struct um_op_row op = {
		.op = ++fixture->ops,
		.kind = kind,
		.thread = 1,
		.stream = 0,
		.start_ns = 1,
		.end_ns = 2,
		.result = 0,
		.site = parent,
		.allocation = UM_NULL,
		.offset_bytes = UM_NULL,
		.bytes = UM_NULL,
		.source_allocation = UM_NULL,
		.source_offset_bytes = UM_NULL,
		.device = 0,
		.event = UM_NULL,
		.value = UM_NULL,
	};
	assert_int_equal(um_db_insert(fixture->db, &um_table_op, &op), 0);
	return parent;
}
#define CALL(kind, ...)                                                                            \
	call(fixture, kind, (const struct frame[]){__VA_ARGS__},                                   \
	     sizeof((const struct frame[]){__VA_ARGS__}) / sizeof(struct frame))

static struct um_stacks *load(struct fixture *fixture, const char *skip)
{
	const char *const patterns[] = {skip, NULL};
	struct um_stacks *stacks;

	assert_int_equal(um_stacks_load(&stacks, fixture->db, patterns), 0);
	return stacks;
}

/* The user's frame as text, with `skip` left out (NULL: none). */
static void expect(struct fixture *fixture, const char *skip, int64_t site, const char *kind,
		   const char *expected)
{
	struct um_stacks *stacks = load(fixture, skip);
	char *text = um_stack_frame_text(um_stacks_user(stacks, site, kind, NULL));

	assert_string_equal(text, expected);
	free(text);
	um_stacks_destroy(stacks);
}

#define APP "/home/u/app.hip"
#define MAIN(at)                                                                                   \
	{"main", APP, at},                                                                         \
	{                                                                                          \
		"__libc_start_main", NULL, 0                                                       \
	}

static void the_innermost_with_a_line(void **state)
{
	struct fixture *fixture = *state;
	int64_t plain = CALL("alloc", {"setup", APP, 12}, MAIN(40));
	int64_t in_library = CALL("alloc", {"pool_get", NULL, 0}, {NULL, NULL, 0}, MAIN(41));
	int64_t header = CALL("alloc", {"hipMallocManaged<float>", "/opt/hip/include/hip/h.h", 9},
			      {"std::make", "/usr/include/c++/12/memory", 3}, MAIN(42));

	expect(fixture, NULL, plain, "alloc", APP ":12");
	expect(fixture, NULL, in_library, "alloc", APP ":41");
	expect(fixture, NULL, header, "alloc", APP ":42");
	expect(fixture, NULL, header, NULL, APP ":42");
}

static void without_lines_the_function(void **state)
{
	struct fixture *fixture = *state;
	int64_t symbols = CALL("alloc", {NULL, NULL, 0}, {"setup()", NULL, 0}, {"main", NULL, 0});
	int64_t none = CALL("alloc", {NULL, NULL, 0}, {NULL, NULL, 0});

	expect(fixture, NULL, symbols, "alloc", "setup()");
	expect(fixture, "setup*", symbols, "alloc", "main");
	expect(fixture, NULL, none, "alloc", "/home/u/bin/app+0x50");
}

static void what_wraps_is_not_the_caller(void **state)
{
	struct fixture *fixture = *state;
	/* From two places, in one line. */
	int64_t first = CALL("alloc", {"get", "/home/u/pool.h", 7}, MAIN(10));
	int64_t second = CALL("alloc", {"get", "/home/u/pool.h", 7}, MAIN(11));
	/* The same of a template, whose instances are others. */
	int64_t ints = CALL("alloc", {"grab<int>", "/home/u/pool.h", 20}, MAIN(12));
	int64_t floats = CALL("alloc", {"grab<float>", "/home/u/pool.h", 20}, MAIN(13));
	/* A wrapper of wrappers. */
	int64_t outer = CALL("alloc", {"in", "/home/u/pool.h", 30}, {"out", "/home/u/pool.h", 31},
			     MAIN(14));
	int64_t outer_too = CALL("alloc", {"in", "/home/u/pool.h", 30},
				 {"out", "/home/u/pool.h", 31}, MAIN(15));

	expect(fixture, NULL, first, "alloc", APP ":10");
	expect(fixture, NULL, second, "alloc", APP ":11");
	expect(fixture, NULL, ints, "alloc", APP ":12");
	expect(fixture, NULL, floats, "alloc", APP ":13");
	expect(fixture, NULL, outer, "alloc", APP ":14");
	expect(fixture, NULL, outer_too, "alloc", APP ":15");
	/* Of another kind of call these functions say nothing. */
	expect(fixture, NULL, first, "launch", "/home/u/pool.h:7");
}

static void classes_and_names_wrap_from_one_place_too(void **state)
{
	struct fixture *fixture = *state;
	int64_t raii = CALL("alloc", {"um::buffer<float>::buffer", "/home/u/b.h", 7}, MAIN(10));
	int64_t gone = CALL("free", {"um::buffer<float>::~buffer", "/home/u/b.h", 9}, MAIN(20));
	int64_t allocator = CALL("alloc", {"a<int>::allocate", "/home/u/a.h", 7}, MAIN(11));
	int64_t checked = CALL("alloc", {"checkedMalloc", "/home/u/c.h", 7}, MAIN(12));
	int64_t none = CALL("alloc", {"um::buffer::resize", "/home/u/b.h", 30}, MAIN(13));

	expect(fixture, NULL, raii, "alloc", APP ":10");
	expect(fixture, NULL, gone, "free", APP ":20");
	expect(fixture, NULL, allocator, "alloc", APP ":11");
	expect(fixture, NULL, checked, "alloc", APP ":12");
	expect(fixture, NULL, none, "alloc", "/home/u/b.h:30");
}

/* A function that allocates in several lines is where one looks. */
static void several_lines_are_no_wrapper(void **state)
{
	struct fixture *fixture = *state;
	int64_t a = CALL("alloc", {"grid::grid", APP, 5}, MAIN(50));
	int64_t b = CALL("alloc", {"grid::grid", APP, 6}, MAIN(50));

	CALL("alloc", {"grid::grid", APP, 5}, MAIN(51));
	expect(fixture, NULL, a, "alloc", APP ":5");
	expect(fixture, NULL, b, "alloc", APP ":6");
}

static void a_launch_is_where_it_stands(void **state)
{
	struct fixture *fixture = *state;
	int64_t first = CALL("launch", {"step", APP, 30}, MAIN(50));

	CALL("launch", {"step", APP, 30}, MAIN(51));
	expect(fixture, NULL, first, "launch", APP ":30");
	expect(fixture, "step", first, "launch", APP ":50");
}

static void frames_are_skipped_by_pattern(void **state)
{
	struct fixture *fixture = *state;
	int64_t site = CALL("launch", {"k::impl::run<lambda>", "/home/u/k/run.hpp", 3},
			    {"k::each<int>(int, lambda const&)", "/home/u/k/each.hpp", 4}, MAIN(9));

	expect(fixture, NULL, site, "launch", "/home/u/k/run.hpp:3");
	expect(fixture, "k::impl::*", site, "launch", "/home/u/k/each.hpp:4");
	expect(fixture, "k::impl::run", site, "launch", "/home/u/k/each.hpp:4");
	expect(fixture, "k::*", site, "launch", APP ":9");
	expect(fixture, "run.hpp", site, "launch", "/home/u/k/each.hpp:4");
	expect(fixture, "*/k/*", site, "launch", APP ":9");
	expect(fixture, "nothing", site, "launch", "/home/u/k/run.hpp:3");
	/* All: the innermost is better than none. */
	expect(fixture, "app", site, "launch", "/home/u/k/run.hpp:3");
}

static void frames_in_order(void **state)
{
	struct fixture *fixture = *state;
	int64_t site = CALL("alloc", {"f", APP, 3}, MAIN(9));
	struct um_stacks *stacks = load(fixture, NULL);
	const struct um_stack_frame *frames[8];
	size_t depth = 9;

	assert_int_equal(um_stacks_frames(stacks, site, frames, 8), 3);
	assert_string_equal(frames[0]->function, "f");
	assert_string_equal(frames[2]->function, "__libc_start_main");
	assert_int_equal(frames[2]->line, UM_NULL);
	assert_int_equal(um_stacks_frames(stacks, site, frames, 2), 2);
	assert_int_equal(um_stacks_frames(stacks, 77, frames, 8), 0);
	assert_int_equal(um_stacks_frames(stacks, UM_NULL, frames, 8), 0);
	assert_null(um_stacks_user(stacks, 77, "alloc", &depth));
	assert_ptr_equal(um_stacks_user(stacks, site, "alloc", &depth), frames[0]);
	assert_int_equal(depth, 0);
	um_stacks_destroy(stacks);
	um_stacks_destroy(NULL);
}

/* Parents that go round, and frames of nobody. */
static void damage_ends(void **state)
{
	struct fixture *fixture = *state;
	const struct um_stack_frame *frames[8];

	assert_int_equal(
		um_db_exec(fixture->db,
			   "PRAGMA foreign_keys = OFF;"
			   "INSERT INTO site VALUES (1, 2), (2, 1), (3, 3), (5, 9);"
			   "INSERT INTO frame (site, depth, module, offset_bytes) VALUES"
			   " (1, 0, 'm', 1), (2, 0, 'm', 2), (3, 0, 'm', 3), (4, 0, 'm', 4),"
			   " (5, 7, 'm', 5)"),
		0);
	struct um_stacks *stacks = load(fixture, NULL);

	assert_int_equal(um_stacks_frames(stacks, 2, frames, 8), 2);
	assert_int_equal(um_stacks_frames(stacks, 3, frames, 8), 1);
	assert_int_equal(um_stacks_frames(stacks, 4, frames, 8), 0);
	assert_int_equal(um_stacks_frames(stacks, 5, frames, 8), 1);
	um_stacks_destroy(stacks);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, start, stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_innermost_with_a_line),
		TEST(without_lines_the_function),
		TEST(what_wraps_is_not_the_caller),
		TEST(classes_and_names_wrap_from_one_place_too),
		TEST(several_lines_are_no_wrapper),
		TEST(a_launch_is_where_it_stands),
		TEST(frames_are_skipped_by_pattern),
		TEST(frames_in_order),
		TEST(damage_ends),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
