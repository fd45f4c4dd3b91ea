/* The measuring of `umtrace calibrate`. */
#ifndef UM_CALIBRATE_MEASURE_H
#define UM_CALIBRATE_MEASURE_H

#include <stdbool.h>

/*
 * Builds the measuring program (share/umtrace/calibrate, by umhipcc --nvidia), checks the card, runs the
 * program untraced, with --faults=off and --faults=all, and leaves machine.tsv, times.tsv and
 * configurations.um.db in `folder`, which is there and empty. What the steps print goes to its file
 * `log`; a failure shows the last line of it. UM_ENOTSUP: no NVIDIA GPU, none that migrates on demand,
 * or no nvcc; UM_ELIMIT: too little free memory on it; UM_ENOENT: umtrace is not complete; UM_EIO.
 */
int um_calibrate_measure(const char *folder, bool quiet);

#endif
