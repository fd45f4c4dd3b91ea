/*
 * roctx, AMD's interface for naming parts of a program: its functions as version 4.1 of
 * libroctx64.so.4 has them (roctracer's documentation, "ROCTX API"). For machines without ROCm; where
 * AMD's own header is installed umhipcc takes that. A program that is linked with -lroctx64 runs with
 * this library or with AMD's.
 *
 * Under umtrace a range is an op of kind 'range' and a row of user_range in the trace; otherwise
 * nothing is done.
 */
#ifndef UM_ROCTX_H
#define UM_ROCTX_H

#include <stdint.h>

#define ROCTX_VERSION_MAJOR 4
#define ROCTX_VERSION_MINOR 1

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t roctx_range_id_t;

uint32_t roctx_version_major(void);
uint32_t roctx_version_minor(void);

/* A moment: a range that ends where it begins. */
void roctxMarkA(const char *message);
/* Begins a range within those that the calling thread has open. Returns its level, from 0. */
int roctxRangePushA(const char *message);
/* Ends the range that the calling thread began last. Returns its level; -1: there was none. */
int roctxRangePop(void);
/* Begins a range that any thread may end. */
roctx_range_id_t roctxRangeStartA(const char *message);
void roctxRangeStop(roctx_range_id_t id);

/*
 * As rocprofiler-sdk's roctx has them (its documentation, "ROCTx Application control/customization of
 * profiling tools"; AMD's libroctx64 lacks them): <rocprofiler-sdk-roctx/roctx.h> is this header too, and
 * -lrocprofiler-sdk-roctx links them as -lroctx64 does. Under umtrace launches between Pause and Resume run
 * without hooks and are not recorded in detail. `thread` is 0, for all, or of roctxGetThreadId(). They
 * return 0.
 */
typedef uint64_t roctx_thread_id_t;

int roctxProfilerPause(roctx_thread_id_t thread);
int roctxProfilerResume(roctx_thread_id_t thread);
/* The calling thread's; -1: nowhere to put it. */
int roctxGetThreadId(roctx_thread_id_t *thread);

/* Names of threads and devices are not recorded: -1, which stands for "not supported". */
struct hsa_agent_s;
struct ihipStream_t;
int roctxNameOsThread(const char *name);
int roctxNameHsaAgent(const char *name, const struct hsa_agent_s *agent);
int roctxNameHipDevice(const char *name, int device);
int roctxNameHipStream(const char *name, const struct ihipStream_t *stream);

#ifdef __cplusplus
}
#endif

#define roctxMark(message)	 roctxMarkA(message)
#define roctxRangePush(message)	 roctxRangePushA(message)
#define roctxRangeStart(message) roctxRangeStartA(message)

#endif
