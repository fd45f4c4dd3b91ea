/*
 * The steps of a configuration (measure.hip): each is taken on managed memory, by the host or a
 * kernel, and again on plain memory, and both must come to the same.
 *
 *   host-write[:STRIDE] host-read[:STRIDE]     the first word of each STRIDE (default 4: all words)
 *   gpu-read gpu-write gpu-update, each with an order of touching words:
 *     :dense     all, consecutive lanes consecutive words, 264 groups of 256 lanes (default)
 *     :blocked   all, each group its own part
 *     :column    all, each lane along a page, so that neighbours are in different pages
 *     :serial:STRIDE :reverse:STRIDE           one lane, the first word of each STRIDE
 *     :random:COUNT                            one lane, COUNT pages at random, none twice
 *     :parallel:COUNT                          the same pages, a lane each
 *     :sparse:STRIDE                           a lane for each STRIDE
 *   gpu-read-2streams                          each half on a stream of its own, dense
 *   prefetch-gpu prefetch-host
 *   advise-X unadvise-X, X: read-mostly, prefer-gpu, prefer-host, accessed-by-gpu, accessed-by-host
 * and behind any of the last four kinds @first or @second: that half of each buffer only.
 * STRIDE is a size (64KiB), COUNT a number.
 */
#ifndef MEASURE_STEPS_H
#define MEASURE_STEPS_H

#include "../../kernels/kernel_common.h"

#include <time.h>

#define BUFFERS_MAX 64
#define GROUPS	    264
#define LANES	    256
#define PAGE_WORDS  1024ul
#define WORD	    sizeof(unsigned)

struct configuration {
	const char *name;
	size_t bytes; /* of each buffer; a multiple of 4 */
	int buffers;
	const char *steps;
};

struct buffers {
	unsigned *at[BUFFERS_MAX];
	int count;
	size_t words; /* of each */
};

struct memory {
	struct buffers managed, plain;
	unsigned long long *sum; /* on the device */
	int device;
	hipStream_t streams[2];
	/* What it took, without the checks on plain memory: all calls and accesses; of these the GPU's
	 * steps, from the launch until the host knows that it has ended. */
	long all_ns, gpu_ns;
};

static inline long now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000l + t.tv_nsec;
}

enum order { DENSE, BLOCKED, COLUMN, SERIAL, REVERSE, RANDOM, PARALLEL, SPARSE };
enum access { READ, WRITE, UPDATE };

/* Which words an order touches: `touches` of them, the k-th of which is word_of(). */
struct touches {
	enum order order;
	size_t words, stride_words, count;
};

__host__ __device__ static inline size_t touch_count(const struct touches &t)
{
	switch (t.order) {
	case RANDOM:
	case PARALLEL:
		return t.count;
	case SERIAL:
	case REVERSE:
	case SPARSE:
		return (t.words + t.stride_words - 1) / t.stride_words;
	default:
		return t.words;
	}
}

/* Mixes the low `bits` bits, one to one: each step can be undone. */
__host__ __device__ static inline size_t mix(size_t x, unsigned bits)
{
	size_t mask = ((size_t)1 << bits) - 1;

	for (int round = 0; round < 3; round++) {
		x = x * 0x9e3779b97f4a7c15ull & mask; /* odd: 2^64 over the golden ratio */
		x ^= x >> (bits + 1) / 2;
	}
	return x;
}

/* The k-th of all pages in a random order: no page twice while k is below `pages`. */
__host__ __device__ static inline size_t random_page(size_t k, size_t pages)
{
	unsigned bits = 1;
	size_t page = k + 1;

	while ((size_t)1 << bits < pages)
		bits++;
	do
		page = mix(page, bits);
	while (page >= pages);
	return page;
}

__host__ __device__ static inline size_t word_of(const struct touches &t, size_t k)
{
	size_t pages = (t.words + PAGE_WORDS - 1) / PAGE_WORDS;

	switch (t.order) {
	case SERIAL:
	case SPARSE:
		return k * t.stride_words;
	case REVERSE:
		return (touch_count(t) - 1 - k) * t.stride_words;
	case RANDOM:
	case PARALLEL:
		return random_page(k, pages) * PAGE_WORDS;
	default:
		return k;
	}
}

