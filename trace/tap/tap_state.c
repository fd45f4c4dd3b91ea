#include "tap.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

struct um_tap um_tap;

static atomic_bool on;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uint64_t handler_calls;

/*
 * Small, and in the space that the loader keeps for libraries that come late: the usual way would
 * allocate on a thread's first call, and the program's malloc may be what calls us.
 */
static _Thread_local struct um_tap_thread this_thread __attribute__((tls_model("initial-exec")));

struct um_tap_thread *um_tap_thread(void)
{
	return &this_thread;
}

bool um_tap_is_on(void)
{
	return atomic_load_explicit(&on, memory_order_acquire);
}

void um_tap_switch_on(void)
{
	atomic_store_explicit(&on, true, memory_order_release);
}

void um_tap_switch_off(void)
{
	atomic_store_explicit(&on, false, memory_order_release);
}

bool um_tap_lock(void)
{
	if (!um_tap_is_on())
		return false;
	if (this_thread.inside) {
		atomic_fetch_add_explicit(&handler_calls, 1, memory_order_relaxed);
		return false;
	}
	this_thread.inside = true;
	atomic_signal_fence(memory_order_seq_cst);
	pthread_mutex_lock(&lock);
	if (um_tap_is_on())
		return true;
	um_tap_unlock();
	return false;
}

void um_tap_unlock(void)
{
	pthread_mutex_unlock(&lock);
	atomic_signal_fence(memory_order_seq_cst);
	this_thread.inside = false;
}

uint64_t um_tap_handler_calls(void)
{
	return atomic_load_explicit(&handler_calls, memory_order_relaxed);
}

uint64_t um_tap_now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}
