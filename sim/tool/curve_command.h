/* Between cmd_curve.c and what it prints (curve_*.c). */
#ifndef UM_CURVE_COMMAND_H
#define UM_CURVE_COMMAND_H

#include "replay.h"
#include "sim/curve/curve.h"

enum um_curve_format { UM_CURVE_TEXT, UM_CURVE_JSON, UM_CURVE_CSV };

struct um_curve_command {
	struct um_replay_arguments replay; /* what to simulate: one policy at one page size */
	const char *from, *to;		   /* as given; NULL */
	uint64_t points, jobs;
	enum um_curve_format format;
};

/* What there is to show. */
struct um_curve_result {
	struct um_replay_run run; /* its one replay is what was simulated, but for the memory */
	struct um_curve curve;
	uint64_t footprint_bytes;
	struct um_curve_knee *knees;
	size_t knee_count;
};

/*
 * Where the points are: whole pages of the driver, ascending, none twice; owned by the caller.
 * UM_EINVAL: not a range; UM_ENOMEM.
 */
int um_curve_place_points(struct um_curve_result *, const struct um_curve_command *);

/* How the points were found, one line. */
void um_curve_method_text(char *out, size_t capacity, const struct um_curve *);
/* The point with the most memory that did not fail: what others are multiples of; NULL: all failed. */
const struct um_curve_point *um_curve_most_memory(const struct um_curve *);

int um_curve_print_text(FILE *, const struct um_curve_result *);
int um_curve_print_json(FILE *, const struct um_curve_result *);
int um_curve_print_csv(FILE *, const struct um_curve_result *);

#endif