__host__ __device__ static inline void touch(unsigned *word, enum access access,
					     unsigned long long *sum)
{
	if (access != WRITE)
		*sum += *word;
	if (access == WRITE)
		*word = 7;
	if (access == UPDATE)
		*word += 1;
}

__global__ void touch_words(struct buffers buffers, struct touches t, enum access access,
			    unsigned long long *sum)
{
	size_t lane = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	size_t lanes = (size_t)gridDim.x * blockDim.x;
	size_t end = touch_count(t);
	unsigned long long own = 0;

	for (size_t k = lane; k < end; k += lanes)
		for (int b = 0; b < buffers.count; b++)
			touch(&buffers.at[b][word_of(t, k)], access, &own);
	if (own)
		atomicAdd(sum, own);
}

/* Each group its part, lane by lane along it. */
__global__ void touch_blocked(struct buffers buffers, enum access access, unsigned long long *sum)
{
	size_t part = (buffers.words + gridDim.x - 1) / gridDim.x;
	size_t from = part * blockIdx.x, to = from + part;
	unsigned long long own = 0;

	to = to < buffers.words ? to : buffers.words;
	for (size_t k = from + threadIdx.x; k < to; k += blockDim.x)
		for (int b = 0; b < buffers.count; b++)
			touch(&buffers.at[b][k], access, &own);
	if (own)
		atomicAdd(sum, own);
}

/* A lane a page. */
__global__ void touch_columns(struct buffers buffers, enum access access, unsigned long long *sum)
{
	size_t lane = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	size_t lanes = (size_t)gridDim.x * blockDim.x;
	unsigned long long own = 0;

	for (size_t from = lane * PAGE_WORDS; from < buffers.words; from += lanes * PAGE_WORDS)
		for (size_t k = from; k < from + PAGE_WORDS && k < buffers.words; k++)
			for (int b = 0; b < buffers.count; b++)
				touch(&buffers.at[b][k], access, &own);
	if (own)
		atomicAdd(sum, own);
}

/* --- memory --- */

static inline void memory_make(struct memory *memory, const struct configuration *c)
{
	*memory = {};
	HIP_CHECK(hipGetDevice(&memory->device));
	memory->managed.count = memory->plain.count = c->buffers;
	memory->managed.words = memory->plain.words = c->bytes / WORD;
	for (int b = 0; b < c->buffers; b++)
		memory->plain.at[b] = (unsigned *)calloc(1, c->bytes);
	memory->all_ns -= now_ns();
	for (int b = 0; b < c->buffers; b++)
		HIP_CHECK(hipMallocManaged(&memory->managed.at[b], c->bytes, hipMemAttachGlobal));
	HIP_CHECK(hipMalloc(&memory->sum, sizeof(*memory->sum)));
	for (int i = 0; i < 2; i++)
		HIP_CHECK(hipStreamCreate(&memory->streams[i]));
	memory->all_ns += now_ns();
}

static inline void memory_free(struct memory *memory)
{
	memory->all_ns -= now_ns();
	for (int i = 0; i < 2; i++)
		HIP_CHECK(hipStreamDestroy(memory->streams[i]));
	for (int b = 0; b < memory->managed.count; b++)
		HIP_CHECK(hipFree(memory->managed.at[b]));
	HIP_CHECK(hipFree(memory->sum));
	memory->all_ns += now_ns();
	for (int b = 0; b < memory->plain.count; b++)
		free(memory->plain.at[b]);
}

/* --- steps --- */

struct step {
	const char *name;
	size_t name_length;
	struct touches touches;
	size_t argument; /* STRIDE in bytes, or COUNT; 0: none */
	double from, to; /* of each buffer */
};

static inline void step_refuse(const char *text, size_t length)
{
	fprintf(stderr, "measure: step '%.*s' is not known\n", (int)length, text);
	exit(2);
}

static inline size_t step_number(const char *text, const char *end)
{
	char *rest;
	size_t value = strtoul(text, &rest, 10);
	size_t unit_length = (size_t)(end - rest);

	if (unit_length == 3 && !strncmp(rest, "KiB", 3))
		return value << 10;
	if (unit_length == 3 && !strncmp(rest, "MiB", 3))
		return value << 20;
	if (unit_length || !value)
		step_refuse(text, (size_t)(end - text));
	return value;
}

