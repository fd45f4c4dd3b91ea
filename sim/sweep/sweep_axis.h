/*
 * What a sweep varies: KEY=VALUE,VALUE,... or KEY=FIRST..LAST/STEPS. The key is one that a policy
 * file has with a single value, or driver.PARAMETER; each value is held against the policy reader, so
 * that what it says of a file's value it says here.
 */
#ifndef UM_SWEEP_AXIS_H
#define UM_SWEEP_AXIS_H

#include <stddef.h>

#define UM_SWEEP_VALUES_MAX 100000
#define UM_SWEEP_AXES_MAX   16

struct um_sweep_axis {
	char *key;
	struct um_sweep_value {
		char *text;   /* as a policy file would have it */
		char *source; /* "--vary memory=4GiB", for messages */
	} * values;
	size_t count, capacity;
};

/*
 * FIRST..LAST/STEPS: that many values at equal distances, both ends among them; bytes are rounded down
 * to whole pages of 4 KiB, and what is counted to whole numbers. UM_EINVAL with the option's text: no
 * key, no value, a value that no policy can have, a key that it does not, the same value twice, ends of
 * different units, fewer than two steps. UM_ENOMEM. A result other than 0 leaves nothing to free.
 */
int um_sweep_axis_parse(struct um_sweep_axis *out, const char *text);
void um_sweep_axis_fini(struct um_sweep_axis *);

#endif
