/* What a tap on hardware tells, and which op and allocation it turns out to belong to. */
#include "ingest_fixture.h"

#include <stdlib.h>
#include <string.h>

#define BASE  0x7f0000200000ull
#define KB    1024ull
#define BLOCK (2048 * KB)

static void hello(struct fixture *fixture)
{
	PUT(fixture, UM_RECORD_HELLO,
	    (struct um_record_hello){.spool_version = UM_SPOOL_VERSION,
				     .pid = 78,
				     .backend = UM_BACKEND_CUPTI,
				     .start_ns = 1000,
				     .runtime = "CUPTI 13.0.1",
				     .driver = "580.159.04"});
	for (uint32_t device = 0; device < 2; device++)
		PUT(fixture, UM_RECORD_DEVICE,
		    (struct um_record_device){.device = device,
					      .compute_units = 132,
					      .memory_bytes = 1ull << 30,
					      .wave_lanes = 32,
					      .clock_khz = 1980000,
					      .l2_bytes = 60u << 20,
					      .name = "a card",
					      .arch = "sm_90"});
}

struct call {
	uint32_t op;
	uint16_t kind;
	uint64_t start_ns, end_ns;
	uint32_t allocation, thread;
	uint64_t offset, bytes;
	int32_t device;
};

static void put_call(struct fixture *fixture, struct call call)
{
	PUT(fixture, UM_RECORD_OP,
	    (struct um_record_op){.op = call.op,
				  .kind = call.kind,
				  .thread = call.thread ? call.thread : 1,
				  .start_ns = call.start_ns,
				  .end_ns = call.end_ns,
				  .allocation = call.allocation,
				  .offset = call.offset,
				  .bytes = call.bytes,
				  .device = call.device});
}
#define CALL(fixture, ...) put_call(fixture, (struct call){__VA_ARGS__})

static void allocate(struct fixture *fixture, uint32_t id, uint32_t op, uint64_t address,
		     uint64_t bytes)
{
	const struct um_record_allocation record = {.allocation = id,
						    .kind = UM_ALLOCATION_MANAGED,
						    .address = address,
						    .bytes = bytes,
						    .op = op};

	put_text(fixture, UM_RECORD_ALLOCATION, &record,
		 offsetof(struct um_record_allocation, name), "", 1);
}

static void kernel(struct fixture *fixture, uint32_t op, const char *name)
{
	const struct um_record_kernel record = {.op = op, .grid = {1, 1, 1}, .block = {32, 1, 1}};
	char text[128] = "";

	strcpy(text, name);
	put_text(fixture, UM_RECORD_KERNEL, &record, offsetof(struct um_record_kernel, name), text,
		 strlen(name) + 2);
}

static void ran(struct fixture *fixture, uint32_t op, int32_t device, uint64_t start_ns,
		uint64_t end_ns)
{
	PUT(fixture, UM_RECORD_TIME,
	    (struct um_record_time){
		    .op = op, .device = device, .start_ns = start_ns, .end_ns = end_ns});
}

static void moved(struct fixture *fixture, int32_t source, int32_t destination, uint32_t cause,
		  uint64_t address, uint64_t bytes, uint64_t start_ns)
{
	PUT(fixture, UM_RECORD_MIGRATION,
	    (struct um_record_migration){.source = source,
					 .destination = destination,
					 .cause = cause,
					 .address = address,
					 .bytes = bytes,
					 .start_ns = start_ns,
					 .end_ns = start_ns + 5});
}

static void faulted(struct fixture *fixture, int32_t device, uint64_t address, uint64_t start_ns)
{
	PUT(fixture, UM_RECORD_FAULT,
	    (struct um_record_fault){.device = device,
				     .access = UM_FAULT_READ,
				     .address = address,
				     .faults = 3,
				     .start_ns = start_ns,
				     .end_ns = start_ns + 2});
}

static void finish(struct fixture *fixture)
{
	PUT(fixture, UM_RECORD_BYE, (struct um_record_bye){.end_ns = 90000000});
	assert_int_equal(
		um_ingest_finish(fixture->ingest, &(struct um_run_row){.ended = "exited",
								       .exit_status = 0,
								       .exit_signal = UM_NULL,
								       .end_ns = 90000000}),
		0);
}

/*
 * One managed allocation of 4 MiB (op 1), a kernel (op 2) called at 3,000 that runs on device 0 from
 * 1 ms to 2 ms, a synchronisation (op 3) that waits for it.
 */
