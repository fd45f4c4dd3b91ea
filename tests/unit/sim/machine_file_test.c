#include "sim/machine/machine_file.h"
#include "sim/machine/machine_topology.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char small[] = "name: small\n"
			    "device_name: \"Small\"\n"
			    "arch: gfx900\n"
			    "devices: 2\n"
			    "memory: 8GiB\n"
			    "compute_units: 4\n"
			    "waves_per_unit: 40\n"
			    "wave_lanes: 64\n"
			    "clock_khz: 1000000\n"
			    "memory_clock_khz: 900000\n"
			    "memory_bus_bits: 2048\n"
			    "l2: 1MiB\n"
			    "memory_bandwidth: 100GB/s\n"
			    "launch: 0\n"
			    "xnack: never\n"
			    "link:\n"
			    "  name: PCIe 3.0 x8\n"
			    "  to_device: 6GB/s\n"
			    "  to_host: 5.5GB/s\n"
			    "  latency: 1.5us\n"
			    "  remote_request: 64B\n"
			    "  remote_requests_per_s: 1000000\n";

static void every_key(void **state)
{
	struct um_machine_spec *spec;

	(void)state;
	if (um_machine_parse(&spec, "m.yaml", small, strlen(small)))
		fail_msg("%s", um_error_message());
	assert_string_equal(spec->name, "small");
	assert_string_equal(spec->device_name, "Small");
	assert_string_equal(spec->arch, "gfx900");
	assert_int_equal(spec->devices, 2);
	assert_true(spec->memory_bytes == UINT64_C(8) << 30);
	assert_int_equal(spec->compute_units, 4);
	assert_int_equal(spec->waves_per_unit, 40);
	assert_int_equal(spec->wave_lanes, 64);
	assert_int_equal(spec->clock_khz, 1000000);
	assert_int_equal(spec->memory_clock_khz, 900000);
	assert_int_equal(spec->memory_bus_bits, 2048);
	assert_int_equal(spec->l2_bytes, 1 << 20);
	assert_true(spec->memory_bytes_per_s == 100e9);
	assert_int_equal(spec->launch_ns, 0);
	assert_int_equal(spec->xnack, UM_XNACK_NEVER);
	assert_false(spec->apu);
	assert_false(spec->link.coherent);
	assert_string_equal(spec->link.name, "PCIe 3.0 x8");
	assert_true(spec->link.to_device_bytes_per_s == 6e9);
	assert_true(spec->link.to_host_bytes_per_s == 5.5e9);
	assert_int_equal(spec->link.to_device_latency_ns, 1500);
	assert_int_equal(spec->link.to_host_latency_ns, 1500);
	assert_int_equal(spec->tracing.to_device_record_ns, 0);
	assert_int_equal(spec->setting_count, 0);
	assert_int_equal(spec->link.remote_request_bytes, 64);
	assert_true(spec->link.remote_requests_per_s == 1e6);
	assert_string_equal(spec->text, small);
	um_machine_spec_destroy(spec);
	um_machine_spec_destroy(NULL);
}

