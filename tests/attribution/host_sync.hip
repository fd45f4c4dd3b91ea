/*
 * The host touches managed memory in every way there is, each page by a way of its own. The line that does
 * has a tag behind it; host_sync.sh holds table host_access to them. Prints what it read, so that what goes
 * wrong under the watch shows in its output too.
 */
#include <hip/hip_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096
#define CHECK(call)                                                                                \
	do {                                                                                       \
		if ((call) != hipSuccess)                                                          \
			exit(1);                                                                   \
	} while (0)

__global__ void add_one(char *data, long n)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < n)
		data[i]++;
}

static char *page(char *data, int n)
{
	return data + (long)n * PAGE;
}

/* Inlined at -O2. */
static inline void put(char *to, char value)
{
	*(volatile char *)to = value; // put
}

static __attribute__((noinline)) int sum(const char *from, int bytes)
{
	int all = 0;

	for (int i = 0; i < bytes; i++)
		all += from[i]; // sum
	return all;
}

static sigjmp_buf out;
static char *of_handler;

static void on_segv(int, siginfo_t *, void *)
{
	put(of_handler, 7); // in-handler
	siglongjmp(out, 1);
}

/* Its own handler, on a stack of its own, which touches watched memory in turn. */
static void fault_itself(char *data)
{
	struct sigaction action = {}, before;
	stack_t stack = {}, stack_before;

	stack.ss_size = 65536;
	stack.ss_sp = malloc(stack.ss_size);
	sigaltstack(&stack, &stack_before);
	action.sa_sigaction = on_segv;
	action.sa_flags = SA_SIGINFO | SA_ONSTACK;
	sigaction(SIGSEGV, &action, &before);
	of_handler = data;
	if (!sigsetjmp(out, 1))
		*(volatile int *)8 = 1; // fault
	sigaction(SIGSEGV, &before, nullptr);
	sigaltstack(&stack_before, nullptr);
	free(stack.ss_sp);
}

static void *in_thread(void *data)
{
	put((char *)data, 9); // thread
	return nullptr;
}

static void system_calls(char *data, int file)
{
	struct iovec parts[2] = {{page(data, 3), PAGE}, {page(data, 4), 100}};

	if (pread(file, page(data, 2), PAGE, 0) != PAGE) // pread
		exit(2);
	lseek(file, 0, SEEK_SET);
	if (readv(file, parts, 2) != PAGE + 100) // readv
		exit(3);
	if (pwrite(file, page(data, 5), PAGE, 0) != PAGE) // pwrite
		exit(4);
}

static void standard_io(char *data, const char *path)
{
	FILE *file = fopen(path, "r+");

	if (!file || fread(page(data, 6), 1, 3 * PAGE, file) != 2 * PAGE) // fread
		exit(5);
	rewind(file);
	fwrite(page(data, 9), 1, PAGE, file); // fwrite
	fclose(file);
	snprintf(page(data, 10), PAGE, "%s", "text"); // snprintf
	printf("%s\n", page(data, 10));
}

int main()
{
	char path[] = "/tmp/um-host-sync-XXXXXX", *data, *other;
	int file = mkstemp(path), status = 0;
	pthread_t thread;

	if (file < 0 || ftruncate(file, 2 * PAGE))
		return 9;
	CHECK(hipMallocManaged(&data, 64 * PAGE));
	CHECK(hipMallocManaged(&other, 1024 * PAGE));
	put(page(data, 0), 1); // main:put
	memset(page(data, 1), 2, PAGE); // memset
	system_calls(data, file); // main:system_calls
	standard_io(data, path); // main:standard_io
	fault_itself(page(data, 11)); // main:fault_itself
	pthread_create(&thread, nullptr, in_thread, page(data, 12));
	pthread_join(thread, nullptr);
	std::fill(page(data, 13), page(data, 15), 3); // std::fill
	int before = sum(page(data, 16), 2 * PAGE); // main:sum
	put(page(data, 17), 4); // main:put-again
	/* Each of an unrolled loop's instructions would be a site of its own. */
#pragma clang loop unroll(disable)
	for (int i = 0; i < 1024; i++)
		put(page(other, i), 5); // main:sweep
	pid_t child = fork();
	if (child == 0)
		_exit(3); // HIP's memory is not the child's
	waitpid(child, &status, 0);
	add_one<<<64, PAGE / 4>>>(data, 16 * PAGE);
	add_one<<<64, PAGE / 4>>>(other, 16 * PAGE);
	CHECK(hipDeviceSynchronize());
	printf("%d %d %d %d\n", before, sum(data, 64 * PAGE), // main:all
	       other[0] + other[15 * PAGE], WEXITSTATUS(status)); // main:other
	unlink(path);
	CHECK(hipFree(data));
	CHECK(hipFree(other));
	return 0;
}