static void ready(struct fixture *fixture)
{
	hello(fixture);
	CALL(fixture, .op = 1, .kind = UM_OP_ALLOC, .start_ns = 2000, .end_ns = 2100,
	     .allocation = 1, .bytes = 2 * BLOCK);
	allocate(fixture, 1, 1, BASE, 2 * BLOCK);
	CALL(fixture, .op = 2, .kind = UM_OP_LAUNCH, .start_ns = 3000, .end_ns = 3100);
	kernel(fixture, 2, "sum");
	CALL(fixture, .op = 3, .kind = UM_OP_SYNC_DEVICE, .start_ns = 4000);
	ran(fixture, 2, 0, 1000000, 2000000);
	CALL(fixture, .op = 3, .kind = UM_OP_SYNC_DEVICE, .start_ns = 4000, .end_ns = 2001000);
}

static void the_run_is_described(void **state)
{
	struct fixture *fixture = *state;

	um_ingest_expect_faults(fixture->ingest, UM_TAP_FAULTS_GPU);
	ready(fixture);
	finish(fixture);
	expect(fixture,
	       "SELECT count(*) FROM run WHERE backend = 'cupti' AND driver_version = '580.159.04' "
	       "AND driver IS NULL AND machine IS NULL AND xnack IS NULL AND host_watch IS NULL AND "
	       "filter_pages IS NULL AND memory_bytes = 1 << 30 AND runtime = 'CUPTI 13.0.1'",
	       1);
	expect(fixture,
	       "SELECT json_extract(clocks, '$.1.clock_khz') + "
	       "(json_extract(clocks, '$.0.memory_clock_khz') IS NULL) FROM run",
	       1980001);
	expect(fixture,
	       "SELECT count(*) FROM origin WHERE origin = 'measured' AND record IN ('op.time', "
	       "'fault', 'migration', 'mapping', 'driver_event', 'copy_traffic')",
	       6);
	expect(fixture,
	       "SELECT count(*) FROM origin WHERE origin = 'absent' AND record IN ('fault.host', "
	       "'page_access', 'page_access.host', 'access_chunk', 'remote_access')",
	       5);
	expect(fixture, "SELECT count(*) FROM origin WHERE origin IN ('modelled', 'emulated')", 0);
	expect(fixture, "SELECT count(*) FROM loss", 0);
}

static void a_kernel_has_the_times_of_its_device(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	expect(fixture, "SELECT end_ns - start_ns FROM op WHERE op = 4", 1000000);
	/* A graph has a time for each node. */
	ran(fixture, 2, 0, 1900000, 2500000);
	ran(fixture, 2, 0, 900000, 950000);
	expect(fixture, "SELECT start_ns FROM op WHERE op = 4", 900000);
	expect(fixture, "SELECT end_ns FROM op WHERE op = 4", 2500000);
	expect(fixture,
	       "SELECT count(*) FROM launch WHERE op = 4 AND name = 'sum' AND reads IS NULL", 1);
	assert_int_equal(invalid(fixture), 0);
}

static void faults_and_migrations_find_their_kernel(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	moved(fixture, -1, 0, UM_CAUSE_DRIVER_PREFETCH, BASE + 4 * KB, 60 * KB, 1500010);
	faulted(fixture, 0, BASE, 1500000);
	moved(fixture, -1, 0, UM_CAUSE_DEVICE_FAULT, BASE, 4 * KB, 1500005);
	/* Not on this device: nothing ran there. */
	faulted(fixture, 1, BASE + BLOCK, 1500000);
	/* The clocks of driver and device are not quite alike. */
	faulted(fixture, 0, BASE + BLOCK, 990000);
	faulted(fixture, 0, BASE + BLOCK, 2019000);
	faulted(fixture, 0, BASE + BLOCK, 2021000);
	finish(fixture);
	expect(fixture, "SELECT count(*) FROM fault WHERE op = 4 AND device = 0 AND allocation = 1",
	       3);
	expect(fixture, "SELECT count(*) FROM fault WHERE op IS NULL", 2);
	expect(fixture,
	       "SELECT count(*) FROM fault WHERE first_page = 0 AND pages = 1 AND faults = 3 AND "
	       "access = 'read' AND address IS NULL AND batch IS NULL AND start_ns = 1500000 AND "
	       "end_ns = 1500002",
	       1);
	/* In the order of their times, each as it came. */
	expect(fixture,
	       "SELECT count(*) FROM migration WHERE op = 4 AND rowid = 1 AND first_page = 0 AND "
	       "pages = 1 AND bytes = 4096 AND transfers = 1 AND cause = 'device_fault'",
	       1);
	expect(fixture,
	       "SELECT count(*) FROM migration WHERE op = 4 AND rowid = 2 AND first_page = 1 AND "
	       "pages = 15 AND bytes = 61440 AND cause = 'driver_prefetch' AND source = -1",
	       1);
	assert_int_equal(um_ingest_totals(fixture->ingest)->device_faults, 15);
	assert_int_equal(
		um_ingest_totals(fixture->ingest)->migrated_to_device[UM_CAUSE_DRIVER_PREFETCH],
		60 * KB);
}

