/*
 * What will happen here, and why: facts in, findings with their remedies out. Pure; every rule has its source beside
 * it in doctor_checks.c.
 */
#ifndef UM_DOCTOR_CHECKS_H
#define UM_DOCTOR_CHECKS_H

#include "doctor_facts.h"
#include "doctor_program.h"

enum um_doctor_state {
	UM_DOCTOR_OK,
	UM_DOCTOR_NOTE,	   /* not as most people expect, or not known */
	UM_DOCTOR_PROBLEM, /* in the way: exit status 3 */
};

struct um_doctor_check {
	const char *subject; /* "kernel", "xnack", ... */
	enum um_doctor_state state;
	char what[320];	  /* how it is, and what that means */
	char remedy[320]; /* what to do; "": nothing, or nothing can be done */
};

/* What becomes of a call of HIP's for managed memory. */
struct um_doctor_hint {
	const char *call, *becomes;
};

/* Of which origin (table origin) a kind of record of `umtrace ./app` would be. */
struct um_doctor_record {
	const char *record, *origin, *how;
};

#define UM_DOCTOR_CHECKS 80u

struct um_doctor_report {
	struct um_doctor_check checks[UM_DOCTOR_CHECKS];
	size_t check_count;
	const struct um_doctor_hint *hints;	/* ends with a NULL call */
	const char *hints_for;			/* "amdgpu, XNACK off", ... */
	const struct um_doctor_record *records; /* ends with a NULL record */
	const char *records_for;
};

/* `program` NULL: none was named. */
void um_doctor_check(struct um_doctor_report *, const struct um_doctor_facts *,
		     const struct um_doctor_program *program);
bool um_doctor_has_problem(const struct um_doctor_report *);

#endif
