/* The commands of umsim; each returns its exit status. */
#ifndef UM_SIM_COMMAND_H
#define UM_SIM_COMMAND_H

#include "trace/base/error.h"

#include <stdbool.h>

int um_cmd_replay(int argc, char **argv);
int um_cmd_check(int argc, char **argv);
int um_cmd_policy(int argc, char **argv);
int um_cmd_machine(int argc, char **argv);

struct argp_state;
/* Of --format=text|json; another word ends the program as argp_error() does. */
bool um_command_wants_json(struct argp_state *, const char *format);

#endif