static void of_kernels_at_once_the_earliest_has_it(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	CALL(fixture, .op = 4, .kind = UM_OP_LAUNCH, .start_ns = 2100000, .end_ns = 2100100);
	kernel(fixture, 4, "late");
	CALL(fixture, .op = 5, .kind = UM_OP_LAUNCH, .start_ns = 2100200, .end_ns = 2100300);
	kernel(fixture, 5, "early");
	ran(fixture, 4, 0, 3000000, 5000000);
	ran(fixture, 5, 0, 2500000, 4000000);
	faulted(fixture, 0, BASE, 2600000);
	faulted(fixture, 0, BASE, 3500000);
	faulted(fixture, 0, BASE, 4500000);
	/* A memset of the very pages goes before. */
	CALL(fixture, .op = 6, .kind = UM_OP_MEMSET, .start_ns = 2100400, .end_ns = 2100500,
	     .allocation = 1, .offset = BLOCK, .bytes = BLOCK);
	ran(fixture, 6, 0, 3400000, 3600000);
	faulted(fixture, 0, BASE + BLOCK, 3500000);
	finish(fixture);
	expect(fixture, "SELECT count(*) FROM fault WHERE op = 10", 2);
	expect(fixture, "SELECT count(*) FROM fault WHERE op = 8 AND start_ns = 4500000", 1);
	expect(fixture, "SELECT count(*) FROM fault WHERE op = 12 AND first_page = 512", 1);
}

static void a_kernel_without_times_is_the_last_called(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	CALL(fixture, .op = 4, .kind = UM_OP_LAUNCH, .start_ns = 5000000, .end_ns = 5000100);
	kernel(fixture, 4, "untimed");
	faulted(fixture, 0, BASE, 4900000);
	faulted(fixture, 0, BASE, 6000000);
	finish(fixture);
	expect(fixture, "SELECT count(*) FROM fault WHERE op = 8", 1);
	expect(fixture, "SELECT count(*) FROM fault WHERE op IS NULL", 1);
}

static void the_host_has_what_happens_between_calls(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	faulted(fixture, -1, BASE, 2500);
	moved(fixture, 0, -1, UM_CAUSE_HOST_FAULT, BASE + BLOCK, 4 * KB, 2500000);
	moved(fixture, 0, -1, UM_CAUSE_DRIVER_PREFETCH, BASE + BLOCK + 4 * KB, 60 * KB, 2500010);
	CALL(fixture, .op = 4, .kind = UM_OP_FREE, .start_ns = 3000000, .end_ns = 3000500,
	     .allocation = 1);
	faulted(fixture, -1, BASE, 3001000);
	finish(fixture);
	/* Before the launch, before the free, and after it: there the memory is no more. */
	expect(fixture, "SELECT count(*) FROM fault WHERE op = 3 AND allocation = 1", 1);
	expect(fixture, "SELECT count(*) FROM migration WHERE op = 7 AND allocation = 1", 2);
	expect(fixture,
	       "SELECT count(*) FROM fault WHERE op = 9 AND allocation IS NULL AND first_page IS "
	       "NULL AND address = 0x7f0000200000",
	       1);
	expect(fixture, "SELECT count(*) FROM op WHERE kind = 'host'", 3);
	expect(fixture,
	       "SELECT count(*) FROM op WHERE op = 3 AND start_ns = 2100 AND end_ns = 3000", 1);
	expect(fixture,
	       "SELECT count(*) FROM op WHERE op = 7 AND start_ns = 2001000 AND end_ns = 3000000",
	       1);
	expect(fixture,
	       "SELECT count(*) FROM op WHERE op = 9 AND start_ns = 3000500 AND end_ns = 90000000",
	       1);
}

