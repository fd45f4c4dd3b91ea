/*
 * Topologies against closed forms, and what cannot be refused with its line. The machine has round figures: a
 * page takes a device's own link 1000 ns, a transfer over it 500 ns more (trace_fixture.h).
 */
#include "trace_fixture.h"

#include "sim/machine/machine_file.h"
#include "sim/machine/machine_topology.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define L	LATENCY_NS
#define P	PAGE_NS
#define OPS_MAX 64

static struct trace_fixture fx;
static struct um_machine_spec *spec;
static struct um_op_row ops[OPS_MAX]; /* as simulated, by id */

static void see_op(void *context, const struct um_op_row *row)
{
	(void)context;
	assert_true(row->op < OPS_MAX);
	ops[row->op] = *row;
}

static int open_trace(void **state)
{
	(void)state;
	fx_open(&fx);
	fx.extra.op = see_op;
	memset(ops, 0, sizeof(ops));
	return 0;
}

static int close_trace(void **state)
{
	(void)state;
	um_machine_spec_destroy(spec);
	spec = NULL;
	fx_close(&fx);
	return 0;
}

/* 19 lines, then the topology. */
static const char machine[] =
	"name: round\n"
	"device_name: Round\n"
	"arch: gfx90a\n"
	"devices: 4\n"
	"memory: 1GiB\n"
	"compute_units: 4\n"
	"waves_per_unit: 8\n"
	"wave_lanes: 64\n"
	"clock_khz: 1\n"
	"memory_clock_khz: 1\n"
	"memory_bus_bits: 1\n"
	"l2: 1KiB\n"
	"memory_bandwidth: 900TB/s\n"
	"launch: 0ns\n"
	"xnack: process\n"
	"link: {name: own, to_device: 4096MB/s, to_host: 4096MB/s, latency: 500ns,\n"
	"  remote_request: 64B, remote_requests_per_s: 64000000}\n"
	"topology:\n"
	"  links:\n";

static int parse(const char *links)
{
	char text[4096];

	snprintf(text, sizeof(text), "%s%s", machine, links);
	um_machine_spec_destroy(spec);
	spec = NULL;
	return um_machine_parse(&spec, "m.yaml", text, strlen(text));
}

static void use(const char *links)
{
	if (parse(links))
		fail_msg("%s", um_error_message());
	fx.machine = *spec;
	fx.machine.memory_bytes_per_s = 1e18;
}

static void refuse(const char *links, const char *message)
{
	assert_int_equal(parse(links), UM_EINVAL);
	if (strcmp(um_error_message(), message))
		fail_msg("\"%s\", not \"%s\"", um_error_message(), message);
}

static int64_t memory_of(int64_t device, int64_t pages)
{
	fx.device = device;
	return fx_alloc(&fx, "device", pages * PAGE);
}

static int64_t put_copy(int64_t target, int64_t source, int64_t pages, int64_t stream)
{
	return fx_copy(&fx, target, source, pages * PAGE, stream, true);
}

static int64_t end_of(int64_t op)
{
	return ops[op].end_ns;
}

/* --- ways --- */

#define BELOW_ONE                                                                                  \
	"    - {between: [host, switch0], bandwidth: 4096MB/s}\n"                                  \
	"    - {between: [switch0, gpu0], bandwidth: 4096MB/s}\n"                                  \
	"    - {between: [switch0, gpu1], bandwidth: 4096MB/s}\n"                                  \
	"    - {between: [host, gpu2], bandwidth: 4096MB/s}\n"                                     \
	"    - {between: [host, gpu3], bandwidth: 2048MB/s}\n"

/* gpu0 and gpu1 share what is above their switch, gpu2 shares nothing, gpu3's way is half as fast. */
static void devices_share_the_link_above_their_switch(void **state)
{
	int64_t pinned = fx_alloc(&fx, "pinned", 8 * PAGE), to[4], copy[4], back;

	(void)state;
	for (int64_t i = 0; i < 4; i++)
		to[i] = memory_of(i, 8);
	for (int64_t i = 0; i < 4; i++) {
		fx.device = i;
		copy[i] = put_copy(to[i], pinned, 8, 1 + i);
	}
	fx.device = 1;
	back = put_copy(pinned, to[1], 8, 9); /* the other direction is free */
	use(BELOW_ONE);
	fx_run(&fx);
	assert_int_equal(end_of(copy[0]), L + 8 * P);
	assert_int_equal(end_of(copy[1]), 2 * (L + 8 * P));
	assert_int_equal(end_of(copy[2]), L + 8 * P);
	assert_int_equal(end_of(copy[3]), L + 16 * P);
	assert_int_equal(end_of(back), L + 8 * P);
	assert_int_equal(fx.totals.bytes_to_device, 4 * 8 * PAGE);
}

