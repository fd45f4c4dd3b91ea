/* Cooperative groups: the grid, the group, tiles of it, and lanes that happen to be together (for
 * waves of 64). */
#include "hip_test.h"

#include <hip/hip_cooperative_groups.h>

namespace cg = cooperative_groups;

enum { GROUPS = 4, LANES = 128, ALL = GROUPS * LANES };

__global__ void reverse(int *from, int *to)
{
	cg::grid_group grid = cg::this_grid();
	int i = grid.thread_rank();
	from[i] = i;
	grid.sync();
	to[i] = from[ALL - 1 - i] + (int)grid.size() + grid.is_valid();
}

static void check_grid()
{
	int *from = managed<int>(ALL), *to = managed<int>(ALL);
	void *args[] = {&from, &to};
	long wrong = 0;
	HIP_CHECK(
		hipLaunchCooperativeKernel((void *)reverse, dim3(GROUPS), dim3(LANES), args, 0, 0));
	HIP_CHECK(hipDeviceSynchronize());
	for (int i = 0; i < ALL; i++)
		wrong += to[i] != ALL - 1 - i + ALL + 1;
	verdict("grid", wrong);
}

struct seen {
	int sum4, sum16, sum64, rank4, size32, rank32;
	int together, rank, third, before;
};

template <unsigned SIZE> __device__ int sum_of_tile(const cg::thread_block &group, int *rank)
{
	auto tile = cg::tiled_partition<SIZE>(group);
	int sum = group.thread_rank();
	for (int step = tile.size() / 2; step; step /= 2)
		sum += tile.shfl_xor(sum, step);
	tile.sync();
	*rank = tile.thread_rank();
	return sum;
}

__global__ void look(seen *out)
{
	cg::thread_block group = cg::this_thread_block();
	seen s = {};
	int i = group.thread_rank(), rank;
	s.sum64 = sum_of_tile<64>(group, &rank);
	s.sum16 = sum_of_tile<16>(group, &rank);
	s.sum4 = sum_of_tile<4>(group, &s.rank4);
	auto half = cg::tiled_partition(group, 32);
	s.size32 = half.size();
	s.rank32 = half.thread_rank();
	if (i % 3 == 0) {
		cg::coalesced_group lanes = cg::coalesced_threads();
		s.together = lanes.size();
		s.rank = lanes.thread_rank();
		s.third = lanes.shfl(i, 2);
		s.before = lanes.shfl_up(i, 1);
		lanes.sync();
	}
	group.sync();
	out[i] = s;
}

static int sum_from(int i, int size)
{
	return i / size * size * size + size * (size - 1) / 2;
}

static long count_wrong(const seen *s, int i)
{
	int first = i / 64 * 66; /* of the wave's lanes: 0 or 66 */
	long wrong = 0;

	wrong += s->sum4 != sum_from(i, 4) || s->sum16 != sum_from(i, 16) ||
		 s->sum64 != sum_from(i, 64);
	wrong += s->rank4 != i % 4 || s->size32 != 32 || s->rank32 != i % 32;
	if (i % 3)
		return wrong + (s->together != 0);
	wrong += s->together != (i < 64 ? 22 : 21) || s->rank != (i - first) / 3;
	wrong += s->third != first + 6 || s->before != (i > first ? i - 3 : i);
	return wrong;
}

int main()
{
	check_grid();
	seen *out = managed<seen>(LANES);
	long wrong = 0;
	LAUNCH(look<<<1, LANES>>>(out));
	for (int i = 0; i < LANES; i++)
		wrong += count_wrong(&out[i], i);
	verdict("groups", wrong);
	return 0;
}