static inline bool is(const char *text, size_t length, const char *word)
{
	return strlen(word) == length && !strncmp(text, word, length);
}

static inline void step_parse(struct step *step, const char *text, size_t length)
{
	static const char *const orders[] = {"dense",	"blocked", "column",   "serial",
					     "reverse", "random",  "parallel", "sparse"};
	const char *end = text + length, *half = (const char *)memchr(text, '@', length);
	const char *at = text;

	*step = {};
	step->to = 1;
	if (half) {
		bool first = is(half + 1, (size_t)(end - half - 1), "first");

		if (!first && !is(half + 1, (size_t)(end - half - 1), "second"))
			step_refuse(text, length);
		(first ? step->to : step->from) = 0.5;
		end = half;
	}
	for (int field = 0; at < end; field++) {
		const char *colon = (const char *)memchr(at, ':', (size_t)(end - at));
		size_t field_length = (size_t)((colon ? colon : end) - at);
		bool known = field == 0;

		if (field == 0) {
			step->name = at;
			step->name_length = field_length;
		} else if (*at >= '0' && *at <= '9') {
			step->argument = step_number(at, at + field_length);
			known = true;
		}
		for (int o = 0; o < 8 && !known; o++)
			if ((known = is(at, field_length, orders[o])))
				step->touches.order = (enum order)o;
		if (!known)
			step_refuse(text, length);
		at += field_length + (colon != NULL);
	}
	step->touches.stride_words = step->argument >= WORD ? step->argument / WORD : 1;
	step->touches.count = step->argument;
}

static inline bool step_is(const struct step *step, const char *word)
{
	return is(step->name, step->name_length, word);
}

/* What the touches come to on plain memory. */
static inline unsigned long long touch_plain(struct memory *memory, const struct touches &t,
					     enum access access)
{
	unsigned long long sum = 0;

	for (size_t k = 0, end = touch_count(t); k < end; k++)
		for (int b = 0; b < memory->plain.count; b++)
			touch(&memory->plain.at[b][word_of(t, k)], access, &sum);
	return sum;
}

static inline unsigned long long take_sum(struct memory *memory)
{
	unsigned long long sum;

	HIP_CHECK(hipMemcpy(&sum, memory->sum, sizeof(sum), hipMemcpyDeviceToHost));
	return sum;
}

static inline void launch(struct memory *memory, const struct touches &t, enum access access)
{
	bool serial = t.order == SERIAL || t.order == REVERSE || t.order == RANDOM;
	size_t lanes = touch_count(t);
	unsigned groups = GROUPS;

	if (t.order == PARALLEL || t.order == SPARSE)
		groups = (unsigned)((lanes + LANES - 1) / LANES);
	HIP_CHECK(hipMemset(memory->sum, 0, sizeof(*memory->sum)));
	HIP_CHECK(hipDeviceSynchronize());
	memory->gpu_ns -= now_ns();
	if (t.order == BLOCKED)
		touch_blocked<<<groups, LANES>>>(memory->managed, access, memory->sum);
	else if (t.order == COLUMN)
		touch_columns<<<groups, LANES>>>(memory->managed, access, memory->sum);
	else
		touch_words<<<serial ? 1 : groups, serial ? 1 : LANES>>>(memory->managed, t, access,
									 memory->sum);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
	memory->gpu_ns += now_ns();
}

static inline bool gpu_step(const struct step *step, struct memory *memory, enum access access)
{
	struct touches t = step->touches;
	unsigned long long sum;
	long start = now_ns();

	t.words = memory->managed.words;
	launch(memory, t, access);
	sum = take_sum(memory);
	memory->all_ns += now_ns() - start;
	return sum == touch_plain(memory, t, access);
}

static inline bool host_step(const struct step *step, struct memory *memory, enum access access)
{
	struct touches t = step->touches;
	unsigned long long sum = 0;
	long start = now_ns();

	t.order = SERIAL;
	t.words = memory->managed.words;
	for (int b = 0; b < memory->managed.count; b++)
		for (size_t k = 0, end = touch_count(t); k < end; k++)
			touch(&memory->managed.at[b][word_of(t, k)], access, &sum);
	memory->all_ns += now_ns() - start;
	return sum == touch_plain(memory, t, access);
}

