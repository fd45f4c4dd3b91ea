#include "lane_spin.h"
#include "arena.h"
#include "lane_group.h"
#include "pageable.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

/* Windows in a row that show the same lines, and rounds of nothing but um_yield(). */
#define SPIN_WINDOWS 3u
#define SPIN_YIELDS  64u
/*
 * Hooks of a turn, however busy: a lane may wait by looking at more lines than a spinning one does.
 * Far more than a group of most kernels has, since turns change the order of groups.
 */
#define TURN_STEPS (UINT64_C(1) << 26)

/* The distinct lines of a lane's column; UM_SPIN_LINES + 1: more than UM_SPIN_LINES. */
static uint32_t distinct_lines(uint32_t lane, uint32_t lines[UM_SPIN_LINES])
{
	uint32_t found = 0;

	for (uint32_t at = um_window.start[lane]; at != um_window.next[lane];
	     at += UM_WINDOW_TILE) {
		uint32_t line = um_window.line[at];
		uint32_t i = 0;

		while (i < found && lines[i] != line)
			i++;
		if (i < found)
			continue;
		if (found == UM_SPIN_LINES)
			return UM_SPIN_LINES + 1;
		lines[found++] = line;
	}
	return found;
}

/* splitmix64's finalizer (Steele, Lea, Flood: "Fast splittable pseudorandom number generators"). */
static uint64_t mix(uint64_t value)
{
	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

static void watch(struct um_spin *spin, uint32_t line)
{
	for (uint32_t i = 0; i < spin->lines; i++)
		if (spin->line[i] == line)
			return;
	if (spin->lines < UM_SPIN_WATCHED)
		spin->line[spin->lines++] = line;
}

/* A hash of the lines that a lane touched, which are watched. 0: too many for a lane that spins. */
static uint64_t add_lane(struct um_spin *spin, uint32_t lane)
{
	uint32_t lines[UM_SPIN_LINES];
	uint32_t count = distinct_lines(lane, lines);
	uint64_t signature = lane + 1;

	if (count > UM_SPIN_LINES)
		return 0;
	for (uint32_t i = 0; i < count; i++) {
		signature += mix((uint64_t)lane << 32 | lines[i]);
		watch(spin, lines[i]);
	}
	return signature;
}

static uint32_t first_lane(const uint64_t *set)
{
	uint32_t wave = 0;

	while (!set[wave])
		wave++;
	return wave * UM_WAVE_LANES + (uint32_t)__builtin_ctzll(set[wave]);
}

const void *um_spin_address(uint32_t line)
{
	uint64_t offset = (uint64_t)line << UM_LINE_SHIFT;

	return offset < UM_ARENA_SPAN ? um_arena.base + offset : um_pageable_address(line);
}

/*
 * False: there is no memory now. The host may have unmapped what a lane has looked at, and only the
 * lane may crash of that: the system reads for us, or says that it does no such thing.
 */
static bool read_line(uint64_t words[UM_LINE_BYTES / sizeof(uint64_t)], uint32_t line)
{
	void *address = (void *)(uintptr_t)um_spin_address(line);
	struct iovec to = {words, UM_LINE_BYTES}, from = {address, UM_LINE_BYTES};
	uint32_t page = line / UM_PAGE_LINES;

	if (page < UM_ARENA_PAGES && !um_arena.page_owner[page])
		return false;
	if (page >= UM_ARENA_PAGES) {
		ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);

		if (got >= 0 || errno == EFAULT)
			return got == UM_LINE_BYTES;
	}
	memcpy(words, address, UM_LINE_BYTES);
	return true;
}

uint64_t um_spin_contents(const struct um_spin *spin)
{
	uint64_t hash = 0;

	for (uint32_t i = 0; i < spin->lines; i++) {
		uint64_t words[UM_LINE_BYTES / sizeof(uint64_t)];

		if (!read_line(words, spin->line[i]))
			continue;
		for (uint32_t word = 0; word < UM_LINE_BYTES / sizeof(uint64_t); word++)
			hash = mix(hash + words[word] + 1);
	}
	return hash;
}

/* A hash of what the lanes of `set` touched and what is there now. 0: one of them works. */
static uint64_t look_at(struct um_group *group, const uint64_t *set)
{
	uint64_t signature = 0;

	group->spin.lines = 0;
	group->spin.lane = first_lane(set);
	for (uint32_t wave = 0; wave < group->waves; wave++)
		for (uint64_t rest = set[wave]; rest; rest &= rest - 1) {
			uint32_t lane = wave * UM_WAVE_LANES + (uint32_t)__builtin_ctzll(rest);
			uint64_t more = add_lane(&group->spin, lane);

			if (!more)
				return 0;
			signature += more;
		}
	return mix(signature + um_spin_contents(&group->spin)) | 1;
}

static uint64_t lanes_in(const struct um_group *group, const uint64_t *set)
{
	uint64_t lanes = 0;

	for (uint32_t wave = 0; wave < group->waves; wave++)
		lanes += (uint64_t)__builtin_popcountll(set[wave]);
	return lanes;
}

/* Lanes that work move on from window to window: one that stays is the rare case. */
static bool first_lane_stays(struct um_group *group)
{
	struct um_spin *spin = &group->spin;
	uint64_t before = spin->first;

	spin->lines = 0;
	spin->first = add_lane(spin, first_lane(group->full));
	return spin->first && spin->first == before;
}

static bool full_round(struct um_group *group)
{
	struct um_spin *spin = &group->spin;
	uint64_t signature = first_lane_stays(group) ? look_at(group, group->full) : 0;

	if (signature && signature == spin->signature)
		return ++spin->repeats >= SPIN_WINDOWS;
	spin->signature = signature;
	spin->repeats = 0;
	spin->yields = 0;
	spin->worked = true;
	return spin->steps >= TURN_STEPS;
}

static bool yield_round(struct um_group *group)
{
	if (++group->spin.yields < SPIN_YIELDS)
		return false;
	look_at(group, group->yielded);
	return true;
}

void um_spin_begin(struct um_spin *spin)
{
	spin->yields = 0;
	spin->steps = 0;
	spin->worked = false;
}

bool um_spin_round(struct um_group *group)
{
	uint64_t full = lanes_in(group, group->full);

	um_window_lane(
		um_window.lane); /* puts the cursor of the lane that stopped last in its place */
	group->spin.steps += full * um_window.rows + lanes_in(group, group->yielded);
	return full ? full_round(group) : yield_round(group);
}
