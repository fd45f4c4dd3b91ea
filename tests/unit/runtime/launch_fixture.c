#include "launch_fixture.h"
#include "trace/runtime/hostwatch_method.h"
#include "trace/runtime/module.h"
#include "trace/runtime/pageable.h"
#include "trace/runtime/runtime.h"
#include "trace/runtime/tracer.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The op before that of launches. */
#define HOST_OP 1000000u

struct sent sent;
struct um_launch_totals totals;
uint32_t fixture_compute_units = 110;

/* --- in place of the device and of the spool --- */

const struct um_played_device *um_device_get(uint32_t device)
{
	static struct um_played_device played = {.memory_bytes = 1 << 20};

	assert_int_equal(device, 0);
	played.compute_units = fixture_compute_units;
	return &played;
}

/* Room for `more` elements behind `count`; doubles, for streams of many runs. */
static void *grown(void *array, size_t *capacity, size_t needed, size_t element_bytes)
{
	if (needed <= *capacity)
		return array;
	*capacity = 2 * needed;
	array = realloc(array, *capacity * element_bytes);
	assert_non_null(array);
	return array;
}

static void keep_allocation(const struct um_record_allocation *record)
{
	sent.allocations = grown(sent.allocations, &sent.allocation_capacity,
				 sent.allocation_count + 1, sizeof(*sent.allocations));
	sent.allocations[sent.allocation_count++] = (struct sent_allocation){
		.id = record->allocation,
		.kind = record->kind,
		.flags = record->flags,
		.address = record->address,
		.bytes = record->bytes,
	};
	strncpy(sent.allocations[sent.allocation_count - 1].name, record->name,
		sizeof(sent.allocations->name) - 1);
}

static void keep_host_pages(const struct um_record_pages *record)
{
	sent.host_runs = grown(sent.host_runs, &sent.host_run_capacity,
			       sent.host_run_count + record->runs, sizeof(*sent.host_runs));
	memcpy(sent.host_runs + sent.host_run_count, record->run,
	       record->runs * sizeof(*record->run));
	sent.host_run_count += record->runs;
}

static void keep_pages(const struct um_record_pages *record)
{
	if (record->op == HOST_OP) {
		keep_host_pages(record);
		return;
	}
	sent.runs = grown(sent.runs, &sent.run_capacity, sent.run_count + record->runs,
			  sizeof(*sent.runs));
	memcpy(sent.runs + sent.run_count, record->run, record->runs * sizeof(*record->run));
	sent.run_count += record->runs;
}

static void keep_run(const struct um_access_run *run)
{
	sent.touches = grown(sent.touches, &sent.touch_capacity, sent.touch_count + run->count,
			     sizeof(*sent.touches));
	for (uint32_t i = 0; i < run->count; i++)
		sent.touches[sent.touch_count++] = (struct touch){
			.group = run->group,
			.allocation = run->allocation,
			.page = run->first_page + i * (uint32_t)run->stride,
			.write = run->write,
		};
}

static void keep_stream(const struct um_record_stream *record)
{
	struct um_stream_decoder *decoder;
	struct um_access_run run;
	size_t before = sent.touch_count;
	long got;

	assert_int_equal(um_stream_decoder_create(&decoder, record->payload, record->payload_bytes),
			 0);
	while ((got = um_stream_decode(decoder, &run, 1)) == 1)
		keep_run(&run);
	assert_int_equal(got, 0);
	assert_int_equal(sent.touch_count - before, record->touches);
	um_stream_decoder_destroy(decoder);
}

void um_tracer_put(const struct um_record *record)
{
	assert_int_equal(record->bytes % 8, 0);
	assert_true(record->bytes <= 256 * 1024);
	sent.bytes = grown(sent.bytes, &sent.byte_capacity, sent.byte_count + record->bytes, 1);
	memcpy(sent.bytes + sent.byte_count, record, record->bytes);
	sent.byte_count += record->bytes;
	if (record->kind == UM_RECORD_PAGES)
		keep_pages((const struct um_record_pages *)record);
	else if (record->kind == UM_RECORD_STREAM)
		keep_stream((const struct um_record_stream *)record);
	else if (record->kind == UM_RECORD_ALLOCATION)
		keep_allocation((const struct um_record_allocation *)record);
	else
		fail_msg("record of kind %u", record->kind);
}

uint32_t um_tracer_host_op(void)
{
	return HOST_OP;
}

uint32_t um_tracer_op_begin(struct um_record_op *op)
{
	op->op = HOST_OP;
	if (op->kind == UM_OP_FREE)
		sent.freed = op->allocation;
	return op->op;
}

void um_tracer_op_end(struct um_record_op *op, int result)
{
	(void)op;
	(void)result;
}

bool um_tracer_on(void)
{
	return true;
}

void um_tracer_loss(uint32_t op, enum um_loss_kind kind, uint64_t count, const char *text)
{
	(void)op;
	(void)count;
	(void)text;
	assert_int_equal(kind, UM_LOSS_HOST_UNWATCHED);
}

bool um_module_avoid(uintptr_t address, uintptr_t *start, uintptr_t *end)
{
	(void)address;
	(void)start;
	(void)end;
	return true;
}

/* Kernels are functions of the test. */
bool um_module_runs(const void *address)
{
	extern const char __executable_start[], etext[];

	return (const char *)address >= __executable_start && (const char *)address < etext;
}

char *um_watch_address(uint64_t page)
{
	return um_arena.base + (page << UM_PAGE_SHIFT);
}

/* --- for tests --- */

struct um_launch fixture_launch(um_kernel_entry entry, void **args, uint32_t groups, uint32_t lanes)
{
	return (struct um_launch){
		.entry = entry,
		.args = args,
		.grid = {groups, 1, 1},
		.block = {lanes, 1, 1},
		.hooked = true,
		.op = 1,
		.name = "test_kernel",
	};
}

int fixture_run(const struct um_launch *launch)
{
	free(sent.runs);
	free(sent.touches);
	free(sent.bytes);
	free(sent.allocations);
	free(sent.host_runs);
	memset(&sent, 0, sizeof(sent));
	um_pageable_refresh();
	return um_exec_run(launch, &totals);
}

void *fixture_alloc(uint64_t bytes)
{
	struct um_allocation *allocation;

	assert_int_equal(um_arena_init(), 0);
	assert_int_equal(um_arena_alloc(&allocation, UM_ALLOCATION_MANAGED, bytes), 0);
	return um_arena.base + allocation->offset;
}

uint32_t fixture_allocation_of(const void *address)
{
	return um_arena_find(address)->id;
}

const struct um_page_run *fixture_page(const void *address)
{
	const struct um_allocation *allocation = um_arena_find(address);
	uint64_t offset = (uint64_t)((const char *)address - um_arena.base) - allocation->offset;
	uint32_t page = (uint32_t)(offset >> UM_PAGE_SHIFT);

	for (size_t i = 0; i < sent.run_count; i++)
		if (sent.runs[i].allocation == allocation->id &&
		    page - sent.runs[i].first_page < sent.runs[i].pages)
			return &sent.runs[i];
	return NULL;
}

int fixture_run_captured(const struct um_launch *launch, char *text, size_t capacity)
{
	FILE *file = tmpfile();
	int saved = dup(STDERR_FILENO);
	int error;
	size_t used;

	assert_non_null(file);
	dup2(fileno(file), STDERR_FILENO);
	error = fixture_run(launch);
	dup2(saved, STDERR_FILENO);
	close(saved);
	rewind(file);
	used = fread(text, 1, capacity - 1, file);
	text[used] = '\0';
	fclose(file);
	return error;
}
