/* umtrace's command line. */
#ifndef UM_TRACE_OPTIONS_H
#define UM_TRACE_OPTIONS_H

#include "sim/policy/policy.h"
#include "trace/spool/spool_ring.h"

#include <stdbool.h>
#include <stdint.h>

/* As env(1) has them; else umtrace's status is the program's. */
enum um_trace_exit {
	UM_TRACE_FAILED = 125,
	UM_TRACE_NOT_EXECUTABLE = 126,
	UM_TRACE_NOT_FOUND = 127,
	UM_TRACE_SIGNALLED = 128, /* and the signal's number */
};

struct um_trace_options {
	const char *output; /* a pattern of output_name.h; NULL: the default */
	const char *machine, *driver;
	const char *policy, *baseline;	   /* -P, --baseline; NULL: none, the default */
	uint64_t page_bytes, memory_bytes; /* 0: the driver's, the machine's */
	uint32_t host_watch;		   /* enum um_host_watch or UM_HOST_WATCH_BEST */
	uint32_t faults;		   /* enum um_tap_faults */
	bool faults_given;
	enum um_xnack xnack; /* UNKNOWN: as the environment and the machine have it */
	bool force, quiet, no_requests, host_sync, pageable, no_model, wall;
	char selection[UM_SELECTION_BYTES]; /* see selection.h */
	bool starts_off;		    /* --profile-from-start=off */
	const char *import;		    /* a file of another tool, in place of a program */
	bool about_program;		    /* any of the options that say how one is run */
	char **program;			    /* its words, up to NULL; into argv */
};

/* Prints and exits on wrong usage, --help and --version. The texts are argv's. */
int um_trace_options_parse(struct um_trace_options *, int argc, char **argv);

/* "wp-async", ...: as the option and run.host_watch have it; NULL for what is none. */
const char *um_host_watch_name(uint32_t host_watch);

#endif
