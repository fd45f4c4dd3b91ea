/* Ends in the way that its argument says, with a launch behind it and memory never freed. */
#include "hip_test.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

__global__ void fill(int *data)
{
	data[blockIdx.x * blockDim.x + threadIdx.x] = 7;
}

static void at_exit()
{
	puts("atexit ran");
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "return";
	atexit(at_exit);
	int *data = managed<int>(4096);
	LAUNCH(fill<<<16, 256>>>(data));
	printf("data[4095] = %d, then %s\n", data[4095], how);
	fflush(stdout);
	if (!strcmp(how, "exit"))
		exit(3);
	if (!strcmp(how, "_exit"))
		_exit(4);
	if (!strcmp(how, "quick_exit"))
		quick_exit(5);
	if (!strcmp(how, "abort"))
		abort();
	if (!strcmp(how, "segv"))
		*(volatile int *)16 = 1;
	if (!strcmp(how, "kill"))
		raise(SIGKILL);
	if (!strcmp(how, "term"))
		raise(SIGTERM);
	return 6;
}
