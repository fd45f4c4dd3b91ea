/*
 * Sixteen ways to use managed memory, of which the first six run by default: the scenarios of
 * rocprof-sys's unified-memory example (ROCm/rocm-systems, projects/rocprofiler-systems/examples/
 * unified-memory), written anew from its documentation, with its options and their defaults. What
 * its documentation shows for `-s 32 -p 256 -i 4` is set beside what the model predicts by
 * tests/classes/rocprof_sample.sh.
 *
 * The example prefetches before most of the uses. --faults leaves those prefetches out, so that the
 * first touch of scenarios 1 to 4 and 6 faults, as their names have it.
 *
 * What its trace must show for the first six, with allocations of W = 131072 s words of 8 bytes in
 * P = 256 s pages and i iterations, s at most 128:
 *   launches      5 + i / 2 (rounded down): 2 W reads and 2 W atomics by 1 and 5, W writes each by
 *                 2, 3, 4 and each second iteration of 6
 *   host          P pages written by 1, 4 and 5 and by each other iteration of 6; 1 page read by 2,
 *                 8 by 3, 1 by 5
 *
 * Under driver `demand` at 4 KiB with room for all:
 *   to the device  1, 5 and each second iteration of 6 bring P pages with data; what nobody has
 *                  written yet (2, 3, 4) moves nothing
 *   to the host    1 page by 2, 8 by 3, P by 4, P by 5, P by each iteration of 6 on the host but the
 *                  first
 *   faults         P of the device by 4, 1 and 8 of the host by 2 and 3; --faults: P more of the
 *                  device by 1, 2, 3 and each second iteration of 6, P of the host by 4 and each
 *                  iteration of 6 on the host but the first
 */
#include "kernel_common.h"

#include <algorithm>
#include <vector>

typedef unsigned long long word;

#define LANES	    256
#define GROUPS_MAX  65535
#define PAGE_WORDS  512
#define READ_BACK   4096 /* words */
#define CHUNK_BYTES ((size_t)16 << 20)
#define STREAMS	    4

struct setup {
	size_t bytes, pressure_bytes;
	long iterations;
	int device;
	bool by_faults;
};

/* --- kernels: each lane takes every n-th element --- */

