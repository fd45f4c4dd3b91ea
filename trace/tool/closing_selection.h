/* What umtrace says at the end of launches that were selected (--kernels, --launches, ...). */
#ifndef UM_CLOSING_SELECTION_H
#define UM_CLOSING_SELECTION_H

#include "closing.h"

/*
 * How many launches were recorded, where not all were; and of each criterion that held for nothing
 * what there was instead. Nothing without a selection.
 */
void um_closing_selection(FILE *out, const struct um_closing *);

#endif