/* One line of the small machine replaced. */
struct refusal {
	const char *from, *to, *message;
};
static const struct refusal refusals[] = {
	{"to_device: 6GB/s", "to_device: 0",
	 "m.yaml:18:14: to_device: 0 is out of range: it can be "
	 "1 MB/s to 1000 TB/s"},
	{"to_host: 5.5GB/s", "to_host: -1GB/s", "m.yaml:19:12: to_host: \"-1GB/s\" is negative"},
	{"to_device: 6GB/s", "to_device: 6GB",
	 "m.yaml:18:14: to_device: \"6GB\": did you mean 6GB/s?"},
	{"memory_bandwidth: 100GB/s", "memory_bandwidth: 0GB/s",
	 "m.yaml:13:19: memory_bandwidth: 0GB/s is out of range: it can be 1 MB/s to 1000 TB/s"},
	{"memory: 8GiB", "memory: 8GB", "m.yaml:5:9: memory: \"8GB\": did you mean 8GiB?"},
	{"memory: 8GiB", "memory: 0",
	 "m.yaml:5:9: memory: 0 is out of range: it can be 2 MiB to 256 TiB"},
	{"devices: 2", "devices: 17",
	 "m.yaml:4:10: devices: 17 is out of range: it can be 1 to 16"},
	{"arch: gfx900", "arhc: gfx900",
	 "m.yaml:3:1: a machine has no \"arhc\": did you mean "
	 "\"arch\"?"},
	{"  latency: 1.5us", "  latncy: 1.5us",
	 "m.yaml:20:3: a link has no \"latncy\": did you mean \"latency\"?"},
	{"launch: 0\n", "", "m.yaml:1:1: a machine needs \"launch\""},
	{"  latency: 1.5us\n", "", "m.yaml:17:3: a link needs \"latency\""},
	{"  latency: 1.5us\n", "  to_host_latency: 1us\n", "m.yaml:17:3: a link needs \"latency\""},
	{"  latency: 1.5us", "  latency: 2s",
	 "m.yaml:20:12: latency: 2s is out of range: it can be 0 ns to 1 s"},
	{"launch: 0", "launch: 0\ntracing: {records: 1us}",
	 "m.yaml:15:11: tracing has no \"records\"; it takes to_device_record, "
	 "fault_record, cpu_fault_record"},
	{"launch: 0", "launch: 0\ntracing: 1us",
	 "m.yaml:15:10: tracing is a mapping, written as \"key: value\""},
	{"launch: 0", "launch: 0\ndrivers: nvidia_uvm",
	 "m.yaml:15:10: drivers is a mapping, written as \"key: value\""},
	{"launch: 0", "launch: 0\ndrivers: {nvidia_uvm: 20us}",
	 "m.yaml:15:23: nvidia_uvm is a mapping, written as \"key: value\""},
	{"launch: 0", "launch: 0\ndrivers: {nvidia_uvm: {page_time: [1us]}}",
	 "m.yaml:15:35: page_time takes a single value, not a list"},
	{"launch: 0", "launch: 0\ndrivers: {a: {}}", "m.yaml:15:14: a is empty"},
	{"launch: 0", "launch: 0\ndrivers: {a: {b: 1}, a: {b: 2}}",
	 "m.yaml:15:22: \"a\" stands here twice"},
	{"launch: 0", "launch: 0\ndrivers: {a: {b: 1, b: 2}}",
	 "m.yaml:15:21: \"b\" stands here twice"},
	{"launch: 0", "launch: 0\ndrivers: {a: {[b]: 1}}",
	 "m.yaml:15:15: a has plain words as its keys"},
	{"xnack: never", "xnack: maybe",
	 "m.yaml:15:8: xnack: \"maybe\" is none of never, boot, process, always"},
	{"xnack: never", "xnack: never\napu: maybe",
	 "m.yaml:16:6: apu: \"maybe\" is neither true nor false"},
	{"xnack: never", "xnack: never\napu: true",
	 "m.yaml:1:1: apu: true: host and devices share one memory, so there can be no \"link\""},
	{"  latency: 1.5us", "  latency: 1.5us\n  coherent: 1",
	 "m.yaml:21:13: coherent: \"1\" is neither true nor false"},
	{"name: small", "name: a name that is longer than the field",
	 "m.yaml:1:7: name is longer than 31 characters"},
	{"name: small", "name: [a]", "m.yaml:1:7: name takes a single value, not a list"},
	{"compute_units: 4", "devices: 4", "m.yaml:6:1: \"devices\" stands here twice"},
	{"l2: 1MiB", "l2: 5GiB",
	 "m.yaml:12:5: l2: 5GiB is out of range: it can be 1 B to 3.725 GiB"},
};