/* Below one switch devices reach each other; across a host they do not, and bytes go through its memory. */
static void peers_are_who_need_no_host(void **state)
{
	int64_t first = memory_of(0, 8), second = memory_of(1, 8), third = memory_of(2, 8);
	int64_t below, across;

	(void)state;
	fx.device = 0;
	below = put_copy(second, first, 8, 1);
	across = put_copy(third, second, 4, 2);
	use(BELOW_ONE);
	fx_run(&fx);
	assert_int_equal(fx.totals.peer_copied, 8 * PAGE);
	assert_int_equal(end_of(below), 8 * P);
	assert_int_equal(fx.totals.copied_to_host, 4 * PAGE);
	assert_int_equal(fx.totals.copied_to_device, 4 * PAGE);
	assert_int_equal(end_of(across), L + 4 * P);
}

#define RING                                                                                       \
	"    - {between: [host, gpu0], bandwidth: 4096MB/s}\n"                                     \
	"    - {between: [host, gpu1], bandwidth: 4096MB/s}\n"                                     \
	"    - {between: [host, gpu2], bandwidth: 4096MB/s}\n"                                     \
	"    - {between: [host, gpu3], bandwidth: 4096MB/s}\n"                                     \
	"    - {between: [gpu0, gpu1], name: xGMI, bandwidth: 8192MB/s, latency: 100ns}\n"         \
	"    - {between: [gpu1, gpu2], name: xGMI, bandwidth: 4096MB/s, latency: 100ns}\n"         \
	"    - {between: [gpu2, gpu3], name: xGMI, bandwidth: 8192MB/s, latency: 100ns}\n"

/* A device passes on what is for its neighbour: both links are taken, at the rate of the slower. */
static void devices_pass_on_to_their_neighbours(void **state)
{
	int64_t at[4], next, over, same, other;

	(void)state;
	for (int64_t i = 0; i < 4; i++)
		at[i] = memory_of(i, 8);
	fx.device = 0;
	next = put_copy(at[1], at[0], 8, 1);
	over = put_copy(at[2], at[0], 8, 2); /* behind it on the first link */
	same = put_copy(at[2], at[1], 8, 3); /* and behind that on the second */
	other = put_copy(at[3], at[2], 8, 4);
	use(RING);
	fx_run(&fx);
	assert_int_equal(end_of(next), 100 + 4 * P);
	assert_int_equal(end_of(over), end_of(next) + 200 + 8 * P);
	assert_int_equal(end_of(same), end_of(over) + 100 + 8 * P);
	assert_int_equal(end_of(other), 100 + 4 * P);
	assert_int_equal(fx.totals.bytes_to_device + fx.totals.bytes_to_host, 0);
}

/* A kernel reads its neighbour's memory over their link. */
static void kernels_reach_their_peers(void **state)
{
	int64_t memory = memory_of(0, 8), op;

	(void)state;
	fx.device = 1;
	op = fx_launch(&fx, "visitor", 1, 0);
	fx_touch_range(&fx, 0, memory, 0, 8, false);
	fx_lines(&fx, memory, 0, 8, UM_TOUCH_READ, UINT64_MAX, 0);
	fx_launch_end(&fx);
	use(RING);
	fx_run(&fx);
	assert_int_equal(fx.totals.peer_remote, 8 * PAGE);
	assert_int_equal(end_of(op), 100 + 4 * P);
	assert_int_equal(fx.totals.remote_to_device, 0);
}

#define NUMA                                                                                       \
	"    - {between: [host0, gpu0], bandwidth: 4096MB/s}\n"                                    \
	"    - {between: [host0, gpu1], bandwidth: 4096MB/s}\n"                                    \
	"    - {between: [host1, gpu2], bandwidth: 4096MB/s}\n"                                    \
	"    - {between: [host1, gpu3], bandwidth: 4096MB/s}\n"                                    \
	"    - {between: [host0, host1], bandwidth: 2048MB/s}\n"

