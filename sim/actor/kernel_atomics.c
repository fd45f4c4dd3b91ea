/*
 * Atomics of lanes on one address are done one after another: of 64 bits each lane's, narrower ones added
 * up for a wave's instruction first (on an H200 524288 lanes' additions of 32 bits end with 15 us, 67584
 * of 64 bits take 50). A trace does not have their width: they are taken for narrow where the kernel has
 * written less than 8 bytes for each. Nor has it their addresses, but how many requests to which page:
 * those on one page are taken for one address (a counter, a sum), and the page with most is what the
 * kernel waits for. Assumed: a histogram on one page is slower so than it is.
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

/* How many take turns, were all on one address. */
static double turns(const struct um_machine_spec *spec, const struct um_kernel_row *row)
{
	double atomics = (double)row->atomics;
	bool is_narrow = row->bytes_written != UM_NULL &&
			 (double)row->bytes_written < atomics * (double)sizeof(uint64_t);

	return is_narrow && spec->wave_lanes ? ceil(atomics / spec->wave_lanes) : atomics;
}

int um_kernel_atomics_ns(struct um_simulation_state *state, const struct um_kernel_row *row,
			 um_ns *ns)
{
	const struct um_machine_spec *spec = um_machine_spec(state->machine);
	double most_turns;
	const struct um_page_access_row *rows;
	long count;

	*ns = 0;
	if (spec->atomics_per_s <= 0 || row->atomics <= 0) /* UM_NULL too */
		return 0;
	most_turns = turns(spec, row);
	count = um_source_pages(state->source, row->op, &rows);
	if (count < 0)
		return (int)count;
	*ns = (um_ns)fmin(MOST_NS,
			  largest_part(rows, count) * most_turns * NS_PER_S / spec->atomics_per_s);
	return 0;
}
