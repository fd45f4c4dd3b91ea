/*
 * The runtime's side of the spool: numbers ops, allocations, sites and threads, and writes records.
 * Off (every call returns at once) when the program was not started by umtrace, in the child of a
 * fork, and after umtrace has gone. Callers hold the runtime lock.
 */
#ifndef UM_TRACER_H
#define UM_TRACER_H

#include "../spool/spool_record.h"
#include "../spool/spool_ring.h"

#include <stdbool.h>

/*
 * From the library's constructor: attaches to UMTRACE_SPOOL and removes it, and our own entry of
 * LD_PRELOAD, from the environment. A program that was not linked with HIP (a shell, an
 * interpreter, env) keeps both, for the program that it starts, until it calls HIP itself after
 * all.
 */
void um_tracer_attach(void);
bool um_tracer_on(void);
/*
 * The same, but of a program that umtrace started and that has not used HIP so far: false, and it is
 * left as it is. It may use CUDA, whose tap then has the spool.
 */
bool um_tracer_uses_hip(void);
/* What umtrace asked for; NULL when the program was not started by umtrace. */
const struct um_spool_config *um_tracer_config(void);
/* The table of umtrace -P that lies behind the spool; NULL: none. */
void *um_tracer_apply_table(size_t *bytes);
/* Tells what the host touched so far as an op of its own, as the beginning of a launch would. */
void um_tracer_split(void);
/*
 * A call of the program's that a policy leaves out: as if by um_tracer_op_begin() and um_tracer_op_end(), so
 * that what the host touched is told as it would be, but without an op.
 */
void um_tracer_pass_over(struct um_record_op *);
/* Writes any finished record (pages, stream, kernel, loss). */
void um_tracer_put(const struct um_record *);
/*
 * Starts an op: fills header, op, thread, start_ns; the caller has set the rest. First flushes what
 * the host touched (an op of kind HOST of its own) when the kind is a device operation: launch,
 * copy, memset, prefetch; a synchronisation while device work may be under way, since touches
 * before it race with that work; the free of a managed allocation. For advice and attachment it
 * flushes what was touched within 2 MiB of the pages that they name, for a part's name and its end
 * what was touched of the part. A switch of the profiler flushes it too, as the ends of a range do.
 * Returns its id; 0 when off.
 */
uint32_t um_tracer_op_begin(struct um_record_op *);
/* An op with UM_OP_POLICY flushes nothing. */
/* Sets end_ns and result and writes the op (again, if begin wrote it); arms host watching where
 * begin flushed what the host touched. */
void um_tracer_op_end(struct um_record_op *, int result);
/*
 * Ranges that the program names: an op of kind RANGE that is written when it begins, with its name
 * (cut at UM_RANGE_NAME_BYTES), and again when it ends. What the host touched until then is flushed
 * first, so that it lies on the right side. `op` is as for um_tracer_op_begin() and is kept until the
 * end. Not in the child of a fork.
 */
bool um_tracer_ranges_on(void);
void um_tracer_range_begin(struct um_record_op *op, const char *name);
void um_tracer_range_end(struct um_record_op *op);
/* A range that ends where it begins. */
void um_tracer_mark(struct um_record_op *op, const char *name);
/* The number of the calling thread, as ops have it. */
uint32_t um_tracer_thread(void);
/*
 * Behind a NAME op: the part that it names (cut at UM_RANGE_NAME_BYTES). `whole`: it is all of its
 * allocation.
 */
void um_tracer_part(const struct um_record_op *op, const char *name, bool whole);
/* Counts a name of memory that cannot be named; told once at once, and in sum at the end. */
void um_tracer_wrong_name(uint32_t op);
/*
 * With umtrace --pageable, the HOST op before the launch under way, for what is found out about
 * memory while that runs: written when it is first asked for. 0 when off.
 */
uint32_t um_tracer_host_op(void);
void um_tracer_loss(uint32_t op, enum um_loss_kind, uint64_t count, const char *text);
void um_tracer_bye(void);

#endif
