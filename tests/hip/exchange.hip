/* Lanes of one wave that hand values to one another through plain LDS, without a barrier: hardware
 * runs them in step. */
#include "hip_test.h"

#define LANES 64

/* Each reads its neighbour's cell of both sides, then writes its own: all reads come first. */
__global__ void rotate(const int *in, int *out)
{
	__shared__ int s[LANES];
	unsigned t = threadIdx.x;

	s[t] = in[t];
	for (int turn = 0; turn < 3; turn++) {
		int left = s[(t + LANES - 1) % LANES], right = s[(t + 1) % LANES];
		s[t] = left - 2 * right;
	}
	out[t] = s[t];
}

/* Inclusive sums (Hillis and Steele), lanes dropping out of each step. */
__global__ void scan(const int *in, int *out)
{
	extern __shared__ int s[];
	unsigned t = threadIdx.x;

	s[t] = in[t];
	for (unsigned n = 1; n < LANES; n *= 2)
		if (t >= n)
			s[t] += s[t - n];
	out[t] = s[t];
}

/* One lane writes what all read; and what all count one reads. */
__global__ void broadcast(const int *in, int *out)
{
	__shared__ int chosen, count;
	unsigned t = threadIdx.x;

	if (t == 63)
		count = 0;
	if (t == 17)
		chosen = in[t];
	if (in[t] % 2)
		atomicAdd(&count, 1);
	out[t] = chosen * 100 + count;
}

/* Rows to columns within a wave: 8 x 8, as transforms of blocks of pixels do. */
__global__ void transpose(const int *in, int *out)
{
	__shared__ int s[8][8 + 1];
	unsigned x = threadIdx.x % 8, y = threadIdx.x / 8;
	int sum = 0;

	s[y][x] = in[threadIdx.x];
	for (unsigned k = 0; k < 8; k++)
		sum += s[k][x] * (int)(k + 1);
	s[y][x] = sum + (int)y;
	sum = 0;
	for (unsigned k = 0; k < 8; k++)
		sum += s[y][k] * (int)(k + 1);
	out[threadIdx.x] = sum + (int)x;
}

/* Compare and exchange with the partner of each step. */
__global__ void sort(const int *in, int *out)
{
	__shared__ int s[LANES];
	unsigned t = threadIdx.x;

	s[t] = in[t];
	for (unsigned size = 2; size <= LANES; size *= 2)
		for (unsigned n = size / 2; n; n /= 2) {
			int mine = s[t], other = s[t ^ n];
			bool smaller = ((t & n) == 0) == ((t & size) == 0);

			s[t] = smaller ? min(mine, other) : max(mine, other);
		}
	out[t] = s[t];
}

static long check_rotate(const int *in, const int *out)
{
	int now[LANES], then[LANES];
	long wrong = 0;

	for (int t = 0; t < LANES; t++)
		now[t] = in[t];
	for (int turn = 0; turn < 3; turn++) {
		for (int t = 0; t < LANES; t++)
			then[t] = now[(t + LANES - 1) % LANES] - 2 * now[(t + 1) % LANES];
		for (int t = 0; t < LANES; t++)
			now[t] = then[t];
	}
	for (int t = 0; t < LANES; t++)
		wrong += out[t] != now[t];
	return wrong;
}

static long check_transpose(const int *in, const int *out)
{
	int columns[8][8];
	long wrong = 0;

	for (int y = 0; y < 8; y++)
		for (int x = 0; x < 8; x++) {
			columns[y][x] = y;
			for (int k = 0; k < 8; k++)
				columns[y][x] += in[k * 8 + x] * (k + 1);
		}
	for (int y = 0; y < 8; y++)
		for (int x = 0; x < 8; x++) {
			int sum = x;

			for (int k = 0; k < 8; k++)
				sum += columns[y][k] * (k + 1);
			wrong += out[y * 8 + x] != sum;
		}
	return wrong;
}

int main()
{
	int *in = managed<int>(LANES), *out = managed<int>(LANES);
	long wrong = 0, sum = 0, odd = 0;

	for (int t = 0; t < LANES; t++)
		in[t] = (t * 37 + 11) % 101;
	LAUNCH(rotate<<<1, LANES>>>(in, out));
	verdict("rotate", check_rotate(in, out));
	LAUNCH(scan<<<1, LANES, LANES * sizeof(int)>>>(in, out));
	for (int t = 0; t < LANES; t++) {
		sum += in[t];
		odd += in[t] % 2;
		wrong += out[t] != sum;
	}
	verdict("scan", wrong);
	LAUNCH(broadcast<<<1, LANES>>>(in, out));
	wrong = 0;
	for (int t = 0; t < LANES; t++)
		wrong += out[t] != in[17] * 100 + odd;
	verdict("broadcast", wrong);
	LAUNCH(transpose<<<1, LANES>>>(in, out));
	verdict("transpose", check_transpose(in, out));
	LAUNCH(sort<<<1, LANES>>>(in, out));
	wrong = 0;
	for (int t = 0; t < LANES; t++) {
		wrong += t && out[t] < out[t - 1];
		sum -= out[t];
	}
	wrong += sum != 0;
	verdict("sort", wrong);
	return 0;
}
