/*
 * Jacobi's iteration on a grid of R x C floats whose border stays: each cell becomes the mean of
 * its four neighbours, from one array into the other, which then change places.
 *
 * What its trace must show, with C = 1024 (a row is a page), R >= 4, waves of w lanes:
 *   host, before  R pages of each of the two arrays written
 *   each launch   4 (R - 2) (C - 2) reads and (R - 2) (C - 2) writes; R pages read, R - 2 written,
 *                 all 64 lines of each; 4 * 64 + 2 (C / w - 1) requests a page that is read as all
 *                 four neighbours (rows 2 to R - 3): west and east of a wave reach into one more
 *                 line, but for the first and the last wave of a row
 *   host, after   R pages of the result read
 *
 * Under driver `demand` at 4 KiB with room for both arrays: 2 R - 2 device faults in the first
 * launch (the border of the target is not touched), 2 in the second, none after it; 8192 R bytes to
 * the device for two iterations or more, 4096 R back. With less room every iteration brings both
 * arrays anew, in fault order: the time jumps there and stays high (the cliff class).
 *
 * Under driver `amdgpu_svm`, an array at most 2 MiB (one range, one block):
 *   XNACK on   2 device faults in the first launch, none after it, the same bytes. With room for
 *              one array, and all groups in flight at once: 2 in the first launch and then 1 in
 *              each (the array that it writes), 4096 R bytes each, both ways
 *   XNACK off  no fault, no migration; 64 R lines read and 64 (R - 2) written remotely by each
 *              launch
 */
#include "kernel_common.h"

#include <utility>
#include <vector>

__host__ __device__ static inline float mean(float north, float south, float west, float east)
{
	return 0.25f * (north + south + west + east);
}

__global__ void jacobi2d(const float *__restrict__ from, float *__restrict__ to, long rows,
			 long columns)
{
	long column = (long)blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y + 1;
	if (row >= rows - 1 || column < 1 || column >= columns - 1)
		return;
	long i = row * columns + column;
	to[i] = mean(from[i - columns], from[i + columns], from[i - 1], from[i + 1]);
}

static void iterate_on_cpu(const std::vector<float> &from, std::vector<float> &to, long rows,
			   long columns)
{
	for (long row = 1; row < rows - 1; row++)
		for (long i = row * columns + 1; i < (row + 1) * columns - 1; i++)
			to[i] = mean(from[i - columns], from[i + columns], from[i - 1],
				     from[i + 1]);
}

static void run(float *from, float *to, long rows, long columns, long iterations)
{
	const unsigned lanes = 256;
	dim3 groups((columns + lanes - 1) / lanes, rows - 2);

	for (long i = 0; i < iterations; i++) {
		jacobi2d<<<groups, lanes>>>(from, to, rows, columns);
		HIP_CHECK(hipGetLastError());
		std::swap(from, to);
	}
	HIP_CHECK(hipDeviceSynchronize());
}

static std::vector<float> start_of(size_t cells)
{
	std::vector<float> values(cells);
	for (size_t i = 0; i < cells; i++)
		values[i] = (float)(i * 7 % 1021);
	return values;
}

static long count_wrong(const float *result, long rows, long columns, long iterations)
{
	std::vector<float> from = start_of(rows * columns), to = from;
	for (long i = 0; i < iterations; i++) {
		iterate_on_cpu(from, to, rows, columns);
		std::swap(from, to);
	}
	long wrong = 0;
	for (size_t i = 0; i < from.size(); i++)
		wrong += result[i] != from[i];
	return wrong;
}

int main(int argc, char **argv)
{
	long rows = 512, columns = 1024, iterations = 4;
	bool prefetch = false;
	const char *advice = nullptr;
	const struct option_row options[] = {
		{"rows", "COUNT", "at least 3, at most 65537 (default 512)", &rows, nullptr,
		 nullptr},
		{"columns", "COUNT", "at least 3 (default 1024)", &columns, nullptr, nullptr},
		{"iterations", "COUNT", "(default 4)", &iterations, nullptr, nullptr},
		{"prefetch", nullptr, "prefetch both arrays to the GPU", nullptr, &prefetch,
		 nullptr},
		{"advise", "LIST", ADVICE_CHOICES, nullptr, nullptr, &advice},
	};
	parse_options(argc, argv, "Jacobi's iteration on a grid.", options, 5);
	if (rows < 3 || rows > 65537 || columns < 3) {
		fprintf(stderr, "jacobi2d: 3 to 65537 rows and at least 3 columns\n");
		return 2;
	}

	int device;
	float *arrays[2];
	std::vector<float> start = start_of(rows * columns);
	size_t bytes = start.size() * sizeof(float);
	HIP_CHECK(hipGetDevice(&device));
	for (float *&array : arrays) {
		HIP_CHECK(hipMallocManaged(&array, bytes, hipMemAttachGlobal));
		give_advice(array, bytes, advice, device);
		memcpy(array, start.data(), bytes);
	}
	for (float *array : arrays)
		if (prefetch)
			HIP_CHECK(hipMemPrefetchAsync(array, bytes, device, 0));
	run(arrays[0], arrays[1], rows, columns, iterations);
	long wrong = count_wrong(arrays[iterations % 2], rows, columns, iterations);
	for (float *array : arrays)
		HIP_CHECK(hipFree(array));
	return report("jacobi2d", wrong);
}
