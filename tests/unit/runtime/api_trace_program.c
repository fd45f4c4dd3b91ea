/*
 * The program that api_trace_test.c runs and whose records it knows. Ends with 7, or with 1 where a
 * call did not do what it should.
 */
#include "api_fixture.h"

#include <stdio.h>
#include <unistd.h>

static int *managed_pointer;

static void must(hipError_t error, hipError_t wanted)
{
	if (error == wanted)
		return;
	fprintf(stderr, "api_trace_program: %s\n", hipGetErrorName(error));
	exit(1);
}

static void check(bool true_thing)
{
	must(true_thing ? hipSuccess : hipErrorUnknown, hipSuccess);
}

/* What umtrace puts in is not for the program to see. */
static void check_surroundings(void)
{
	hipDeviceProp_t p;
	int count;

	check(!getenv("UMTRACE_SPOOL"));
	must(hipGetDeviceCount(&count), hipSuccess);
	check(count == 2);
	must(hipGetDeviceProperties(&p, 1), hipSuccess);
	check(!strcmp(p.name, "Toy") && p.totalGlobalMem == 1 << 20 && p.multiProcessorCount == 3);
	check(!strcmp(p.gcnArchName, "gfx908:sramecc+:xnack-"));
}

static void launch(float *data)
{
	unsigned count = 1024;
	void *args[] = {&data, &count};
	dim3 grid, block;
	size_t lds_bytes;
	hipStream_t stream;

	must(__hipPushCallConfiguration((dim3){16, 1, 1}, (dim3){64, 1, 1}, 512, NULL), hipSuccess);
	must(__hipPopCallConfiguration(&grid, &block, &lds_bytes, &stream), hipSuccess);
	must(hipLaunchKernel(&scale_stub, grid, block, args, lds_bytes, stream), hipSuccess);
}

static void use_memory(hipStream_t stream, char *managed)
{
	char here[100] = "";
	void *device;

	must(hipMalloc(&device, 1000), hipSuccess);
	must(hipMemAdvise(managed + 5000, 100, hipMemAdviseSetPreferredLocation, hipCpuDeviceId),
	     hipSuccess);
	must(hipMemPrefetchAsync(managed, 8192, 1, stream), hipSuccess);
	must(hipStreamAttachMemAsync(stream, managed, 0, hipMemAttachHost), hipSuccess);
	must(hipMemset(managed + 8, 0x41, 16), hipSuccess);
	must(hipMemcpyAsync(device, managed + 8, 100, hipMemcpyDefault, stream), hipSuccess);
	must(hipMemcpy(here, (char *)device + 4, 8, hipMemcpyDeviceToHost), hipSuccess);
	check(!memcmp(here, "AAAAAAAA", 8));
	must(hipFree(device), hipSuccess);
}

static void nothing(void *unused)
{
	(void)unused;
}

static void use_graph(hipStream_t stream)
{
	hipGraph_t graph;
	hipGraphExec_t exec;
	void *memory;

	must(hipLaunchHostFunc(stream, nothing, NULL), hipSuccess);
	must(hipMallocAsync(&memory, 5000, stream), hipSuccess);
	must(hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal), hipSuccess);
	must(hipMemsetAsync(memory, 3, 8, stream), hipSuccess);
	must(hipLaunchHostFunc(stream, nothing, NULL), hipSuccess);
	must(hipStreamEndCapture(stream, &graph), hipSuccess);
	must(hipGraphInstantiate(&exec, graph, NULL, NULL, 0), hipSuccess);
	must(hipGraphLaunch(exec, stream), hipSuccess);
	must(hipGraphLaunch(exec, NULL), hipSuccess);
	must(hipFreeAsync(memory, stream), hipSuccess);
}

static void use_map(void)
{
	hipMemAllocationProp properties = {
		.type = hipMemAllocationTypePinned,
		.location = {hipMemLocationTypeDevice, 1},
	};
	hipMemGenericAllocationHandle_t handle;
	void *place;

	must(hipMemAddressReserve(&place, 8192, 0, NULL, 0), hipSuccess);
	must(hipMemCreate(&handle, 8192, &properties, 0), hipSuccess);
	must(hipMemMap(place, 8192, 0, handle, 0), hipSuccess);
	must(hipMemUnmap(place, 8192), hipSuccess);
	must(hipMemRelease(handle), hipSuccess);
	must(hipMemAddressFree(place, 8192), hipSuccess);
}

/*
 * 64 lines read and written at 1 GB/s take 8192 ns, after 5000 ns for the launch; a copy of 2000 bytes
 * over the link at 2 GB/s takes 1000 ns after 300 ns. Nothing else takes any time.
 */
static void time_launch(float *data)
{
	hipEvent_t start, launched, copied;
	char here[2000];
	float ms;

	must(hipEventCreate(&start), hipSuccess);
	must(hipEventCreate(&launched), hipSuccess);
	must(hipEventCreate(&copied), hipSuccess);
	must(hipEventRecord(start, NULL), hipSuccess);
	launch(data);
	must(hipEventRecord(launched, NULL), hipSuccess);
	usleep(1000);
	must(hipMemcpy(here, data, sizeof(here), hipMemcpyDeviceToHost), hipSuccess);
	must(hipEventRecord(copied, NULL), hipSuccess);
	must(hipEventElapsedTime(&ms, start, launched), hipSuccess);
	check(ms > 0.013191f && ms < 0.013193f);
	must(hipEventElapsedTime(&ms, launched, copied), hipSuccess);
	check(ms > 0.001299f && ms < 0.001301f);
}

int main(void)
{
	void **code = register_code_object(OUR_TARGET);
	hipStream_t stream;
	hipEvent_t event;
	char *managed;
	void *memory;

	__hipRegisterFunction(code, &scale_stub, NULL, "_Z5scalePfj", 0, NULL, NULL, NULL, NULL,
			      NULL);
	__hipRegisterManagedVar(code, (void **)&managed_pointer, NULL, "managed_number", 4, 4);
	check_surroundings();
	must(hipSetDevice(1), hipSuccess);
	must(hipMallocManaged((void **)&managed, 3 * 4096 + 1, hipMemAttachHost), hipSuccess);
	must(hipStreamCreateWithFlags(&stream, hipStreamNonBlocking), hipSuccess);
	use_memory(stream, managed);
	must(hipEventCreate(&event), hipSuccess);
	time_launch((float *)managed);
	must(hipEventRecord(event, stream), hipSuccess);
	must(hipStreamWaitEvent(NULL, event, 0), hipSuccess);
	must(hipEventSynchronize(event), hipSuccess);
	must(hipStreamSynchronize(stream), hipSuccess);
	use_graph(stream);
	use_map();
	must(hipIpcCloseMemHandle(managed), hipErrorNotSupported);
	must(hipMalloc(&memory, 2 << 20), hipErrorOutOfMemory);
	must(hipStreamDestroy(stream), hipSuccess);
	must(hipDeviceSynchronize(), hipSuccess);
	exit(7); /* with memory still allocated */
}