static void memory_of_one_host_is_far_for_the_other_s_devices(void **state)
{
	int64_t pinned = fx_alloc(&fx, "pinned", 8 * PAGE), to[4], copy[4];

	(void)state;
	for (int64_t i = 0; i < 4; i++)
		to[i] = memory_of(i, 8);
	for (int64_t i = 0; i < 4; i++) {
		fx.device = i;
		copy[i] = put_copy(to[i], pinned, 8, 1 + i);
	}
	use(NUMA); /* each its nearest */
	fx_run(&fx);
	for (int i = 0; i < 4; i++)
		assert_int_equal(end_of(copy[i]), L + 8 * P);
	use(NUMA "  host_memory: host0\n");
	fx_run(&fx);
	assert_int_equal(end_of(copy[0]), L + 8 * P);
	assert_int_equal(end_of(copy[1]), L + 8 * P);
	assert_int_equal(end_of(copy[2]), L + 16 * P);
	assert_int_equal(end_of(copy[3]), 2 * (L + 16 * P)); /* the link between the hosts */
}

/* Migrations too: the books of bytes are as without. */
static void pages_share_links_as_copies_do(void **state)
{
	int64_t first = fx_alloc(&fx, "managed", 16 * PAGE);
	int64_t second = fx_alloc(&fx, "managed", 16 * PAGE), last;

	(void)state;
	fx_host(&fx, first, 0, 16, UM_TOUCH_WRITTEN);
	fx_host(&fx, second, 0, 16, UM_TOUCH_WRITTEN);
	fx_prefetch(&fx, first, 16 * PAGE, 0, 1);
	fx_prefetch(&fx, second, 16 * PAGE, 1, 2);
	fx_op(&fx, &(struct um_op_row){.kind = "sync_stream", .stream = 1});
	last = fx_op(&fx, &(struct um_op_row){.kind = "sync_stream", .stream = 2});
	use(BELOW_ONE);
	fx_run(&fx);
	assert_int_equal(end_of(last), 2 * (L + 16 * P));
	assert_int_equal(fx.totals.bytes_to_device, 2 * 16 * PAGE);
}

/* PCI Express Base Specification 4.0: 16 GT/s a lane, 128b/130b; packets of 256 bytes with 24 beside. */
static void pcie_is_its_generation_and_width(void **state)
{
	(void)state;
	assert_true(um_pcie_bytes_per_s(4, 16) > 28.80e9 && um_pcie_bytes_per_s(4, 16) < 28.81e9);
	assert_true(um_pcie_bytes_per_s(5, 8) > 28.80e9 && um_pcie_bytes_per_s(5, 8) < 28.81e9);
	assert_true(um_pcie_bytes_per_s(1, 1) > 228e6 && um_pcie_bytes_per_s(1, 1) < 229e6);
	use("    - {between: [host, switch0], pcie_generation: 4, pcie_lanes: 16}\n"
	    "    - {between: [switch0, gpu0], pcie_generation: 5, pcie_lanes: 16}\n"
	    "    - {between: [switch0, gpu1], pcie_generation: 3, pcie_lanes: 8}\n"
	    "    - {between: [host, gpu2], bandwidth: 1GB/s}\n"
	    "    - {between: [host, gpu3], bandwidth: 1GB/s}\n");
	assert_int_equal(spec->topology->to_host[0].links, 2);
	assert_true(spec->topology->link[1].bytes_per_s > 57e9);
}

/* --- what cannot be --- */

#define STARS                                                                                      \
	"    - {between: [host, gpu0], bandwidth: 1GB/s}\n"                                        \
	"    - {between: [host, gpu1], bandwidth: 1GB/s}\n"                                        \
	"    - {between: [host, gpu2], bandwidth: 1GB/s}\n"

static void a_link_without_bandwidth_is_refused(void **state)
{
	(void)state;
	refuse(STARS "    - {between: [host, gpu3], bandwidth: 0GB/s}\n",
	       "m.yaml:23:42: bandwidth: 0GB/s is out of range: it can be 1 MB/s to 1000 TB/s");
	refuse(STARS "    - {between: [host, gpu3]}\n",
	       "m.yaml:23:7: a link needs \"bandwidth\", or \"pcie_generation\" and \"pcie_lanes\"");
	refuse(STARS "    - {between: [host, gpu3], pcie_generation: 4}\n",
	       "m.yaml:23:7: a link needs \"pcie_generation\" and \"pcie_lanes\"");
	refuse(STARS
	       "    - {between: [host, gpu3], pcie_generation: 4, pcie_lanes: 16, bandwidth: 1GB/s}\n",
	       "m.yaml:23:7: a link has \"bandwidth\" or \"pcie_generation\", not both");
}

