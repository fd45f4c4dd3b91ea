/* --format=text|json, of every command that shows data. */
#ifndef UM_FORMAT_OPTION_H
#define UM_FORMAT_OPTION_H

#include <argp.h>
#include <stdbool.h>

/* True: JSON. Another word than the two ends the program as argp_error() does. */
bool um_wants_json(struct argp_state *, const char *format);

#endif
