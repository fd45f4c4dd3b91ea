#include "device_export.h"
#include "lane_group.h"

/*
 * The lowest address first: code lies in the order of its paths, so that lanes that skipped a
 * branch or left a loop early wait behind it for the others.
 */
static const void *first_site(const struct um_lane_state *lanes, uint64_t waiting)
{
	const char *first = lanes[__builtin_ctzll(waiting)].site;

	for (uint64_t rest = waiting; rest; rest &= rest - 1) {
		const char *site = lanes[__builtin_ctzll(rest)].site;

		first = site < first ? site : first;
	}
	return first;
}

static uint64_t at_site(const struct um_lane_state *lanes, uint64_t waiting, const void *site)
{
	uint64_t here = 0;

	for (uint64_t rest = waiting; rest; rest &= rest - 1) {
		unsigned lane = (unsigned)__builtin_ctzll(rest);

		here |= (uint64_t)(lanes[lane].site == site) << lane;
	}
	return here;
}

static uint64_t count_ballot(const struct um_lane_state *lanes, uint64_t here)
{
	uint64_t votes = 0;

	for (uint64_t rest = here; rest; rest &= rest - 1) {
		unsigned lane = (unsigned)__builtin_ctzll(rest);

		votes |= lanes[lane].value << lane;
	}
	return votes;
}

bool um_wave_resolve(struct um_group *group, uint32_t wave)
{
	struct um_lane_state *lanes = &group->lane[wave * UM_WAVE_LANES];
	uint64_t *results = &group->result[wave * UM_WAVE_LANES];
	uint64_t waiting = group->at_wave[wave];
	uint64_t here, votes;

	if (!waiting)
		return false;
	here = at_site(lanes, waiting, first_site(lanes, waiting));
	votes = count_ballot(lanes, here);
	for (uint64_t rest = here; rest; rest &= rest - 1) {
		unsigned lane = (unsigned)__builtin_ctzll(rest);
		unsigned source = lanes[lane].source;

		if (source == UM_WAVE_BALLOT)
			results[lane] = votes;
		else
			results[lane] = lanes[here >> source & 1 ? source : lane].value;
	}
	group->at_wave[wave] &= ~here;
	group->ready[wave] |= here;
	return true;
}

static uint64_t meet(const void *site, uint64_t value, uint32_t source)
{
	struct um_lane_state *lane = um_running_lane();

	lane->site = site;
	lane->value = value;
	lane->source = source;
	return um_group_wait(um_running.group->at_wave);
}

unsigned long um_wave_ballot(int predicate)
{
	return meet(__builtin_return_address(0), predicate != 0, UM_WAVE_BALLOT);
}

unsigned long um_wave_active(void)
{
	return meet(__builtin_return_address(0), 1, UM_WAVE_BALLOT);
}

void um_wave_sync(void)
{
	meet(__builtin_return_address(0), 1, UM_WAVE_BALLOT);
}

unsigned um_wave_read(unsigned value, unsigned source)
{
	return (unsigned)meet(__builtin_return_address(0), value, source % UM_WAVE_LANES);
}
