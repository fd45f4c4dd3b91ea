/*
 * What umhipcc makes of device code: which accesses have hooks, of which kind and size; how entries
 * find their parameters; where wave operations lie; that both entries share variables. The test
 * stands for the runtime: it exports what device_abi.h declares, and calls entries itself.
 */
#include "tests/unit/compiler/code_object_kernels.h"

#define UM_DEVICE __attribute__((visibility("default")))
#include "trace/compiler/device/device_abi.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

struct access {
	const char *address;
	unsigned long bytes;
	unsigned kind, instruction;
};

static struct access log_of[256];
static unsigned logged, barriers, yields, sites;
static const void *site_of[64], *barrier_site;
static struct um_lane lane = {.block = {1, 1, 1}, .grid = {1, 1, 1}};
static volatile int *wake; /* what a waiting kernel waits for, after three yields */
static jmp_buf failed;
static int fault;
static void *library;

char um_lds_dynamic[UM_LDS_BYTES];

static void note(const void *address, unsigned long bytes, unsigned descriptor)
{
	assert_true(logged < sizeof log_of / sizeof *log_of);
	log_of[logged++] = (struct access){address, bytes, UM_ACCESS_KIND(descriptor),
					   UM_ACCESS_INSTRUCTION(descriptor)};
}

static void note_site(const void *site)
{
	assert_true(sites < sizeof site_of / sizeof *site_of);
	site_of[sites++] = site;
}

const struct um_lane *um_self(void)
{
	return &lane;
}

void um_access(const void *address, unsigned descriptor)
{
	note(address, UM_ACCESS_BYTES(descriptor), descriptor);
}

void um_access_range(const void *address, unsigned long bytes, unsigned descriptor)
{
	note(address, bytes, descriptor);
}

void um_barrier(void)
{
	barriers++;
	barrier_site = __builtin_return_address(0);
}

unsigned long um_wave_ballot(int predicate)
{
	note_site(__builtin_return_address(0));
	return predicate != 0;
}

unsigned um_wave_read(unsigned value, unsigned source)
{
	(void)source;
	note_site(__builtin_return_address(0));
	return value;
}

unsigned long um_wave_active(void)
{
	note_site(__builtin_return_address(0));
	return 1;
}

void um_wave_sync(void)
{
	note_site(__builtin_return_address(0));
}

void um_yield(void)
{
	if (++yields == 3 && wake)
		*wake = !*wake;
}

unsigned long um_clock(void)
{
	static unsigned long ticks;

	return ++ticks;
}

void um_fault(int hip_error, const char *text)
{
	(void)text;
	fault = hip_error;
	longjmp(failed, 1);
}

void *um_device_malloc(unsigned long bytes)
{
	return malloc(bytes);
}

void um_device_free(void *memory)
{
	free(memory);
}

/* The image of our target in a bundle: offset, bytes, length of the name, name. */
static const char *find_image(const char *bundle, uint64_t *bytes)
{
	static const char target[] = "hip-x86_64-unknown-linux-gnu";
	uint64_t count, words[3];
	const char *at = bundle + 24;

	memcpy(&count, at, sizeof count);
	at += sizeof count;
	for (uint64_t i = 0; i < count; i++) {
		memcpy(words, at, sizeof words);
		at += sizeof words;
		if (words[2] == sizeof target - 1 && !memcmp(at, target, words[2])) {
			*bytes = words[1];
			return bundle + words[0];
		}
		at += words[2];
	}
	return NULL;
}

static int load(void **state)
{
	FILE *file = fopen(UM_TEST_BUNDLE, "rb");
	static char bundle[1 << 20];
	uint64_t bytes;
	const char *image;
	char path[64];
	int memory = memfd_create("code object", 0);

	(void)state;
	if (!file || !fread(bundle, 1, sizeof bundle, file))
		return -1;
	fclose(file);
	image = find_image(bundle, &bytes);
	if (!image || write(memory, image, bytes) != (ssize_t)bytes)
		return -1;
	/* Its soname is the runtime's, whose names this program defines. */
	if (!dlopen(UM_TEST_IMPORTS, RTLD_NOW | RTLD_GLOBAL))
		return -1;
	snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
	library = dlopen(path, RTLD_NOW);
	if (!library)
		fprintf(stderr, "%s\n", dlerror());
	return library ? 0 : -1;
}

