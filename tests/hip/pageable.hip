/* Kernels on memory that HIP did not allocate, while it moves, goes and is shared. */
#include "hip_test.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

static const int ints = 64 * 1024; /* of a large buffer: 256 KiB */

__device__ int of_the_device[64];

__global__ void add(int *data, int count, int amount)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		data[i] += amount;
}

static void launch(int *data, int count, int amount)
{
	LAUNCH(add<<<(count + 255) / 256, 256>>>(data, count, amount));
}

static long count_wrong(const int *data, int count, int wanted)
{
	long wrong = 0;
	for (int i = 0; i < count; i++)
		wrong += data[i] != wanted;
	return wrong;
}

static void fill(int *data, int count, int value)
{
	for (int i = 0; i < count; i++)
		data[i] = value;
}

/* Each is unmapped before the next is made, larger than that. */
static long come_and_go()
{
	long wrong = 0;
	for (int round = 1; round <= 5; round++) {
		int *data = (int *)malloc((size_t)round * ints * sizeof(*data));
		fill(data, round * ints, round);
		launch(data, round * ints, 1);
		wrong += count_wrong(data, round * ints, round + 1);
		free(data);
	}
	return wrong;
}

static long grow()
{
	int *data = (int *)malloc(ints * sizeof(*data));
	fill(data, ints, 1);
	launch(data, ints, 1);
	data = (int *)realloc(data, 64 * ints * sizeof(*data));
	long wrong = count_wrong(data, ints, 2);
	fill(data + ints, 63 * ints, 2);
	launch(data, 64 * ints, 1);
	wrong += count_wrong(data, 64 * ints, 3);
	free(data);
	return wrong;
}

/* The child has a copy of its own, and writes to it. */
static long fork_between()
{
	int *data = (int *)malloc(ints * sizeof(*data));
	fill(data, ints, 1);
	launch(data, ints, 1);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		fill(data, ints, 7);
		_exit(count_wrong(data, ints, 7) != 0);
	}
	int status;
	waitpid(child, &status, 0);
	launch(data, ints, 1);
	long wrong = count_wrong(data, ints, 3) + (status != 0);
	free(data);
	return wrong;
}

static long on_a_thread()
{
	long wrong = 0;
	std::thread([&] {
		int data[256];
		fill(data, 256, 1);
		launch(data, 256, 1);
		wrong = count_wrong(data, 256, 2);
	}).join();
	return wrong;
}

static long small_ones()
{
	std::vector<int *> all;
	for (int i = 0; i < 10000; i++)
		all.push_back(new int(i));
	for (int i = 0; i < 10000; i += 1000)
		launch(all[i], 1, 1);
	long wrong = 0;
	for (int i = 0; i < 10000; i++) {
		wrong += *all[i] != i + (i % 1000 == 0);
		delete all[i];
	}
	return wrong;
}

static long shared_with_a_child()
{
	int *data = (int *)mmap(nullptr, ints * sizeof(*data), PROT_READ | PROT_WRITE,
				MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		fill(data, ints, 4);
		_exit(0);
	}
	waitpid(child, nullptr, 0);
	launch(data, ints, 1);
	long wrong = count_wrong(data, ints, 5);
	munmap(data, ints * sizeof(*data));
	return wrong;
}

__global__ void wait_for(volatile int *flag, int *answer)
{
	while (!*flag)
		;
	*answer = *flag;
}

/* The kernel waits for the host, on a line of the heap. */
static long handshake()
{
	int *shared = (int *)calloc(64, sizeof(*shared));
	std::thread host([&] {
		usleep(50 * 1000);
		__atomic_store_n(&shared[0], 9, __ATOMIC_RELEASE);
	});
	wait_for<<<1, 1>>>(shared, shared + 32);
	host.join();
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = shared[32] != 9;
	free(shared);
	return wrong;
}

/* A variable of the code object: device memory, whatever the address looks like. */
static long variable_by_pointer()
{
	int *data, copy[64];
	HIP_CHECK(hipGetSymbolAddress((void **)&data, HIP_SYMBOL(of_the_device)));
	launch(data, 64, 3);
	HIP_CHECK(hipMemcpyFromSymbol(copy, HIP_SYMBOL(of_the_device), sizeof(copy)));
	return count_wrong(copy, 64, 3);
}

static long registered()
{
	int *data = (int *)aligned_alloc(4096, ints * sizeof(*data));
	fill(data, ints, 1);
	launch(data, ints, 1);
	HIP_CHECK(hipHostRegister(data, ints * sizeof(*data), hipHostRegisterDefault));
	launch(data, ints, 1);
	HIP_CHECK(hipHostUnregister(data));
	launch(data, ints, 1);
	long wrong = count_wrong(data, ints, 4);
	free(data);
	return wrong;
}

int main()
{
	static const struct {
		const char *name;
		long (*run)();
	} parts[] = {
		{"come_and_go", come_and_go},
		{"grow", grow},
		{"fork_between", fork_between},
		{"on_a_thread", on_a_thread},
		{"small_ones", small_ones},
		{"shared_with_a_child", shared_with_a_child},
		{"handshake", handshake},
		{"variable_by_pointer", variable_by_pointer},
		{"registered", registered},
	};
	for (const auto &part : parts)
		verdict(part.name, part.run());
	return 0;
}