static void a_prefetch_has_what_it_moved_however_late(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	CALL(fixture, .op = 4, .kind = UM_OP_PREFETCH, .start_ns = 2100000, .end_ns = 2100100,
	     .allocation = 1, .bytes = BLOCK);
	CALL(fixture, .op = 5, .kind = UM_OP_PREFETCH, .start_ns = 2100200, .end_ns = 2100300,
	     .allocation = 1, .offset = BLOCK, .bytes = BLOCK);
	CALL(fixture, .op = 6, .kind = UM_OP_PREFETCH, .start_ns = 2100400, .end_ns = 2100500,
	     .allocation = 1, .bytes = BLOCK, .device = -1);
	CALL(fixture, .op = 7, .kind = UM_OP_LAUNCH, .start_ns = 2100600, .end_ns = 2100700);
	kernel(fixture, 7, "meanwhile");
	ran(fixture, 7, 0, 2200000, 9000000);
	moved(fixture, -1, 0, UM_CAUSE_PREFETCH, BASE + BLOCK, BLOCK, 8000000);
	moved(fixture, -1, 0, UM_CAUSE_PREFETCH, BASE, BLOCK, 8100000);
	moved(fixture, 0, -1, UM_CAUSE_PREFETCH, BASE, BLOCK, 8200000);
	finish(fixture);
	expect(fixture, "SELECT op FROM migration WHERE start_ns = 8000000", 10);
	expect(fixture, "SELECT op FROM migration WHERE start_ns = 8100000", 8);
	expect(fixture, "SELECT op FROM migration WHERE start_ns = 8200000", 12);
}

static void advice_has_the_mappings_that_it_made(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	CALL(fixture, .op = 4, .kind = UM_OP_ADVISE, .start_ns = 2100000, .end_ns = 2200000,
	     .allocation = 1, .bytes = 2 * BLOCK);
	PUT(fixture, UM_RECORD_MAPPING,
	    (struct um_record_mapping){.device = 0,
				       .change = UM_CHANGE_REMOTE,
				       .cause = UINT32_MAX,
				       .address = BASE,
				       .bytes = BLOCK,
				       .at_ns = 2150000});
	/* Pages that the host touches for the first time are mapped for who accesses them, as was advised. */
	PUT(fixture, UM_RECORD_MAPPING,
	    (struct um_record_mapping){.device = 0,
				       .change = UM_CHANGE_REMOTE,
				       .cause = UM_CAUSE_ADVICE,
				       .address = BASE,
				       .bytes = BLOCK,
				       .at_ns = 2250000});
	PUT(fixture, UM_RECORD_EVENT,
	    (struct um_record_event){.device = 0,
				     .kind = UM_EVENT_THRASHING,
				     .address = BASE,
				     .bytes = 64 * KB,
				     .start_ns = 1500000});
	PUT(fixture, UM_RECORD_EVENT,
	    (struct um_record_event){.device = -1,
				     .kind = UM_EVENT_THROTTLING,
				     .address = BASE,
				     .start_ns = 2500000,
				     .end_ns = 2500700});
	finish(fixture);
	expect(fixture,
	       "SELECT count(*) FROM mapping WHERE op = 8 AND change = 'remote' AND cause IS NULL "
	       "AND pages = 512 AND first_page = 0",
	       1);
	expect(fixture,
	       "SELECT count(*) FROM driver_event WHERE kind = 'thrashing' AND op = 4 AND pages = 16 "
	       "AND end_ns IS NULL AND allocation = 1 AND address IS NULL AND count = 1",
	       1);
	expect(fixture,
	       "SELECT count(*) FROM driver_event WHERE kind = 'throttling' AND op = 9 AND device = "
	       "-1 AND pages IS NULL AND end_ns = 2500700",
	       1);
	expect(fixture, "SELECT op FROM mapping WHERE at_ns = 2250000", 9);
	assert_int_equal(um_ingest_totals(fixture->ingest)->remote_mappings, 2);
}

static void addresses_are_those_of_their_time(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	CALL(fixture, .op = 4, .kind = UM_OP_FREE, .start_ns = 3000000, .end_ns = 3000500,
	     .allocation = 1);
	CALL(fixture, .op = 5, .kind = UM_OP_ALLOC, .start_ns = 4000000, .end_ns = 4000100,
	     .allocation = 2, .bytes = 12 * KB + 5);
	allocate(fixture, 2, 5, BASE + 0x200, 12 * KB + 5);
	moved(fixture, 0, -1, UM_CAUSE_HOST_FAULT, BASE, BLOCK, 2500000);
	/* A driver serves whole blocks; the allocation begins within one, and ends within another. */
	moved(fixture, 0, -1, UM_CAUSE_HOST_FAULT, BASE, BLOCK, 5000000);
	moved(fixture, 0, -1, UM_CAUSE_HOST_FAULT, BASE - BLOCK, 2 * BLOCK, 5000100);
	moved(fixture, 0, -1, UM_CAUSE_HOST_FAULT, BASE + 64 * KB, 64 * KB, 5000200);
	finish(fixture);
	expect(fixture,
	       "SELECT count(*) FROM migration WHERE start_ns = 2500000 AND allocation = 1 AND "
	       "first_page = 0 AND pages = 512",
	       1);
	expect(fixture,
	       "SELECT count(*) FROM migration WHERE start_ns = 5000000 AND allocation = 2 AND "
	       "first_page = 0 AND pages = 4 AND bytes = 2097152 AND address IS NULL",
	       1);
	expect(fixture,
	       "SELECT count(*) FROM migration WHERE start_ns = 5000100 AND allocation = 2 AND "
	       "first_page = 0 AND pages = 4 AND address = 0x7f0000000000",
	       1);
	expect(fixture,
	       "SELECT count(*) FROM migration WHERE start_ns = 5000200 AND allocation IS NULL AND "
	       "first_page IS NULL AND pages = 16 AND address = 0x7f0000210000",
	       1);
}

