/*
 * The time that events tell, while umtrace plays a machine: an estimate, by figures of the machine file.
 *
 *   launch   launch + 64 bytes a line that it touches (once to read, once to write it) / memory_bandwidth
 *   copy     over the link: its latency + bytes / its bandwidth; within the device: twice the bytes,
 *            fill once, / memory_bandwidth, after `launch`
 *
 * That is the memory's roof: what a kernel computes, what it reads from LDS and what managed memory
 * costs to move takes no time, and neither does the host. Streams overlap without costing each other
 * anything; the null stream waits for those without hipStreamNonBlocking, and they for it. A launch that
 * is not traced takes as long as it takes to start. `umsim replay` has a model that knows more.
 *
 * With umtrace --wall, and in a program that umtrace did not start, events tell the time that passed
 * here instead. Callers hold the runtime lock.
 */
#ifndef UM_DEVICE_CLOCK_H
#define UM_DEVICE_CLOCK_H

#include "api.h"

void um_clock_launch(struct um_stream *, uint64_t lines);
void um_clock_fill(struct um_stream *, uint64_t bytes);
/* `to` and `from` tell which way; with `waits` the host waits for its end. */
void um_clock_copy(struct um_stream *, const void *to, const void *from, uint64_t bytes,
		   bool waits);
/* The host waits: for the stream, for all of a device. */
void um_clock_wait(const struct um_stream *);
void um_clock_wait_device(int device);
void um_clock_wait_until(uint64_t ns);
/* The stream waits. */
void um_clock_stream_waits(struct um_stream *, uint64_t ns);
/* When what was asked for on the stream so far is done: ns of this clock, or of CLOCK_BOOTTIME. */
uint64_t um_clock_now(const struct um_stream *);

#endif
