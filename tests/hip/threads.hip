/* Four host threads, each with a stream and a buffer of its own, launch side by side. */
#include "hip_test.h"

#include <thread>
#include <vector>

__global__ void step(unsigned *data, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		data[i] = data[i] * 5 + 1;
}

static void work(unsigned seed, long *wrong)
{
	const int n = 20000;
	unsigned *data = managed<unsigned>(n);
	hipStream_t stream;
	HIP_CHECK(hipStreamCreate(&stream));
	for (int i = 0; i < n; i++)
		data[i] = seed + i;
	for (int round = 0; round < 3; round++)
		step<<<(n + 127) / 128, 128, 0, stream>>>(data, n);
	HIP_CHECK(hipStreamSynchronize(stream));
	for (int i = 0; i < n; i++)
		*wrong += data[i] != (seed + i) * 125 + 31;
	HIP_CHECK(hipStreamDestroy(stream));
	HIP_CHECK(hipFree(data));
}

int main()
{
	long wrong[4] = {};
	std::vector<std::thread> threads;
	for (unsigned t = 0; t < 4; t++)
		threads.emplace_back(work, t * 1000, &wrong[t]);
	for (std::thread &thread : threads)
		thread.join();
	verdict("threads", wrong[0] + wrong[1] + wrong[2] + wrong[3]);
	return 0;
}