/* Not inlined: gcc 12 then takes what asprintf() made for the address of `text`. */
__attribute__((noinline)) static char *replaced(const char *from, const char *to)
{
	const char *at = strstr(small, from);
	char *text;

	assert_non_null(at);
	assert_true(asprintf(&text, "%.*s%s%s", (int)(at - small), small, to, at + strlen(from)) >
		    0);
	return text;
}

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		char *text = replaced(refusals[i].from, refusals[i].to);
		struct um_machine_spec *spec;
		if (um_machine_parse(&spec, "m.yaml", text, strlen(text)) != UM_EINVAL)
			fail_msg("%s: taken", refusals[i].to);
		assert_string_equal(um_error_message(), refusals[i].message);
		free(text);
	}
	struct um_machine_spec *spec;
	assert_int_equal(um_machine_parse(&spec, "m.yaml", "", 0), UM_EINVAL);
	assert_string_equal(um_error_message(), "m.yaml:1:1: a machine needs \"name\"");
}

/* Words of version 0.1 too. */
static const struct {
	const char *word;
	enum um_xnack_support support;
} xnacks[] = {{"never", UM_XNACK_NEVER},   {"boot", UM_XNACK_BOOT},   {"process", UM_XNACK_PROCESS},
	      {"always", UM_XNACK_ALWAYS}, {"false", UM_XNACK_NEVER}, {"true", UM_XNACK_PROCESS}};

static void xnack_words(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(xnacks) / sizeof(xnacks[0]); i++) {
		char line[32];
		struct um_machine_spec *spec;
		snprintf(line, sizeof(line), "xnack: %s", xnacks[i].word);
		char *text = replaced("xnack: never", line);
		assert_int_equal(um_machine_parse(&spec, "m.yaml", text, strlen(text)), 0);
		assert_int_equal(spec->xnack, xnacks[i].support);
		um_machine_spec_destroy(spec);
		free(text);
	}
}

static void coherent_link(void **state)
{
	char *text = replaced("  latency: 1.5us", "  latency: 1.5us\n  coherent: true");
	struct um_machine_spec *spec;

	(void)state;
	assert_int_equal(um_machine_parse(&spec, "m.yaml", text, strlen(text)), 0);
	assert_true(spec->link.coherent);
	um_machine_spec_destroy(spec);
	free(text);
}

