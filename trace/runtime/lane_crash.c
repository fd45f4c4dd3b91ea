#include "lane_crash.h"
#include "fibre.h"
#include "lane_group.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static const struct {
	int signal;
	const char *what;
} mistakes[] = {
	{SIGSEGV, "access to address %p"},
	{SIGBUS, "access to address %p"},
	{SIGFPE, "integer division by zero at %p"},
	{SIGILL, "trap at %p"},
};
#define MISTAKES (sizeof(mistakes) / sizeof(mistakes[0]))

static struct sigaction of_program[MISTAKES];
static stack_t stack_of_program;
static pid_t thread;
/* A lane that has used up its stack leaves none for the handler. */
static char handler_stack[64 * 1024];

static void say(const char *what, const void *address)
{
	const uint32_t *group = um_running.group->index;
	char text[64];

	snprintf(text, sizeof(text), what, address);
	if (um_fibre_overflowed(address))
		snprintf(text, sizeof(text), "needs more than %u KiB of stack",
			 UM_FIBRE_STACK_BYTES / 1024);
	dprintf(STDERR_FILENO, "umtrace: kernel %s: group (%u,%u,%u), lane %u: %s\n",
		um_running.launch->name, group[0], group[1], group[2], um_window.lane, text);
}

static void restore_actions(void)
{
	for (unsigned i = 0; i < MISTAKES; i++)
		sigaction(mistakes[i].signal, &of_program[i], NULL);
}

/* Another thread's fault while this one runs kernels: none of our business. */
static void pass_on(const struct sigaction *action, int number, siginfo_t *info, void *context)
{
	if (action->sa_flags & SA_SIGINFO)
		action->sa_sigaction(number, info, context);
	else if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN)
		action->sa_handler(number);
	else
		restore_actions();
}

/* Returning makes the instruction fault again, in the hands of the program's own action. */
static void handle(int number, siginfo_t *info, void *context)
{
	unsigned i = 0;

	while (mistakes[i].signal != number)
		i++;
	if (gettid() != thread) {
		pass_on(&of_program[i], number, info, context);
		return;
	}
	say(mistakes[i].what, info->si_addr);
	restore_actions();
}

void um_crash_watch(void)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	stack_t stack = {.ss_sp = handler_stack, .ss_size = sizeof(handler_stack)};

	thread = gettid();
	if (!sigaltstack(NULL, &stack_of_program) && stack_of_program.ss_flags & SS_DISABLE)
		sigaltstack(&stack, NULL);
	for (unsigned i = 0; i < MISTAKES; i++)
		sigaction(mistakes[i].signal, &action, &of_program[i]);
}

void um_crash_unwatch(void)
{
	restore_actions();
	if (stack_of_program.ss_flags & SS_DISABLE)
		sigaltstack(&stack_of_program, NULL);
}