__device__ static inline size_t first_element(void)
{
	return (size_t)blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ static inline size_t all_lanes(void)
{
	return (size_t)gridDim.x * blockDim.x;
}

__global__ void count_up(word *data, size_t words, word start)
{
	for (size_t i = first_element(); i < words; i += all_lanes())
		data[i] = start + i;
}

__global__ void sum_up(const word *data, size_t words, word *sum)
{
	word own = 0;
	for (size_t i = first_element(); i < words; i += all_lanes())
		own += data[i];
	atomicAdd(sum, own);
}

__global__ void triple_and_one(word *__restrict__ to, const word *__restrict__ from, size_t words)
{
	for (size_t i = first_element(); i < words; i += all_lanes())
		to[i] = 3 * from[i] + 1;
}

__global__ void add_scaled(float *__restrict__ y, const float *__restrict__ x, float factor,
			   size_t count)
{
	for (size_t i = first_element(); i < count; i += all_lanes())
		y[i] += factor * x[i];
}

__global__ void touch_pages(word *data, size_t pages)
{
	for (size_t i = first_element(); i < pages; i += all_lanes())
		data[i * PAGE_WORDS]++;
}

/* --- what the scenarios are made of --- */

static unsigned groups_for(size_t elements)
{
	return (unsigned)std::min<size_t>((elements + LANES - 1) / LANES, GROUPS_MAX);
}

static void finish(void)
{
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
}

static word *make(size_t bytes)
{
	word *data;
	HIP_CHECK(hipMallocManaged(&data, bytes, hipMemAttachGlobal));
	return data;
}

static void prefetch(const void *data, size_t bytes, int to)
{
	HIP_CHECK(hipMemPrefetchAsync(data, bytes, to, 0));
	HIP_CHECK(hipDeviceSynchronize());
}

/* A prefetch that stands for faults. */
static void spare_faults(const struct setup *setup, const void *data, int to)
{
	if (!setup->by_faults)
		prefetch(data, setup->bytes, to);
}

static void count_up_on_host(word *data, size_t words, word start)
{
	for (size_t i = 0; i < words; i++)
		data[i] = start + i;
}

static void count_up_on_device(word *data, size_t words, word start)
{
	count_up<<<groups_for(words), LANES>>>(data, words, start);
	finish();
}

static word sum_on_host(const word *data, size_t words)
{
	word sum = 0;
	for (size_t i = 0; i < words; i++)
		sum += data[i];
	return sum;
}

static word sum_on_device(const word *data, size_t words)
{
	word *on_device, sum;
	HIP_CHECK(hipMalloc(&on_device, sizeof(sum)));
	HIP_CHECK(hipMemset(on_device, 0, sizeof(sum)));
	sum_up<<<groups_for(words), LANES>>>(data, words, on_device);
	finish();
	HIP_CHECK(hipMemcpy(&sum, on_device, sizeof(sum), hipMemcpyDeviceToHost));
	HIP_CHECK(hipFree(on_device));
	return sum;
}

/* start + (start + 1) + ...; modulo 2^64, as the lanes add. */
static word sum_of_counting(size_t words, word start)
{
	word n = words;
	return n * start + (n % 2 ? n * ((n - 1) / 2) : n / 2 * (n - 1));
}

static long done(void *data, bool wrong)
{
	HIP_CHECK(hipFree(data));
	return wrong;
}

/* --- 1 to 6 --- */

static long device_reads_after_host(const struct setup *setup)
{
	size_t words = setup->bytes / sizeof(word);
	word *data = make(setup->bytes);
	count_up_on_host(data, words, 0);
	spare_faults(setup, data, setup->device);
	return done(data, sum_on_device(data, words) != sum_of_counting(words, 0));
}

static long device_writes_first(const struct setup *setup)
{
	word *data = make(setup->bytes);
	spare_faults(setup, data, setup->device);
	count_up_on_device(data, setup->bytes / sizeof(word), 57005);
	return done(data, data[0] != 57005);
}

static long host_reads_after_device(const struct setup *setup)
{
	word *data = make(setup->bytes);
	spare_faults(setup, data, setup->device);
	count_up_on_device(data, setup->bytes / sizeof(word), 48879);
	return done(data, sum_on_host(data, READ_BACK) != sum_of_counting(READ_BACK, 48879));
}

static long host_writes_after_device(const struct setup *setup)
{
	size_t words = setup->bytes / sizeof(word);
	word *data = make(setup->bytes);
	count_up_on_device(data, words, 51966);
	spare_faults(setup, data, hipCpuDeviceId);
	count_up_on_host(data, words, 7);
	return done(data, data[words - 1] != words + 6);
}

static long there_and_back(const struct setup *setup)
{
	size_t words = setup->bytes / sizeof(word);
	word *data = make(setup->bytes);
	count_up_on_host(data, words, 0);
	prefetch(data, setup->bytes, setup->device);
	bool wrong = sum_on_device(data, words) != sum_of_counting(words, 0);
	prefetch(data, setup->bytes, hipCpuDeviceId);
	return done(data, wrong || data[words / 2] != words / 2);
}

static long ping_pong(const struct setup *setup)
{
	size_t words = setup->bytes / sizeof(word);
	word *data = make(setup->bytes);
	for (long i = 0; i < setup->iterations; i++) {
		bool on_device = i % 2;
		spare_faults(setup, data, on_device ? setup->device : hipCpuDeviceId);
		if (on_device)
			count_up_on_device(data, words, i * 1000);
		else
			count_up_on_host(data, words, i);
	}
	return done(data, false);
}

/* --- 7 to 16 --- */

static long advised(const struct setup *setup)
{
	size_t words = setup->bytes / sizeof(word);
	word *data = make(setup->bytes);
	HIP_CHECK(
		hipMemAdvise(data, setup->bytes, hipMemAdviseSetPreferredLocation, setup->device));
	count_up_on_host(data, words, 0);
	prefetch(data, setup->bytes, setup->device);
	count_up_on_device(data, words, 161);
	HIP_CHECK(hipMemAdvise(data, setup->bytes, hipMemAdviseSetAccessedBy, hipCpuDeviceId));
	bool wrong = sum_on_host(data, READ_BACK) != sum_of_counting(READ_BACK, 161);
	HIP_CHECK(hipMemAdvise(data, setup->bytes, hipMemAdviseUnsetPreferredLocation,
			       setup->device));
	HIP_CHECK(hipMemAdvise(data, setup->bytes, hipMemAdviseUnsetAccessedBy, hipCpuDeviceId));
	return done(data, wrong);
}

static long read_by_both(const struct setup *setup)
{
	size_t words = setup->bytes / sizeof(word);
	word *data = make(setup->bytes);
	count_up_on_host(data, words, 0);
	HIP_CHECK(hipMemAdvise(data, setup->bytes, hipMemAdviseSetReadMostly, setup->device));
	prefetch(data, setup->bytes, setup->device);
	bool wrong = sum_on_device(data, words) != sum_on_host(data, words);
	HIP_CHECK(hipMemAdvise(data, setup->bytes, hipMemAdviseUnsetReadMostly, setup->device));
	return done(data, wrong);
}

static long pipeline(const struct setup *setup)
{
	size_t words = setup->bytes / sizeof(word);
	word *stages[3], expected = 5;
	for (word *&stage : stages) {
		stage = make(setup->bytes);
		for (size_t i = 0; i < words; i++)
			stage[i] = &stage == stages ? 5 : 0;
	}
	for (word *stage : stages)
		HIP_CHECK(hipMemPrefetchAsync(stage, setup->bytes, setup->device, 0));
	HIP_CHECK(hipDeviceSynchronize());
	for (long i = 0; i < setup->iterations; i++) {
		for (int from = 0; from < 3; from++) {
			triple_and_one<<<groups_for(words), LANES>>>(stages[(from + 1) % 3],
								     stages[from], words);
			expected = 3 * expected + 1;
		}
		finish();
	}
	prefetch(stages[0], setup->bytes, hipCpuDeviceId);
	bool wrong = stages[0][0] != expected;
	for (word *stage : stages)
		HIP_CHECK(hipFree(stage));
	return wrong;
}

static long scaled_sums(const struct setup *setup)
{
	size_t count = setup->bytes / sizeof(float);
	float *x = (float *)make(setup->bytes), *y = (float *)make(setup->bytes);
	for (size_t i = 0; i < count; i++) {
		x[i] = 1;
		y[i] = 2;
	}
	HIP_CHECK(hipMemPrefetchAsync(x, setup->bytes, setup->device, 0));
	prefetch(y, setup->bytes, setup->device);
	for (long i = 0; i < setup->iterations; i++) {
		add_scaled<<<groups_for(count), LANES>>>(y, x, 3, count);
		finish();
	}
	bool wrong = y[0] != 2 + 3.0f * setup->iterations;
	HIP_CHECK(hipFree(x));
	return done(y, wrong);
}

/* Many allocations, a word of each of their pages, all of them on the device at once. */
static long pressure(const struct setup *setup)
{
	size_t pages = CHUNK_BYTES / (PAGE_WORDS * sizeof(word));
	std::vector<word *> chunks(std::max<size_t>(setup->pressure_bytes / CHUNK_BYTES, 2));
	long wrong = 0;
	for (word *&chunk : chunks)
		chunk = make(CHUNK_BYTES);
	for (word *chunk : chunks)
		for (size_t page = 0; page < pages; page++)
			chunk[page * PAGE_WORDS] = page;
	for (word *chunk : chunks)
		HIP_CHECK(hipMemPrefetchAsync(chunk, CHUNK_BYTES, setup->device, 0));
	HIP_CHECK(hipDeviceSynchronize());
	for (word *chunk : chunks)
		touch_pages<<<groups_for(pages), LANES>>>(chunk, pages);
	finish();
	for (word *chunk : chunks)
		HIP_CHECK(hipMemPrefetchAsync(chunk, CHUNK_BYTES, hipCpuDeviceId, 0));
	HIP_CHECK(hipDeviceSynchronize());
	for (word *chunk : chunks)
		for (size_t page = 0; page < pages; page++)
			wrong += chunk[page * PAGE_WORDS] != page + 1;
	for (word *chunk : chunks)
		HIP_CHECK(hipFree(chunk));
	return wrong;
}

static long made_and_freed(const struct setup *setup)
{
	long wrong = 0;
	for (long i = 0; i < 2 * setup->iterations; i++) {
		word *data = make(setup->bytes);
		prefetch(data, setup->bytes, setup->device);
		count_up_on_device(data, setup->bytes / sizeof(word), i * 100);
		wrong += done(data, data[0] != (word)i * 100);
	}
	return wrong;
}

static long prefetched_both_ways(const struct setup *setup)
{
	size_t words = setup->bytes / sizeof(word);
	word *data = make(setup->bytes);
	long wrong = 0;
	count_up_on_host(data, words, 0);
	for (long i = 0; i < setup->iterations; i++) {
		prefetch(data, setup->bytes, setup->device);
		count_up_on_device(data, words, i * 7);
		prefetch(data, setup->bytes, hipCpuDeviceId);
		wrong += data[0]++ != (word)i * 7;
	}
	return done(data, wrong);
}

static long on_four_streams(const struct setup *setup)
{
	size_t words = setup->bytes / sizeof(word);
	hipStream_t streams[STREAMS];
	word *data[STREAMS];
	long wrong = 0;
	for (int i = 0; i < STREAMS; i++) {
		HIP_CHECK(hipStreamCreate(&streams[i]));
		data[i] = make(setup->bytes);
		count_up_on_host(data[i], words, i);
	}
	for (int i = 0; i < STREAMS; i++)
		HIP_CHECK(hipMemPrefetchAsync(data[i], setup->bytes, setup->device, streams[i]));
	for (int i = 0; i < STREAMS; i++)
		count_up<<<groups_for(words), LANES, 0, streams[i]>>>(data[i], words, i * 61680);
	HIP_CHECK(hipGetLastError());
	for (int i = 0; i < STREAMS; i++)
		HIP_CHECK(hipStreamSynchronize(streams[i]));
	for (int i = 0; i < STREAMS; i++) {
		wrong += done(data[i], data[i][0] != (word)i * 61680);
		HIP_CHECK(hipStreamDestroy(streams[i]));
	}
	return wrong;
}

/* The host has quarters 0 and 2, the device 1 and 3; then each reads the other's. */
static long by_quarters(const struct setup *setup)
{
	size_t words = setup->bytes / sizeof(word) / 4, bytes = words * sizeof(word);
	word *data = make(setup->bytes);
	word *quarter[] = {data, data + words, data + 2 * words, data + 3 * words};
	for (int i = 0; i < 4; i += 2) {
		count_up_on_host(quarter[i], words, i);
		prefetch(quarter[i + 1], bytes, setup->device);
		count_up_on_device(quarter[i + 1], words, i + 1);
	}
	for (int i = 1; i < 4; i += 2)
		prefetch(quarter[i], bytes, hipCpuDeviceId);
	long wrong = 0;
	for (int i = 1; i < 4; i += 2)
		wrong += sum_on_host(quarter[i], words) != sum_of_counting(words, i);
	for (int i = 0; i < 4; i += 2)
		prefetch(quarter[i], bytes, setup->device);
	for (int i = 0; i < 4; i += 2)
		wrong += sum_on_device(quarter[i], words) != sum_of_counting(words, i);
	return done(data, wrong);
}

static long four_times_as_large(const struct setup *setup)
{
	size_t bytes = 4 * setup->bytes, words = bytes / sizeof(word);
	word *data = make(bytes);
	prefetch(data, bytes, setup->device);
	count_up_on_device(data, words, 4660);
	prefetch(data, bytes, hipCpuDeviceId);
	return done(data, data[words / 2] != 4660 + words / 2);
}

#define BY_DEFAULT 6
static long (*const scenarios[])(const struct setup *) = {
	device_reads_after_host,
	device_writes_first,
	host_reads_after_device,
	host_writes_after_device,
	there_and_back,
	ping_pong,
	advised,
	read_by_both,
	pipeline,
	scaled_sums,
	pressure,
	made_and_freed,
	prefetched_both_ways,
	on_four_streams,
	by_quarters,
	four_times_as_large,
};

static int device_of(const char *text)
{
	char *end;
	long id = strtol(text, &end, 10);
	if (end == text || *end || id < 0 || id > 1 << 16) {
		fprintf(stderr, "--device: \"%s\" is no device's number\n", text);
		exit(2);
	}
	return (int)id;
}

int main(int argc, char **argv)
{
	long mebibytes = 64, pressure_mebibytes = 512, iterations = 8, wrong = 0;
	const char *device = "0";
	bool all = false, by_faults = false;
	const struct option_row rows[] = {
		{"size", "MiB", "of each allocation (default 64)", &mebibytes, nullptr, nullptr,
		 's'},
		{"pressure", "MiB", "of scenario 11 (default 512)", &pressure_mebibytes, nullptr,
		 nullptr, 'p'},
		{"iterations", "COUNT", "(default 8)", &iterations, nullptr, nullptr, 'i'},
		{"device", "ID", "the GPU (default 0)", nullptr, nullptr, &device, 'd'},
		{"all", nullptr, "all sixteen scenarios, not the first six", nullptr, &all, nullptr,
		 'a'},
		{"faults", nullptr, "without the prefetches before 1 to 4 and in 6", nullptr,
		 &by_faults, nullptr},
	};
	parse_options(argc, argv, "Sixteen ways to use managed memory.", rows, 6);

	struct setup setup = {(size_t)mebibytes << 20, (size_t)pressure_mebibytes << 20, iterations,
			      device_of(device), by_faults};
	HIP_CHECK(hipSetDevice(setup.device));
	for (size_t i = 0; i < (all ? sizeof(scenarios) / sizeof(*scenarios) : BY_DEFAULT); i++) {
		long of_scenario = scenarios[i](&setup);
		if (of_scenario)
			fprintf(stderr, "unified_memory: scenario %zu is wrong\n", i + 1);
		wrong += of_scenario;
	}
	return report("unified_memory", wrong);
}