/* A way with a latency of its own does not take that of both, wherever that stands. */
static void latency_each_way(void **state)
{
	static const struct {
		const char *lines;
		um_ns to_device_ns, to_host_ns;
	} cases[] = {
		{"  latency: 1us\n  to_host_latency: 2us\n", 1000, 2000},
		{"  to_device_latency: 3us\n  latency: 1us\n", 3000, 1000},
		{"  to_device_latency: 3us\n  to_host_latency: 0\n", 3000, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = replaced("  latency: 1.5us\n", cases[i].lines);
		struct um_machine_spec *spec;

		assert_int_equal(um_machine_parse(&spec, "m.yaml", text, strlen(text)), 0);
		assert_int_equal(spec->link.to_device_latency_ns, cases[i].to_device_ns);
		assert_int_equal(spec->link.to_host_latency_ns, cases[i].to_host_ns);
		um_machine_spec_destroy(spec);
		free(text);
	}
}

static void tracing_and_drivers(void **state)
{
	char *text = replaced(
		"launch: 0\n",
		"launch: 0\natomics_per_s: 5000000\n"
		"tracing: {to_device_record: 1us, fault_record: 2us, cpu_fault_record: 3us}\n"
		"drivers:\n"
		"  nvidia_uvm: {page_time: 3us, version: 590}\n");
	struct um_machine_spec *spec;

	(void)state;
	if (um_machine_parse(&spec, "m.yaml", text, strlen(text)))
		fail_msg("%s", um_error_message());
	assert_int_equal(spec->tracing.to_device_record_ns, 1000);
	assert_true(spec->atomics_per_s == 5e6);
	assert_int_equal(spec->tracing.fault_record_ns, 2000);
	assert_int_equal(spec->tracing.cpu_fault_record_ns, 3000);
	assert_int_equal(spec->setting_count, 2);
	assert_string_equal(spec->settings[1].driver, "nvidia_uvm");
	assert_string_equal(spec->settings[1].name, "version");
	assert_string_equal(spec->settings[1].text, "590");
	assert_int_equal(spec->settings[1].text_at.line, 18);
	assert_int_equal(spec->settings[1].text_at.column, 41);
	assert_string_equal(spec->path, "m.yaml");
	um_machine_spec_destroy(spec);
	free(text);
}

/* One memory of 100 GB/s, which a copy reads and writes. */
static void apu_has_no_link(void **state)
{
	char *text = replaced("xnack: never", "apu: true\nxnack: process");
	struct um_machine_spec *spec;

	(void)state;
	*strstr(text, "link:") = '\0';
	assert_int_equal(um_machine_parse(&spec, "m.yaml", text, strlen(text)), 0);
	assert_true(spec->apu);
	assert_string_equal(spec->link.name, "shared memory");
	assert_true(spec->link.to_device_bytes_per_s == 50e9);
	assert_true(spec->link.to_host_bytes_per_s == 50e9);
	assert_true(spec->link.remote_requests_per_s == 100e9 / 64);
	assert_int_equal(spec->link.to_device_latency_ns, 0);
	assert_int_equal(spec->link.to_host_latency_ns, 0);
	um_machine_spec_destroy(spec);
	free(text);

	text = replaced("xnack: never", "xnack: process");
	*strstr(text, "link:") = '\0';
	assert_int_equal(um_machine_parse(&spec, "m.yaml", text, strlen(text)), UM_EINVAL);
	assert_string_equal(um_error_message(), "m.yaml:1:1: a machine needs \"link\"");
	free(text);
}

/* ---------------------------------------------------------------- the machines that there are */

/* What of the machines says what the simulator makes of them. */
static const struct {
	const char *name, *arch;
	enum um_xnack_support xnack;
	bool apu, coherent;
} machines[] = {
	{"a100_pcie", "sm_80", UM_XNACK_ALWAYS, false, false},
	{"h100_pcie", "sm_90", UM_XNACK_ALWAYS, false, false},
	{"h200", "sm_90", UM_XNACK_ALWAYS, false, false},
	{"mi100", "gfx908", UM_XNACK_BOOT, false, false},
	{"mi210", "gfx90a", UM_XNACK_PROCESS, false, false},
	{"mi250x", "gfx90a", UM_XNACK_PROCESS, false, false},
	{"mi250x_4gcd", "gfx90a", UM_XNACK_PROCESS, false, false},
	{"mi250x_frontier", "gfx90a", UM_XNACK_PROCESS, false, true},
	{"mi250x_frontier_8gcd", "gfx90a", UM_XNACK_PROCESS, false, true},
	{"mi300a", "gfx942", UM_XNACK_PROCESS, true, true},
	{"mi300x", "gfx942", UM_XNACK_PROCESS, false, false},
	{"rx7900xtx", "gfx1100", UM_XNACK_NEVER, false, false},
	{"v100_nvlink", "sm_70", UM_XNACK_ALWAYS, false, true},
	{"v100_pcie", "sm_70", UM_XNACK_ALWAYS, false, false},
};

/* Of each line of a file: a figure stands beside its source, "# [...". `devices` is our choice. */
static void check_sources(const struct um_machine_spec *spec)
{
	unsigned line = 1;

	for (const char *at = spec->text; *at; line++) {
		size_t length = strcspn(at, "\n");
		const char *key = at + strspn(at, " "), *colon = memchr(at, ':', length);
		const char *comment = memchr(at, '#', length);
		if (*key != '#' && colon && colon[1] == ' ' && colon[2] >= '0' && colon[2] <= '9' &&
		    strncmp(key, "devices:", 8) != 0 &&
		    (!comment || strncmp(comment, "# [", 3) != 0))
			fail_msg("%s.yaml:%u: a figure without its source", spec->name, line);
		at += length + (at[length] == '\n');
	}
}

static void all_machines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(machines) / sizeof(machines[0]); i++) {
		struct um_machine_spec *spec;
		if (um_machine_load(&spec, machines[i].name))
			fail_msg("%s", um_error_message());
		assert_string_equal(spec->name, machines[i].name);
		assert_string_equal(spec->arch, machines[i].arch);
		assert_int_equal(spec->xnack, machines[i].xnack);
		assert_int_equal(spec->apu, machines[i].apu);
		assert_int_equal(spec->link.coherent, machines[i].coherent);
		/* Several devices have links to each other. */
		assert_int_equal(spec->devices > 1,
				 spec->peer_link.bytes_per_s > 0 || spec->topology != NULL);
		check_sources(spec);
		um_machine_spec_destroy(spec);
	}
}

