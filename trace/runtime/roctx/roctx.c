/*
 * libroctx64.so.4 without ROCm: keeps levels and ids as AMD's library does, and tells our runtime,
 * where that is loaded, what begins and ends.
 */
#define UM_ROCTX_HOOK __attribute__((weak))
#include "roctx.h"
#include "roctx_hooks.h"
#include "../../spool/spool_stack.h"

#include <stdatomic.h>
#include <stddef.h>
#include <unistd.h>

#define UM_API __attribute__((visibility("default")))
#define CALLER UM_STACK_OWN_SLOT
#define TELL(hook, ...)                                                                            \
	do {                                                                                       \
		if (hook)                                                                          \
			hook(__VA_ARGS__);                                                         \
	} while (0)

static _Thread_local int levels;
static _Atomic uint64_t last_id;

UM_API uint32_t roctx_version_major(void)
{
	return ROCTX_VERSION_MAJOR;
}

UM_API uint32_t roctx_version_minor(void)
{
	return ROCTX_VERSION_MINOR;
}

UM_API void roctxMarkA(const char *message)
{
	TELL(um_roctx_mark, message, CALLER);
}

UM_API int roctxRangePushA(const char *message)
{
	TELL(um_roctx_push, message, CALLER);
	return levels++;
}

UM_API int roctxRangePop(void)
{
	if (!levels)
		return -1;
	TELL(um_roctx_pop);
	return --levels;
}

UM_API roctx_range_id_t roctxRangeStartA(const char *message)
{
	uint64_t id = atomic_fetch_add(&last_id, 1) + 1;

	TELL(um_roctx_start, id, message, CALLER);
	return id;
}

UM_API void roctxRangeStop(roctx_range_id_t id)
{
	TELL(um_roctx_stop, id);
}

UM_API int roctxProfilerPause(roctx_thread_id_t thread)
{
	TELL(um_roctx_profiler, 0, thread, CALLER);
	return 0;
}

UM_API int roctxProfilerResume(roctx_thread_id_t thread)
{
	TELL(um_roctx_profiler, 1, thread, CALLER);
	return 0;
}

UM_API int roctxGetThreadId(roctx_thread_id_t *thread)
{
	if (!thread)
		return -1;
	*thread = (roctx_thread_id_t)gettid();
	return 0;
}

UM_API int roctxNameOsThread(const char *name)
{
	(void)name;
	return -1;
}

UM_API int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent)
{
	(void)name;
	(void)agent;
	return -1;
}

UM_API int roctxNameHipDevice(const char *name, int device)
{
	(void)name;
	(void)device;
	return -1;
}

UM_API int roctxNameHipStream(const char *name, const struct ihipStream_t *stream)
{
	(void)name;
	(void)stream;
	return -1;
}
