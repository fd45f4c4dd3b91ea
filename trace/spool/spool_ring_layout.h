/*
 * The ring file: a page with this header, then capacity_bytes of ring, then the table of a policy where there is one. Private to spool_writer.c
 * and spool_reader.c.
 *
 * head and tail count bytes for ever; a position in the ring is their value modulo the capacity, a
 * power of two. Each side trusts only what it wrote itself: it keeps its own counter and the
 * capacity in private memory and checks the other's counter on every load.
 *
 * Each side sleeps on the low half of the other's counter. The capacity is below 4 GiB, so the half
 * cannot come round to the same value while the other waits. Before it sleeps a side stores the
 * counter value that it wants to see, fences, and loads the counter once more; the other stores its
 * counter, fences, and loads the wish: one of the two always notices.
 */
#ifndef UM_SPOOL_RING_LAYOUT_H
#define UM_SPOOL_RING_LAYOUT_H

#include "spool_ring.h"

#include <errno.h>
#include <linux/futex.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define UM_RING_MAGIC	     0x4c4f4f5053454d55ull /* "UMESPOOL" */
#define UM_RING_HEADER_BYTES 4096u
#define UM_RING_MIN_BYTES    (2u * UM_SPOOL_RECORD_MAX) /* a record and the padding before it */
#define UM_RING_MAX_BYTES    (1ull << 31)

struct um_ring_header {
	uint64_t magic;
	uint32_t version; /* UM_SPOOL_VERSION */
	uint32_t header_bytes;
	uint64_t capacity_bytes;
	uint32_t reader_pid;
	_Atomic uint32_t writer_pid; /* 0: none has attached yet */
	_Atomic uint32_t closed;     /* 1: the reader has gone */
	struct um_spool_config config;
	alignas(128) _Atomic uint64_t head; /* the writer's: all before it is whole records */
	_Atomic uint64_t wanted_tail;	    /* the writer sleeps until tail is here; 0: awake */
	alignas(128) _Atomic uint64_t tail; /* the reader's: all before it may be overwritten */
	_Atomic uint64_t wanted_head;	    /* the reader sleeps until head is here; 0: awake */
};

/* Of the file: header, ring, and the table in whole pages. */
static inline uint64_t um_ring_apply_bytes(const struct um_spool_config *config)
{
	return ((uint64_t)config->apply_bytes + UM_RING_HEADER_BYTES - 1) &
	       ~(uint64_t)(UM_RING_HEADER_BYTES - 1);
}
_Static_assert(sizeof(struct um_ring_header) <= UM_RING_HEADER_BYTES, "header is one page");
_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the low half comes first");

/* Sleeps while the low half of *counter is that of `seen`, at most timeout_ms. */
static inline void um_ring_sleep(_Atomic uint64_t *counter, uint64_t seen, int timeout_ms)
{
	struct timespec timeout = {timeout_ms / 1000, (timeout_ms % 1000) * 1000000L};
	int saved = errno;

	syscall(SYS_futex, counter, FUTEX_WAIT, (uint32_t)seen, &timeout, NULL, 0);
	errno = saved;
}

static inline void um_ring_wake(_Atomic uint64_t *counter)
{
	int saved = errno;

	syscall(SYS_futex, counter, FUTEX_WAKE, 1, NULL, NULL, 0);
	errno = saved;
}

/* After `counter` was stored with `value`: wakes the other side if that is what it waits for. */
static inline void um_ring_publish(_Atomic uint64_t *counter, uint64_t value,
				   _Atomic uint64_t *wanted)
{
	atomic_store_explicit(counter, value, memory_order_release);
	atomic_thread_fence(memory_order_seq_cst);
	uint64_t wish = atomic_load_explicit(wanted, memory_order_relaxed);

	if (wish == 0 || value < wish)
		return;
	atomic_store_explicit(wanted, 0, memory_order_relaxed);
	um_ring_wake(counter);
}

#endif
