/* __device__ and __constant__ variables: initial values, copies each way, addresses; they keep
 * their values from launch to launch. */
#include "hip_test.h"

__device__ int counter = 40;
__device__ float table[8] = {0, 1, 4, 9, 16, 25, 36, 49};
__constant__ int weights[4] = {1, 10, 100, 1000};
static __device__ unsigned hidden;
__managed__ int shared_value = 5;

__global__ void use(int *out)
{
	int i = threadIdx.x;
	out[i] = weights[i % 4] + (int)table[i];
	if (i == 0) {
		counter += 2;
		hidden = 77;
		shared_value += 1;
	}
}

int main()
{
	int *out = managed<int>(8), value;
	LAUNCH(use<<<1, 8>>>(out));
	for (int i = 0; i < 8; i++)
		printf("%d ", out[i]);
	HIP_CHECK(hipMemcpyFromSymbol(&value, HIP_SYMBOL(counter), sizeof(value)));
	printf("counter %d\n", value);

	int changed[4] = {2, 20, 200, 2000};
	HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(weights), changed, sizeof(changed)));
	float nine = 9;
	HIP_CHECK(hipMemcpyToSymbol(HIP_SYMBOL(table), &nine, sizeof(nine), 2 * sizeof(float)));
	LAUNCH(use<<<1, 8>>>(out));
	for (int i = 0; i < 8; i++)
		printf("%d ", out[i]);
	HIP_CHECK(hipMemcpyFromSymbol(&value, HIP_SYMBOL(counter), sizeof(value)));
	printf("counter %d\n", value);

	void *address;
	size_t bytes;
	HIP_CHECK(hipGetSymbolAddress(&address, HIP_SYMBOL(hidden)));
	HIP_CHECK(hipGetSymbolSize(&bytes, HIP_SYMBOL(table)));
	HIP_CHECK(hipMemcpy(&value, address, sizeof(value), hipMemcpyDeviceToHost));
	printf("hidden %d, table %zu bytes, shared %d\n", value, bytes, shared_value);
	return 0;
}
