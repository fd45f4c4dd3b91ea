/* What the programs of this folder share. Each is ordinary HIP source; its .expected is what any
 * HIP runtime makes it print. */
#ifndef HIP_TEST_H
#define HIP_TEST_H

#include <hip/hip_runtime.h>

#include <stdio.h>
#include <stdlib.h>

#define HIP_CHECK(call) check_hip((call), #call, __LINE__)

static inline void check_hip(hipError_t error, const char *call, int line)
{
	if (error == hipSuccess)
		return;
	printf("line %d: %s: %s\n", line, call, hipGetErrorName(error));
	exit(1);
}

template <typename T> static T *managed(size_t count)
{
	T *memory;
	HIP_CHECK(hipMallocManaged((void **)&memory, count * sizeof(T), hipMemAttachGlobal));
	return memory;
}

/* Prints "name: ok" or the number of wrong places. */
static inline void verdict(const char *name, long wrong)
{
	if (wrong)
		printf("%s: %ld wrong\n", name, wrong);
	else
		printf("%s: ok\n", name);
	fflush(stdout);
}

#define LAUNCH(...)                                                                                \
	do {                                                                                       \
		__VA_ARGS__;                                                                       \
		HIP_CHECK(hipGetLastError());                                                      \
		HIP_CHECK(hipDeviceSynchronize());                                                 \
	} while (0)

#endif
