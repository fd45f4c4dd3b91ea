/*
 * Atomics of lanes on one address are done one after another. Which addresses they went to a trace does
 * not have, but how many requests to which page: those on one page are taken for one address (a counter,
 * a sum), and the page with most is what the kernel waits for. Assumed: a histogram on one page is slower
 * so than it is.
 */
#include "simulation.h"

#include <math.h>

#define NS_PER_S 1e9
#define MOST_NS	 1e18 /* as for a kernel's bytes */

/* Which part of the atomics went to the page with most; 0: the rows do not tell. */
static double largest_part(const struct um_page_access_row *rows, long count)
{
	double most = 0, all = 0;

	for (long i = 0; i < count; i++) {
		double atomics = rows[i].atomics == UM_NULL ? 0 : (double)rows[i].atomics;
		double pages = rows[i].pages > 0 ? (double)rows[i].pages : 1;

		all += atomics;
		most = fmax(most, atomics / pages);
	}
	return all > 0 ? most / all : 0;
}

int um_kernel_atomics_ns(struct um_simulation_state *state, int64_t op, int64_t atomics, um_ns *ns)
{
	double per_s = um_machine_spec(state->machine)->atomics_per_s;
	const struct um_page_access_row *rows;
	long count;

	*ns = 0;
	if (per_s <= 0 || atomics <= 0)
		return 0;
	count = um_source_pages(state->source, op, &rows);
	if (count < 0)
		return (int)count;
	*ns = (um_ns)fmin(MOST_NS, largest_part(rows, count) * (double)atomics * NS_PER_S / per_s);
	return 0;
}
