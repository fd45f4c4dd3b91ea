/* Whose a call is, of the stacks that a tap sends, and what an allocation is called. */
#include "cuda_like.h"
#include "ingest_fixture.h"

#include "trace/db/runtime_frames.h"

#include <limits.h>
#include <link.h>
#include <string.h>
#include <unistd.h>

enum { ALLOCATING_LINE = __LINE__ + 3 };
static __attribute__((noinline)) void allocate(void)
{
	cudaMallocManaged();
	__asm__ volatile("" ::: "memory"); /* not a tail call */
}

enum { LAUNCHING_LINE = __LINE__ + 3 };
static __attribute__((noinline)) void launch(void)
{
	_Z5scalePfi();
	__asm__ volatile("" ::: "memory");
}

static int first_base(struct dl_phdr_info *info, size_t bytes, void *base)
{
	(void)bytes;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1;
}

/* The stack that was noted last, outermost first; returns its innermost site. */
static uint32_t send_stack(struct fixture *fixture, uint32_t last_site)
{
	char path[PATH_MAX] = "";
	uintptr_t base = 0;
	uint32_t parent = 0;

	dl_iterate_phdr(first_base, &base);
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 2) > 0);
	for (size_t i = cuda_like_depth; i-- > 0;) {
		const struct um_record_site site = {.site = ++last_site,
						    .parent = parent,
						    .offset = (uintptr_t)cuda_like_stack[i] - base};

		put_text(fixture, UM_RECORD_SITE, &site, sizeof(site), path, strlen(path) + 2);
		parent = last_site;
	}
	return last_site;
}

static void hello(struct fixture *fixture)
{
	PUT(fixture, UM_RECORD_HELLO,
	    (struct um_record_hello){.spool_version = UM_SPOOL_VERSION,
				     .backend = UM_BACKEND_CUPTI});
}

static void put_op(struct fixture *fixture, uint32_t number, uint16_t kind, uint32_t site)
{
	PUT(fixture, UM_RECORD_OP,
	    (struct um_record_op){
		    .op = number, .kind = kind, .start_ns = 5, .end_ns = 6, .site = site});
}

static void a_static_runtime_is_not_the_caller(void **state)
{
	struct fixture *fixture = *state;
	const struct um_record_allocation record = {
		.allocation = 1, .kind = UM_ALLOCATION_MANAGED, .bytes = 4096, .op = 1, .site = 2};

	hello(fixture);
	allocate();
	assert_int_equal(send_stack(fixture, 0), 2);
	put_op(fixture, 1, UM_OP_ALLOC, 2);
	put_text(fixture, UM_RECORD_ALLOCATION, &record,
		 offsetof(struct um_record_allocation, name), "", 1);
	expect(fixture, "SELECT site FROM op", 1);
	expect(fixture, "SELECT site FROM allocation", 1);
	expect(fixture,
	       "SELECT line FROM frame WHERE site = 1 AND depth = 0 AND function = 'allocate' AND "
	       "file LIKE '%ingest_sites_test.c'",
	       ALLOCATING_LINE);
	/* What it called is there all the same, by its symbol. */
	expect(fixture,
	       "SELECT count(*) FROM frame WHERE site = 2 AND function = 'cudaMallocManaged' AND "
	       "line IS NULL",
	       1);
	expect(fixture, "SELECT parent FROM site WHERE site = 2", 1);
}

static void neither_is_what_a_compiler_makes_of_a_launch(void **state)
{
	struct fixture *fixture = *state;
	const struct um_record_kernel kernel = {.op = 1};

	hello(fixture);
	launch();
	assert_int_equal(send_stack(fixture, 0), 4);
	put_op(fixture, 1, UM_OP_LAUNCH, 4);
	expect(fixture, "SELECT site FROM op", 2);
	expect(fixture,
	       "SELECT count(*) FROM frame WHERE site = 2 AND function = 'scale(float*, int)'", 1);
	put_text(fixture, UM_RECORD_KERNEL, &kernel, offsetof(struct um_record_kernel, name),
		 "_Z5scalePfi\0", 13);
	expect(fixture, "SELECT site FROM op", 1);
	expect(fixture, "SELECT line FROM frame WHERE site = 1 AND function = 'launch'",
	       LAUNCHING_LINE);
}

