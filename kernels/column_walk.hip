/*
 * One group of `rows` lanes over a matrix of `rows` rows, each row one page of 1024 integers. By
 * row, lane i walks along row i; by column, lane i walks down the columns i, i + rows, ...
 *
 * What its trace must show (R = rows, a multiple of 64 that divides 1024; K = pages of the stream's
 * filter): the order of pages is that of lanes in step, not that of one lane after the other.
 *   by row     1024 R reads; step k of every lane touches pages 0, 1, ..., R - 1 of the matrix, one
 *              lane each. R > K: 1024 R touches, 0 1 2 ... R-1 0 1 2 ...; R <= K: R touches
 *   by column  as many reads; step k touches one page with every lane: pages 0, 1, ..., R - 1, and
 *              again for each of the 1024 / R columns of a lane
 *   sums       one page, written last
 *   requests   by row 1024 a page, by column 64 a page
 *
 * Under driver `demand` at 4 KiB with room for fewer than R pages, in fault order: by row 1024 R
 * device faults for the matrix; by column R * 1024 / R = 1024.
 */
#include "kernel_common.h"

#define ROW_INTS 1024

__global__ void walk_row(const int *matrix, long *sums)
{
	long sum = 0;
	for (int k = 0; k < ROW_INTS; k++)
		sum += matrix[threadIdx.x * ROW_INTS + k];
	sums[threadIdx.x] = sum;
}

__global__ void walk_column(const int *matrix, long *sums)
{
	long sum = 0;
	for (int column = threadIdx.x; column < ROW_INTS; column += blockDim.x)
		for (unsigned row = 0; row < blockDim.x; row++)
			sum += matrix[row * ROW_INTS + column];
	sums[threadIdx.x] = sum;
}

static long expected_sum(const int *matrix, long rows, long lane, bool by_column)
{
	long sum = 0;
	if (!by_column) {
		for (long k = 0; k < ROW_INTS; k++)
			sum += matrix[lane * ROW_INTS + k];
		return sum;
	}
	for (long column = lane; column < ROW_INTS; column += rows)
		for (long row = 0; row < rows; row++)
			sum += matrix[row * ROW_INTS + column];
	return sum;
}

int main(int argc, char **argv)
{
	long rows = 64;
	bool by_column = false;
	const struct option_row options[] = {
		{"rows", "COUNT", "rows and lanes, 1 to 1024 (default 64)", &rows, nullptr,
		 nullptr},
		{"by-column", nullptr, "walk down columns instead of along rows", nullptr,
		 &by_column, nullptr},
	};
	parse_options(argc, argv, "Lanes walk along the rows or down the columns of a matrix.",
		      options, 2);

	size_t ints = rows * ROW_INTS;
	int *source = (int *)malloc(ints * sizeof(*source));
	int *matrix;
	long *sums;
	HIP_CHECK(hipMallocManaged(&matrix, ints * sizeof(*matrix), hipMemAttachGlobal));
	HIP_CHECK(hipMallocManaged(&sums, rows * sizeof(*sums), hipMemAttachGlobal));
	for (size_t i = 0; i < ints; i++)
		matrix[i] = source[i] = (int)(i * 7 % 1021);
	if (by_column)
		walk_column<<<1, rows>>>(matrix, sums);
	else
		walk_row<<<1, rows>>>(matrix, sums);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = 0;
	for (long lane = 0; lane < rows; lane++)
		wrong += sums[lane] != expected_sum(source, rows, lane, by_column);
	HIP_CHECK(hipFree(sums));
	HIP_CHECK(hipFree(matrix));
	free(source);
	return report("column_walk", wrong);
}
