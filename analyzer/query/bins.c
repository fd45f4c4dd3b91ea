#include "bins.h"

#include "trace/base/error.h"

#include <math.h>
#include <stdlib.h>

/*
 * An amount has a part in the bins of its ends, and the same in each bin between: those are kept as the
 * changes of a sum from bin to bin. `open` counts the amounts in that sum, so that what rounding left
 * of them does not outlive them.
 */
struct bin {
	double part, change;
	int64_t open_change;
};

struct um_bins {
	size_t count;
	int64_t total;
	struct bin bins[];
};

int um_bins_create(struct um_bins **out, size_t count)
{
	struct um_bins *bins = calloc(1, sizeof(*bins) + count * sizeof(bins->bins[0]));

	if (!bins)
		return um_fail(UM_ENOMEM, "out of memory");
	bins->count = count;
	*out = bins;
	return 0;
}

void um_bins_destroy(struct um_bins *bins)
{
	free(bins);
}

size_t um_bins_count(const struct um_bins *bins)
{
	return bins->count;
}

int64_t um_bins_total(const struct um_bins *bins)
{
	return bins->total;
}

static double within(double position, size_t count)
{
	if (!(position > 0)) /* NaN too */
		return 0;
	return position < (double)count ? position : (double)count;
}

static size_t bin_of(const struct um_bins *bins, double position)
{
	size_t bin = (size_t)position;

	return bin < bins->count ? bin : bins->count - 1;
}

void um_bins_add(struct um_bins *bins, double start, double end, int64_t amount)
{
	if (amount < 1)
		return;
	start = within(start, bins->count);
	end = within(end, bins->count);
	size_t first = bin_of(bins, start), last = bin_of(bins, end);

	if (__builtin_add_overflow(bins->total, amount, &bins->total))
		bins->total = INT64_MAX;
	if (first >= last || !(end > start)) {
		bins->bins[first].part += (double)amount;
		return;
	}
	double rate = (double)amount / (end - start);
	bins->bins[first].part += rate * ((double)(first + 1) - start);
	bins->bins[last].part += rate * (end - (double)last);
	bins->bins[first + 1].change += rate;
	bins->bins[first + 1].open_change++;
	bins->bins[last].change -= rate;
	bins->bins[last].open_change--;
}

void um_bins_read(const struct um_bins *bins, int64_t *out)
{
	double sum = 0, between = 0;
	int64_t open = 0, before = 0;

	for (size_t i = 0; i < bins->count; i++) {
		const struct bin *bin = &bins->bins[i];

		open += bin->open_change;
		between = open > 0 ? between + bin->change : 0;
		sum += bin->part + (between > 0 ? between : 0);
		int64_t now = i + 1 == bins->count || sum >= (double)bins->total ? bins->total
										 : llround(sum);
		out[i] = now > before ? now - before : 0;
		before = now > before ? now : before;
	}
}
