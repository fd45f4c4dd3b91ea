/*
 * What recording takes of the program's memory for a page that a kernel touches: less than 200
 * bytes, by how much more anonymous memory the process has after 2^15 pages than after 2^12. Under
 * umtrace HIP's allocations lie in a memfd and do not count; without it they are anonymous too, and
 * are taken off. On standard error: how much it is.
 */
#include "hip_test.h"

#include <string.h>

#define PAGE	    4096u
#define PAGES_FEW   (1u << 12)
#define PAGES_MANY  (1u << 15)
#define BYTES_LIMIT 200.0

__global__ void touch_pages(char *data, unsigned pages)
{
	unsigned page = blockIdx.x * blockDim.x + threadIdx.x;

	if (page < pages)
		data[(size_t)page * PAGE] = 1;
}

static long anonymous_kib(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	char line[256];
	long kib = -1;

	while (status && fgets(line, sizeof(line), status))
		if (!strncmp(line, "RssAnon:", 8))
			kib = atol(line + 8);
	if (status)
		fclose(status);
	return kib;
}

static long after_touching(char *data, unsigned pages)
{
	touch_pages<<<pages / 64, 64>>>(data, pages);
	HIP_CHECK(hipDeviceSynchronize());
	return anonymous_kib();
}

int main(void)
{
	char *data;

	data = managed<char>((size_t)PAGES_MANY * PAGE);
	long few = after_touching(data, PAGES_FEW);
	long many = after_touching(data, PAGES_MANY);
	double bytes = (double)(many - few) * 1024 / (PAGES_MANY - PAGES_FEW);

	if (bytes >= PAGE)
		bytes -= PAGE;

	fprintf(stderr, "%.1f bytes a touched page\n", bytes);
	printf("less than %.0f bytes a touched page: %s\n", BYTES_LIMIT,
	       few > 0 && bytes < BYTES_LIMIT ? "yes" : "no");
	HIP_CHECK(hipFree(data));
	return 0;
}
