/* A SIGSEGV handler of the program's own keeps working, beside managed memory in use. */
#include "hip_test.h"

#include <signal.h>
#include <sys/mman.h>

static char *guarded;
static volatile int caught;

static void on_segv(int, siginfo_t *info, void *)
{
	if (info->si_addr != guarded + 8)
		_Exit(9);
	caught = caught + 1;
	mprotect(guarded, 4096, PROT_READ | PROT_WRITE);
}

__global__ void triple(int *data)
{
	data[threadIdx.x] *= 3;
}

static void fault_once(int value)
{
	mprotect(guarded, 4096, PROT_NONE);
	guarded[8] = value;
}

int main()
{
	guarded = (char *)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			       0);
	struct sigaction action = {};
	action.sa_sigaction = on_segv;
	action.sa_flags = SA_SIGINFO;
	sigaction(SIGSEGV, &action, NULL);
	int *data = managed<int>(64);
	fault_once(1);
	for (int i = 0; i < 64; i++)
		data[i] = i;
	fault_once(2);
	LAUNCH(triple<<<1, 64>>>(data));
	fault_once(3);
	long wrong = guarded[8] != 3;
	for (int i = 0; i < 64; i++)
		wrong += data[i] != 3 * i;
	struct sigaction now;
	sigaction(SIGSEGV, NULL, &now);
	wrong += now.sa_sigaction != on_segv;
	printf("caught %d\n", caught);
	verdict("own_handler", wrong);
	return 0;
}
