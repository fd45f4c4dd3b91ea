#include "replay_options.h"

#include <string.h>

error_t um_replay_option(struct um_findings_choice *choice, int key, char *argument,
			 struct argp_state *state)
{
	switch (key) {
	case UM_OPTION_MACHINE:
		choice->machine = argument;
		return 0;
	case UM_OPTION_DRIVER:
		choice->driver = argument;
		return 0;
	case UM_OPTION_XNACK:
		choice->xnack = argument;
		if (strcmp(argument, "on") != 0 && strcmp(argument, "off") != 0)
			argp_error(state, "--xnack: \"%s\" is neither on nor off", argument);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}
