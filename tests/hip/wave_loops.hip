/*
 * Lanes that part within a turn of a loop are together again in its next turn, as on hardware: in an
 * arm, by `continue`, in a loop within, and where they hand values on through LDS.
 */
#include "hip_test.h"

#define TURNS 6
#define MANY  256 /* lanes; a whole number of waves of either size */

__global__ void arm(int *out, int turns)
{
	int lane = threadIdx.x % warpSize, value = lane, count = 0;

	for (int turn = 0; turn < turns; turn++) {
		value += __shfl_xor(value, 1) % 1000;
		if ((lane ^ turn) & 1)
			count += __popcll(__ballot(value % 3));
	}
	out[threadIdx.x] = value * 1000 + count;
}

static int expected_arm(int lane, int width)
{
	static int value[64], then[64], count[64];

	for (int i = 0; i < width; i++) {
		value[i] = i;
		count[i] = 0;
	}
	for (int turn = 0; turn < TURNS; turn++) {
		int votes = 0;

		for (int i = 0; i < width; i++)
			then[i] = value[i] + value[i ^ 1] % 1000;
		for (int i = 0; i < width; i++) {
			value[i] = then[i];
			votes += ((i ^ turn) & 1) && value[i] % 3;
		}
		for (int i = 0; i < width; i++)
			if ((i ^ turn) & 1)
				count[i] += votes;
	}
	return value[lane] * 1000 + count[lane];
}

/* Two ways back to the start; the lanes that take the first one wait for the others there. */
__global__ void next_turn(int *out, int turns)
{
	int lane = threadIdx.x % warpSize, count = 0;

	for (int turn = 0; turn < turns; turn++) {
		count += 1000 * __popcll(__ballot(lane > turn));
		if ((lane + turn) % 3 == 0)
			continue;
		count += __popcll(__ballot(1));
		if ((lane + turn) % 3 == 1)
			continue;
		count += __popcll(__ballot(1));
	}
	out[threadIdx.x] = count;
}

static int with_rest(int turn, int rest, int width)
{
	int count = 0;

	for (int i = 0; i < width; i++)
		count += (i + turn) % 3 == rest;
	return count;
}

static int expected_next_turn(int lane, int width)
{
	int count = 0;

	for (int turn = 0; turn < TURNS; turn++) {
		int rest = (lane + turn) % 3;

		count += 1000 * (width - 1 - turn);
		if (rest)
			count += with_rest(turn, 1, width) + with_rest(turn, 2, width);
		if (rest == 2)
			count += with_rest(turn, 2, width);
	}
	return count;
}

/* A loop within, of another number of turns for each lane. */
__global__ void inner(int *out, int turns)
{
	int lane = threadIdx.x % warpSize, count = 0;

	for (int turn = 0; turn < turns; turn++)
		for (int i = 0; i <= (lane + turn) % 4; i++)
			count += (turn + 1) * __popcll(__ballot(1));
	out[threadIdx.x] = count;
}

static int expected_inner(int lane, int width)
{
	int count = 0;

	for (int turn = 0; turn < TURNS; turn++)
		for (int i = 0; i <= (lane + turn) % 4; i++)
			for (int other = 0; other < width; other++)
				count += i <= (other + turn) % 4 ? turn + 1 : 0;
	return count;
}

/* An arm reads what its neighbour stored in this turn, not what it stores in the next one. */
__global__ void shared(int *out, int turns)
{
	__shared__ int cell[MANY];
	int sum = 0;

	for (int turn = 0; turn < turns; turn++) {
		cell[threadIdx.x] = turn * 1000 + (int)threadIdx.x;
		__threadfence_block();
		if (threadIdx.x & 1)
			sum += cell[threadIdx.x - 1];
	}
	out[threadIdx.x] = sum;
}

static int expected_shared(int thread)
{
	return thread & 1 ? 1000 * (TURNS * (TURNS - 1) / 2) + TURNS * (thread - 1) : 0;
}

int main()
{
	int device, width;
	HIP_CHECK(hipGetDevice(&device));
	HIP_CHECK(hipDeviceGetAttribute(&width, hipDeviceAttributeWarpSize, device));
	int *out = managed<int>(4 * MANY);
	long wrong[4] = {};

	LAUNCH(arm<<<1, MANY>>>(out, TURNS));
	LAUNCH(next_turn<<<1, MANY>>>(out + MANY, TURNS));
	LAUNCH(inner<<<1, MANY>>>(out + 2 * MANY, TURNS));
	LAUNCH(shared<<<1, MANY>>>(out + 3 * MANY, TURNS));
	for (int i = 0; i < MANY; i++) {
		wrong[0] += out[i] != expected_arm(i % width, width);
		wrong[1] += out[MANY + i] != expected_next_turn(i % width, width);
		wrong[2] += out[2 * MANY + i] != expected_inner(i % width, width);
		wrong[3] += out[3 * MANY + i] != expected_shared(i);
	}
	verdict("arm", wrong[0]);
	verdict("next turn", wrong[1]);
	verdict("inner loop", wrong[2]);
	verdict("shared", wrong[3]);
	return 0;
}
