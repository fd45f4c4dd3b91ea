/* umtrace verify: a program without and under a policy, and whether what was predicted came true. */
#ifndef UM_VERIFY_COMMAND_H
#define UM_VERIFY_COMMAND_H

/* argv[0] is "umtrace verify". The exit status: 0, 1 failed, 2 usage, 3 missed by more than the tolerance. */
int um_verify_command(int argc, char **argv);

#endif