/* A card's two GCDs are neighbours, and every other is at most two links away. */
static void a_node_of_eight(void **state)
{
	struct um_machine_spec *spec;

	(void)state;
	assert_int_equal(um_machine_load(&spec, "mi250x_frontier_8gcd"), 0);
	for (unsigned a = 0; a < 8; a++) {
		uint8_t links = 0;

		assert_int_equal(spec->topology->to_host[a].links, 1);
		for (unsigned b = 0; b < 8; b++) {
			const struct um_route *there = &spec->topology->to_peer[a][b];
			const struct um_route *back = &spec->topology->to_peer[b][a];

			assert_int_equal(there->links, back->links);
			assert_in_range(there->links, a == b ? 0 : 1, a == b ? 0 : 3);
			links += there->links == 1;
		}
		assert_int_equal(links, 3); /* its own card's, and two others */
	}
	assert_true(spec->topology->link[spec->topology->to_peer[0][1].hop[0].link].bytes_per_s ==
		    150e9);
	um_machine_spec_destroy(spec);
}

static void by_name(void **state)
{
	struct um_machine_spec *spec;

	(void)state;
	assert_int_equal(um_machine_load(&spec, NULL), 0);
	assert_string_equal(spec->name, UM_MACHINE_DEFAULT);
	um_machine_spec_destroy(spec);
	assert_int_equal(um_machine_load(&spec, "h200"), 0);
	/* 64 MiB in 32 transfers took 1354 us, recorded (traces/h200, prefetch-gpu). */
	um_ns each = spec->link.to_device_latency_ns + spec->tracing.to_device_record_ns;
	double us = 32 * (double)each / 1e3 + 67108864 / spec->link.to_device_bytes_per_s * 1e6;
	assert_true(us > 1354 * 0.98 && us < 1354 * 1.02);
	um_machine_spec_destroy(spec);
	assert_int_equal(um_machine_load(&spec, "h201"), UM_ENOENT);
	assert_string_equal(
		um_error_message(),
		"no machine \"h201\": there are a100_pcie, h100_pcie, h200, mi100, mi210, mi250x, "
		"mi250x_4gcd, mi250x_frontier, mi250x_frontier_8gcd, mi300a, mi300x, rx7900xtx, v100_nvlink, "
		"v100_pcie, or give a file (./my.yaml)");
	assert_int_equal(um_machine_load(&spec, "./nowhere.yaml"), UM_ENOENT);
	assert_true(um_machine_is_path("a.yaml") && um_machine_is_path("./a"));
	assert_false(um_machine_is_path("mi250x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key),	    cmocka_unit_test(refused),
		cmocka_unit_test(xnack_words),	    cmocka_unit_test(coherent_link),
		cmocka_unit_test(apu_has_no_link),  cmocka_unit_test(all_machines),
		cmocka_unit_test(a_node_of_eight),  cmocka_unit_test(by_name),
		cmocka_unit_test(latency_each_way), cmocka_unit_test(tracing_and_drivers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
