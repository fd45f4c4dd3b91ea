/* Shuffles of every type that HIP has them for, and the wave operations of AMD's GPUs below them
 * (for waves of 64). */
#include "hip_test.h"

enum { WAVE = 64 };

template <typename T> struct shuffled {
	T any, up, down, butterfly, of_eight;
};

template <typename T> __global__ void shuffle(shuffled<T> *out, T unit)
{
	int lane = threadIdx.x;
	T mine = unit * (T)(lane + 1);
	shuffled<T> *o = &out[lane];
	o->any = __shfl(mine, WAVE - 1 - lane);
	o->up = __shfl_up(mine, 3);
	o->down = __shfl_down(mine, 3);
	o->butterfly = __shfl_xor(mine, 21);
	o->of_eight = __shfl(mine, 1, 8);
}

template <typename T> static void check_shuffles(const char *name, T unit)
{
	shuffled<T> *out = managed<shuffled<T>>(WAVE);
	LAUNCH(shuffle<<<1, WAVE>>>(out, unit));
	long wrong = 0;
	for (int lane = 0; lane < WAVE; lane++) {
		auto of = [&](int other) { return (T)(unit * (T)(other + 1)); };
		wrong += out[lane].any != of(WAVE - 1 - lane);
		wrong += out[lane].up != of(lane < 3 ? lane : lane - 3);
		wrong += out[lane].down != of(lane > WAVE - 4 ? lane : lane + 3);
		wrong += out[lane].butterfly != of(lane ^ 21);
		wrong += out[lane].of_eight != of(lane / 8 * 8 + 1);
	}
	verdict(name, wrong);
}

struct operations {
	int number, first, ninth, swizzled, row_shift, quad, pulled, pushed, below;
	float swizzled_real;
	unsigned long long active, odd, fourth, fourth_active;
	int fourth_first;
};

__global__ void operate(operations *out)
{
	int lane = threadIdx.x;
	operations o = {};
	o.number = __lane_id();
	o.odd = __ballot64(lane & 1);
	o.first = __builtin_amdgcn_readfirstlane(lane + 5);
	o.ninth = __builtin_amdgcn_readlane(lane * 2, 9);
	o.swizzled = __hip_ds_swizzle(lane, 0x041f); /* lane ^ 1 */
	o.swizzled_real = __hip_ds_swizzlef(lane * 0.5f, 0x041f);
	o.row_shift = __hip_move_dpp(lane, 0x111, 0xf, 0xf, true);	       /* row_shr:1 */
	o.quad = __builtin_amdgcn_update_dpp(77, lane, 0xb1, 0xf, 0xf, false); /* 1,0,3,2 */
	o.pulled = __builtin_amdgcn_ds_bpermute(4 * ((lane + 1) % WAVE), lane);
	o.pushed = __builtin_amdgcn_ds_permute(4 * ((lane + 1) % WAVE), lane);
	o.below = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0));
	o.active = __builtin_amdgcn_read_exec();
	if (lane % 4 == 1) {
		o.fourth = __ballot(1);
		o.fourth_active = __builtin_amdgcn_read_exec();
		o.fourth_first = __builtin_amdgcn_readfirstlane(lane);
	}
	out[lane] = o;
}

static long count_wrong(const operations *o, int lane)
{
	unsigned long long fourth = 0x2222222222222222;
	bool in = lane % 4 == 1;
	long wrong = 0;

	wrong += o->number != lane;
	wrong += o->odd != 0xaaaaaaaaaaaaaaaa;
	wrong += o->first != 5;
	wrong += o->ninth != 18;
	wrong += o->swizzled != (lane ^ 1);
	wrong += o->swizzled_real != (lane ^ 1) * 0.5f;
	wrong += o->row_shift != (lane % 16 ? lane - 1 : 0);
	wrong += o->quad != (lane ^ 1);
	wrong += o->pulled != (lane + 1) % WAVE;
	wrong += o->pushed != (lane + WAVE - 1) % WAVE;
	wrong += o->below != lane;
	wrong += o->active != ~0ull;
	wrong += o->fourth != (in ? fourth : 0) || o->fourth_active != o->fourth;
	wrong += o->fourth_first != (in ? 1 : 0);
	return wrong;
}

int main()
{
	check_shuffles<int>("int", -3);
	check_shuffles<unsigned>("unsigned", 0x01000001u);
	check_shuffles<long>("long", 0x100000001l);
	check_shuffles<unsigned long>("unsigned long", 0x300000001ul);
	check_shuffles<long long>("long long", -0x100000001ll);
	check_shuffles<unsigned long long>("unsigned long long", 0x300000000ull);
	check_shuffles<float>("float", 0.5f);
	check_shuffles<double>("double", 0.125);

	operations *out = managed<operations>(WAVE);
	LAUNCH(operate<<<1, WAVE>>>(out));
	long wrong = 0;
	for (int lane = 0; lane < WAVE; lane++)
		wrong += count_wrong(&out[lane], lane);
	verdict("operations", wrong);
	return 0;
}
