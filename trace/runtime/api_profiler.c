/*
 * When profilers are to record: hipProfilerStart() and hipProfilerStop(), and what libroctx64.so.4 tells
 * of roctxProfilerResume() and roctxProfilerPause(). Without umtrace nothing is done.
 */
#include "api.h"
#include "launch_selection.h"

#define UM_ROCTX_HOOK UM_API
#include "roctx/roctx_hooks.h"

/* HIP's header leaves the parameters open. */
hipError_t hipProfilerStart(void);
hipError_t hipProfilerStop(void);

static void switch_profiler(bool on, uint32_t thread)
{
	if (!um_tracer_on())
		return;
	struct um_record_op op = um_op(on ? UM_OP_PROFILER_START : UM_OP_PROFILER_STOP, 0);

	op.value = thread;
	um_tracer_op_begin(&op);
	um_tracer_op_end(&op, hipSuccess);
	um_profiler_switch(on, thread);
}

hipError_t hipProfilerStart(void)
{
	UM_ENTER();
	switch_profiler(true, 0);
	return um_leave(hipSuccess);
}

hipError_t hipProfilerStop(void)
{
	UM_ENTER();
	switch_profiler(false, 0);
	return um_leave(hipSuccess);
}

void um_roctx_profiler(int on, uint64_t thread, uintptr_t caller)
{
	um_enter(caller);
	switch_profiler(on != 0, (uint32_t)thread);
	um_leave(hipSuccess);
}