static void evictions_are_of_the_device_that_they_free(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	moved(fixture, 0, -1, UM_CAUSE_EVICTION, BASE, BLOCK, 1500000);
	finish(fixture);
	expect(fixture, "SELECT op FROM migration", 4);
}

static void ranges_have_names_and_a_last_op(void **state)
{
	struct fixture *fixture = *state;
	const struct um_record_range range = {.op = 4};

	ready(fixture);
	CALL(fixture, .op = 4, .kind = UM_OP_RANGE, .start_ns = 2100000);
	put_text(fixture, UM_RECORD_RANGE, &range, offsetof(struct um_record_range, name),
		 "app: step", 10);
	expect(fixture, "SELECT last_op FROM user_range", UM_NULL);
	CALL(fixture, .op = 5, .kind = UM_OP_LAUNCH, .start_ns = 2200000, .end_ns = 2200100);
	kernel(fixture, 5, "within");
	CALL(fixture, .op = 4, .kind = UM_OP_RANGE, .start_ns = 2100000, .end_ns = 2300000);
	CALL(fixture, .op = 6, .kind = UM_OP_SYNC_DEVICE, .start_ns = 2400000, .end_ns = 2500000);
	finish(fixture);
	expect(fixture,
	       "SELECT count(*) FROM user_range WHERE op = 8 AND name = 'app: step' AND last_op = 10",
	       1);
	expect(fixture, "SELECT end_ns FROM op WHERE op = 8 AND kind = 'range'", 2300000);
}

/* --- what is selected --- */

static void ask(struct fixture *fixture, enum um_criterion criterion, const char *value)
{
	char text[UM_SELECTION_BYTES] = "";

	assert_int_equal(um_selection_add(text, criterion, value), 0);
	assert_int_equal(um_ingest_expect_selection(fixture->ingest, text), 0);
	hello(fixture);
	CALL(fixture, .op = 1, .kind = UM_OP_ALLOC, .start_ns = 1100, .end_ns = 1200,
	     .allocation = 1, .bytes = BLOCK);
	allocate(fixture, 1, 1, BASE, BLOCK);
}

static void begin_range(struct fixture *fixture, uint32_t op, uint32_t thread, const char *name,
			uint64_t start_ns)
{
	const struct um_record_range range = {.op = op};

	CALL(fixture, .op = op, .kind = UM_OP_RANGE, .thread = thread, .start_ns = start_ns);
	put_text(fixture, UM_RECORD_RANGE, &range, offsetof(struct um_record_range, name), name,
		 strlen(name) + 1);
}

/* A launch that runs when it is called, and faults once. */
static void launch(struct fixture *fixture, uint32_t op, uint32_t thread, uint64_t start_ns)
{
	CALL(fixture, .op = op, .kind = UM_OP_LAUNCH, .thread = thread, .start_ns = start_ns,
	     .end_ns = start_ns + 10);
	kernel(fixture, op, "work");
	ran(fixture, op, 0, start_ns + 20, start_ns + 1000);
	faulted(fixture, 0, BASE, start_ns + 100);
}

