/* umtrace doctor: what will happen here, and why. */
#ifndef UM_DOCTOR_COMMAND_H
#define UM_DOCTOR_COMMAND_H

/* argv[0] is the whole command, "umtrace doctor". Returns the exit status (enum um_exit). */
int um_doctor_command(int argc, char **argv);

#endif
