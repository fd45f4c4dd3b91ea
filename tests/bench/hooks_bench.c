/*
 * What recording costs: kernels with hooks against the same without, accesses a second of one core,
 * and a barrier against a bare switch of stacks. Each figure stands beside a floor of the same run.
 * The kernels are written by hand as umhipcc makes them: one lane is one call.
 */
#include "trace/compiler/device/device_abi.h"
#include "trace/runtime/arena.h"
#include "trace/runtime/exec.h"
#include "trace/runtime/fibre.h"
#include "trace/runtime/hostwatch_method.h"
#include "trace/runtime/module.h"
#include "trace/runtime/pageable.h"
#include "trace/runtime/recorder.h"
#include "trace/runtime/runtime.h"
#include "trace/runtime/tracer.h"
#include "trace/runtime/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define REPEATS 5

/* CPU time of this thread: execution never waits, and other programs do not count. */
static double now_s(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Seconds of the fastest run: the others were disturbed. */
static double best_s(void (*call)(void *), void *context)
{
	double best = 1e99;

	for (int i = 0; i < REPEATS; i++) {
		double start = now_s();
		double took;

		call(context);
		took = now_s() - start;
		best = took < best ? took : best;
	}
	return best;
}

#define TILE 16u
#define N    512u

/* --- in place of the device and of the spool: what recording costs, not what reading it does --- */

static uint64_t sent_bytes;

const struct um_played_device *um_device_get(uint32_t device)
{
	static const struct um_played_device played = {.memory_bytes = 1 << 20,
						       .compute_units = 110};

	return device ? NULL : &played;
}

void um_tracer_put(const struct um_record *record)
{
	sent_bytes += record->bytes;
}

uint32_t um_tracer_host_op(void)
{
	return 1;
}

uint32_t um_tracer_op_begin(struct um_record_op *op)
{
	op->op = 1;
	return 1;
}

void um_tracer_op_end(struct um_record_op *op, int result)
{
	(void)op;
	(void)result;
}

bool um_tracer_on(void)
{
	return true;
}

void um_tracer_loss(uint32_t op, enum um_loss_kind kind, uint64_t count, const char *text)
{
	(void)op;
	(void)kind;
	(void)count;
	(void)text;
}

bool um_module_runs(const void *address)
{
	(void)address;
	return false;
}

bool um_module_avoid(uintptr_t address, uintptr_t *start, uintptr_t *end)
{
	(void)address;
	(void)start;
	(void)end;
	return true;
}

char *um_watch_address(uint64_t page)
{
	return um_arena.base + (page << UM_PAGE_SHIFT);
}

/* --- kernels, each with and without hooks --- */

static inline __attribute__((always_inline)) void hook(bool hooked, const void *address,
						       unsigned kind, unsigned instruction)
{
	if (hooked)
		um_access(address, UM_ACCESS(sizeof(float), kind, instruction));
}

static float tile_a[TILE][TILE], tile_b[TILE][TILE];

static inline __attribute__((always_inline)) void matmul(void **args, bool hooked)
{
	const float *a = *(const float **)args[0];
	const float *b = *(const float **)args[1];
	float *c = *(float **)args[2];
	const struct um_lane *self = um_self();
	unsigned x = self->thread[0], y = self->thread[1];
	unsigned row = self->group[1] * TILE + y, column = self->group[0] * TILE + x;
	float sum = 0;

	for (unsigned k = 0; k < N; k += TILE) {
		hook(hooked, &a[row * N + k + x], UM_ACCESS_READ, 0);
		tile_a[y][x] = a[row * N + k + x];
		hook(hooked, &b[(k + y) * N + column], UM_ACCESS_READ, 1);
		tile_b[y][x] = b[(k + y) * N + column];
		um_barrier();
		for (unsigned i = 0; i < TILE; i++)
			sum += tile_a[y][i] * tile_b[i][x];
		um_barrier();
	}
	hook(hooked, &c[row * N + column], UM_ACCESS_WRITE, 2);
	c[row * N + column] = sum;
}

/* No tiles: every product reads both factors from global memory. */
static inline __attribute__((always_inline)) void naive(void **args, bool hooked)
{
	const float *a = *(const float **)args[0];
	const float *b = *(const float **)args[1];
	float *c = *(float **)args[2];
	const struct um_lane *self = um_self();
	unsigned row = self->group[1] * TILE + self->thread[1];
	unsigned column = self->group[0] * TILE + self->thread[0];
	float sum = 0;

	for (unsigned k = 0; k < N; k++) {
		hook(hooked, &a[row * N + k], UM_ACCESS_READ, 0);
		hook(hooked, &b[k * N + column], UM_ACCESS_READ, 1);
		sum += a[row * N + k] * b[k * N + column];
	}
	hook(hooked, &c[row * N + column], UM_ACCESS_WRITE, 2);
	c[row * N + column] = sum;
}

static inline __attribute__((always_inline)) void scale(void **args, bool hooked)
{
	float *c = *(float **)args[2];
	const struct um_lane *self = um_self();
	uint64_t i = ((uint64_t)self->group[1] * self->grid[0] + self->group[0]) * TILE * TILE +
		     self->thread[1] * TILE + self->thread[0];

	hook(hooked, &c[i], UM_ACCESS_READ, 0);
	hook(hooked, &c[i], UM_ACCESS_WRITE, 1);
	c[i] *= 2;
}

/* Every access on a page of its own: the worst case. */
static inline __attribute__((always_inline)) void scattered(void **args, bool hooked)
{
	const float *a = *(const float **)args[0];
	float *c = *(float **)args[2];
	const struct um_lane *self = um_self();
	uint32_t x = self->group[0] * 977 + self->thread[1] * TILE + self->thread[0];
	float sum = 0;

	for (int i = 0; i < 64; i++) {
		x = x * 1664525u + 1013904223u;
		hook(hooked, &a[x >> 8 & (N * N - 1)], UM_ACCESS_READ, 0);
		sum += a[x >> 8 & (N * N - 1)];
	}
	hook(hooked, &c[x >> 8 & (N * N - 1)], UM_ACCESS_WRITE, 1);
	c[x >> 8 & (N * N - 1)] = sum;
}

#define ENTRIES(kernel)                                                                            \
	static void kernel##_plain(void **args)                                                    \
	{                                                                                          \
		kernel(args, false);                                                               \
	}                                                                                          \
	static void kernel##_hooked(void **args)                                                   \
	{                                                                                          \
		kernel(args, true);                                                                \
	}

ENTRIES(matmul)
ENTRIES(naive)
ENTRIES(scale)
ENTRIES(scattered)

static const struct kernel {
	const char *name;
	um_kernel_entry plain, hooked;
} kernels[] = {
	{"tiled matmul", matmul_plain, matmul_hooked},
	{"naive matmul", naive_plain, naive_hooked},
	{"scale", scale_plain, scale_hooked},
	{"scattered", scattered_plain, scattered_hooked},
};

struct job {
	struct um_launch launch;
	struct um_launch_totals totals;
};

static void run(void *context)
{
	struct job *job = context;

	if (um_exec_run(&job->launch, &job->totals))
		abort();
}

static double time_of(struct job *job, um_kernel_entry entry, bool hooked, bool requests)
{
	job->launch.entry = entry;
	job->launch.hooked = hooked;
	job->launch.op = hooked;
	um_recorder_requests = requests;
	return best_s(run, job);
}

static void bench_kernel(const struct kernel *kernel, const char *where, void **args)
{
	struct job job = {.launch = {.args = args,
				     .grid = {N / TILE, N / TILE, 1},
				     .block = {TILE, TILE, 1},
				     .name = kernel->name}};
	double plain = time_of(&job, kernel->plain, false, false);
	double order = time_of(&job, kernel->hooked, true, false);
	double requests = time_of(&job, kernel->hooked, true, true);
	double accesses = (double)(job.totals.reads + job.totals.writes);

	printf("%-14s %-8s unhooked %7.2f ms | masks and order %5.2fx %6.0f M accesses/s "
	       "| with requests %5.2fx %6.0f M accesses/s\n",
	       kernel->name, where, plain * 1e3, order / plain, accesses / order / 1e6,
	       requests / plain, accesses / requests / 1e6);
}

/* --- a barrier against a switch --- */

#define BARRIERS 1000

static void barriers(void **args)
{
	(void)args;
	for (int i = 0; i < BARRIERS; i++)
		um_barrier();
}

/* As many stacks as lanes, each of which does nothing but to switch to the next. */
static um_context ring[UM_GROUP_LANES_MAX], outside;
static uint32_t ring_length, ring_at;

static void ring_next(void)
{
	uint32_t from = ring_at;

	ring_at = from + 1 < ring_length ? from + 1 : 0;
	um_fibre_jump(&ring[from], ring[ring_at], 0);
}

static void ring_member(um_fibre_stack stack)
{
	um_fibre_jump(&ring[ring_at], outside, 0); /* made, and ready to be switched to */
	for (int i = 0; i < BARRIERS; i++)
		ring_next();
	if (ring_at + 1 == ring_length)
		um_fibre_leave(stack, outside, 0);
	um_fibre_leave(stack, ring[++ring_at], 0);
}

static void ring_make(uint32_t length)
{
	ring_length = length;
	for (ring_at = 0; ring_at < length; ring_at++)
		um_fibre_jump(&outside, um_fibre_create(ring_member), 0);
	ring_at = 0;
}

static double ring_s(uint32_t length)
{
	double best = 1e99;

	for (int i = 0; i < REPEATS; i++) {
		double start, took;

		ring_make(length);
		start = now_s();
		um_fibre_jump(&outside, ring[0], 0);
		took = now_s() - start;
		best = took < best ? took : best;
	}
	return best;
}

static void bench_barrier(uint32_t lanes)
{
	struct job job = {.launch = {.entry = barriers,
				     .grid = {1, 1, 1},
				     .block = {lanes, 1, 1},
				     .name = "barriers"}};
	double switches = (double)BARRIERS * lanes;

	printf("barrier        %4u lanes %5.1f ns a lane | bare switches of as many stacks %5.1f "
	       "ns\n",
	       lanes, best_s(run, &job) / switches * 1e9, ring_s(lanes) / switches * 1e9);
}

static void *allocate(uint64_t bytes)
{
	struct um_allocation *allocation;

	if (um_arena_init() || um_arena_alloc(&allocation, UM_ALLOCATION_MANAGED, bytes))
		abort();
	return um_arena.base + allocation->offset;
}

static void *map(uint64_t bytes)
{
	void *memory =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		abort();
	return memory;
}

static void bench_kernels(const char *where, void *(*make)(uint64_t bytes))
{
	float *a = make(N * N * sizeof(float));
	float *b = make(N * N * sizeof(float));
	float *c = make(N * N * sizeof(float));
	void *args[] = {&a, &b, &c};

	for (unsigned i = 0; i < N * N; i++) {
		a[i] = (float)(i % 7);
		b[i] = (float)(i % 5);
	}
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++)
		bench_kernel(&kernels[i], where, args);
}

/* In a process of its own: whether there is pageable memory is settled before the first launch. */
static void bench_pageable(void)
{
	pid_t child = fork();

	if (child == 0) {
		um_pageable = true;
		bench_kernels("pageable", map);
		exit(0);
	}
	waitpid(child, NULL, 0);
}

int main(void)
{
	bench_pageable();
	bench_kernels("managed", allocate);
	for (uint32_t lanes = 64; lanes <= 1024; lanes *= 4)
		bench_barrier(lanes);
	return 0;
}
