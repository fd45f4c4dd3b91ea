#include "trace_fixture.h"

#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void check(int error)
{
	if (error)
		fail_msg("%s", um_error_message());
}

void fx_open(struct trace_fixture *fx)
{
	static unsigned number;

	memset(fx, 0, sizeof(*fx));
	snprintf(fx->path, sizeof(fx->path), "/tmp/um-sim-%ld-%u.um.db", (long)getpid(), number++);
	check(um_db_create(&fx->db, fx->path, true)); /* one of a test that was killed goes */
	check(um_db_exec(fx->db, "PRAGMA synchronous = OFF")); /* nobody reads it after a crash */
	fx->payload = malloc(UM_STREAM_PAYLOAD_MAX);
	assert_non_null(fx->payload);
	fx->machine = (struct um_machine_spec){
		.name = "round",
		.device_name = "Round",
		.devices = 1,
		.memory_bytes = 1 << 30,
		.compute_units = 4,
		.waves_per_unit = 8,
		.wave_lanes = 64,
		.memory_bytes_per_s = 1e18,
		.link = {.name = "round link",
			 .to_device_bytes_per_s = PAGE * 1e9 / PAGE_NS,
			 .to_host_bytes_per_s = PAGE * 1e9 / PAGE_NS,
			 .to_device_latency_ns = LATENCY_NS,
			 .to_host_latency_ns = LATENCY_NS,
			 .remote_request_bytes = 64},
	};
	fx->policy = (struct um_policy){.path = (char *)"-",
					.driver = um_driver_find("demand"),
					.keep_program_advice = true,
					.keep_program_prefetch = true};
	fx->fault_latency.param = fx->policy.driver->params;
	fx->policy.params = &fx->fault_latency;
}

void fx_close(struct trace_fixture *fx)
{
	um_policy_destroy(fx->chosen);
	check(um_db_close(fx->db));
	free(fx->payload);
	unlink(fx->path);
}

void fx_policy(struct trace_fixture *fx, const char *text)
{
	um_policy_destroy(fx->chosen);
	fx->chosen = NULL;
	check(um_policy_parse(&fx->chosen, "policy of a test", text, strlen(text)));
}

int64_t fx_op(struct trace_fixture *fx, const struct um_op_row *op)
{
	struct um_op_row row = *op;

	row.op = ++fx->ops;
	row.thread = 1;
	row.start_ns = row.op * 10;
	row.end_ns = row.start_ns + 5;
	row.site = UM_NULL;
	if (!row.allocation)
		row.allocation = UM_NULL;
	if (!row.source_allocation)
		row.source_allocation = UM_NULL;
	check(um_db_insert(fx->db, &um_table_op, &row));
	return row.op;
}

int64_t fx_alloc(struct trace_fixture *fx, const char *kind, int64_t bytes)
{
	return fx_alloc_flags(fx, kind, bytes, 0);
}

int64_t fx_alloc_flags(struct trace_fixture *fx, const char *kind, int64_t bytes, int64_t flags)
{
	struct um_allocation_row row = {.allocation = ++fx->allocations,
					.kind = kind,
					.bytes = bytes,
					.flags = flags,
					.device = fx->device,
					.address = UM_NULL,
					.freed_op = UM_NULL,
					.site = UM_NULL};

	row.op = fx_op(fx, &(struct um_op_row){.kind = "alloc",
					       .allocation = row.allocation,
					       .bytes = bytes,
					       .device = fx->device});
	check(um_db_insert(fx->db, &um_table_allocation, &row));
	return row.allocation;
}

int64_t fx_free(struct trace_fixture *fx, int64_t allocation)
{
	int64_t op = fx_op(fx, &(struct um_op_row){.kind = "free", .allocation = allocation});
	char sql[128];

	snprintf(sql, sizeof(sql), "UPDATE allocation SET freed_op = %lld WHERE allocation = %lld",
		 (long long)op, (long long)allocation);
	check(um_db_exec(fx->db, sql));
	return op;
}

static void put_pages(struct trace_fixture *fx, int64_t op, int64_t allocation, int64_t first,
		      int64_t pages, int64_t touch, uint64_t lines_read, uint64_t lines_written)
{
	struct um_page_access_row row = {.op = op,
					 .allocation = allocation,
					 .first_page = first,
					 .pages = pages,
					 .touch = touch,
					 .lines_read = (int64_t)lines_read,
					 .lines_written = (int64_t)lines_written,
					 .requests = UM_NULL,
					 .atomics = UM_NULL};

	check(um_db_insert(fx->db, &um_table_page_access, &row));
}

int64_t fx_host(struct trace_fixture *fx, int64_t allocation, int64_t first, int64_t pages,
		int64_t touch)
{
	int64_t op = fx_op(fx, &(struct um_op_row){.kind = "host"});

	put_pages(fx, op, allocation, first, pages, touch | UM_TOUCH_LINES_UNKNOWN, 0, 0);
	return op;
}

int64_t fx_sync(struct trace_fixture *fx)
{
	return fx_op(fx, &(struct um_op_row){.kind = "sync_device", .device = fx->device});
}

static int64_t bytes_of(struct trace_fixture *fx, int64_t allocation)
{
	int64_t bytes;

	check(um_db_integer(fx->db, "SELECT bytes FROM allocation WHERE allocation = ?", allocation,
			    &bytes));
	return bytes;
}

int64_t fx_advise(struct trace_fixture *fx, int64_t allocation, const char *advice, int64_t device)
{
	return fx_op(fx, &(struct um_op_row){.kind = "advise",
					     .allocation = allocation,
					     .bytes = bytes_of(fx, allocation),
					     .advice = advice,
					     .device = device});
}

