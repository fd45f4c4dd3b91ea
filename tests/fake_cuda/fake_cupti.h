/*
 * A stand-in for libcupti: keeps the one subscriber, hands out records of activity in the client's
 * buffers from a thread of its own, and, as the real one does, calls the client with a lock held that
 * its own functions need: a client that calls it with a lock of its own in hand waits for ever.
 *
 * Told by environment variables:
 *   FAKE_CUPTI_VERSION    cuptiGetVersion()
 *   FAKE_CUPTI_SUBSCRIBE  result of cuptiSubscribe()
 *   FAKE_CUPTI_OTHER      name of the other subscriber
 *   FAKE_CUPTI_COUNTERS   result of cuptiActivityConfigureUnifiedMemoryCounter()
 *   FAKE_CUPTI_ENABLE     KIND:RESULT of cuptiActivityEnable()
 *   FAKE_CUPTI_LATE       1: flushes deliver nothing; buffers come while the program ends
 *   FAKE_CUPTI_NO_CLOCK   1: no clock of the client's; times are of CLOCK_REALTIME
 */
#ifndef UM_FAKE_CUPTI_H
#define UM_FAKE_CUPTI_H

#include <stddef.h>
#include <stdint.h>

/* What the fake driver calls, found with dlsym(). */
struct fake_cupti {
	/* Calls the subscriber, where it asked for it. */
	void (*callback)(uint32_t domain, uint32_t call, const void *data);
	/* Adds a record of activity. */
	void (*record)(const void *record, size_t bytes);
	/* Records that got lost. */
	void (*drop)(size_t count);
	uint64_t (*now)(void);
};
extern const struct fake_cupti fake_cupti;

#endif
