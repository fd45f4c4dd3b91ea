/* --machine, --driver and --xnack, of the commands that replay what they find. */
#ifndef UM_REPLAY_OPTIONS_H
#define UM_REPLAY_OPTIONS_H

#include "analyzer/findings/finding.h"

#include <argp.h>

enum um_replay_option_key { UM_OPTION_MACHINE = 0x1000, UM_OPTION_DRIVER, UM_OPTION_XNACK };

/* Rows of a table of options. */
#define UM_REPLAY_OPTIONS                                                                          \
	{"machine",                                                                                \
	 UM_OPTION_MACHINE,                                                                        \
	 "NAME",                                                                                   \
	 0,                                                                                        \
	 "on another machine (umsim machine list), or a file; default: the trace's",               \
	 0},                                                                                       \
		{"driver",                                                                         \
		 UM_OPTION_DRIVER,                                                                 \
		 "NAME",                                                                           \
		 0,                                                                                \
		 "under another driver model; default: the machine's",                             \
		 0},                                                                               \
	{                                                                                          \
		"xnack", UM_OPTION_XNACK, "on|off", 0, "default: as the traced program had it", 0  \
	}

/* ARGP_ERR_UNKNOWN: another option's key. What is neither on nor off ends with argp_error(). */
error_t um_replay_option(struct um_findings_choice *, int key, char *argument, struct argp_state *);

#endif
