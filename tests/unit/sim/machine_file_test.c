#include "sim/machine/machine_file.h"
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
	assert_string_equal(spec->link.name, "PCIe 3.0 x8");
	assert_true(spec->link.to_device_bytes_per_s == 6e9);
	assert_true(spec->link.to_host_bytes_per_s == 5.5e9);
	assert_int_equal(spec->link.latency_ns, 1500);
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
	{"xnack: never", "xnack: maybe",
	 "m.yaml:15:8: xnack: \"maybe\" is none of never, boot, process, always"},
	{"name: small", "name: a name that is longer than the field",
	 "m.yaml:1:7: name is longer than 31 characters"},
	{"name: small", "name: [a]", "m.yaml:1:7: name takes a single value, not a list"},
	{"compute_units: 4", "devices: 4", "m.yaml:6:1: \"devices\" stands here twice"},
	{"l2: 1MiB", "l2: 5GiB",
	 "m.yaml:12:5: l2: 5GiB is out of range: it can be 1 B to 3.725 GiB"},
};

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const char *at = strstr(small, refusals[i].from);
		struct um_machine_spec *spec;
		char *text;
		assert_non_null(at);
		assert_true(asprintf(&text, "%.*s%s%s", (int)(at - small), small, refusals[i].to,
				     at + strlen(refusals[i].from)) > 0);
		if (um_machine_parse(&spec, "m.yaml", text, strlen(text)) != UM_EINVAL)
			fail_msg("%s: taken", refusals[i].to);
		assert_string_equal(um_error_message(), refusals[i].message);
		free(text);
	}
	struct um_machine_spec *spec;
	assert_int_equal(um_machine_parse(&spec, "m.yaml", "", 0), UM_EINVAL);
	assert_string_equal(um_error_message(), "m.yaml:1:1: a machine needs \"name\"");
}

static void by_name(void **state)
{
	struct um_machine_spec *spec;

	(void)state;
	assert_int_equal(um_machine_load(&spec, NULL), 0);
	assert_string_equal(spec->name, UM_MACHINE_DEFAULT);
	um_machine_spec_destroy(spec);
	assert_int_equal(um_machine_load(&spec, "h200"), 0);
	/* 64 MiB in 32 transfers took 1354 us (the file's own source). */
	double us = 32 * (double)spec->link.latency_ns / 1e3 +
		    67108864 / spec->link.to_device_bytes_per_s * 1e6;
	assert_true(us > 1354 * 0.99 && us < 1354 * 1.01);
	um_machine_spec_destroy(spec);
	assert_int_equal(um_machine_load(&spec, "h201"), UM_ENOENT);
	assert_string_equal(um_error_message(), "no machine \"h201\": there are h200, mi250x, or "
						"give a file (./my.yaml)");
	assert_int_equal(um_machine_load(&spec, "./nowhere.yaml"), UM_ENOENT);
	assert_true(um_machine_is_path("a.yaml") && um_machine_is_path("./a"));
	assert_false(um_machine_is_path("mi250x"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key),
		cmocka_unit_test(refused),
		cmocka_unit_test(by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
