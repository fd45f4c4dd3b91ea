/*
 * Random launches against a model that follows the definitions literally: a list of the last
 * emissions for the filter, a set of lines for each row, wave and instruction for the requests.
 */
#include "launch_fixture.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <hip/hip_runtime_api.h>
#include <stdlib.h>
#include <string.h>

#define GROUPS	3u
#define LANES	200u
#define DEPTH	40u /* fits into one window, so that rows are the lanes' own count */
#define PAGES	70u
#define KINDS	5u
#define LINES	(PAGES * UM_PAGE_LINES)
#define VARIETY 4u /* instructions */
#define ROUNDS	30u

struct access {
	uint32_t line;
	uint32_t kind;
	uint32_t instruction;
};

static char *data;
static struct access script[GROUPS][LANES][DEPTH];
static uint32_t depth[GROUPS][LANES];

struct model {
	uint64_t read[PAGES], written[PAGES];
	uint32_t requests[PAGES], atomics[PAGES];
	bool touched[PAGES], written_first[PAGES], float_atomics[PAGES], hardware_atomics[PAGES];
	struct touch recent[UM_STREAM_FILTER_PAGES];
	size_t recent_count;
	struct touch *touches;
	size_t touch_count;
	uint64_t count[KINDS];
};

static uint64_t random_state;

static uint32_t below(uint32_t limit)
{
	random_state = random_state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((random_state >> 33) % limit);
}

/* How lanes pick lines: all the same, neighbours, strides of a page, anything. */
static uint32_t pick_line(uint32_t pattern, uint32_t base, uint32_t lane)
{
	switch (pattern) {
	case 0:
		return base;
	case 1:
		return (base + lane / 16) % LINES;
	case 2:
		return (base + lane * UM_PAGE_LINES) % LINES;
	default:
		return below(LINES);
	}
}

/* An instruction has one kind, as in code. */
static uint32_t kind_of(uint32_t instruction)
{
	return instruction % KINDS;
}

static void write_script(uint64_t seed)
{
	random_state = seed;
	for (uint32_t group = 0; group < GROUPS; group++) {
		bool even = below(2);

		for (uint32_t lane = 0; lane < LANES; lane++)
			depth[group][lane] = even ? DEPTH : below(DEPTH + 1);
		for (uint32_t row = 0; row < DEPTH; row++) {
			uint32_t pattern = below(4), base = below(LINES);
			uint32_t instruction = below(VARIETY);
			bool divergent = !below(3);

			for (uint32_t lane = 0; lane < LANES; lane++) {
				uint32_t own = divergent ? below(VARIETY) : instruction;

				script[group][lane][row] = (struct access){
					pick_line(pattern, base, lane), kind_of(own), own};
			}
		}
	}
}

static void script_kernel(void **args)
{
	const struct um_lane *self = um_self();
	uint32_t group = self->group[0], lane = self->thread[0];

	(void)args;
	for (uint32_t i = 0; i < depth[group][lane]; i++) {
		const struct access *access = &script[group][lane][i];

		um_access(data + (uint64_t)access->line * UM_LINE_BYTES + lane % 16 * 4,
			  UM_ACCESS(4, access->kind, access->instruction));
	}
}

/* --- the model --- */

static void model_emit(struct model *model, struct touch touch)
{
	for (size_t i = 0; i < model->recent_count; i++)
		if (model->recent[i].page == touch.page && model->recent[i].write == touch.write)
			return;
	if (model->recent_count == UM_STREAM_FILTER_PAGES)
		memmove(model->recent, model->recent + 1,
			--model->recent_count * sizeof(*model->recent));
	model->recent[model->recent_count++] = touch;
	model->touches[model->touch_count++] = touch;
}

static void model_touch(struct model *model, uint32_t group, const struct access *access)
{
	uint32_t page = access->line / UM_PAGE_LINES;
	uint64_t bit = UINT64_C(1) << access->line % UM_PAGE_LINES;

	if (!model->touched[page])
		model->written_first[page] = access->kind == UM_ACCESS_WRITE;
	model->touched[page] = true;
	if (access->kind != UM_ACCESS_WRITE)
		model->read[page] |= bit;
	if (access->kind != UM_ACCESS_READ)
		model->written[page] |= bit;
	model_emit(model, (struct touch){.group = group,
					 .page = page,
					 .write = access->kind != UM_ACCESS_READ});
}