static void a_range_selects_what_its_thread_launches(void **state)
{
	struct fixture *fixture = *state;

	ask(fixture, UM_SELECT_RANGES, "r*");
	faulted(fixture, -1, BASE, 50000);
	begin_range(fixture, 2, 1, "range", 100000);
	begin_range(fixture, 3, 2, "other", 110000);
	launch(fixture, 4, 1, 200000);
	launch(fixture, 5, 2, 300000);
	faulted(fixture, -1, BASE, 350000);
	CALL(fixture, .op = 2, .kind = UM_OP_RANGE, .thread = 1, .start_ns = 100000,
	     .end_ns = 400000);
	launch(fixture, 6, 1, 500000);
	faulted(fixture, -1, BASE, 600000);
	finish(fixture);
	expect(fixture, "SELECT sum(recorded * op) FROM kernel", 8);
	expect(fixture, "SELECT sum(op) FROM op WHERE flags & 8", 10 + 12);
	expect(fixture, "SELECT count(*) FROM fault WHERE device = 0 AND op = 8", 1);
	expect(fixture, "SELECT count(*) FROM fault WHERE device = -1 AND start_ns = 350000", 1);
	expect(fixture, "SELECT count(*) FROM fault", 2);
	expect(fixture, "SELECT count(*) FROM op WHERE kind = 'host'", 1);
	expect(fixture, "SELECT matched FROM selection WHERE criterion = 'ranges'", 1);
	expect(fixture, "SELECT count(*) FROM op WHERE op IN (10, 12) AND end_ns - start_ns = 980",
	       2);
}

static void the_profiler_is_switched_on_and_off(void **state)
{
	struct fixture *fixture = *state;

	ask(fixture, UM_SELECT_PROFILE_FROM_START, "off");
	launch(fixture, 2, 1, 100000);
	moved(fixture, 0, -1, UM_CAUSE_HOST_FAULT, BASE, KB, 150000);
	CALL(fixture, .op = 3, .kind = UM_OP_PROFILER_START, .start_ns = 200000, .end_ns = 200010);
	launch(fixture, 4, 1, 300000);
	moved(fixture, 0, -1, UM_CAUSE_HOST_FAULT, BASE, KB, 350000);
	CALL(fixture, .op = 5, .kind = UM_OP_PROFILER_STOP, .start_ns = 400000, .end_ns = 400010);
	launch(fixture, 6, 1, 500000);
	moved(fixture, 0, -1, UM_CAUSE_HOST_FAULT, BASE, KB, 550000);
	CALL(fixture, .op = 7, .kind = UM_OP_PROFILER_START, .start_ns = 600000, .end_ns = 600010);
	moved(fixture, 0, -1, UM_CAUSE_HOST_FAULT, BASE, KB, 650000);
	finish(fixture);
	expect(fixture, "SELECT sum(recorded * op) FROM kernel", 8);
	expect(fixture, "SELECT sum(start_ns) FROM migration", 350000 + 650000);
	expect(fixture, "SELECT count(*) FROM fault WHERE op = 8", 1);
	expect(fixture, "SELECT count(*) FROM fault", 1);
	expect(fixture, "SELECT matched FROM selection", 2);
	assert_int_equal(um_ingest_totals(fixture->ingest)->unselected, 2);
	assert_int_equal(um_ingest_totals(fixture->ingest)->device_faults, 3);
	assert_int_equal(um_ingest_totals(fixture->ingest)->migrated_to_host[UM_CAUSE_HOST_FAULT],
			 2 * KB);
}

static void copies_cross_the_link_where_it_is_certain(void **state)
{
	struct fixture *fixture = *state;
	struct um_record_allocation device = {.allocation = 2,
					      .kind = UM_ALLOCATION_DEVICE,
					      .address = BASE + 8 * BLOCK,
					      .bytes = BLOCK,
					      .op = 4};
	struct um_record_op copy = {.kind = UM_OP_COPY,
				    .thread = 1,
				    .start_ns = 2200000,
				    .end_ns = 2300000,
				    .bytes = 5000};

	ready(fixture);
	CALL(fixture, .op = 4, .kind = UM_OP_ALLOC, .start_ns = 2100000, .end_ns = 2100100,
	     .allocation = 2, .bytes = BLOCK);
	put_text(fixture, UM_RECORD_ALLOCATION, &device,
		 offsetof(struct um_record_allocation, name), "", 1);
	copy.op = 5, copy.allocation = 2;
	PUT(fixture, UM_RECORD_OP, copy);
	copy.op = 6, copy.allocation = 0, copy.source_allocation = 2;
	PUT(fixture, UM_RECORD_OP, copy);
	copy.op = 7, copy.allocation = 1;
	PUT(fixture, UM_RECORD_OP, copy);
	copy.op = 8, copy.allocation = 0, copy.result = 700;
	PUT(fixture, UM_RECORD_OP, copy);
	ran(fixture, 5, 0, 2250000, 2260000);
	finish(fixture);
	expect(fixture, "SELECT count(*) FROM copy_traffic", 2);
	expect(fixture,
	       "SELECT bytes_to_device FROM copy_traffic WHERE op = 10 AND bytes_to_host = 0 AND start_ns = 2250000",
	       5000);
	expect(fixture,
	       "SELECT bytes_to_host FROM copy_traffic WHERE op = 12 AND bytes_to_device = 0",
	       5000);
}