static inline bool two_streams(struct memory *memory)
{
	struct touches t = {DENSE, memory->managed.words / 2, 1, 0}, all = t;
	struct buffers second = memory->managed;
	unsigned long long sum;
	long start = now_ns(), launched;

	for (int b = 0; b < second.count; b++)
		second.at[b] += t.words;
	HIP_CHECK(hipMemset(memory->sum, 0, sizeof(*memory->sum)));
	HIP_CHECK(hipDeviceSynchronize());
	launched = now_ns();
	touch_words<<<GROUPS / 2, LANES, 0, memory->streams[0]>>>(memory->managed, t, READ,
								  memory->sum);
	touch_words<<<GROUPS / 2, LANES, 0, memory->streams[1]>>>(second, t, READ, memory->sum);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
	memory->gpu_ns += now_ns() - launched;
	sum = take_sum(memory);
	memory->all_ns += now_ns() - start;
	all.words = 2 * t.words;
	return sum == touch_plain(memory, all, READ);
}

static inline void prefetch(const struct step *step, struct memory *memory, int device)
{
	size_t bytes = memory->managed.words * WORD;
	size_t from = (size_t)((double)bytes * step->from), to = (size_t)((double)bytes * step->to);

	for (int b = 0; b < memory->managed.count; b++)
		HIP_CHECK(hipMemPrefetchAsync((char *)memory->managed.at[b] + from, to - from,
					      device, 0));
	HIP_CHECK(hipDeviceSynchronize());
}

static inline bool advise(const struct step *step, struct memory *memory)
{
	static const struct {
		const char *name;
		hipMemoryAdvise set, unset;
		bool host;
	} advice[] = {
		{"read-mostly", hipMemAdviseSetReadMostly, hipMemAdviseUnsetReadMostly, false},
		{"prefer-gpu", hipMemAdviseSetPreferredLocation, hipMemAdviseUnsetPreferredLocation,
		 false},
		{"prefer-host", hipMemAdviseSetPreferredLocation,
		 hipMemAdviseUnsetPreferredLocation, true},
		{"accessed-by-gpu", hipMemAdviseSetAccessedBy, hipMemAdviseUnsetAccessedBy, false},
		{"accessed-by-host", hipMemAdviseSetAccessedBy, hipMemAdviseUnsetAccessedBy, true},
	};
	bool unset = step->name_length > 2 && !strncmp(step->name, "un", 2);
	size_t skip = unset ? strlen("unadvise-") : strlen("advise-");
	size_t bytes = memory->managed.words * WORD;
	size_t from = (size_t)((double)bytes * step->from), to = (size_t)((double)bytes * step->to);

	for (const auto &one : advice) {
		if (step->name_length < skip ||
		    !is(step->name + skip, step->name_length - skip, one.name))
			continue;
		for (int b = 0; b < memory->managed.count; b++)
			HIP_CHECK(hipMemAdvise((char *)memory->managed.at[b] + from, to - from,
					       unset ? one.unset : one.set,
					       one.host ? hipCpuDeviceId : memory->device));
		return true;
	}
	return false;
}

/* A prefetch or an advice. */
static inline void take_hint(const struct step *step, struct memory *memory)
{
	memory->all_ns -= now_ns();
	if (step_is(step, "prefetch-gpu"))
		prefetch(step, memory, memory->device);
	else if (step_is(step, "prefetch-host"))
		prefetch(step, memory, hipCpuDeviceId);
	else if (!advise(step, memory))
		step_refuse(step->name, step->name_length);
	memory->all_ns += now_ns();
}

/* False: the result was wrong. */
static inline bool step_take(const struct step *step, struct memory *memory)
{
	static const struct {
		const char *name;
		bool (*take)(const struct step *, struct memory *, enum access);
		enum access access;
	} accesses[] = {{"host-write", host_step, WRITE},   {"host-read", host_step, READ},
			{"host-update", host_step, UPDATE}, {"gpu-read", gpu_step, READ},
			{"gpu-write", gpu_step, WRITE},	    {"gpu-update", gpu_step, UPDATE}};

	for (const auto &one : accesses)
		if (step_is(step, one.name))
			return one.take(step, memory, one.access);
	if (step_is(step, "gpu-read-2streams"))
		return two_streams(memory);
	take_hint(step, memory);
	return true;
}

#endif
