/* Typed parameters: one table gives the policy file its keys, --help its text and the run its
 * record. */
#ifndef UM_PARAM_H
#define UM_PARAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum um_param_type {
	UM_PARAM_BOOL,
	UM_PARAM_COUNT,
	UM_PARAM_BYTES,
	UM_PARAM_DURATION,
	UM_PARAM_REAL,
	UM_PARAM_CHOICE
};

struct um_param {
	const char *name; /* NULL ends the table */
	enum um_param_type type;
	double minimum, maximum;    /* in bytes, ns or as it is; ignored for BOOL and CHOICE */
	const char *default_text;   /* as a policy file would have it */
	const char *const *choices; /* CHOICE: ends with NULL */
	const char *help;	    /* with the source of the default */
};

struct um_param_value {
	const struct um_param *param;
	uint64_t integer; /* BOOL 0 or 1; COUNT, BYTES, DURATION (ns); CHOICE: index */
	double real;
};

/* UM_EINVAL with a message that names the parameter and its range. */
int um_param_parse(struct um_param_value *out, const struct um_param *, const char *text);
int um_param_default(struct um_param_value *out, const struct um_param *);
/* The value of the parameter of that name, out of one for each of params, in order; NULL if there is
 * none such. */
const struct um_param_value *um_param_find(const struct um_param_value *values,
					   const struct um_param *params, const char *name);
/* "1 to 256", "on or off", "fault, none": what it can be. Returns `buffer` (128 bytes do). */
char *um_param_range_text(char *buffer, size_t capacity, const struct um_param *);
/* As a policy file would have it; parses back to the same value. Returns `buffer` (64 bytes do). */
char *um_param_text(char *buffer, size_t capacity, const struct um_param_value *);

#endif