static void records_of_hardware_must_be_possible(void **state)
{
	struct fixture *fixture = *state;
	const uint64_t top = UINT64_MAX;

	ready(fixture);
	/* Ops and devices that there are not, times that run backwards or too far. */
	ran(fixture, 9, 0, 10, 20);
	ran(fixture, 0, 0, 10, 20);
	ran(fixture, 2, 2, 10, 20);
	ran(fixture, 2, -1, 10, 20);
	ran(fixture, 2, 0, 20, 10);
	ran(fixture, 2, 0, 10, top);
	assert_int_equal(invalid(fixture), 6);
	faulted(fixture, 2, BASE, 10);
	faulted(fixture, -2, BASE, 10);
	faulted(fixture, 0, top, 10);
	faulted(fixture, 0, BASE, top - 2);
	PUT(fixture, UM_RECORD_FAULT, (struct um_record_fault){.address = BASE, .start_ns = 5});
	PUT(fixture, UM_RECORD_FAULT,
	    (struct um_record_fault){.address = BASE, .faults = 1, .start_ns = 5, .access = 4});
	assert_int_equal(invalid(fixture), 12);
	moved(fixture, 0, 0, UM_CAUSE_EVICTION, BASE, KB, 10);
	moved(fixture, -1, -1, UM_CAUSE_EVICTION, BASE, KB, 10);
	moved(fixture, -1, 64, UM_CAUSE_EVICTION, BASE, KB, 10);
	moved(fixture, -1, 0, UM_CAUSES, BASE, KB, 10);
	moved(fixture, -1, 0, UM_CAUSE_EVICTION, BASE, 0, 10);
	moved(fixture, -1, 0, UM_CAUSE_EVICTION, BASE, top - BASE, 10);
	moved(fixture, -1, 0, UM_CAUSE_EVICTION, BASE, top, 10);
	moved(fixture, -1, 0, UM_CAUSE_EVICTION, BASE, KB, top - 5);
	assert_int_equal(invalid(fixture), 20);
	PUT(fixture, UM_RECORD_MAPPING, (struct um_record_mapping){.change = 4, .bytes = KB});
	PUT(fixture, UM_RECORD_MAPPING, (struct um_record_mapping){.device = 5, .bytes = KB});
	PUT(fixture, UM_RECORD_MAPPING, (struct um_record_mapping){.at_ns = top, .bytes = KB});
	PUT(fixture, UM_RECORD_EVENT, (struct um_record_event){.kind = 0});
	PUT(fixture, UM_RECORD_EVENT, (struct um_record_event){.kind = 3});
	PUT(fixture, UM_RECORD_EVENT, (struct um_record_event){.kind = 1, .address = top});
	PUT(fixture, UM_RECORD_RANGE, (struct um_record_range){.op = 9});
	assert_int_equal(invalid(fixture), 27);
	PUT(fixture, UM_RECORD_DEVICE, (struct um_record_device){.device = 64, .name = "more"});
	assert_int_equal(invalid(fixture), 28);
	finish(fixture);
	expect(fixture,
	       "SELECT (SELECT count(*) FROM fault) + (SELECT count(*) FROM migration) + "
	       "(SELECT count(*) FROM mapping) + (SELECT count(*) FROM driver_event)",
	       0);
	expect(fixture, "SELECT count FROM loss WHERE kind = 'invalid_record'", 28);
}

/* Or figures of two origins would stand side by side. */
static void an_emulated_program_cannot_tell_of_hardware(void **state)
{
	struct fixture *fixture = *state;

	PUT(fixture, UM_RECORD_HELLO,
	    (struct um_record_hello){.spool_version = UM_SPOOL_VERSION,
				     .backend = UM_BACKEND_EMULATED});
	CALL(fixture, .op = 1, .kind = UM_OP_LAUNCH, .start_ns = 5, .end_ns = 6);
	ran(fixture, 1, 0, 10, 20);
	faulted(fixture, 0, BASE, 10);
	moved(fixture, -1, 0, UM_CAUSE_EVICTION, BASE, KB, 10);
	PUT(fixture, UM_RECORD_MAPPING, (struct um_record_mapping){.bytes = KB});
	PUT(fixture, UM_RECORD_EVENT, (struct um_record_event){.kind = UM_EVENT_THRASHING});
	assert_int_equal(invalid(fixture), 5);
}

