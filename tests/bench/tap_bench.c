/*
 * What the tap costs a launch: ns from the driver's entry callback to the end of its exit callback, with
 * the fake CUPTI, at a call depth as programs have it. The floor is the fake driver without the tap. A
 * reader drains the spool meanwhile; records that found no room are told.
 */
#include "tests/fake_cuda/fake_cuda.h"
#include "tests/fake_cuda/fake_cupti.h"
#include "trace/spool/spool_ring.h"
#include "trace/tap/cupti_abi.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define LAUNCHES 1000000u
#define DEPTH	 10 /* frames of the program above main */

static const struct fake_cupti *cupti;
static uint32_t correlation;

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static void launch(void)
{
	struct um_params_launch params = {.grid = {264, 1, 1}, .block = {256, 1, 1}};
	int result = 0;
	uint64_t kept = 0;
	struct um_cupti_call data = {
		.params = &params,
		.result = &result,
		.symbol = "_Z17iterate_over_gridPfPKfiii",
		.context = (void *)0x1000,
		.correlation_data = &kept,
		.correlation = ++correlation,
	};

	if (!cupti)
		return;
	data.site = UM_CUPTI_ENTER;
	cupti->callback(UM_CUPTI_DRIVER_API, UM_CUDA_LAUNCH_KERNEL, &data);
	data.site = UM_CUPTI_EXIT;
	cupti->callback(UM_CUPTI_DRIVER_API, UM_CUDA_LAUNCH_KERNEL, &data);
}

/* Not a loop, and no call that another replaces: DEPTH frames. */
static __attribute__((noinline)) void descend(int depth)
{
	if (depth == 0)
		launch();
	else
		descend(depth - 1);
	__asm__ volatile("");
}

static void measure(const char *what)
{
	uint64_t start = now_ns();

	for (uint32_t i = 0; i < LAUNCHES; i++)
		descend(DEPTH);
	printf("%-28s %6.0f ns a launch\n", what, (double)(now_ns() - start) / LAUNCHES);
	fflush(stdout);
}

static void program(const char *spool)
{
	measure("without the tap");
	setenv("UMTRACE_SPOOL", spool, 1);
	setenv("CUDA_INJECTION64_PATH", UM_TAP, 1);
	setenv("CUDA_HOME", UM_FAKE_CUPTI, 1);
	cuInit(0);
	void *library = dlopen("libcupti.so.13", RTLD_LAZY | RTLD_NOLOAD);

	cupti = library ? dlsym(library, "fake_cupti") : NULL;
	measure(cupti ? "with the tap" : "the tap did not start");
	exit(0);
}

static uint64_t lost(const struct um_record *record)
{
	return record->kind == UM_RECORD_LOSS ? ((const struct um_record_loss *)record)->count : 0;
}

int main(void)
{
	const struct um_spool_config config = {.faults = UM_TAP_FAULTS_GPU};
	struct um_spool_reader *reader = NULL;
	uint64_t records = 0, losses = 0;
	const struct um_record *record;
	bool ended = false;
	int error = 0;

	if (um_spool_create(&reader, NULL, 0, &config))
		return 1;
	pid_t child = fork();

	if (child == 0)
		program(um_spool_path(reader));
	while (!ended) {
		ended = waitpid(child, NULL, WNOHANG) == child;
		while ((record = um_spool_next(reader, &error))) {
			records++;
			losses += lost(record);
		}
		if (!ended)
			um_spool_wait(reader, 10);
	}
	um_spool_destroy(reader);
	printf("%" PRIu64 " records, %" PRIu64 " lost\n", records, losses);
	return error != 0;
}
