/*
 * The length of the shortest edit script (Myers, "An O(ND) Difference Algorithm and Its Variations",
 * 1986). Only the length is wanted: one row of furthest points is kept.
 */
#include "check_edits.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

/* Both lists. */
struct lists {
	const uint64_t *here, *there;
	size_t here_count, there_count;
};

/*
 * The furthest points of one more difference, on diagonals -d to d of `furthest`, whose middle is at 0;
 * true: the end of both is reached.
 */
static bool go_on(int64_t *furthest, int64_t d, const struct lists *lists, uint64_t *steps)
{
	int64_t here_count = (int64_t)lists->here_count, there_count = (int64_t)lists->there_count;

	for (int64_t k = -d; k <= d; k += 2) {
		bool is_down = k == -d || (k != d && furthest[k - 1] < furthest[k + 1]);
		int64_t x = is_down ? furthest[k + 1] : furthest[k - 1] + 1, y = x - k;

		for (; x < here_count && y < there_count && y >= 0 &&
		       lists->here[x] == lists->there[y];
		     x++, y++)
			++*steps;
		++*steps;
		furthest[k] = x;
		if (x >= here_count && y >= there_count)
			return true;
	}
	return false;
}

/* How many calls are in one of the two only; *is_least: so many at least. */
static size_t count_differences(const struct lists *lists, int64_t *room, bool *is_least)
{
	int64_t *furthest = room + UM_CHECK_EDITS_MAX + 2;
	uint64_t steps = 0;
	int64_t d;

	memset(room, 0, (2 * UM_CHECK_EDITS_MAX + 5) * sizeof(*room));
	for (d = 0; d < UM_CHECK_EDITS_MAX && steps < UM_CHECK_EDITS_STEPS_MAX; d++)
		if (go_on(furthest, d, lists, &steps))
			return (size_t)d;
	*is_least = true;
	return (size_t)d;
}

int um_check_edits(size_t *only_here, size_t *only_there, bool *is_least, const uint64_t *here,
		   size_t here_count, const uint64_t *there, size_t there_count)
{
	const struct lists lists = {here, there, here_count, there_count};
	int64_t more = (int64_t)here_count - (int64_t)there_count;
	size_t all = (size_t)(more < 0 ? -more : more);
	int64_t *room = malloc((2 * UM_CHECK_EDITS_MAX + 5) * sizeof(*room));
	size_t counted;

	if (!room)
		return um_fail(UM_ENOMEM, "no memory for the differences");
	*is_least = false;
	counted = count_differences(&lists, room, is_least);
	free(room);
	/* There are as many at least as one list is longer; both are odd or both even. */
	if (counted > all)
		all = counted - (counted - all) % 2;
	*only_here = (size_t)(((int64_t)all + more) / 2);
	*only_there = all - *only_here;
	return 0;
}