static void *symbol(const char *name)
{
	void *found = dlsym(library, name);

	if (!found)
		fail_msg("no symbol %s", name);
	return found;
}

static void call(const char *entry, void **args)
{
	void (*function)(void **);

	*(void **)&function = symbol(entry);
	logged = barriers = yields = sites = 0;
	fault = 0;
	if (!setjmp(failed))
		function(args);
}

static void expect(unsigned i, const void *address, unsigned long bytes, enum um_access_kind kind)
{
	assert_true(i < logged);
	assert_ptr_equal(log_of[i].address, address);
	assert_int_equal(log_of[i].bytes, bytes);
	assert_int_equal(log_of[i].kind, kind);
}

static void read_then_write(void **state)
{
	float data[4] = {0, 1, 2, 3}, *pointer = data;

	(void)state;
	lane.thread[0] = 2;
	call("um_hooked._Z6modifyIfEvPT_", (void *[]){&pointer});
	lane.thread[0] = 0;
	assert_int_equal(logged, 2);
	expect(0, &data[2], 4, UM_ACCESS_READ);
	expect(1, &data[2], 4, UM_ACCESS_WRITE);
	assert_int_not_equal(log_of[0].instruction, log_of[1].instruction);
	assert_true(data[2] == 4);
}

static void plain_has_no_hooks(void **state)
{
	float data[1] = {3}, *pointer = data;

	(void)state;
	call("um_plain._Z6modifyIfEvPT_", (void *[]){&pointer});
	assert_int_equal(logged, 0);
	assert_true(data[0] == 6);
}

/* A kernel that never waits also comes as a loop over the lanes of a group, which asks nobody. */
static void a_group_is_one_call(void **state)
{
	float data[4] = {1, 2, 3, 4}, *pointer = data;
	struct um_lane first = {.block = {3, 2, 2}, .grid = {1, 1, 1}};
	void (*group)(void **, const struct um_lane *, unsigned *);
	unsigned number = 99;

	(void)state;
	*(void **)&group = symbol("um_group._Z6modifyIfEvPT_");
	logged = 0;
	lane.thread[0] = 3;
	group((void *[]){&pointer}, &first, &number);
	lane.thread[0] = 0;
	assert_int_equal(logged, 0);
	assert_int_equal(number, 11);
	for (int i = 0; i < 3; i++)
		assert_true(data[i] == (float)((i + 1) * 16));
	assert_true(data[3] == 4);
}

static void a_group_that_waits_is_not(void **state)
{
	static const char *const waiting[] = {"um_group.barrier_last", "um_group.in_step",
					      "um_group.wait_for", "um_group.arms"};

	(void)state;
	for (unsigned i = 0; i < sizeof waiting / sizeof *waiting; i++)
		assert_null(dlsym(library, waiting[i]));
}

static void sizes_are_exact(void **state)
{
	char c[1], *pc = c;
	short s[1], *ps = s;
	long l[1], *pl = l;
	float f[8] __attribute__((aligned(16))) = {1}, *pf = f;
	struct forty_bytes b[2] = {{{7}}}, *pb = b;

	(void)state;
	call("um_hooked.sizes", (void *[]){&pc, &ps, &pl, &pf, &pb});
	assert_int_equal(logged, 7);
	expect(0, c, 1, UM_ACCESS_WRITE);
	expect(1, s, 2, UM_ACCESS_WRITE);
	expect(2, l, 8, UM_ACCESS_WRITE);
	expect(3, f, 16, UM_ACCESS_READ);
	expect(4, f + 4, 16, UM_ACCESS_WRITE);
	expect(5, b, 40, UM_ACCESS_READ);
	expect(6, b + 1, 40, UM_ACCESS_WRITE);
	assert_int_equal(b[1].a[0], 7);
}