/* Libraries are known by their names, sites that were lost are nobody's. */
static void a_stack_may_be_of_runtimes_only(void **state)
{
	static const char *const modules[] = {"/usr/lib/libcudart.so.13\0",
					      "/usr/lib/libcuda.so.1\0"};
	struct fixture *fixture = *state;

	hello(fixture);
	for (uint32_t i = 0; i < 2; i++)
		put_text(fixture, UM_RECORD_SITE,
			 &(struct um_record_site){.site = 2 * i + 1, .parent = i, .offset = 16},
			 sizeof(struct um_record_site), modules[i], strlen(modules[i]) + 2);
	put_op(fixture, 1, UM_OP_ALLOC, 3);
	put_op(fixture, 2, UM_OP_ALLOC, 2);
	put_op(fixture, 3, UM_OP_ALLOC, 0);
	expect(fixture, "SELECT site FROM op WHERE op = 2", 3);
	expect(fixture, "SELECT site FROM op WHERE op = 4", 2);
	expect(fixture, "SELECT site FROM op WHERE op = 6", UM_NULL);
	/* Numbers that go back. */
	put_text(fixture, UM_RECORD_SITE, &(struct um_record_site){.site = 2},
		 sizeof(struct um_record_site), "/bin/app\0", 10);
	assert_int_equal(invalid(fixture), 1);
	expect(fixture, "SELECT count(*) FROM site", 2);
}

/* --- in what the program keeps an allocation --- */

static struct {
	long count;
	void *cells[3];
} kept;

static void put_variable(struct fixture *fixture, const struct um_record_variable *record,
			 const char *module)
{
	put_text(fixture, UM_RECORD_VARIABLE, record, sizeof(*record), module, strlen(module) + 1);
}

static void allocations_are_called_as_their_variables(void **state)
{
	struct fixture *fixture = *state;
	const struct um_record_allocation allocation = {
		.allocation = 1, .kind = UM_ALLOCATION_MANAGED, .bytes = 4096, .op = 1};
	struct um_record_variable variable = {.allocation = 1};
	char path[PATH_MAX] = "";
	uintptr_t base = 0;

	hello(fixture);
	put_op(fixture, 1, UM_OP_ALLOC, 0);
	put_text(fixture, UM_RECORD_ALLOCATION, &allocation,
		 offsetof(struct um_record_allocation, name), "", 1);
	dl_iterate_phdr(first_base, &base);
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 2) > 0);
	variable.offset = (int64_t)((uintptr_t)&kept.cells[2] - base);
	put_variable(fixture, &variable, path);
	expect(fixture, "SELECT count(*) FROM allocation WHERE name = 'kept.cells[2]'", 1);
	/* Where nothing is known it stays as it is. */
	variable.offset = 1;
	put_variable(fixture, &variable, path);
	variable.site = 77;
	put_variable(fixture, &variable, "");
	assert_int_equal(invalid(fixture), 0);
	/* Not of the allocation before, and cut off. */
	variable.allocation = 2;
	put_variable(fixture, &variable, "");
	variable.allocation = 1;
	variable.pointers = 1; /* which is not there */
	put_variable(fixture, &variable, "");
	assert_int_equal(invalid(fixture), 2);
	expect(fixture, "SELECT count(*) FROM allocation WHERE name = 'kept.cells[2]'", 1);
}

static void names_tell_whose_a_frame_is(void **state)
{
	(void)state;
	assert_true(um_is_runtime_module("/usr/local/cuda/lib64/libcudart.so.12.4.99"));
	assert_true(um_is_runtime_module("/opt/umtrace/lib/umtrace/libumtrace_cupti.so"));
	assert_false(um_is_runtime_module("/home/me/libcuda_solver.so"));
	assert_false(um_is_runtime_module("/usr/lib/libcuda.so.d/app"));
	assert_true(um_is_runtime_file("/usr/local/cuda/include/cuda_runtime.h"));
	assert_true(um_is_runtime_file("/usr/share/umtrace/nvidia/hip/hip_runtime_api.h"));
	assert_true(um_is_runtime_file("/tmp/tmpxft_1_app.cudafe1.stub.c"));
	assert_false(um_is_runtime_file("/home/me/my_cuda_runtime.h"));
	assert_false(um_is_runtime_file(".stub.cc"));
	assert_true(um_is_runtime_function("cudaMemcpy", false));
	assert_false(um_is_runtime_function("cudaMemcpy", true)); /* a wrapper of the user's */
	assert_false(um_is_runtime_function("cuda_step", false));
	assert_true(um_is_runtime_function("__cudaRegisterFatBinaryEnd", false));
	assert_true(um_is_runtime_function("__device_stub__Z5scalePfi", true));
	assert_string_equal(um_stub_kernel("_ZL26__device_stub__Z5scalePfiPfi"), "_Z5scalePfiPfi");
	assert_null(um_stub_kernel("main"));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, ingest_start, ingest_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_static_runtime_is_not_the_caller),
		TEST(neither_is_what_a_compiler_makes_of_a_launch),
		TEST(a_stack_may_be_of_runtimes_only),
		TEST(allocations_are_called_as_their_variables),
		cmocka_unit_test(names_tell_whose_a_frame_is),
	};

	return cmocka_run_group_tests(tests, ingest_make_directory, ingest_remove_directory);
}
