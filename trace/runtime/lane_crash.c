#include "lane_crash.h"
#include "fibre.h"
#include "lane_group.h"
#include "module.h"

#include <hip/hip_runtime_api.h>
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>
#include <unistd.h>

static const struct {
	int signal;
	hipError_t error;
	const char *what;
} mistakes[] = {
	{SIGSEGV, hipErrorIllegalAddress, "access to address %p"},
	{SIGBUS, hipErrorIllegalAddress, "access to address %p"},
	{SIGFPE, hipErrorLaunchFailure, "integer division by zero at %p"},
	{SIGILL, hipErrorLaunchFailure, "trap at %p"},
};
#define MISTAKES (sizeof(mistakes) / sizeof(mistakes[0]))

static struct sigaction of_program[MISTAKES];
static stack_t stack_of_program;
static pid_t thread;
/* A lane that has used up its stack leaves none for the handler. */
static char handler_stack[64 * 1024];
/* Where a lane ends that made a mistake: its own stack may be what is broken. */
static _Alignas(16) char last_stack[64 * 1024];
static hipError_t mistake;

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

static void end_launch(void)
{
	um_group_fail(mistake);
}

/*
 * Whether it was code of the kernel: its own instructions, or a function without a frame that it
 * called, as memcpy() is. Anything else may hold a lock, and cannot be left.
 */
static bool is_kernel(const greg_t *registers)
{
	const void *const *top = (const void *const *)registers[REG_RSP];

	return um_module_runs((const void *)registers[REG_RIP]) ||
	       (um_fibre_is_same(top, top) && um_module_runs(*top));
}

/* The lane goes on, for good, in end_launch(), as if that had been called. */
static void leave_lane(greg_t *registers, hipError_t error)
{
	mistake = error;
	registers[REG_RIP] = (greg_t)end_launch;
	registers[REG_RSP] = (greg_t)(last_stack + sizeof(last_stack) - sizeof(void *));
	registers[REG_EFL] &= ~(greg_t)0x400; /* the ABI's direction flag */
}

/* An instruction that faults does so again, in the hands of the program's own action. */
static void give_back(const siginfo_t *info, int number)
{
	restore_actions();
	if (info->si_code <= 0) /* somebody sent it */
		raise(number);
}

static void handle(int number, siginfo_t *info, void *context)
{
	greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
	unsigned i = 0;

	while (mistakes[i].signal != number)
		i++;
	if (gettid() != thread) {
		pass_on(&of_program[i], number, info, context);
		return;
	}
	say(mistakes[i].what, info->si_addr);
	if (um_fibre_overflowed(info->si_addr))
		leave_lane(registers, hipErrorLaunchFailure);
	else if (info->si_code > 0 && is_kernel(registers))
		leave_lane(registers, mistakes[i].error);
	else
		give_back(info, number);
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
