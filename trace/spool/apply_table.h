/*
 * What of a policy a program is to apply to itself (umtrace -P): a plain table that umtrace makes from the
 * policy and a trace of an earlier run (tool/apply_build.h), and hands over behind the ring. Nothing of a
 * policy is read or matched inside the program: it counts what happens, by keys, and does what stands beside
 * the count.
 *
 * A key is a place or a kernel: of an allocation the stack that asked for it (modules without their folders,
 * and offsets in them, so that neither ASLR nor moved files matter), or the name of a variable where nobody
 * asked; of a named part the stack that named it; of a launch the kernel's symbol. An event is the n-th
 * occurrence of a key; actions are advice and prefetches that are due at an event, in the order in which the
 * simulator's player makes them (sim/policy/policy_plan.h).
 *
 * Layout: the header, then keys (by kind, hash), events (by key, nth), subjects, actions (by event), all of
 * multiples of 8 bytes. umtrace writes it; the program writes only the outcomes.
 */
#ifndef UM_APPLY_TABLE_H
#define UM_APPLY_TABLE_H

#include "spool_record.h"

#include <stdbool.h>
#include <stddef.h>

#define UM_APPLY_MAGIC 0x594c505041554d55ull /* "UMUAPPLY" */

enum um_apply_kind {
	UM_APPLY_ALLOCATION = 1, /* a stack, or the name of a variable */
	UM_APPLY_NAME,		 /* a stack that calls um_name() */
	UM_APPLY_LAUNCH,	 /* a kernel's symbol */
	UM_APPLY_ADVISE,	 /* a stack of the program's own hints, which are left out */
	UM_APPLY_PREFETCH,
};

/* um_apply_header.flags */
#define UM_APPLY_DROP_ADVICE   1u /* all of the program's own */
#define UM_APPLY_DROP_PREFETCH 2u

struct um_apply_header {
	uint64_t magic;
	uint32_t keys, events, subjects, actions;
	uint32_t flags;
	/* Outcome, which the program writes: hints of its own that were left out. */
	uint32_t left_out_advice, left_out_prefetch;
	/* Set once by the program: it found the table good, and acts on it. */
	uint32_t taken;
};

struct um_apply_key {
	uint64_t hash;
	uint32_t kind; /* enum um_apply_kind */
	uint32_t first_event, events;
	uint32_t reserved;
};

#define UM_APPLY_NO_SUBJECT UINT32_MAX
struct um_apply_event {
	uint32_t nth;	      /* from 1, ascending within a key */
	uint32_t subject;     /* that begins here; UM_APPLY_NO_SUBJECT */
	uint32_t allocate_as; /* enum um_allocation_kind; 0: as the program asked */
	uint32_t first_action, actions;
	uint32_t is_switched; /* outcome: it was allocated so */
};

/* An allocation, or a named part of one. */
struct um_apply_subject {
	uint64_t bytes; /* in the earlier run */
	uint32_t seen;	/* outcome: 1, it came; 2, it came with another number of bytes */
	uint32_t is_part;
};

enum um_apply_stream {
	UM_APPLY_STREAM_NULL,	/* of device 0 */
	UM_APPLY_STREAM_LAUNCH, /* that of the launch before which it is due */
	UM_APPLY_STREAM_NUMBER, /* by its number in a trace: of a later launch */
	UM_APPLY_STREAM_OWN,	/* one that is ours, and waits for none */
};
enum um_apply_outcome {
	UM_APPLY_NOT_DUE,    /* its event never came */
	UM_APPLY_MADE,	     /* the call succeeded */
	UM_APPLY_NO_MEMORY,  /* what it is about was not there, or not as large */
	UM_APPLY_NO_STREAM,  /* the stream that it is for was not there */
	UM_APPLY_REFUSED,    /* by the runtime or driver: result */
	UM_APPLY_IMPOSSIBLE, /* in this program or with this driver, which says why on stderr */
	UM_APPLY_OUTCOMES
};
struct um_apply_action {
	uint32_t subject;
	uint32_t line;	 /* in the policy file */
	uint32_t op;	 /* UM_OP_ADVISE, UM_OP_PREFETCH */
	uint32_t advice; /* hipMemoryAdvise */
	int32_t device;	 /* -1: the host */
	uint32_t stream; /* enum um_apply_stream */
	uint32_t stream_number;
	int32_t stream_device; /* of UM_APPLY_STREAM_NUMBER */
	uint64_t start, bytes; /* within the subject */
	uint32_t outcome;      /* enum um_apply_outcome */
	int32_t result;	       /* hipError_t, CUresult */
};

/* --- hashes, alike on both sides --- */

/* Of a place that was called from a place of the hash `parent` (0: from none that is known). */
uint64_t um_apply_site_hash(uint64_t parent, const char *module, uint64_t offset);
uint64_t um_apply_text_hash(const char *text);

/* --- the table --- */

size_t um_apply_bytes(uint32_t keys, uint32_t events, uint32_t subjects, uint32_t actions);
/* Its parts; the table is as long as its header says. */
struct um_apply_key *um_apply_keys(struct um_apply_header *);
struct um_apply_event *um_apply_events(struct um_apply_header *);
struct um_apply_subject *um_apply_subjects(struct um_apply_header *);
struct um_apply_action *um_apply_actions(struct um_apply_header *);
/* Whether it lies within `bytes` and refers to nothing that it has not. */
bool um_apply_is_good(const struct um_apply_header *, size_t bytes);

#endif
