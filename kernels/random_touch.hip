/*
 * `touches` reads at pseudo-random places of a buffer of `bytes`: the least compressible trace.
 *
 * What its trace must show, with T touches, L lanes in all, each of T / L touches:
 *   launch   T reads of the buffer and L writes of the sums
 *   stream   at most T touches of the buffer
 * The trace stays within 8 MiB for T = 2^20 over 256 MiB.
 */
#include "kernel_common.h"

#define LANE_TOUCHES 16

/* The finaliser of MurmurHash3 (public domain, Austin Appleby). */
static __host__ __device__ unsigned mix(unsigned x)
{
	x ^= x >> 16;
	x *= 0x85ebca6bu;
	x ^= x >> 13;
	x *= 0xc2b2ae35u;
	return x ^ x >> 16;
}

static __host__ __device__ unsigned long place(unsigned touch, unsigned long words)
{
	return ((unsigned long)mix(touch) << 16 ^ mix(~touch)) % words;
}

__global__ void random_touch(const unsigned *__restrict__ buffer, unsigned long words,
			     unsigned *__restrict__ sums, unsigned lanes)
{
	unsigned lane = blockIdx.x * blockDim.x + threadIdx.x;
	if (lane >= lanes)
		return;
	unsigned sum = 0;
	for (unsigned k = 0; k < LANE_TOUCHES; k++)
		sum += buffer[place(lane * LANE_TOUCHES + k, words)];
	sums[lane] = sum;
}

int main(int argc, char **argv)
{
	long touches = 1 << 20, bytes = 256l << 20;
	const struct option_row rows[] = {
		{"touches", "COUNT", "reads, a multiple of 16 (default 1048576)", &touches, nullptr,
		 nullptr},
		{"bytes", "COUNT", "of the buffer (default 268435456)", &bytes, nullptr, nullptr},
	};
	parse_options(argc, argv, "Reads at pseudo-random places.", rows, 2);

	unsigned long words = bytes / sizeof(unsigned);
	unsigned lanes = touches / LANE_TOUCHES;
	unsigned *buffer, *sums;
	HIP_CHECK(hipMallocManaged(&buffer, bytes, hipMemAttachGlobal));
	HIP_CHECK(hipMallocManaged(&sums, lanes * sizeof(*sums), hipMemAttachGlobal));
	for (unsigned long i = 0; i < words; i++)
		buffer[i] = mix(i);
	random_touch<<<(lanes + 255) / 256, 256>>>(buffer, words, sums, lanes);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = 0;
	for (unsigned lane = 0; lane < lanes; lane++) {
		unsigned sum = 0;
		for (unsigned k = 0; k < LANE_TOUCHES; k++)
			sum += mix(place(lane * LANE_TOUCHES + k, words));
		wrong += sums[lane] != sum;
	}
	HIP_CHECK(hipFree(sums));
	HIP_CHECK(hipFree(buffer));
	return report("random_touch", wrong);
}