static void atomics_are_one_access(void **state)
{
	int i = 0, *pi = &i;
	unsigned u = 7, *pu = &u;
	double d = 1, *pd = &d;
	float f = 1, *pf = &f;

	(void)state;
	call("um_hooked.atomics", (void *[]){&pi, &pu, &pd, &pf});
	assert_int_equal(logged, 8);
	for (unsigned k = 0; k < 3; k++)
		expect(k, &i, 4, UM_ACCESS_ATOMIC);
	expect(3, &u, 4, UM_ACCESS_READ);
	expect(4, &u, 4, UM_ACCESS_WRITE);
	expect(5, &u, 4, UM_ACCESS_ATOMIC);
	expect(6, &d, 8, UM_ACCESS_ATOMIC_FLOAT);
	expect(7, &f, 4, UM_ACCESS_ATOMIC_FLOAT);
	assert_int_equal(i, 3);
	assert_int_equal(u, 0);
	assert_true(d == 2.5);
	assert_true(f == 1.5f);
}

static void own_memory_is_quiet(void **state)
{
	struct forty_bytes value = {{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}};
	int n = 4, out = 0, *pointer = &out, *counter = symbol("counter");
	float *factors = symbol("factors");

	(void)state;
	*counter = 100;
	factors[0] = 20;
	call("um_hooked.quiet", (void *[]){&value, &n, &pointer});
	/* own[2] is value.a[5], 6; +1 in dynamic LDS; +20. */
	assert_int_equal(out, 127);
	assert_int_equal(logged, 1);
	expect(0, &out, 4, UM_ACCESS_WRITE);
	call("um_plain.quiet", (void *[]){&value, &n, &pointer});
	assert_int_equal(logged, 0);
	assert_int_equal(*counter, 154);
}

static void lds_has_bounds(void **state)
{
	char *start = symbol("__start_um_lds"), *stop = symbol("__stop_um_lds");

	(void)state;
	/* Of five kernels, and the padding. */
	assert_in_range(stop - start, 449 * sizeof(int) + UM_LDS_GRANULE_BYTES,
			449 * sizeof(int) + UM_LDS_GRANULE_BYTES + 64);
}

static void kernels_have_their_own_share_of_lds(void **state)
{
	(void)state;
	assert_int_equal(*(unsigned *)symbol("um_lds_bytes.quiet"), 64 * sizeof(int));
	assert_int_equal(*(unsigned *)symbol("um_lds_bytes.in_step"), 64 * sizeof(int));
	assert_int_equal(*(unsigned *)symbol("um_lds_bytes.sizes"), 0);
}

static void loops_stay_loops(void **state)
{
	int out[40], *pointer = out, n = 40;

	(void)state;
	call("um_hooked.clear", (void *[]){&pointer, &n});
	assert_int_equal(logged, 40);
	for (unsigned i = 0; i < 40; i++)
		expect(i, &out[i], 4, UM_ACCESS_WRITE);
}

static void copies_are_ranges(void **state)
{
	char to[100] = "", from[100] = "umtrace", *pto = to, *pfrom = from;
	int n = 100;

	(void)state;
	call("um_hooked.copy", (void *[]){&pto, &pfrom, &n});
	assert_int_equal(logged, 2);
	expect(0, from, 100, UM_ACCESS_READ);
	expect(1, to, 100, UM_ACCESS_WRITE);
	assert_string_equal(to, "umtrace");
}

static void managed_variables_are_memory(void **state)
{
	int **pointer = symbol("managed_number"), storage = 0;

	(void)state;
	*pointer = &storage;
	call("um_hooked.managed", (void *[]){NULL});
	assert_int_equal(logged, 1);
	expect(0, &storage, 4, UM_ACCESS_WRITE);
	assert_int_equal(storage, 5);
}

static void volatile_accesses_all_count(void **state)
{
	int v[2] = {0, 1}, *pointer = v;

	(void)state;
	call("um_hooked.polite", (void *[]){&pointer});
	assert_int_equal(logged, 4);
	for (unsigned i = 0; i < 4; i += 2) {
		expect(i, &v[1], 4, UM_ACCESS_READ);
		expect(i + 1, &v[0], 4, UM_ACCESS_WRITE);
	}
}

