/*
 * What a finding's own file (finding_*.c) is made of, and what it may look at. Not for who shows findings:
 * finding.h.
 *
 * find() looks at the facts, which are loaded once for all rules in one pass over the accesses and one
 * baseline replay, and adds candidates with what to change. It replays nothing itself: the engine
 * replays every change of every candidate, keeps the best, and drops candidates of which none saves
 * anything. A rule therefore says what is there, generously, and never what it would save.
 */
#ifndef UM_FINDING_RULE_H
#define UM_FINDING_RULE_H

#include "finding.h"
#include "sim/policy/policy.h"

struct um_facts;

/* A threshold of a rule, and where it comes from. */
struct um_finding_param {
	const char *name; /* NULL ends the table */
	enum um_finding_unit unit;
	int64_t value;
	const char *help; /* with its source */
};

/* Of which launches it must be known what they touched, or a rule would say what is not so. */
enum um_accesses_needed {
	UM_NEEDS_ALL_ACCESSES, /* what no launch touches, does no more than once, only reads */
	UM_NEEDS_SOME_ACCESSES,
	UM_NEEDS_NO_ACCESSES,
};

struct um_finding_rule {
	const char *name;		       /* "ping-pong" */
	const char *help;		       /* one line: what it finds */
	const struct um_finding_param *params; /* NULL: none */
	enum um_accesses_needed needs;	       /* else it is not looked for, which is said */
	/* UM_ENOMEM and other UM_E*: everything ends. Nothing found is 0. */
	int (*find)(const struct um_finding_rule *, const struct um_facts *, struct um_findings *);
};

/* --- what a rule may look at (facts.c) --- */

#define UM_FACT_PAGE_BYTES 4096u
#define UM_FACT_LINE_BYTES 64u

/* Who touches. */
enum um_toucher { UM_TOUCHED_BY_NOBODY, UM_TOUCHED_BY_HOST, UM_TOUCHED_BY_DEVICE };

/* A page over the whole run. Lines of the host's are not known: it is seen by pages. */
struct um_fact_page {
	uint64_t lines_read, lines_written; /* by devices */
	uint16_t turns; /* host and device after each other, each change counts; saturates */
	uint16_t moved_in, moved_out; /* times, in the baseline; saturate */
	uint16_t devices, writers;    /* a bit each, of those that touched it, that wrote it */
	uint16_t device_turns; /* from one device to another, whoever came in between; saturates */
	uint8_t last;	       /* enum um_toucher */
	uint8_t last_device;
	bool host_read : 1, host_wrote : 1, device_read : 1, device_wrote : 1;
	bool device_lines_unknown : 1;
};

/* Pages that were all touched alike so far need no array. */
struct um_fact_block {
	struct um_fact_page all;
	struct um_fact_page *pages; /* NULL: each is as `all` */
};
#define UM_FACT_BLOCK_PAGES 512u

/* What one op touched of one allocation. Lines, requests, atomics are of devices; UM_NULL: not known. */
struct um_fact_use {
	uint32_t op;	     /* index into ops */
	uint32_t allocation; /* index into allocations */
	int64_t first_page, end_page;
	int64_t pages, pages_read, pages_written;
	int64_t pages_written_first;		  /* not read before they were written */
	int64_t lines, lines_read, lines_written; /* distinct ones */
	int64_t requests, atomics;
	int64_t hardware_atomics_pages; /* with floating-point atomics that an instruction does */
	/* In the baseline, on account of this op and allocation: bytes. */
	uint64_t faulted_in; /* to a device, for faults */
	uint64_t faulted_out, remote;
	uint64_t device_faults, host_faults;
};

/* Over the link, of pages that moved, lines in place, and faults. */
struct um_fact_traffic {
	uint64_t moved_in[UM_CAUSES], moved_out[UM_CAUSES]; /* bytes, by cause */
	uint64_t moved_to_device, moved_to_host;
	uint64_t moved_between_devices, remote_between_devices;
	uint64_t remote_to_device, remote_to_host, remote_requests;
	uint64_t copied_to_device, copied_to_host;
	uint64_t device_faults, host_faults;
};

struct um_fact_op {
	int64_t op;
	int kind; /* enum um_op_kind */
	int64_t flags, thread, stream, result, site;
	int64_t allocation, offset_bytes, bytes, source_allocation, source_offset_bytes, device;
	int advice; /* enum um_advice_kind; 0: none */
	int64_t event, value;
	int64_t start_ns, end_ns;	  /* as traced */
	int64_t run_start_ns, run_end_ns; /* in the baseline; UM_NULL: it does not have it */
	const char *kernel;		  /* name without arguments; NULL: no launch */
	int64_t atomics;		  /* of a launch, by lanes; UM_NULL */
	bool recorded;			  /* of a launch: its accesses are known */
	const char *range;		  /* the innermost range of the program; NULL: none */
	struct um_fact_traffic traffic;	  /* on its account, in the baseline */
	size_t first_use, use_count;	  /* into uses */
};