static void a_device_without_a_link_is_refused(void **state)
{
	(void)state;
	refuse(STARS,
	       "m.yaml:19:3: gpu3 has no link to a host, through switches or not, of 8 links at "
	       "the most");
	refuse(STARS
	       "    - {between: [gpu2, gpu3], bandwidth: 1GB/s}\n", /* no device passes on to a host */
	       "m.yaml:19:3: gpu3 has no link to a host, through switches or not, of 8 links at the "
	       "most");
	refuse(STARS "    - {between: [host1, gpu3], bandwidth: 1GB/s}\n  host_memory: host1\n",
	       "m.yaml:19:3: gpu0 has no link to host1, through switches or not, of 8 links at the "
	       "most");
}

static void a_cycle_of_switches_is_refused(void **state)
{
	(void)state;
	refuse(STARS "    - {between: [switch2, gpu3], bandwidth: 1GB/s}\n"
		     "    - {between: [host, switch0], bandwidth: 1GB/s}\n"
		     "    - {between: [switch0, switch1], bandwidth: 1GB/s}\n"
		     "    - {between: [switch1, switch2], bandwidth: 1GB/s}\n"
		     "    - {between: [switch2, switch0], bandwidth: 1GB/s}\n",
	       "m.yaml:27:7: a cycle of switches: switch2 and switch0 are joined by other links "
	       "already");
	/* Of devices and a switch of theirs there may be one. */
	assert_int_equal(parse(RING "    - {between: [gpu0, switch0], bandwidth: 1GB/s}\n"
				    "    - {between: [gpu1, switch0], bandwidth: 1GB/s}\n"),
			 0);
}

static void ends_that_there_are_not_are_refused(void **state)
{
	(void)state;
	refuse(STARS "    - {between: [host, gpu4], bandwidth: 1GB/s}\n",
	       "m.yaml:23:7: gpu4: the machine has 4 devices");
	refuse("    - {between: [host, router], bandwidth: 1GB/s}\n",
	       "m.yaml:20:24: between: \"router\" is none of gpu0 to gpu15, host (or host0) to host7, "
	       "switch0 to switch31");
	refuse("    - {between: [host], bandwidth: 1GB/s}\n",
	       "m.yaml:20:17: between: two ends, written as \"[gpu0, switch0]\"");
	refuse("    - {between: [gpu0, gpu0], bandwidth: 1GB/s}\n",
	       "m.yaml:20:17: between: a link has two ends");
	refuse(STARS "    - {between: [gpu1, host0], bandwidth: 1GB/s}\n",
	       "m.yaml:23:7: host0 and gpu1 have a link already (line 21): one with the bandwidth of "
	       "both");
	refuse(STARS "    - {between: [host, gpu3], bandwidth: 1GB/s}\n  host_memory: gpu0\n",
	       "m.yaml:19:3: host_memory: \"gpu0\" is no host");
	refuse("    []\n", "m.yaml:20:5: links: a list, of one link at the least");
}

static void one_says_how_devices_are_linked(void **state)
{
	(void)state;
	refuse(RING
	       "peer_link: {name: a, bandwidth: 1GB/s, latency: 1us, remote_requests_per_s: 1000}\n",
	       "m.yaml:1:1: a machine has \"peer_link\" or \"topology\", not both");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, open_trace, close_trace)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(devices_share_the_link_above_their_switch),
		TEST(peers_are_who_need_no_host),
		TEST(devices_pass_on_to_their_neighbours),
		TEST(kernels_reach_their_peers),
		TEST(memory_of_one_host_is_far_for_the_other_s_devices),
		TEST(pages_share_links_as_copies_do),
		TEST(pcie_is_its_generation_and_width),
		TEST(a_link_without_bandwidth_is_refused),
		TEST(a_device_without_a_link_is_refused),
		TEST(a_cycle_of_switches_is_refused),
		TEST(ends_that_there_are_not_are_refused),
		TEST(one_says_how_devices_are_linked),
	};

	return cmocka_run_group_tests_name("topology", tests, NULL, NULL);
}