int64_t fx_advise_pages(struct trace_fixture *fx, int64_t allocation, int64_t first, int64_t pages,
			const char *advice, int64_t device)
{
	return fx_op(fx, &(struct um_op_row){.kind = "advise",
					     .allocation = allocation,
					     .offset_bytes = first * PAGE,
					     .bytes = pages * PAGE,
					     .advice = advice,
					     .device = device});
}

int64_t fx_prefetch_pages(struct trace_fixture *fx, int64_t allocation, int64_t first,
			  int64_t pages, int64_t device)
{
	return fx_op(fx, &(struct um_op_row){.kind = "prefetch",
					     .flags = UM_OP_ASYNC,
					     .allocation = allocation,
					     .offset_bytes = first * PAGE,
					     .bytes = pages * PAGE,
					     .device = device});
}

int64_t fx_prefetch(struct trace_fixture *fx, int64_t allocation, int64_t bytes, int64_t device,
		    int64_t stream)
{
	return fx_op(fx, &(struct um_op_row){.kind = "prefetch",
					     .flags = UM_OP_ASYNC,
					     .stream = stream,
					     .allocation = allocation,
					     .bytes = bytes,
					     .device = device});
}

int64_t fx_copy(struct trace_fixture *fx, int64_t target, int64_t source, int64_t bytes,
		int64_t stream, bool async)
{
	return fx_op(fx, &(struct um_op_row){.kind = "copy",
					     .flags = async ? UM_OP_ASYNC : 0,
					     .stream = stream,
					     .allocation = target,
					     .source_allocation = source,
					     .bytes = bytes,
					     .device = fx->device});
}

int64_t fx_launch(struct trace_fixture *fx, const char *name, int64_t groups, int64_t stream)
{
	struct um_kernel_row row = {.name = name,
				    .recorded = 1,
				    .grid_x = groups,
				    .grid_y = 1,
				    .grid_z = 1,
				    .block_x = 64,
				    .block_y = 1,
				    .block_z = 1};

	row.op = fx_op(fx, &(struct um_op_row){.kind = "launch",
					       .flags = UM_OP_ASYNC,
					       .stream = stream,
					       .device = fx->device});
	check(um_db_insert(fx->db, &um_table_kernel, &row));
	fx->launch = row.op;
	fx->chunks = 0;
	um_stream_encoder_init(&fx->encoder, fx->payload);
	return row.op;
}

void fx_next_chunk(struct trace_fixture *fx)
{
	struct um_access_chunk_row row = {.op = fx->launch, .chunk = fx->chunks};

	um_stream_finish(&fx->encoder);
	if (!fx->encoder.touches)
		return;
	row.first_group = (int64_t)fx->encoder.first_group;
	row.last_group = (int64_t)fx->encoder.last_group;
	row.touches = (int64_t)fx->encoder.touches;
	check(um_db_chunk_pack(&row, fx->payload, fx->encoder.used));
	check(um_db_insert(fx->db, &um_table_access_chunk, &row));
	free((void *)row.data.data);
	fx->chunks++;
	um_stream_encoder_init(&fx->encoder, fx->payload);
}

void fx_touch(struct trace_fixture *fx, uint64_t group, int64_t allocation, int64_t page,
	      bool write)
{
	if (um_stream_put(&fx->encoder, group, (uint32_t)allocation, (uint32_t)page, write))
		return;
	fx_next_chunk(fx);
	assert_true(
		um_stream_put(&fx->encoder, group, (uint32_t)allocation, (uint32_t)page, write));
}

void fx_touch_range(struct trace_fixture *fx, uint64_t group, int64_t allocation, int64_t first,
		    int64_t pages, bool write)
{
	for (int64_t page = first; page < first + pages; page++)
		fx_touch(fx, group, allocation, page, write);
}

void fx_lines(struct trace_fixture *fx, int64_t allocation, int64_t first, int64_t pages,
	      int64_t touch, uint64_t lines_read, uint64_t lines_written)
{
	put_pages(fx, fx->launch, allocation, first, pages, touch, lines_read, lines_written);
}

void fx_launch_end(struct trace_fixture *fx)
{
	fx_next_chunk(fx);
}

static void note_ignored(void *context, const char *what, const char *why)
{
	struct trace_fixture *fx = context;

	(void)why;
	snprintf(fx->ignored, sizeof(fx->ignored), "%s", what);
}

int fx_simulate(struct trace_fixture *fx)
{
	struct um_observer totals = um_probe_totals(&fx->totals);
	struct um_simulation simulation = {.trace = fx->db,
					   .policy = fx->chosen ? fx->chosen : &fx->policy,
					   .machine = &fx->machine,
					   .host_time = fx->host_time,
					   .traced = fx->traced,
					   .kernel_times = fx->kernel_times,
					   .estimate_scale = fx->estimate_scale,
					   .ignored = note_ignored,
					   .ignored_context = fx};
	int error, finished;

	memset(&fx->totals, 0, sizeof(fx->totals));
	check(um_probe_create(&simulation.probe));
	check(um_probe_add(simulation.probe, &totals));
	check(um_probe_add(simulation.probe, &fx->extra));
	error = um_simulate(&simulation);
	finished = um_probe_finish(simulation.probe);
	um_probe_destroy(simulation.probe);
	return error ? error : finished;
}

void fx_run(struct trace_fixture *fx)
{
	check(fx_simulate(fx));
}