static void model_request(struct model *model, const struct access *access, bool *seen)
{
	uint32_t page = access->line / UM_PAGE_LINES;

	if (seen[access->line])
		return;
	seen[access->line] = true;
	model->requests[page]++;
	model->float_atomics[page] |= access->kind >= UM_ACCESS_ATOMIC_FLOAT;
	model->hardware_atomics[page] |= access->kind == UM_ACCESS_ATOMIC_HARDWARE;
	model->atomics[page] += access->kind >= UM_ACCESS_ATOMIC;
}

/* The lanes of a wave that execute the instruction in this row. */
static void model_instruction(struct model *model, uint32_t group, uint32_t row, uint32_t wave,
			      uint32_t instruction)
{
	bool seen[LINES] = {false};

	for (uint32_t lane = wave * 64; lane < LANES && lane < wave * 64 + 64; lane++) {
		const struct access *access = &script[group][lane][row];

		if (row >= depth[group][lane] || access->instruction != instruction)
			continue;
		model->count[access->kind]++;
		model_touch(model, group, access);
		model_request(model, access, seen);
	}
}

static void model_row(struct model *model, uint32_t group, uint32_t row, uint32_t wave)
{
	bool done[VARIETY] = {false};

	for (uint32_t lane = wave * 64; lane < LANES && lane < wave * 64 + 64; lane++) {
		uint32_t instruction = script[group][lane][row].instruction;

		if (row >= depth[group][lane] || done[instruction])
			continue;
		done[instruction] = true;
		model_instruction(model, group, row, wave, instruction);
	}
}

static void model_run(struct model *model)
{
	memset(model, 0, sizeof(*model));
	model->touches = calloc(GROUPS * LANES * DEPTH, sizeof(*model->touches));
	assert_non_null(model->touches);
	for (uint32_t group = 0; group < GROUPS; group++) {
		model->recent_count = 0;
		for (uint32_t row = 0; row < DEPTH; row++)
			for (uint32_t wave = 0; wave * 64 < LANES; wave++)
				model_row(model, group, row, wave);
	}
}

/* --- compared --- */

static void compare_page(const struct model *model, uint32_t page)
{
	const struct um_page_run *run = fixture_page(data + (uint64_t)page * UM_PAGE_BYTES);

	if (!model->touched[page]) {
		assert_null(run);
		return;
	}
	assert_non_null(run);
	assert_true(run->lines_read == model->read[page]);
	assert_true(run->lines_written == model->written[page]);
	assert_int_equal(run->requests, model->requests[page]);
	assert_int_equal(run->atomics, model->atomics[page]);
	assert_int_equal(!!(run->touch & UM_TOUCH_WRITTEN_FIRST), model->written_first[page]);
	assert_int_equal(!!(run->touch & UM_TOUCH_ATOMIC_FLOAT), model->float_atomics[page]);
	assert_int_equal(!!(run->touch & UM_TOUCH_ATOMIC_HARDWARE), model->hardware_atomics[page]);
	assert_int_equal(!!(run->touch & UM_TOUCH_READ), model->read[page] != 0);
	assert_int_equal(!!(run->touch & UM_TOUCH_WRITTEN), model->written[page] != 0);
}

static void compare(const struct model *model)
{
	for (uint32_t page = 0; page < PAGES; page++)
		compare_page(model, page);
	assert_int_equal(sent.touch_count, model->touch_count);
	for (size_t i = 0; i < sent.touch_count; i++) {
		assert_int_equal(sent.touches[i].group, model->touches[i].group);
		assert_int_equal(sent.touches[i].page, model->touches[i].page);
		assert_int_equal(sent.touches[i].write, model->touches[i].write);
	}
	assert_int_equal(totals.reads, model->count[UM_ACCESS_READ]);
	assert_int_equal(totals.writes, model->count[UM_ACCESS_WRITE]);
	uint64_t atomics = model->count[UM_ACCESS_ATOMIC] + model->count[UM_ACCESS_ATOMIC_FLOAT] +
			   model->count[UM_ACCESS_ATOMIC_HARDWARE];

	assert_int_equal(totals.atomics, atomics);
	assert_int_equal(totals.bytes_read, 4 * (model->count[UM_ACCESS_READ] + atomics));
}

static void test_random_launches(void **state)
{
	static struct model model;
	struct um_launch launch = fixture_launch(script_kernel, NULL, GROUPS, LANES);

	(void)state;
	data = fixture_alloc(PAGES * UM_PAGE_BYTES);
	for (uint64_t seed = 1; seed <= ROUNDS; seed++) {
		write_script(seed);
		model_run(&model);
		assert_int_equal(fixture_run(&launch), hipSuccess);
		compare(&model);
		free(model.touches);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_launches),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
