/*
 * SIGSEGV belongs to the watch, and to the program as far as it can tell: it sets, asks for and
 * gets its own handler. SIGSEGV is never really blocked, since the kernel kills a process that
 * faults with it blocked; a program that blocks it is told that it did.
 */
#include "wrap_next.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

/* arch/x86/include/asm/trap_pf.h: the fault was a write. */
#define X86_PF_WRITE 2

/* No header declares this one without _XOPEN_SOURCE. */
sighandler_t bsd_signal(int number, sighandler_t handler);
sighandler_t __sysv_signal(int number, sighandler_t handler);

const struct um_wrap_hooks *_Atomic um_wrap_hooks;

/* What the program believes to be in force. */
static struct sigaction of_program;
static atomic_flag of_program_lock = ATOMIC_FLAG_INIT;
static _Thread_local bool blocked_by_program __attribute__((tls_model("initial-exec")));
static _Thread_local sigjmp_buf *escape __attribute__((tls_model("initial-exec")));

static bool active(void)
{
	return atomic_load_explicit(&um_wrap_hooks, memory_order_acquire) != NULL;
}

/* Signals are blocked meanwhile, past our own wrappers: a handler may ask for the action, too. */
static void lock_program_action(sigset_t *before)
{
	sigset_t all;

	sigfillset(&all);
	UM_NEXT(pthread_sigmask)(SIG_SETMASK, &all, before);
	while (atomic_flag_test_and_set_explicit(&of_program_lock, memory_order_acquire))
		;
}

static void unlock_program_action(const sigset_t *before)
{
	atomic_flag_clear_explicit(&of_program_lock, memory_order_release);
	UM_NEXT(pthread_sigmask)(SIG_SETMASK, before, NULL);
}

/* --- faults --- */

static void set_default(int number)
{
	struct sigaction action = {.sa_handler = SIG_DFL};

	UM_NEXT(sigaction)(number, &action, NULL);
}

/* A signal that was sent does not come again by itself, as a fault does. */
static bool was_sent(const siginfo_t *info)
{
	return info->si_code <= 0;
}

static void die_of(int number, siginfo_t *info)
{
	set_default(number);
	/* Blocked until the handler returns. */
	if (was_sent(info))
		syscall(SYS_rt_tgsigqueueinfo, getpid(), (pid_t)syscall(SYS_gettid), number, info);
}

static struct sigaction take_program_action(void)
{
	sigset_t before;

	lock_program_action(&before);
	struct sigaction action = of_program;

	if ((action.sa_flags & SA_RESETHAND) && action.sa_handler != SIG_IGN)
		of_program.sa_handler = SIG_DFL;
	unlock_program_action(&before);
	return action;
}

/* As the kernel would: with the mask of the interrupted code and the handler's own. */
static void call_program(const struct sigaction *action, int number, siginfo_t *info,
			 ucontext_t *context)
{
	sigset_t mask;

	sigorset(&mask, &context->uc_sigmask, &action->sa_mask);
	sigdelset(&mask, SIGSEGV);
	UM_NEXT(pthread_sigmask)(SIG_SETMASK, &mask, NULL);
	if (action->sa_flags & SA_SIGINFO)
		action->sa_sigaction(number, info, context);
	else
		action->sa_handler(number);
}

static void handle(int number, siginfo_t *info, void *context_of_signal)
{
	const struct um_wrap_hooks *hooks =
		atomic_load_explicit(&um_wrap_hooks, memory_order_acquire);
	ucontext_t *context = context_of_signal;
	int saved = errno;
	bool write = context->uc_mcontext.gregs[REG_ERR] & X86_PF_WRITE;

	if (!was_sent(info) && escape)
		siglongjmp(*escape, 1);
	if (!was_sent(info) && hooks && hooks->fault(info->si_addr, write, context)) {
		errno = saved;
		return;
	}
	struct sigaction action = take_program_action();
	bool ignored = !(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_IGN;

	errno = saved;
	if (ignored && was_sent(info))
		return;
	if (ignored || (!(action.sa_flags & SA_SIGINFO) && action.sa_handler == SIG_DFL))
		die_of(number, info);
	else
		call_program(&action, number, info, context);
}

UM_WRAPPED bool um_wrap_guard(void (*run)(void *context), void *context)
{
	sigjmp_buf here;
	sigset_t segv, before;
	volatile bool works = false;

	sigemptyset(&segv);
	sigaddset(&segv, SIGSEGV);
	UM_NEXT(pthread_sigmask)(SIG_SETMASK, NULL, &before);
	if (sigsetjmp(here, 0) == 0) {
		escape = &here;
		UM_NEXT(pthread_sigmask)(SIG_UNBLOCK, &segv, NULL);
		run(context);
		works = true;
	}
	escape = NULL;
	UM_NEXT(pthread_sigmask)(SIG_SETMASK, &before, NULL);
	return works;
}

/* On the stack that the program wants for its own handler. */
static bool install(int program_flags)
{
	struct sigaction action = {
		.sa_sigaction = handle,
		.sa_flags = SA_SIGINFO | (program_flags & (SA_ONSTACK | SA_RESTART)),
	};

	sigfillset(&action.sa_mask);
	return !UM_NEXT(sigaction)(SIGSEGV, &action, NULL);
}

/* --- what the program asks for --- */

static int program_sigaction(const struct sigaction *action, struct sigaction *before)
{
	struct sigaction now;
	sigset_t mask;

	if (action)
		now = *action; /* either may lie in watched memory: not under the lock */
	lock_program_action(&mask);
	struct sigaction then = of_program;

	if (action) {
		of_program = now;
		install(now.sa_flags);
	}
	unlock_program_action(&mask);
	if (before)
		*before = then;
	return 0;
}

UM_WRAPPED int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
	if (!active())
		return UM_NEXT(sigaction)(number, action, before);
	if (number == SIGSEGV)
		return program_sigaction(action, before);
	if (!action || !sigismember(&action->sa_mask, SIGSEGV))
		return UM_NEXT(sigaction)(number, action, before);
	struct sigaction unblocked = *action;

	sigdelset(&unblocked.sa_mask, SIGSEGV);
	return UM_NEXT(sigaction)(number, &unblocked, before);
}

