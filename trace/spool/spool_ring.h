/*
 * The ring between a traced program and umtrace: a file in shared memory that umtrace makes, names
 * in the environment variable UMTRACE_SPOOL and removes. One writer (the program; callers hold a
 * lock of their own), one reader. The writer opens the file, maps it, closes the descriptor and
 * removes the file, so the program's descriptors stay as they were and no kill leaves a file
 * behind. A record becomes visible whole or not at all, so a program that is killed leaves a ring
 * that can be drained to its last whole record.
 */
#ifndef UM_SPOOL_RING_H
#define UM_SPOOL_RING_H

#include "selection.h"
#include "spool_record.h"

#include <stdbool.h>
#include <stddef.h>

/* What umtrace tells the program; part of the ring's header. */
struct um_spool_config {
	uint32_t requests;    /* 1: count coalesced requests */
	uint32_t host_watch;  /* enum um_host_watch to insist on, or UM_HOST_WATCH_BEST */
	uint32_t xnack;	      /* 1: devices retry faults for a process that does not choose */
	uint32_t xnack_may;   /* UM_XNACK_MAY_*: what a process can choose */
	uint32_t host_access; /* 1: the host reaches device memory where it is */
	uint32_t devices;     /* how many alike; 0: the runtime's default machine */
	uint32_t compute_units;
	uint32_t clock_khz;
	uint32_t memory_clock_khz;
	uint32_t memory_bus_bits;
	uint32_t l2_bytes;
	uint32_t pageable;     /* 1: record accesses to memory that HIP did not allocate */
	uint32_t faults;       /* enum um_tap_faults: what a tap asks the driver for */
	uint32_t host_sync;    /* 1: tell which instructions of the host touch managed memory */
	uint32_t set_nvtx;     /* 1: NVTX_INJECTION64_PATH is of umtrace's making */
	uint64_t memory_bytes; /* of each device */
	/* What event times are estimated by; 0: not known. */
	uint64_t memory_bytes_per_s;
	uint64_t to_device_bytes_per_s, to_host_bytes_per_s; /* of the link */
	uint64_t link_latency_ns;
	uint64_t launch_ns;
	uint32_t wall;	      /* 1: events tell the time that passes here instead */
	uint32_t apply_bytes; /* of the table behind the ring (apply_table.h); 0: none */
	char device_name[64];
	char device_arch[32]; /* "gfx90a" */
	char selection[UM_SELECTION_BYTES];
};
#define UM_HOST_WATCH_BEST    0xffffffffu
#define UM_XNACK_MAY_TURN_ON  1u
#define UM_XNACK_MAY_TURN_OFF 2u

/* Fault records cost time: GPU steps of an H200 took 1.35 times as long with, 1.18 without them. */
enum um_tap_faults { UM_TAP_FAULTS_OFF, UM_TAP_FAULTS_GPU, UM_TAP_FAULTS_ALL };

struct um_spool_writer;
struct um_spool_reader;

/* Records larger than this are refused: split PAGES and STREAM before. */
#define UM_SPOOL_RECORD_MAX    (256u * 1024u)
#define UM_SPOOL_DEFAULT_BYTES (16u * 1024u * 1024u)

/* --- inside the program: no allocation but the mapping, no message printed --- */

/* Maps the ring at `path`. UM_EIO, UM_EFORMAT, UM_EVERSION; UM_EEXIST: a process has it already. */
int um_spool_attach(struct um_spool_writer **out, const char *path);
/* What umtrace asked for; valid until detach. */
const struct um_spool_config *um_spool_config(const struct um_spool_writer *);
/*
 * The table that lies behind the ring, *bytes long; NULL: none. The program's own mapping, which stays when
 * the reader has gone and until the program ends; not in the child of a fork.
 */
void *um_spool_apply_table(const struct um_spool_writer *, size_t *bytes);
/*
 * Room for a record of `bytes` (multiple of 8, at most UM_SPOOL_RECORD_MAX), contiguous; blocks
 * while the ring is full. NULL once the reader has gone: the writer is then off for good. NULL too
 * for a second reservation before the commit of the first: a signal handler that calls HIP meets
 * its own thread's; that record is lost and counted.
 */
void *um_spool_reserve(struct um_spool_writer *, size_t bytes);
/*
 * The same, but NULL at once while the ring is full: a tap on hardware drops and counts. When the
 * reader was killed this is noticed after many such answers.
 */
void *um_spool_try_reserve(struct um_spool_writer *, size_t bytes);
/* False once the reader has gone; NULL is off. */
bool um_spool_is_on(const struct um_spool_writer *);
/*
 * Bytes that are free now; 0 when off. A record of half of that surely fits, padding included.
 */
uint64_t um_spool_room(struct um_spool_writer *);
uint64_t um_spool_capacity(const struct um_spool_writer *);
/* Publishes the record last reserved; its header.bytes must not exceed what was reserved. */
void um_spool_commit(struct um_spool_writer *);
/* Copies and publishes a whole record. False once the reader has gone. */
bool um_spool_put(struct um_spool_writer *, const struct um_record *);
/* How many records were refused so far: those of signal handlers, and any of impossible length. */
uint64_t um_spool_refused(const struct um_spool_writer *);
/* Unmaps; NULL is legal. Also what the child of a fork calls. */
void um_spool_detach(struct um_spool_writer *);

/* --- in umtrace --- */

/* Makes the ring file (mode 0600) in `directory` or, if NULL, /dev/shm or $TMPDIR. Owned by the
 * caller. */
int um_spool_create(struct um_spool_reader **out, const char *directory, size_t ring_bytes,
		    const struct um_spool_config *config);
/*
 * Where the table of config.apply_bytes is to be put, before the program starts, and where its outcomes stand
 * later; NULL: there is none. Until um_spool_destroy(). What the program wrote there may be anything.
 */
void *um_spool_apply_room(struct um_spool_reader *);
const char *um_spool_path(const struct um_spool_reader *);
/* True once a program has attached. */
bool um_spool_attached(const struct um_spool_reader *);
/*
 * The next record, or NULL when there is none now. Valid until the next call of um_spool_next() or
 * um_spool_release(). A record whose header cannot be right ends the stream: UM_EFORMAT in *error.
 */
const struct um_record *um_spool_next(struct um_spool_reader *, int *error);
/* Gives the space of everything returned so far back to the writer (next() does so for the one
 * before). */
void um_spool_release(struct um_spool_reader *);
/* Sleeps until there is something to read, at most timeout_ms. */
void um_spool_wait(struct um_spool_reader *, int timeout_ms);
/*
 * Unmaps and removes the file; NULL is legal. A writer that blocks wakes up and goes on untraced.
 */
void um_spool_destroy(struct um_spool_reader *);

#endif
