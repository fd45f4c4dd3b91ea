/* Kernels of the same name in two translation units, and a kernel launched from the other unit. */
#include "two_units.h"

static __global__ void same_name(int *data)
{
	data[threadIdx.x] = 1;
}

int main()
{
	int *data = managed<int>(64);
	LAUNCH(same_name<<<1, 64>>>(data));
	printf("first unit: %d\n", data[63]);
	run_other(data);
	printf("second unit: %d\n", data[63]);
	run_global(data, 5);
	printf("its global kernel: %d\n", data[63]);
	LAUNCH(shared_kernel<<<1, 64>>>(data, 7));
	printf("launched from the first: %d\n", data[63]);
	return 0;
}
