/* The commands of umsim; each returns its exit status. */
#ifndef UM_SIM_COMMAND_H
#define UM_SIM_COMMAND_H

#include "trace/base/error.h"

int um_cmd_replay(int argc, char **argv);
int um_cmd_curve(int argc, char **argv);
int um_cmd_check(int argc, char **argv);
int um_cmd_policy(int argc, char **argv);
int um_cmd_sweep(int argc, char **argv);
int um_cmd_machine(int argc, char **argv);

#endif
