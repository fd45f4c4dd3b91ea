#include "api.h"
#include "hostwatch.h"
#include "stub.h"
#include "trace/base/error.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXIT_WAIT_S 10

_Thread_local struct um_thread um_thread;

#define FREE_LOCK PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP
static pthread_mutex_t lock = FREE_LOCK;
static hipError_t device_error;

void um_runtime_lock(void)
{
	pthread_mutex_lock(&lock);
}

void um_runtime_unlock(void)
{
	pthread_mutex_unlock(&lock);
}

bool um_runtime_lock_at_exit(void)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until); /* the clock of pthread_mutex_timedlock() */
	until.tv_sec += EXIT_WAIT_S;
	return !pthread_mutex_timedlock(&lock, &until);
}

void um_enter(uintptr_t caller)
{
	um_runtime_lock();
	if (um_thread.depth++)
		return;
	um_thread.caller = caller;
	um_thread.site = 0;
}

hipError_t um_leave(hipError_t error)
{
	if (error)
		um_thread.last_error = error;
	um_thread.last_result = error;
	um_thread.depth--;
	um_runtime_unlock();
	return error;
}

hipError_t um_device_error(void)
{
	return device_error;
}

void um_device_fail(hipError_t error)
{
	device_error = error;
}

hipError_t um_ready(void)
{
	static bool said;

	um_arena.unwatched = !um_tracer_on();
	if (!um_arena_init())
		return hipSuccess;
	if (!said)
		um_say("%s", um_error_message());
	said = true;
	return hipErrorOutOfMemory;
}

void um_say(const char *format, ...)
{
	char line[1024] = "umtrace: ";
	size_t used = strlen(line);
	va_list args;

	va_start(args, format);
	int more = vsnprintf(line + used, sizeof(line) - used - 1, format, args);
	va_end(args);
	if (more > 0)
		used += (size_t)more < sizeof(line) - used - 1 ? (size_t)more
							       : sizeof(line) - used - 2;
	line[used++] = '\n';
	fwrite(line, 1, used, stderr);
}

/* --- what is refused --- */

struct refused {
	struct refused *next;
	const char *what; /* a literal */
};

static bool first_refusal(const char *what)
{
	static struct refused *all;

	for (const struct refused *r = all; r; r = r->next)
		if (!strcmp(r->what, what))
			return false;
	struct refused *r = malloc(sizeof(*r));

	if (!r)
		return true;
	*r = (struct refused){all, what};
	all = r;
	return true;
}

static hipError_t refuse(const char *what, const char *reason)
{
	if (first_refusal(what)) {
		um_say("%s is not supported without a GPU (hipErrorNotSupported)%s%s", what,
		       reason ? ": " : "", reason ? reason : "");
		um_tracer_loss(0, UM_LOSS_UNSUPPORTED, 1, what);
	}
	return hipErrorNotSupported;
}

hipError_t um_refuse_part(const char *what)
{
	return refuse(what, NULL);
}

int um_refuse(const char *function, const char *reason)
{
	UM_ENTER();
	return um_leave(refuse(function, reason));
}

/* --- the life of the library --- */

static void before_fork(void)
{
	um_runtime_lock();
}

static void in_parent(void)
{
	um_runtime_unlock();
}

/* The child has none of the memory (MADV_DONTFORK) and is not traced; it may use HIP afresh. */
static void in_child(void)
{
	um_hostwatch_child();
	um_memory_child();
	device_error = hipSuccess;
	/* It belongs to a thread of the parent; unlocking it here would be refused. */
	lock = (pthread_mutex_t)FREE_LOCK;
}

__attribute__((constructor)) static void start(void)
{
	um_tracer_attach();
	pthread_atfork(before_fork, in_parent, in_child);
}

__attribute__((destructor)) static void finish(void)
{
	if (!um_runtime_lock_at_exit())
		return;
	um_tracer_bye();
	um_runtime_unlock();
}