/* The program was killed: what came is attributed all the same. */
static void a_run_that_was_cut_off_is_attributed(void **state)
{
	struct fixture *fixture = *state;

	ready(fixture);
	CALL(fixture, .op = 4, .kind = UM_OP_SYNC_DEVICE, .start_ns = 2100000);
	faulted(fixture, 0, BASE, 1500000);
	faulted(fixture, -1, BASE, 3500000);
	assert_int_equal(
		um_ingest_finish(fixture->ingest, &(struct um_run_row){.ended = "signalled",
								       .exit_status = UM_NULL,
								       .exit_signal = 9,
								       .end_ns = 4000000}),
		0);
	expect(fixture, "SELECT count(*) FROM fault WHERE op = 4", 1);
	expect(fixture, "SELECT count(*) FROM fault WHERE op = 9", 1);
	expect(fixture, "SELECT end_ns FROM op WHERE op = 9", 4000000);
	expect(fixture, "SELECT count(*) FROM loss WHERE kind = 'cut_off'", 1);
}

/* Numbers as a record may have them, right and wrong. */
static uint64_t any_number(unsigned *seed)
{
	static const uint64_t some[] = {
		0,     1,	2,	   3,	       4,	  BASE,	      BASE + BLOCK, 4096,
		65536, 1500000, INT32_MAX, UINT32_MAX, INT64_MAX, UINT64_MAX, 0x100000001};
	uint64_t number = some[(size_t)rand_r(seed) % (sizeof(some) / sizeof(*some))];

	return rand_r(seed) % 2 ? number : (uint64_t)(rand_r(seed) % 8);
}

static void random_records_do_no_harm(void **state)
{
	static const unsigned char kinds[] = {
		UM_RECORD_DEVICE,    UM_RECORD_SITE,  UM_RECORD_ALLOCATION, UM_RECORD_OP,
		UM_RECORD_KERNEL,    UM_RECORD_PAGES, UM_RECORD_LOSS,	    UM_RECORD_TIME,
		UM_RECORD_MIGRATION, UM_RECORD_FAULT, UM_RECORD_MAPPING,    UM_RECORD_EVENT,
		UM_RECORD_RANGE,     UM_RECORD_OP,    UM_RECORD_TIME,	    UM_RECORD_ALLOCATION,
	};
	struct fixture *fixture = *state;
	struct um_record *record = (struct um_record *)fixture->record;
	unsigned seed = 5;

	ready(fixture);
	for (unsigned round = 0; round < 40000; round++) {
		uint64_t words[16] = {0};

		for (size_t i = 1; i < 14; i++)
			words[i] = rand_r(&seed) % 2
					   ? any_number(&seed)
					   : any_number(&seed) % 8 | any_number(&seed) % 8 << 32;
		memcpy(record, words, sizeof(words));
		record->bytes = sizeof(words);
		record->kind = kinds[(size_t)rand_r(&seed) % sizeof(kinds)];
		assert_int_equal(um_ingest_record(fixture->ingest, record), 0);
	}
	finish(fixture);
	expect(fixture, "SELECT count(*) > 20 FROM migration", 1);
	expect(fixture, "SELECT count(*) FROM fault WHERE pages < 1 OR first_page < 0", 0);
	expect(fixture, "SELECT count(*) FROM migration WHERE pages < 1 OR first_page < 0", 0);
	expect(fixture, "SELECT count(*) FROM op WHERE end_ns < start_ns", 0);
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, ingest_start, ingest_stop)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_run_is_described),
		TEST(a_kernel_has_the_times_of_its_device),
		TEST(faults_and_migrations_find_their_kernel),
		TEST(of_kernels_at_once_the_earliest_has_it),
		TEST(a_kernel_without_times_is_the_last_called),
		TEST(the_host_has_what_happens_between_calls),
		TEST(a_prefetch_has_what_it_moved_however_late),
		TEST(advice_has_the_mappings_that_it_made),
		TEST(addresses_are_those_of_their_time),
		TEST(evictions_are_of_the_device_that_they_free),
		TEST(ranges_have_names_and_a_last_op),
		TEST(a_range_selects_what_its_thread_launches),
		TEST(the_profiler_is_switched_on_and_off),
		TEST(copies_cross_the_link_where_it_is_certain),
		TEST(records_of_hardware_must_be_possible),
		TEST(an_emulated_program_cannot_tell_of_hardware),
		TEST(a_run_that_was_cut_off_is_attributed),
		TEST(random_records_do_no_harm),
	};

	return cmocka_run_group_tests(tests, ingest_make_directory, ingest_remove_directory);
}