static void parameters_arrive(void **state)
{
	struct three_floats f3 = {1, 2, 3};
	struct forty_bytes b = {{4, 0, 0, 0, 0, 0, 0, 0, 0, 5}};
	char c = 6, nothing = 0;
	unsigned short h = 0x4700 /* 7.0 */, q = 0x4c00 /* 16.0 */;
	float f4[4] __attribute__((aligned(16))) = {8, 0, 0, 9};
	double d2[2] __attribute__((aligned(16))) = {0, 10}, out[PARAMETERS] = {0}, *pout = out;
	struct mixed m = {11, 12};
	struct small s = {13, 14};
	_Bool yes = 1;
	int object = 17, referred = 18, *reference = &referred;
	long long ll = 19;
	unsigned u2[2] = {0, 20};
	double d4[4] __attribute__((aligned(32))) = {21, 0, 0, 22};
	double expected[PARAMETERS] = {1,  2,  3,  4, 5,  6,  7,  8,  9,  10, 11,
				       12, 13, 14, 1, 16, 17, 18, 19, 20, 21, 22};

	(void)state;
	call("um_hooked.parameters", (void *[]){&f3, &nothing, &b, &c, &h, f4, d2, &pout, &m, &s,
						&yes, &q, &object, &reference, &ll, u2, d4});
	for (unsigned i = 0; i < PARAMETERS; i++)
		if (out[i] != expected[i])
			fail_msg("value %u is %g, not %g", i, out[i], expected[i]);
}

/* struct { char c; forty_bytes b; empty e; small s; float4 f4; bool yes; double *out; } */
static void arguments_have_places_in_one_buffer(void **state)
{
	static const unsigned offsets[] = {0, 4, 44, 48, 64, 80, 88, 96};
	const unsigned *found = symbol("um_arguments.in_one_buffer");

	(void)state;
	for (unsigned i = 0; i < sizeof offsets / sizeof *offsets; i++)
		assert_int_equal(found[i], offsets[i]);
	assert_int_equal(found[8], 1); /* sizes follow: c, b, ... out */
	assert_int_equal(found[9], 40);
	assert_int_equal(found[14], 8);
	/* A class with a constructor of its own is passed by reference. */
	assert_null(dlsym(library, "um_arguments.parameters"));
}

static void equal_operations_in_two_arms_stay_two(void **state)
{
	int zero = 0, one = 1, value = 5, out, *pointer = &out;
	const void *sites_of_arm[2][2];

	(void)state;
	for (unsigned entry = 0; entry < 2; entry++) {
		const char *name = entry ? "um_plain.arms" : "um_hooked.arms";

		call(name, (void *[]){&zero, &value, &pointer});
		assert_int_equal(sites, 2);
		memcpy(sites_of_arm[0], site_of, sizeof sites_of_arm[0]);
		call(name, (void *[]){&one, &value, &pointer});
		assert_int_equal(sites, 2);
		memcpy(sites_of_arm[1], site_of, sizeof sites_of_arm[1]);
		assert_ptr_not_equal(sites_of_arm[0][0], sites_of_arm[1][0]);
		assert_ptr_equal(sites_of_arm[0][1], sites_of_arm[1][1]);
		/* The join lies behind both arms. */
		assert_true(sites_of_arm[0][1] > sites_of_arm[0][0]);
		assert_true(sites_of_arm[0][1] > sites_of_arm[1][0]);
	}
}

static void what_follows_a_loop_lies_behind_it(void **state)
{
	int n = 9, out, *pointer = &out;

	(void)state;
	call("um_hooked.loop", (void *[]){&n, &pointer});
	assert_int_equal(sites, 9 + 8 + 1); /* in an arm, going back, and at the end */
	for (unsigned i = 0; i < 17; i++)
		assert_true(site_of[i] < site_of[17]);
	for (unsigned i = 1; i < 17; i += 2) {
		assert_ptr_equal(site_of[i], site_of[1]);
		assert_true(site_of[i] > site_of[i - 1]);
		assert_true(site_of[i] > site_of[i + 1]);
	}
}

static void a_last_barrier_is_not_a_tail_call(void **state)
{
	int out, *pointer = &out;
	Dl_info info;

	(void)state;
	call("um_hooked.barrier_last", (void *[]){&pointer});
	assert_int_equal(barriers, 1);
	assert_true(dladdr(barrier_site, &info));
	assert_string_equal(info.dli_sname, "um_hooked.barrier_last");
}

