/* machine.tsv: which card was measured. A part of calibrate.h. */
#ifndef UM_CALIBRATE_CARD_H
#define UM_CALIBRATE_CARD_H

#include "calibrate.h"

/* UM_ENOENT, UM_EIO; UM_EFORMAT: a line that is needed is missing, or not what it has to be. */
int um_calibrated_card_read(struct um_calibrated_card *, const char *path);

#endif
