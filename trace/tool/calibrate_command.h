/* umtrace calibrate: a machine file of one's own NVIDIA card. */
#ifndef UM_CALIBRATE_COMMAND_H
#define UM_CALIBRATE_COMMAND_H

/* argv[0] is the whole command, "umtrace calibrate". Returns the exit status (enum um_exit). */
int um_calibrate_command(int argc, char **argv);

#endif