static sighandler_t set_handler(sighandler_t handler, int flags)
{
	struct sigaction action = {.sa_handler = handler, .sa_flags = flags}, before;

	sigemptyset(&action.sa_mask);
	program_sigaction(&action, &before);
	return before.sa_handler;
}

#define WRAP_SIGNAL(name, flags)                                                                   \
	UM_WRAPPED sighandler_t name(int number, sighandler_t handler)                             \
	{                                                                                          \
		if (number != SIGSEGV || handler == SIG_ERR || !active())                          \
			return UM_NEXT(name)(number, handler);                                     \
		return set_handler(handler, flags);                                                \
	}

WRAP_SIGNAL(signal, SA_RESTART)
WRAP_SIGNAL(bsd_signal, SA_RESTART)
WRAP_SIGNAL(__sysv_signal, SA_RESETHAND | SA_NODEFER)
WRAP_SIGNAL(sysv_signal, SA_RESETHAND | SA_NODEFER)

typedef int mask_call(int how, const sigset_t *set, sigset_t *before);

static int program_mask(mask_call *next, int how, const sigset_t *set, sigset_t *before)
{
	bool was_blocked = blocked_by_program;
	bool named = set && sigismember(set, SIGSEGV) == 1;
	sigset_t unblocked;

	if (named && how != SIG_UNBLOCK) {
		unblocked = *set;
		sigdelset(&unblocked, SIGSEGV);
		set = &unblocked;
	}
	int result = next(how, set, before);

	if (result)
		return result;
	if (before && was_blocked)
		sigaddset(before, SIGSEGV);
	if (set && how == SIG_SETMASK)
		blocked_by_program = named;
	else if (named)
		blocked_by_program = how == SIG_BLOCK;
	return 0;
}

UM_WRAPPED int sigprocmask(int how, const sigset_t *set, sigset_t *before)
{
	if (!active())
		return UM_NEXT(sigprocmask)(how, set, before);
	return program_mask(UM_NEXT(sigprocmask), how, set, before);
}

UM_WRAPPED int pthread_sigmask(int how, const sigset_t *set, sigset_t *before)
{
	if (!active())
		return UM_NEXT(pthread_sigmask)(how, set, before);
	return program_mask(UM_NEXT(pthread_sigmask), how, set, before);
}

/* --- start and stop --- */

/* Handlers set so far must not run with SIGSEGV blocked either. */
static void unblock_in_other_handlers(void)
{
	for (int number = 1; number <= SIGRTMAX; number++) {
		struct sigaction action;

		if (number == SIGSEGV || UM_NEXT(sigaction)(number, NULL, &action) ||
		    action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)
			continue;
		if (sigdelset(&action.sa_mask, SIGSEGV) == 0)
			UM_NEXT(sigaction)(number, &action, NULL);
	}
}

UM_WRAPPED bool um_wrap_start(const struct um_wrap_hooks *hooks)
{
	sigset_t segv, before;

	if (UM_NEXT(sigaction)(SIGSEGV, NULL, &of_program) || !install(of_program.sa_flags))
		return false;
	sigemptyset(&segv);
	sigaddset(&segv, SIGSEGV);
	UM_NEXT(pthread_sigmask)(SIG_UNBLOCK, &segv, &before);
	blocked_by_program = sigismember(&before, SIGSEGV) == 1;
	unblock_in_other_handlers();
	atomic_store_explicit(&um_wrap_hooks, hooks, memory_order_release);
	return true;
}

UM_WRAPPED void um_wrap_stop(void)
{
	if (!active())
		return;
	atomic_store_explicit(&um_wrap_hooks, NULL, memory_order_release);
	UM_NEXT(sigaction)(SIGSEGV, &of_program, NULL);
	if (blocked_by_program) {
		sigset_t segv;

		sigemptyset(&segv);
		sigaddset(&segv, SIGSEGV);
		UM_NEXT(pthread_sigmask)(SIG_BLOCK, &segv, NULL);
	}
}
