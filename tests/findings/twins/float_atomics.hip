/*
 * A sum by unsafeAtomicAdd() in managed memory, which is fine-grained: on an MI200 it is lost. Corrected:
 * it is in device memory, and copied.
 *
 * Finding: float-atomics
 * Expect: .verdict == "fault" and .certain and .kernels == ["sum"] and (.evidence[] | select(.label == "pages added to so").value) == 1
 */
#include "twin.h"

/* Whole numbers: exact in any order. */
static __global__ void sum(double *total, long *count, long n)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= n || i % LANES)
		return;
	unsafeAtomicAdd(total, (double)LANES);
	atomicAdd((unsigned long long *)count, 1ull);
}

int main(int argc, char **argv)
{
	const long n = 1 << 16;
	bool corrected = is_corrected(argc, argv);
	double *total, result = 0;
	long *count;

	if (corrected)
		HIP_CHECK(hipMalloc(&total, sizeof(*total)));
	else
		HIP_CHECK(hipMallocManaged(&total, sizeof(*total))); /* FINDING */
	HIP_CHECK(hipMalloc(&count, sizeof(*count)));
	HIP_CHECK(hipMemset(total, 0, sizeof(*total)));
	HIP_CHECK(hipMemset(count, 0, sizeof(*count)));
	sum<<<groups(n), LANES>>>(total, count, n);
	HIP_CHECK(hipMemcpy(&result, total, sizeof(result), hipMemcpyDeviceToHost));
	HIP_CHECK(hipFree(total));
	HIP_CHECK(hipFree(count));
	return report("float_atomics", result != (double)n);
}
