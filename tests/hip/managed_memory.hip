/* Advice, prefetch and what the attributes say of them. */
#include "hip_test.h"

static int range_attribute(const void *memory, size_t bytes, hipMemRangeAttribute attribute)
{
	int value = -99;
	HIP_CHECK(hipMemRangeGetAttribute(&value, sizeof(value), attribute, memory, bytes));
	return value;
}

static void print_attributes(const char *when, const void *memory, size_t bytes)
{
	printf("%s: read-mostly %d, preferred %d, accessed-by %d, last prefetch %d\n", when,
	       range_attribute(memory, bytes, hipMemRangeAttributeReadMostly),
	       range_attribute(memory, bytes, hipMemRangeAttributePreferredLocation),
	       range_attribute(memory, bytes, hipMemRangeAttributeAccessedBy),
	       range_attribute(memory, bytes, hipMemRangeAttributeLastPrefetchLocation));
}

int main()
{
	const size_t bytes = 1 << 20;
	char *memory = managed<char>(bytes);
	print_attributes("new", memory, bytes);
	HIP_CHECK(hipMemAdvise(memory, bytes, hipMemAdviseSetReadMostly, 0));
	HIP_CHECK(hipMemAdvise(memory, bytes, hipMemAdviseSetPreferredLocation, 0));
	HIP_CHECK(hipMemAdvise(memory, bytes, hipMemAdviseSetAccessedBy, 0));
	HIP_CHECK(hipMemPrefetchAsync(memory, bytes, 0, 0));
	print_attributes("advised", memory, bytes);
	HIP_CHECK(hipMemAdvise(memory, bytes, hipMemAdviseUnsetReadMostly, 0));
	HIP_CHECK(hipMemAdvise(memory, bytes, hipMemAdviseSetPreferredLocation, hipCpuDeviceId));
	HIP_CHECK(hipMemAdvise(memory, bytes, hipMemAdviseUnsetAccessedBy, 0));
	HIP_CHECK(hipMemPrefetchAsync(memory, bytes, hipCpuDeviceId, 0));
	print_attributes("changed", memory, bytes);

	hipPointerAttribute_t attributes;
	HIP_CHECK(hipPointerGetAttributes(&attributes, memory + 100));
	printf("managed %d, same address %d\n", attributes.isManaged,
	       attributes.devicePointer == memory + 100);
	int local;
	printf("local: %s\n", hipGetErrorName(hipPointerGetAttributes(&attributes, &local)));
	printf("last error: %s\n", hipGetErrorName(hipGetLastError()));
	printf("advice beyond the end: %s\n",
	       hipGetErrorName(hipMemAdvise(memory, 2 * bytes, hipMemAdviseSetReadMostly, 0)));
	printf("no such device: %s\n",
	       hipGetErrorName(hipMemAdvise(memory, bytes, hipMemAdviseSetPreferredLocation, 99)));
	printf("zero bytes: %s\n", hipGetErrorName(hipMemPrefetchAsync(memory, 0, 0, 0)));
	size_t available, total;
	HIP_CHECK(hipMemGetInfo(&available, &total));
	printf("memory: %d\n", available > 0 && available <= total);
	HIP_CHECK(hipFree(memory));
	printf("freed twice: %s\n", hipGetErrorName(hipFree(memory)));
	return 0;
}
