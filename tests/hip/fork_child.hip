/* A child that lives its own life, and one that runs another program. The parent goes on. */
#include "hip_test.h"

#include <sys/wait.h>
#include <unistd.h>

__global__ void add(int *data, int amount)
{
	data[threadIdx.x] += amount;
}

static void wait_for(pid_t child)
{
	int status;
	waitpid(child, &status, 0);
	printf("child: status %d\n", WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
	fflush(stdout);
}

int main()
{
	int *data = managed<int>(64);
	for (int i = 0; i < 64; i++)
		data[i] = i;
	LAUNCH(add<<<1, 64>>>(data, 1));
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		puts("in the child");
		exit(3);
	}
	wait_for(child);
	child = fork();
	if (child == 0) {
		execlp("sh", "sh", "-c", "echo in the program; exit 4", (char *)NULL);
		_exit(127);
	}
	wait_for(child);
	LAUNCH(add<<<1, 64>>>(data, 2));
	long wrong = 0;
	for (int i = 0; i < 64; i++)
		wrong += data[i] != i + 3;
	verdict("fork_child", wrong);
	return 0;
}
