/* Kernels in a library (two_units_other.hip, shared or static) and in the program. */
#include "two_units.h"

__global__ void own(int *data)
{
	data[threadIdx.x] *= 10;
}

int main()
{
	int *data = managed<int>(64);
	run_other(data);
	LAUNCH(own<<<1, 64>>>(data));
	run_global(data, 3);
	printf("%d\n", data[63]);
	return 0;
}