static void volatile_lds_and_fences_keep_waves_in_step(void **state)
{
	int out[1] = {1}, *pointer = out;

	(void)state;
	call("um_hooked.in_step", (void *[]){&pointer});
	/* Two loads, a store, the fence, a load. */
	assert_int_equal(sites, 5);
}

static void lanes_with_cells_of_their_own_do_not_meet(void **state)
{
	int out[1] = {4}, *pointer = out;

	(void)state;
	call("um_hooked.alone", (void *[]){&pointer});
	assert_int_equal(sites, 0);
	assert_int_equal(out[0], 4 + 4 + 1 + 3);
}

static void lanes_that_exchange_values_meet(void **state)
{
	int out[1] = {4}, *pointer = out;

	(void)state;
	call("um_hooked.neighbours", (void *[]){&pointer});
	assert_int_equal(sites, 3);
	assert_int_equal(barriers, 1);
	call("um_plain.neighbours", (void *[]){&pointer});
	assert_int_equal(sites, 3);
	/* Not the lane that knows the value; those that read it. */
	lane.thread[0] = 1;
	call("um_hooked.told", (void *[]){&pointer});
	lane.thread[0] = 0;
	assert_int_equal(sites, 1);
}

static void waiting_loops_yield(void **state)
{
	static const char *const entries[] = {"um_hooked.wait_for", "um_plain.wait_for",
					      "um_hooked.lock", "um_plain.lock"};

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		int word = i >= 2, *pointer = &word;

		wake = &word;
		call(entries[i], (void *[]){&pointer});
		assert_int_equal(yields, 3);
	}
	wake = NULL;
}

static void a_lock_that_is_free_does_not_yield(void **state)
{
	int word = 0, *pointer = &word;

	(void)state;
	call("um_hooked.lock", (void *[]){&pointer});
	assert_int_equal(yields, 0);
	assert_int_equal(word, 1);
}

static void failures_end_the_launch(void **state)
{
	static const int errors[] = {0, 710 /* hipErrorAssert */, 719 /* hipErrorLaunchFailure */};

	(void)state;
	for (int how = 0; how < 3; how++) {
		call("um_hooked.fails", (void *[]){&how});
		assert_int_equal(fault, errors[how]);
	}
}

static void kernels_allocate(void **state)
{
	int out = 0, *pointer = &out;

	(void)state;
	call("um_hooked.inside", (void *[]){&pointer});
	assert_int_equal(out, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(read_then_write),
		cmocka_unit_test(plain_has_no_hooks),
		cmocka_unit_test(a_group_is_one_call),
		cmocka_unit_test(a_group_that_waits_is_not),
		cmocka_unit_test(sizes_are_exact),
		cmocka_unit_test(atomics_are_one_access),
		cmocka_unit_test(own_memory_is_quiet),
		cmocka_unit_test(lds_has_bounds),
		cmocka_unit_test(kernels_have_their_own_share_of_lds),
		cmocka_unit_test(loops_stay_loops),
		cmocka_unit_test(copies_are_ranges),
		cmocka_unit_test(managed_variables_are_memory),
		cmocka_unit_test(volatile_accesses_all_count),
		cmocka_unit_test(parameters_arrive),
		cmocka_unit_test(arguments_have_places_in_one_buffer),
		cmocka_unit_test(equal_operations_in_two_arms_stay_two),
		cmocka_unit_test(what_follows_a_loop_lies_behind_it),
		cmocka_unit_test(a_last_barrier_is_not_a_tail_call),
		cmocka_unit_test(volatile_lds_and_fences_keep_waves_in_step),
		cmocka_unit_test(lanes_with_cells_of_their_own_do_not_meet),
		cmocka_unit_test(lanes_that_exchange_values_meet),
		cmocka_unit_test(waiting_loops_yield),
		cmocka_unit_test(a_lock_that_is_free_does_not_yield),
		cmocka_unit_test(failures_end_the_launch),
		cmocka_unit_test(kernels_allocate),
	};

	return cmocka_run_group_tests(tests, load, NULL);
}
