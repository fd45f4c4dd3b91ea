#include "trace/runtime/arena.h"
#include "trace/base/error.h"
#include "trace/runtime/host_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB (1ull << 20)

static struct um_allocation *allocate(uint64_t bytes)
{
	struct um_allocation *allocation;

	assert_int_equal(um_arena_alloc(&allocation, UM_ALLOCATION_MANAGED, bytes), 0);
	return allocation;
}

static char *start(const struct um_allocation *allocation)
{
	return um_arena.base + allocation->offset;
}

static void test_places(void **state)
{
	(void)state;
	struct um_allocation *a = allocate(1), *b = allocate(4097), *c = allocate(2 * MIB);

	assert_int_equal(a->offset, 0);
	assert_int_equal(b->offset, 4096);
	assert_int_equal(c->offset, 2 * MIB); /* at 2 MiB, of the address too */
	assert_int_equal((uintptr_t)start(c) % (2 * MIB), 0);
	struct um_allocation *d = allocate(4096);

	assert_int_equal(d->offset, 3 * 4096); /* before it, where there is room */
	assert_true(a->id < b->id && b->id < c->id && c->id < d->id);
	um_arena_free(b);
	struct um_allocation *e = allocate(8192);

	assert_int_equal(e->offset, 4096); /* lowest first */
	assert_true(e->id > d->id);
	um_arena_free(a);
	um_arena_free(c);
	um_arena_free(d);
	um_arena_free(e);
	assert_int_equal(um_arena_bytes(), 0);
	a = allocate(UM_ARENA_SPAN / 8); /* the gaps have grown together again */
	assert_int_equal(a->offset, 0);
	um_arena_free(a);
}

static void test_finds(void **state)
{
	(void)state;
	struct um_allocation *a = allocate(5000), *b = allocate(100);

	assert_ptr_equal(um_arena_find(start(a)), a);
	assert_ptr_equal(um_arena_find(start(a) + 4999), a);
	assert_ptr_equal(um_arena_find(start(b)), b);
	assert_null(um_arena_find(start(b) + 4096));
	assert_null(um_arena_find(um_arena.base - 1));
	assert_null(um_arena_find(um_arena.base + um_arena.span));
	assert_null(um_arena_find(NULL));
	assert_ptr_equal(um_arena_by_id(a->id), a);
	uint32_t id = a->id;

	um_arena_free(a);
	assert_null(um_arena_by_id(id));
	assert_null(um_arena_by_id(0));
	assert_null(um_arena_by_id(UINT32_MAX));
	assert_null(um_arena_find(um_arena.base));
	um_arena_free(b);
}

static void test_alias_and_zero(void **state)
{
	(void)state;
	struct um_allocation *a = allocate(3 * MIB);

	memset(start(a), 0x5a, 3 * MIB);
	assert_int_equal(((unsigned char *)um_arena_alias(start(a)))[MIB], 0x5a);
	*(char *)um_arena_alias(start(a) + 7) = 1;
	assert_int_equal(start(a)[7], 1);
	um_arena_free(a);
	a = allocate(3 * MIB);
	assert_int_equal(a->offset, 0);
	for (uint64_t i = 0; i < 3 * MIB; i += 512)
		assert_int_equal(start(a)[i], 0);
	assert_int_equal(start(a)[7], 0);
	um_arena_free(a);
}

/* Anonymous memory in place of the file's, and the file's again once it is freed. */
static void test_unwatched(void **state)
{
	(void)state;
	um_arena.unwatched = true;
	struct um_allocation *small = allocate(2 * MIB - 1), *big = allocate(4 * MIB + 1);
	char *at = start(big);

	assert_ptr_equal(um_arena_own(start(small)), um_arena_alias(start(small)));
	assert_ptr_equal(um_arena_own(at + 5), at + 5);
	memset(at, 0x5a, 4 * MIB + 1);
	assert_int_equal(*(char *)um_arena_alias(at), 0);
	um_arena_free(big);
	big = allocate(4 * MIB + 1);
	assert_ptr_equal(start(big), at);
	for (uint64_t i = 0; i < 4 * MIB; i += 512)
		assert_int_equal(at[i], 0);
	um_arena_free(big);
	um_arena.unwatched = false;
	big = allocate(4 * MIB + 1);
	at[7] = 1;
	assert_ptr_equal(um_arena_own(at), um_arena_alias(at));
	assert_int_equal(*(char *)um_arena_own(at + 7), 1);
	um_arena_free(big);
	um_arena_free(small);
}

static void test_limits(void **state)
{
	(void)state;
	struct um_allocation *a = NULL;

	assert_int_equal(um_arena_alloc(&a, UM_ALLOCATION_DEVICE, um_host_memory_bytes() + 1),
			 UM_ENOMEM);
	assert_non_null(strstr(um_error_message(), "this host has"));
	assert_int_equal(um_arena_alloc(&a, UM_ALLOCATION_DEVICE, UINT64_MAX), UM_ENOMEM);
	assert_null(a);
	assert_int_equal(um_arena_bytes(), 0);
}

struct seen {
	uint64_t last;
	int count;
};

static bool ascending(struct um_allocation *allocation, void *context)
{
	struct seen *seen = context;

	assert_true(!seen->count || allocation->offset > seen->last);
	seen->last = allocation->offset;
	return ++seen->count < 150;
}

/* A few hundred allocations, every third freed and made anew. */
static void test_many(void **state)
{
	(void)state;
	static struct um_allocation *all[300];
	struct seen seen = {0};

	for (int i = 0; i < 300; i++)
		all[i] = allocate(4096u * (1u + (unsigned)i % 5u));
	for (int i = 0; i < 300; i += 3)
		um_arena_free(all[i]);
	for (int i = 0; i < 300; i += 3)
		all[i] = allocate(4096u * (1u + (unsigned)i % 5u));
	um_arena_each(ascending, &seen);
	assert_int_equal(seen.count, 150);
	for (int i = 0; i < 300; i++) {
		assert_ptr_equal(um_arena_find(start(all[i])), all[i]);
		um_arena_free(all[i]);
	}
	assert_int_equal(um_arena_bytes(), 0);
}

/* Exit status of a child that starts afresh in an arena of its own. */
static int use_as_child(const char *parents)
{
	struct um_allocation *allocation;

	um_arena_child();
	if (um_arena_find(parents) || um_arena_bytes())
		return 1;
	if (um_arena_alloc(&allocation, UM_ALLOCATION_MANAGED, 4096) || allocation->offset)
		return 2;
	start(allocation)[0] = 9;
	return um_arena_find(start(allocation)) == allocation ? 0 : 3;
}

static void test_child(void **state)
{
	(void)state;
	struct um_allocation *a = allocate(4096);
	int status;

	start(a)[0] = 5;
	pid_t child = fork();

	if (!child)
		_exit(use_as_child(start(a)));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(start(a)[0], 5);
	um_arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_places),	       cmocka_unit_test(test_finds),
		cmocka_unit_test(test_alias_and_zero), cmocka_unit_test(test_limits),
		cmocka_unit_test(test_many),	       cmocka_unit_test(test_child),
		cmocka_unit_test(test_unwatched),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