struct um_fact_allocation {
	int64_t id, index; /* index: n-th of the program, from 1, as policies count */
	int kind;	   /* enum um_allocation_kind */
	int64_t bytes, flags, device, op, freed_op;
	const char *name; /* NULL: none */
	struct um_finding_place at;
	const char *label; /* "#3 grid.cells" */
	int64_t page_count;
	struct um_fact_block *blocks; /* of UM_FACT_BLOCK_PAGES each: um_facts_page() */
	struct um_fact_traffic traffic;
	const size_t *uses; /* of it, in program order: indices into facts->uses */
	size_t use_count;
	/* Added up over its uses. */
	int64_t device_uses, host_uses, device_reads_pages, device_writes_pages, host_reads_pages,
		host_writes_pages;
};

struct um_facts {
	struct um_db *db;
	const struct um_machine_spec *machine; /* NULL where is_measured */
	const struct um_policy *policy;	       /* settled; NULL where is_measured */
	bool xnack_on;			       /* devices retry faults; also where they always do */
	uint64_t page_bytes;		       /* of the driver */
	uint64_t memory_bytes;		       /* of each device */
	uint64_t footprint_bytes; /* most that managed and device allocations have at once */
	bool is_measured;
	const char *accesses, *traffic; /* their origins, for evidence */
	struct um_fact_allocation *allocations;
	size_t allocation_count;
	struct um_fact_op *ops; /* in program order */
	size_t op_count;
	struct um_fact_use *uses; /* by op, then allocation */
	size_t use_count;
	const struct um_stacks *stacks;
	struct um_finding_cost baseline;
	struct um_text_pool *texts; /* the findings' */
	/*
	 * The baseline with the rules of `policy` over it, for evidence that takes several replays; NULL
	 * where nothing can be replayed. UM_EINVAL: the policy does not fit.
	 */
	int (*replay)(void *context, const char *policy, struct um_finding_cost *cost);
	void *replay_context;
};

/* All zero where nothing touched it. */
const struct um_fact_page *um_facts_page(const struct um_fact_allocation *, int64_t page);
/* NULL: there is none with this id. */
const struct um_fact_allocation *um_facts_allocation(const struct um_facts *, int64_t id);
const struct um_fact_op *um_facts_op(const struct um_facts *, int64_t op);
/* Where a call stands. */
struct um_finding_place um_facts_place(const struct um_facts *, const struct um_fact_op *);
/* Of what runs on a device, which one; of all else, 0. */
int um_op_device(const struct um_fact_op *);
enum um_toucher um_facts_toucher(const struct um_fact_op *);
/*
 * Allocations that one line made, which share its fate: those of the same place and kind, of which
 * `wanted` says yes. Calls `call` for each group once. A result other than 0 stops.
 */
struct um_fact_group {
	const struct um_fact_allocation *const *members;
	size_t count;
	int64_t bytes; /* of all */
};
int um_facts_groups(const struct um_facts *,
		    bool (*wanted)(const struct um_fact_allocation *, void *),
		    int (*call)(const struct um_fact_group *, void *), void *context);

/* --- how a rule says what it found (finding_add.c) --- */

/* A printf'ed string that lives as long as the findings; NULL: out of memory. */
const char *um_finding_text(struct um_findings *, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
/* A scalar in double quotes, as YAML has it; NULL: out of memory. */
const char *um_finding_quote(struct um_findings *, const char *text);
/* NULL: out of memory. Zeroed but for rule and kind; certain. */
struct um_finding *um_finding_add(struct um_findings *, const struct um_finding_rule *);
/* Takes back the last one that was added, of which there is nothing to say. */
void um_finding_withdraw(struct um_findings *);
/* All of these: UM_ENOMEM. */
int um_finding_about(struct um_findings *, struct um_finding *, const struct um_fact_group *);
int um_finding_evidence(struct um_findings *, struct um_finding *, const char *label,
			enum um_finding_unit, int64_t value, const char *origin);
int um_finding_evidence_text(struct um_findings *, struct um_finding *, const char *label,
			     const char *origin, const char *format, ...)
	__attribute__((format(printf, 5, 6)));
/* Once each. */
int um_finding_kernel(struct um_findings *, struct um_finding *, const char *kernel);
/* The code, at a place, and its policy (NULL: none; then `not_replayable` says why). */
int um_finding_change(struct um_findings *, struct um_finding *, const struct um_finding_place *,
		      const char *code, const char *policy, const char *not_replayable);
/*
 * "{site: \"train.hip:37\"}" or whatever else names the group's allocations and no others: what
 * stands behind `on:`, once or several times. *on is malloc'ed, the strings are not. UM_ENOMEM.
 */
int um_finding_selectors(struct um_findings *, const struct um_facts *,
			 const struct um_fact_group *, const char ***on, size_t *count);
/*
 * The list `key` ("advise"), a rule for each of these selectors, with `body`: its lines, indented by 4.
 * NULL: out of memory.
 */
const char *um_finding_rules_text(struct um_findings *, const struct um_facts *,
				  const struct um_fact_group *, const char *key, const char *body);
/* The value of a rule's parameter; the name must be one of its table. */
int64_t um_finding_param(const struct um_finding_rule *, const char *name);

#endif
