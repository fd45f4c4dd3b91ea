#include "curve.h"

static uint64_t most_bytes(const struct um_curve_point *points, size_t count)
{
	uint64_t most = 0;

	for (size_t i = 0; i < count; i++)
		if (!points[i].error && um_curve_bytes(&points[i]) > most)
			most = um_curve_bytes(&points[i]);
	return most;
}

static bool rises(const struct um_curve_point *above, const struct um_curve_point *below,
		  uint64_t most)
{
	double before = (double)um_curve_bytes(above), after = (double)um_curve_bytes(below);

	return after >= before * UM_CURVE_KNEE && after - before >= (double)most / UM_CURVE_SMALL &&
	       after > before;
}

size_t um_curve_knees(const struct um_curve_point *points, size_t count, struct um_curve_knee *out,
		      size_t capacity)
{
	uint64_t most = most_bytes(points, count);
	size_t knees = 0, above = count;
	bool goes_on = false;

	for (size_t i = count; i-- > 0;) {
		if (points[i].error)
			continue;
		bool rising = above < count && rises(&points[above], &points[i], most);

		if (rising && !goes_on && knees++ < capacity)
			out[knees - 1] = (struct um_curve_knee){.above = above};
		if (rising && knees <= capacity)
			out[knees - 1].below = i;
		goes_on = rising;
		above = i;
	}
	return knees;
}
