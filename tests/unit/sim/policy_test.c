#include "sim/machine/machine_file.h"
#include "sim/policy/policy.h"
#include "sim/policy/policy_overlay.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---------------------------------------------------------------- drivers that only declare
 * In place of sim/driver/registry.c: the tests of policies do not change with the drivers. */

static const char *const orders[] = {"fault", "none", NULL};
static const char *const xnacks[] = {"auto", "on", "off", NULL};
static const struct um_param demand_params[] = {
	{"service", UM_PARAM_DURATION, 0, 1e9, "20us", NULL, "a batch"},
	{"batch", UM_PARAM_COUNT, 1, 256, "32", NULL, "faults"},
	{"window", UM_PARAM_BYTES, 4096, 1 << 30, "2MiB", NULL, "bytes"},
	{"share", UM_PARAM_REAL, 0, 1, "0.3", NULL, "part"},
	{"xnack", UM_PARAM_CHOICE, 0, 0, "auto", xnacks, "retry"},
	{"order", UM_PARAM_CHOICE, 0, 0, "fault", orders, "order"},
	{0},
};
static const uint64_t demand_pages[] = {4096, 65536, 2097152, 0};
static const struct um_driver_ops demand = {.name = "demand",
					    .params = demand_params,
					    .page_bytes = demand_pages,
					    .default_page_bytes = 4096,
					    .evict = &um_evict_fifo};
static const struct um_driver_ops fixed = {.name = "fixed", .default_page_bytes = 65536};
static const struct um_driver_ops amdgpu_svm = {.name = "amdgpu_svm",
						.params = demand_params,
						.page_bytes = demand_pages,
						.default_page_bytes = 2097152,
						.evict = &um_evict_lru};
static const struct um_driver_ops nvidia_uvm = {.name = "nvidia_uvm", .default_page_bytes = 65536};
static const struct um_driver_ops *const drivers[] = {&demand, &fixed, &amdgpu_svm, &nvidia_uvm};

#define DRIVERS (sizeof(drivers) / sizeof(*drivers))

const struct um_driver_ops *um_driver_find(const char *name)
{
	for (size_t i = 0; i < DRIVERS; i++)
		if (strcmp(name, drivers[i]->name) == 0)
			return drivers[i];
	um_fail(UM_EINVAL, "no driver \"%.48s\": there are demand, fixed", name);
	return NULL;
}

const struct um_driver_ops *const *um_driver_registry(size_t *count)
{
	*count = DRIVERS;
	return drivers;
}

/* ---------------------------------------------------------------- helpers */

static struct um_policy *parsed(const char *text)
{
	struct um_policy *policy;

	if (um_policy_parse(&policy, "p.yaml", text, strlen(text)))
		fail_msg("%s", um_error_message());
	return policy;
}

/* Not inlined: gcc 12 then takes what um_policy_text() made for the address of `text`. */
__attribute__((noinline)) static char *text_of(const struct um_policy *policy)
{
	char *text;

	assert_int_equal(um_policy_text(&text, policy), 0);
	return text;
}

/* Of nobody's: it has no driver of its own. */
static const struct um_machine_spec other = {
	.name = "other", .arch = "x1", .devices = 1, .xnack = UM_XNACK_ALWAYS};

/* ---------------------------------------------------------------- what is refused */

struct refusal {
	const char *text, *message;
};
static const struct refusal refusals[] = {
	{"machin: mi250x\n", "p.yaml:1:1: a policy has no \"machin\": did you mean \"machine\"?"},
	{"colour: red\n", "p.yaml:1:1: a policy has no \"colour\"; it takes machine, driver, "
			  "page_size, memory, evict, evict_seed, program, advise, prefetch"},
	{"- a\n", "p.yaml:1:1: a policy is a mapping, written as \"key: value\""},
	{"page_size: 0\n", "p.yaml:1:12: page_size: a page of 0 bytes holds nothing"},
	{"page_size: 64KB\n", "p.yaml:1:12: page_size: \"64KB\": did you mean 64KiB?"},
	{"page_size: -64KiB\n", "p.yaml:1:12: page_size: \"-64KiB\" is negative"},
	{"page_size: 8KiB\n", "p.yaml:1:12: page_size: driver demand does not take 8 KiB; it takes "
			      "4 KiB, 64 KiB, 2 MiB"},
	{"driver: fixed\npage_size: 4KiB\n",
	 "p.yaml:2:12: page_size: driver fixed does not take 4 KiB: it has no choice, and goes by "
	 "64 KiB"},
	/* The driver decides, wherever it stands. */
	{"page_size: 4KiB\ndriver: fixed\n",
	 "p.yaml:1:12: page_size: driver fixed does not take 4 KiB: it has no choice, and goes by "
	 "64 KiB"},
	{"page_size: [4KiB]\n", "p.yaml:1:12: page_size takes a single value, not a list"},
	{"driver: uvm\n", "p.yaml:1:9: no driver \"uvm\": there are demand, fixed"},
	{"driver: {name: demand, batsh: 3}\n",
	 "p.yaml:1:24: driver demand has no \"batsh\": did you mean \"batch\"?"},
	{"driver: {name: fixed, batch: 3}\n",
	 "p.yaml:1:23: driver fixed has no \"batch\"; it takes nothing but its name"},
	{"driver: {batch: 0}\n", "p.yaml:1:17: batch: 0 is out of range: it can be 1 to 256"},
	{"driver: {batch: 2, batch: 3}\n", "p.yaml:1:20: \"batch\" stands here twice"},
	{"driver: {service: 20}\n",
	 "p.yaml:1:19: service: \"20\" has no unit: a time is written like 20us"},
	{"driver: {window: 1KiB}\n",
	 "p.yaml:1:18: window: 1KiB is out of range: it can be 4 KiB to 1 GiB"},
	{"driver: {share: inf}\n", "p.yaml:1:17: share: \"inf\" is not a number"},
	{"driver: {xnack: maybe}\n", "p.yaml:1:17: xnack: \"maybe\" is none of auto, on, off"},
	{"driver: {batsh: 3}\n",
	 "p.yaml:1:10: driver demand has no \"batsh\": did you mean \"batch\"?"},
	{"driver: {order: lru}\n", "p.yaml:1:17: order: \"lru\" is none of fault, none"},
	{"driver: [demand]\n", "p.yaml:1:9: driver takes a single value, not a list"},
	{"memory: 0\n", "p.yaml:1:9: memory: 0 is out of range: it can be 4 KiB to 256 TiB"},
	{"memory: 5000B\n", "p.yaml:1:9: memory: 5000B is not whole pages of 4 KiB"},
	{"memory: 1B\n", "p.yaml:1:9: memory: 1B is out of range: it can be 4 KiB to 256 TiB"},
	{"memory: 1GiB\nmemory: 2GiB\n", "p.yaml:2:1: \"memory\" stands here twice"},
	{"evict: mru\n", "p.yaml:1:8: evict: \"mru\" is none of driver, fifo, lru, random, belady"},
	{"evict: [lru]\n", "p.yaml:1:8: evict takes a single value, not a list"},
	/* A seed is for what draws. */
	{"evict_seed: 7\n", "p.yaml:1:13: evict_seed: only \"evict: random\" draws"},
	{"evict_seed: 7\nevict: lru\n", "p.yaml:1:13: evict_seed: only \"evict: random\" draws"},
	{"evict: random\nevict_seed: -1\n", "p.yaml:2:13: evict_seed: \"-1\" is negative"},
	{"evict: random\nevict_seed: 4294967296\n",
	 "p.yaml:2:13: evict_seed: 4294967296 is out of range: it can be 0 to 4,294,967,295"},
	{"program: {advice: forget}\n", "p.yaml:1:19: advice: \"forget\" is neither keep nor drop"},
	{"advise: {on: {name: a}}\n",
	 "p.yaml:1:9: advise takes a list of rules, each begun with \"- on:\""},
	{"advise:\n  -\n", "p.yaml:2:4: an advise rule is empty"},
	{"advise:\n  - {}\n", "p.yaml:2:5: an advise rule needs \"on\""},
	{"advise:\n  - on: {}\n    read_mostly: true\n",
	 "p.yaml:2:9: on is empty: {kind: managed} is all managed memory"},
	{"advise:\n  - on: {name: a}\n",
	 "p.yaml:2:5: this rule advises nothing: give preferred_location, accessed_by, "
	 "read_mostly, coarse_grain or allocate_as"},
	{"advise:\n  - on: {names: a}\n    read_mostly: true\n",
	 "p.yaml:2:10: on has no \"names\": did you mean \"name\"?"},
	{"advise:\n  - on: {name: a}\n    prefered_location: host\n",
	 "p.yaml:3:5: an advise rule has no \"prefered_location\": did you mean "
	 "\"preferred_location\"?"},
	{"advise:\n  - on: {name: a}\n    preferred_location: cpu\n",
	 "p.yaml:3:25: preferred_location: \"cpu\" is neither host nor a gpu (gpu0)"},
	{"advise:\n  - on: {name: a}\n    accessed_by: [gpu0, gpu99]\n",
	 "p.yaml:3:25: accessed_by: there are at most 16 devices, from gpu0"},
	{"advise:\n  - on: {name: a}\n    accessed_by: []\n", "p.yaml:3:18: accessed_by is empty"},
	{"advise:\n  - on: {range: [64KiB, 64KiB]}\n    read_mostly: true\n",
	 "p.yaml:2:17: range: 64KiB to 64KiB holds nothing"},
	{"advise:\n  - on: {range: [0]}\n    read_mostly: true\n",
	 "p.yaml:2:17: range takes two sizes: [0, 64MiB]"},
	{"advise:\n  - on: {index: 0}\n    read_mostly: true\n",
	 "p.yaml:2:17: index: 0 is out of range: it can be 1 to 4,294,967,295"},
	{"advise:\n  - on: {kind: heap}\n    read_mostly: true\n",
	 "p.yaml:2:16: kind: \"heap\" is none of managed, device, pinned, registered, pageable"},
	{"advise:\n  - on: {name: a}\n    allocate_as: pageable\n",
	 "p.yaml:3:18: allocate_as: \"pageable\" is none of managed, device, pinned"},
	{"advise:\n  - on: {name: ''}\n    read_mostly: true\n", "p.yaml:2:16: name is empty"},
	{"advise:\n  - on: {name: a}\n    read_mostly:\n",
	 "p.yaml:3:17: read_mostly: \"\" is neither true nor false"},
	{"advise:\n  - on: {name: a}\n    at: {nth: 1}\n    read_mostly: true\n",
	 "p.yaml:3:9: at needs \"before\""},
	{"advise:\n  - on: {name: a}\n    at: {before: k}\n    allocate_as: device\n",
	 "p.yaml:2:5: allocate_as acts at the allocation: leave `at` out"},
	{"prefetch:\n  - on: {name: a}\n    before: k\n",
	 "p.yaml:2:5: a prefetch rule needs \"to\""},
	{"prefetch:\n  - on: {name: a}\n    to: gpu0\n",
	 "p.yaml:2:5: a prefetch rule needs \"before\""},
	{"prefetch:\n  - on: {name: a}\n    to: gpu0\n    before: k\n    stream: mine\n",
	 "p.yaml:5:13: stream: \"mine\" is neither own nor kernel"},
	{"? [a, b]\n: c\n", "p.yaml:1:3: a policy has plain words as its keys"},
	/* what is no YAML, or more of it than a policy may be */
	{"advise:\n\t- on: {}\n", "p.yaml:2:1: a tab: YAML is indented with blanks"},
	{"prefetch:\n  - before: *\n",
	 "p.yaml:2:14: a value that begins with * needs quotes: \"*\""},
	{"a: &a [x]\nb: [*a, *a]\n",
	 "p.yaml:2:5: aliases are not taken here: write the value out (a value that begins with * "
	 "needs quotes)"},
	{"memory: !!int 5\n", "p.yaml:1:9: tags are not taken here"},
	{"[[[[[[[[[[[[[[[[[[[[", "p.yaml:1:17: more than 16 levels"},
	{"machine: {\n", "p.yaml:2:1: did not find expected node content"},
	{"machine: \"a\\x1b[31m\"\n",
	 "p.yaml:1:10: no machine \"a?[31m\": there are a100_pcie, h100_pcie, h200, mi100, mi210, mi250x, mi250x_4gcd, mi250x_frontier, mi250x_frontier_8gcd, mi300a, mi300x, rx7900xtx, v100_nvlink, v100_pcie, or give a file (./my.yaml)"},
	{"machine: a\n---\nmachine: b\n", "p.yaml:2:1: a second document in the file"},
	{"machine: a\x01\n", "p.yaml:1:11: a control character"},
	{"machine: \xff\n", "p.yaml:1:10: this is not text in UTF-8"},
};

static void refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		struct um_policy *policy = NULL;
		int error = um_policy_parse(&policy, "p.yaml", refusals[i].text,
					    strlen(refusals[i].text));
		/* What depends on a driver that is not named is found when it is known. */
		if (!error)
			error = um_policy_settle(policy, &other, UM_XNACK_UNKNOWN);
		if (error != UM_EINVAL)
			fail_msg("%s: %d", refusals[i].text, error);
		assert_string_equal(um_error_message(), refusals[i].message);
		um_policy_destroy(policy);
	}
}

static void too_large(void **state)
{
	size_t bytes = (1 << 20) + 1;
	char *text = malloc(bytes + 1);
	struct um_policy *policy;

	(void)state;
	memset(text, '#', bytes);
	text[bytes] = '\0';
	assert_int_equal(um_policy_parse(&policy, "p.yaml", text, bytes), UM_EINVAL);
	assert_string_equal(um_error_message(),
			    "p.yaml: larger than 1 MiB: not a policy or machine file");
	/* Many values in a small file. */
	for (size_t i = 0; i < 60000; i += 2)
		memcpy(text + i, i ? ",a" : "[a", 2);
	assert_int_equal(um_policy_parse(&policy, "p.yaml", text, 60000), UM_EINVAL);
	assert_non_null(strstr(um_error_message(), "more than 20,000 values"));
	/* Many rules. */
	size_t used = (size_t)sprintf(text, "advise:\n");
	for (int i = 0; i < 1001; i++)
		used += (size_t)sprintf(text + used, " - {on: {index: 1}, read_mostly: on}\n");
	assert_int_equal(um_policy_parse(&policy, "p.yaml", text, used), UM_EINVAL);
	assert_string_equal(um_error_message(), "p.yaml:1002:4: more than 1000 rules");
	free(text);
}

static void files(void **state)
{
	struct um_policy *policy;

	(void)state;
	assert_int_equal(um_policy_load(&policy, "/nonexistent/p.yaml"), UM_ENOENT);
	assert_int_equal(um_policy_load(&policy, "/"), UM_EIO);
}

/* ---------------------------------------------------------------- what is taken */

static const char whole[] =
	"machine: h200\n"
	"driver: {name: demand, batch: 64, xnack: off, share: 0.1}\n"
	"page_size: 64KiB\n"
	"memory: 1.5GiB\n"
	"program: {advice: drop}\n"
	"advise:\n"
	"  - on: {site: \"a.hip:4*\", larger_than: 1MiB, range: [0, 64MiB]}\n"
	"    at: {before: \"back*\", nth: 2}\n"
	"    preferred_location: host\n"
	"    accessed_by: [gpu0, gpu3, host]\n"
	"    read_mostly: false\n"
	"  - on: {name: \"q\\\"\\x07\", index: 7, kind: managed}\n"
	"    allocate_as: device\n"
	"prefetch:\n"
	"  - {on: {kind: managed}, to: gpu0, before: \"*\", nth: 1, ahead: 2}\n";

static void read_whole(void **state)
{
	struct um_policy *policy = parsed(whole);

	(void)state;
	assert_string_equal(policy->machine, "h200");
	assert_ptr_equal(policy->driver, &demand);
	assert_int_equal(policy->params[0].integer, 20000);
	assert_int_equal(policy->params[1].integer, 64);
	assert_string_equal(xnacks[policy->params[4].integer], "off");
	assert_int_equal(policy->page_bytes, 65536);
	assert_int_equal(policy->memory_bytes, 1536 << 20);
	assert_false(policy->keep_program_advice);
	assert_true(policy->keep_program_prefetch);
	assert_int_equal(policy->rule_count, 3);
	const struct um_rule *rule = policy->rules;
	assert_int_equal(rule[0].line, 7);
	assert_int_equal(rule[0].preferred_location, UM_HOST);
	assert_int_equal(rule[0].accessed_by, 1 << 0 | 1 << 3 | UM_BY_HOST);
	assert_true(rule[0].has_read_mostly && !rule[0].read_mostly);
	assert_int_equal(rule[0].on.range_end, 64 << 20);
	assert_int_equal(rule[0].at.nth, 2);
	assert_string_equal(rule[1].allocate_as, "device");
	assert_string_equal(rule[1].on.name, "q\"\a");
	assert_true(rule[2].is_prefetch && !rule[2].own_stream);
	assert_int_equal(rule[2].at.ahead, 2);
	um_policy_destroy(policy);
}

/* A change over a policy: its rules come behind, what it leaves out beside. */
static void one_over_another(void **state)
{
	struct um_policy *policy =
		parsed("program: {prefetch: drop, without: [\"a.hip:1\"]}\n"
		       "advise:\n  - on: {kind: managed}\n    read_mostly: true\n");
	struct um_policy *over = parsed("program: {without: [\"b.hip:2\", \"c d.hip:3\"]}\n"
					"prefetch:\n  - {on: {index: 3}, to: gpu0, before: k}\n");

	(void)state;
	assert_int_equal(um_policy_add(policy, over), 0);
	um_policy_destroy(over);
	assert_int_equal(policy->rule_count, 2);
	assert_true(policy->rules[0].has_read_mostly && policy->rules[1].is_prefetch);
	assert_int_equal(policy->rules[1].on.index, 3);
	assert_int_equal(policy->without_count, 3);
	assert_string_equal(policy->without[0].site, "a.hip:1");
	assert_string_equal(policy->without[2].site, "c d.hip:3");
	assert_true(policy->keep_program_advice && !policy->keep_program_prefetch);
	char *text = text_of(policy);
	assert_non_null(strstr(text, "program: {advice: keep, prefetch: drop, without: "
				     "[\"a.hip:1\", \"b.hip:2\", \"c d.hip:3\"]}\n"));
	free(text);
	um_policy_destroy(policy);
}

static void text_is_a_fixed_point(void **state)
{
	static const char *const texts[] = {
		whole, "", "# nothing\n", "driver: fixed\n", "evict: driver\n",
		"evict: lru\ndriver: demand\n", "evict_seed: 4294967295\nevict: random\n",
		"driver: {share: 0.3333333333333333, window: 5000B}\n",
		/* line breaks, controls and marks of YAML, and beyond 16 bits */
		"advise:\n  - on: {name: \"\\x87\\N\\L\\uFEFF\\uFFFE\\U0001F600 "
		"\xc3\xa9\"}\n    read_mostly: on\n"};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct um_policy *policy = parsed(texts[i]);
		char *once = text_of(policy);
		struct um_policy *again = parsed(once);
		char *twice = text_of(again);
		assert_string_equal(once, twice);
		free(once);
		free(twice);
		um_policy_destroy(policy);
		um_policy_destroy(again);
	}
}

static void defaults_are_spelled_out(void **state)
{
	struct um_policy *policy;

	(void)state;
	assert_int_equal(um_policy_default(&policy), 0);
	char *text = text_of(policy);
	assert_string_equal(text, "machine: \"mi250x\"\n"
				  "# driver: the machine's own\n"
				  "# page_size: the driver's own\n"
				  "# memory: all that the machine has\n"
				  "evict: driver\n"
				  "program: {advice: keep, prefetch: keep}\n");
	free(text);
	assert_int_equal(um_policy_settle(policy, &other, UM_XNACK_UNKNOWN), 0);
	text = text_of(policy);
	assert_string_equal(text, "machine: \"mi250x\"\n"
				  "driver: {name: demand, service: 20us, batch: 32, window: 2MiB, "
				  "share: 0.3, xnack: on, order: fault}\n"
				  "page_size: 4KiB\n"
				  "# memory: all that the machine has\n"
				  "evict: driver\n"
				  "program: {advice: keep, prefetch: keep}\n");
	free(text);
	um_policy_destroy(policy);
	um_policy_destroy(NULL);
}

struct order {
	const char *policy, *text; /* that the effective policy has */
	const struct um_evict_ops *order, *hypothetical;
};
static const struct order orders_of_policies[] = {
	{"driver: demand\n", "\nevict: driver\n", NULL, NULL},
	{"driver: demand\nevict: driver\n", "\nevict: driver\n", NULL, NULL},
	/* Its own, in other words. */
	{"driver: demand\nevict: fifo\n", "\nevict: fifo\n", &um_evict_fifo, NULL},
	{"driver: demand\nevict: lru\n", "\nevict: lru # hypothetical: a driver sees no hits\n",
	 &um_evict_lru, &um_evict_lru},
	{"evict: random\nevict_seed: 7\n",
	 "\nevict: random # hypothetical: no driver draws lots\nevict_seed: 7\n", &um_evict_random,
	 &um_evict_random},
	{"evict: random\n", "\nevict_seed: 0\n", &um_evict_random, &um_evict_random},
};

static void orders_that_are_the_drivers_are_not_hypothetical(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(orders_of_policies) / sizeof(orders_of_policies[0]); i++) {
		const struct order *expected = &orders_of_policies[i];
		struct um_policy *policy = parsed(expected->policy);
		char *text;

		assert_int_equal(um_policy_settle(policy, &other, UM_XNACK_UNKNOWN), 0);
		assert_ptr_equal(policy->evict, expected->order);
		assert_ptr_equal(um_policy_hypothetical_order(policy), expected->hypothetical);
		text = text_of(policy);
		if (!strstr(text, expected->text))
			fail_msg("no \"%s\" in \"%s\"", expected->text, text);
		free(text);
		um_policy_destroy(policy);
	}
}

static void a_driver_may_take_no_order(void **state)
{
	struct um_policy *policy = parsed("driver: fixed\nevict: lru\n");

	(void)state;
	assert_int_equal(um_policy_settle(policy, &other, UM_XNACK_UNKNOWN), UM_EINVAL);
	assert_string_equal(um_error_message(),
			    "p.yaml: evict: driver fixed takes no eviction order");
	um_policy_destroy(policy);
}

static void command_line_over_it(void **state)
{
	struct um_policy *policy = parsed("driver: demand\npage_size: 64KiB\n");

	(void)state;
	assert_int_equal(um_policy_set_page_bytes(policy, 8192), UM_EINVAL);
	assert_string_equal(um_error_message(), "page_size: driver demand does not take 8 KiB; it "
						"takes 4 KiB, 64 KiB, 2 MiB");
	assert_int_equal(um_policy_set_page_bytes(policy, 2097152), 0);
	assert_int_equal(policy->page_bytes, 2097152);
	assert_int_equal(um_policy_set_driver(policy, "none"), UM_EINVAL);
	/* 2 MiB was asked for, and this driver has 64 KiB only. */
	assert_int_equal(um_policy_set_driver(policy, "fixed"), UM_EINVAL);
	um_policy_destroy(policy);
}

/* ---------------------------------------------------------------- settling */

static void driver_of_the_machine(void **state)
{
	const struct um_machine_spec amd = {
		.name = "mi250x", .arch = "gfx90a", .devices = 1, .xnack = UM_XNACK_PROCESS};
	const struct um_machine_spec nvidia = {
		.name = "h200", .arch = "sm_90", .devices = 1, .xnack = UM_XNACK_ALWAYS};
	struct um_policy *policy = parsed("driver: {batch: 7}\npage_size: 2MiB\n");

	(void)state;
	assert_int_equal(um_policy_settle(policy, &amd, UM_XNACK_UNKNOWN), 0);
	assert_ptr_equal(policy->driver, &amdgpu_svm);
	assert_int_equal(policy->params[1].integer, 7);
	um_policy_destroy(policy);

	policy = parsed("driver: {name: demand, batch: 7}\n");
	assert_int_equal(um_policy_settle(policy, &amd, UM_XNACK_UNKNOWN), 0);
	assert_ptr_equal(policy->driver, &demand);
	um_policy_destroy(policy);

	policy = parsed("page_size: 2MiB\n");
	assert_int_equal(um_policy_settle(policy, &nvidia, UM_XNACK_UNKNOWN), UM_EINVAL);
	assert_ptr_equal(policy->driver, &nvidia_uvm);
	assert_string_equal(um_error_message(),
			    "p.yaml:1:12: page_size: driver nvidia_uvm does not take 2 MiB: it has "
			    "no choice, and goes by 64 KiB");
	um_policy_destroy(policy);

	policy = parsed("driver: {batch: 7}\n");
	assert_int_equal(um_policy_settle(policy, &other, UM_XNACK_UNKNOWN), 0);
	assert_ptr_equal(policy->driver, &demand);
	assert_int_equal(policy->params[1].integer, 7);
	um_policy_destroy(policy);

	/* An option over a driver that is not named: the settings are the new driver's. */
	policy = parsed("driver: {batch: 7}\n");
	assert_int_equal(um_policy_set_driver(policy, "fixed"), 0);
	assert_int_equal(um_policy_settle(policy, &amd, UM_XNACK_UNKNOWN), UM_EINVAL);
	assert_string_equal(
		um_error_message(),
		"p.yaml:1:10: driver fixed has no \"batch\"; it takes nothing but its name");
	um_policy_destroy(policy);
}

/* A machine of the driver `demand`, with `drivers:` as in a file. */
static struct um_machine_spec *machine_with(const char *drivers_text)
{
	struct um_machine_spec *spec;
	char *text;

	assert_true(
		asprintf(
			&text,
			"%s\nname: m\ndevice_name: m\narch: x1\ndevices: 1\nmemory: 1GiB\n"
			"compute_units: 1\nwaves_per_unit: 1\nwave_lanes: 1\nclock_khz: 1\n"
			"memory_clock_khz: 1\nmemory_bus_bits: 1\nl2: 1KiB\nmemory_bandwidth: 1GB/s\n"
			"launch: 0\nxnack: process\nlink: {name: l, to_device: 1GB/s, to_host: 1GB/s, "
			"latency: 0, remote_request: 64B, remote_requests_per_s: 1000000}\n",
			drivers_text) > 0);
	if (um_machine_parse(&spec, "m.yaml", text, strlen(text)))
		fail_msg("%s", um_error_message());
	free(text);
	return spec;
}

static void machine_gives_defaults(void **state)
{
	struct um_machine_spec *machine = machine_with(
		"drivers: {demand: {service: 7us, batch: 9, share: 1}, amdgpu_svm: {batch: 1}}");
	struct um_policy *policy = parsed("driver: {name: demand, batch: 64, window: 8KiB}\n");
	char *text;

	(void)state;
	assert_int_equal(um_policy_settle(policy, machine, UM_XNACK_ON), 0);
	assert_int_equal(policy->params[0].integer, 7000); /* the machine's */
	assert_int_equal(policy->params[1].integer, 64);   /* the policy's, before the machine's */
	assert_int_equal(policy->params[2].integer, 8192); /* the policy's */
	assert_true(policy->params[3].real == 1);	   /* the machine's */
	assert_int_equal(policy->params[5].integer, 0);	   /* the driver's own */
	/* What is stored holds wherever it is taken. */
	text = text_of(policy);
	um_policy_destroy(policy);
	policy = parsed(strstr(text, "driver:"));
	free(text);
	assert_int_equal(um_policy_settle(policy, &other, UM_XNACK_ON), 0);
	assert_int_equal(policy->params[0].integer, 7000);
	um_policy_destroy(policy);

	/* A driver that only the machine names, and another machine afterwards. */
	policy = parsed("driver: {batch: 3}\n");
	assert_int_equal(um_policy_settle(policy, machine, UM_XNACK_UNKNOWN), 0);
	assert_int_equal(policy->params[0].integer, 7000);
	assert_int_equal(policy->params[1].integer, 3);
	assert_int_equal(um_policy_settle(policy, &other, UM_XNACK_UNKNOWN), 0);
	assert_int_equal(policy->params[0].integer, 20000);
	assert_int_equal(policy->params[1].integer, 3);
	um_policy_destroy(policy);
	um_machine_spec_destroy(machine);
}

static const struct refusal machine_refusals[] = {
	{"drivers: {fixed2: {a: 1}, demnd: {batch: 1}}",
	 "m.yaml:1:11: no driver \"fixed2\": there are demand, fixed"},
	{"drivers: {demand: {batsh: 3}}",
	 "m.yaml:1:20: driver demand has no \"batsh\": did you mean \"batch\"?"},
	{"drivers: {demand: {colour: 3}}",
	 "m.yaml:1:20: driver demand has no \"colour\" (umsim policy drivers lists them)"},
	{"drivers: {fixed: {batch: 3}}",
	 "m.yaml:1:19: driver fixed has no \"batch\" (umsim policy drivers lists them)"},
	{"drivers: {demand: {batch: 257}}",
	 "m.yaml:1:27: batch: 257 is out of range: it can be 1 to 256"},
	/* Also where another driver is asked for. */
	{"drivers: {amdgpu_svm: {order: sometimes}}",
	 "m.yaml:1:31: order: \"sometimes\" is none of fault, none"},
	{"drivers: {demand: {xnack: on}}",
	 "m.yaml:1:20: xnack: a machine has this as a key of its own, not of a driver"},
};

static void machine_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(machine_refusals) / sizeof(machine_refusals[0]); i++) {
		struct um_machine_spec *machine = machine_with(machine_refusals[i].text);
		struct um_policy *policy = parsed("driver: demand\n");

		assert_int_equal(um_policy_settle(policy, machine, UM_XNACK_UNKNOWN), UM_EINVAL);
		assert_string_equal(um_error_message(), machine_refusals[i].message);
		um_policy_destroy(policy);
		um_machine_spec_destroy(machine);
	}
}

struct decision {
	const char *policy;
	enum um_xnack option;
	enum um_xnack_support support;
	enum um_xnack traced, xnack;
	enum um_xnack_source source;
	const char *message; /* or this */
};
#define NOT UM_XNACK_UNKNOWN
#define ON  UM_XNACK_ON
#define OFF UM_XNACK_OFF
static const struct decision decisions[] = {
	/* Nobody asks. */
	{"", NOT, UM_XNACK_PROCESS, NOT, OFF, UM_XNACK_BY_MACHINE, NULL},
	{"", NOT, UM_XNACK_BOOT, NOT, OFF, UM_XNACK_BY_MACHINE, NULL},
	{"", NOT, UM_XNACK_NEVER, NOT, OFF, UM_XNACK_BY_MACHINE, NULL},
	{"", NOT, UM_XNACK_ALWAYS, NOT, ON, UM_XNACK_BY_MACHINE, NULL},
	{"driver: {xnack: auto}\n", NOT, UM_XNACK_PROCESS, NOT, OFF, UM_XNACK_BY_MACHINE, NULL},
	/* The program had it. */
	{"", NOT, UM_XNACK_PROCESS, ON, ON, UM_XNACK_BY_TRACE, NULL},
	{"", NOT, UM_XNACK_PROCESS, OFF, OFF, UM_XNACK_BY_TRACE, NULL},
	{"", NOT, UM_XNACK_BOOT, ON, ON, UM_XNACK_BY_TRACE, NULL},
	{"", NOT, UM_XNACK_NEVER, ON, OFF, UM_XNACK_BY_MACHINE, NULL},
	{"", NOT, UM_XNACK_ALWAYS, OFF, ON, UM_XNACK_BY_MACHINE, NULL},
	/* The file says. */
	{"driver: {xnack: on}\n", NOT, UM_XNACK_PROCESS, OFF, ON, UM_XNACK_BY_POLICY, NULL},
	{"driver: {xnack: off}\n", NOT, UM_XNACK_BOOT, ON, OFF, UM_XNACK_BY_POLICY, NULL},
	{"driver: {xnack: on}\n", NOT, UM_XNACK_BOOT, NOT, ON, UM_XNACK_BY_POLICY, NULL},
	{"driver: {xnack: on}\n", NOT, UM_XNACK_NEVER, NOT, OFF, UM_XNACK_BY_POLICY,
	 "xnack: on: m (gfx) cannot retry an access that faulted"},
	{"driver: {xnack: off}\n", NOT, UM_XNACK_ALWAYS, NOT, OFF, UM_XNACK_BY_POLICY,
	 "xnack: off: m (gfx) has no such switch"},
	/* The option is over it. */
	{"driver: {xnack: on}\n", OFF, UM_XNACK_PROCESS, ON, OFF, UM_XNACK_BY_OPTION, NULL},
	{"driver: {xnack: off}\n", ON, UM_XNACK_PROCESS, OFF, ON, UM_XNACK_BY_OPTION, NULL},
	{"", OFF, UM_XNACK_NEVER, NOT, OFF, UM_XNACK_BY_OPTION, NULL},
	{"", ON, UM_XNACK_NEVER, NOT, OFF, UM_XNACK_BY_OPTION,
	 "xnack: on: m (gfx) cannot retry an access that faulted"},
	{"driver: fixed\n", ON, UM_XNACK_PROCESS, NOT, ON, UM_XNACK_BY_OPTION,
	 "xnack: driver fixed does not model it"},
	/* A driver that does not model it is told nothing, and the simulation says so. */
	{"driver: fixed\n", NOT, UM_XNACK_PROCESS, ON, ON, UM_XNACK_BY_TRACE, NULL},
};

static void check_decision(const struct decision *decision)
{
	const struct um_machine_spec machine = {
		.name = "m", .arch = "gfx", .devices = 1, .xnack = decision->support};
	struct um_policy *policy = parsed(decision->policy);

	policy->xnack_asked = decision->option;
	int error = um_policy_settle(policy, &machine, decision->traced);
	assert_int_equal(error, decision->message ? UM_EINVAL : 0);
	if (decision->message) {
		assert_string_equal(um_error_message(), decision->message);
	} else {
		const struct um_param_value *param =
			um_param_find(policy->params, policy->driver->params, "xnack");
		assert_int_equal(policy->xnack, decision->xnack);
		assert_int_equal(policy->xnack_source, decision->source);
		if (param)
			assert_string_equal(xnacks[param->integer],
					    decision->xnack == ON ? "on" : "off");
	}
	um_policy_destroy(policy);
}

static void xnack_is_decided(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(decisions) / sizeof(decisions[0]); i++)
		check_decision(&decisions[i]);
}

/* umtrace learns only from the program what it had. */
static void settled_again(void **state)
{
	const struct um_machine_spec machine = {
		.name = "m", .arch = "gfx", .devices = 1, .xnack = UM_XNACK_PROCESS};
	struct um_policy *policy = parsed("");

	(void)state;
	assert_int_equal(um_policy_settle(policy, &machine, UM_XNACK_UNKNOWN), 0);
	assert_int_equal(policy->xnack, UM_XNACK_OFF);
	assert_int_equal(um_policy_settle(policy, &machine, UM_XNACK_ON), 0);
	assert_int_equal(policy->xnack, UM_XNACK_ON);
	assert_int_equal(policy->xnack_source, UM_XNACK_BY_TRACE);
	assert_int_equal(um_policy_settle(policy, &machine, UM_XNACK_UNKNOWN), 0);
	assert_int_equal(policy->xnack, UM_XNACK_OFF);
	um_policy_destroy(policy);

	policy = parsed("driver: {xnack: on}\n");
	assert_int_equal(um_policy_settle(policy, &machine, UM_XNACK_UNKNOWN), 0);
	assert_int_equal(um_policy_settle(policy, &machine, UM_XNACK_OFF), 0);
	assert_int_equal(policy->xnack, UM_XNACK_ON);
	assert_int_equal(policy->xnack_source, UM_XNACK_BY_POLICY);
	um_policy_destroy(policy);
}

static void devices(void **state)
{
	const struct um_machine_spec machine = {.name = "small", .devices = 1};
	struct um_policy *policy = parsed("advise:\n  - on: {name: a}\n    accessed_by: gpu0\n"
					  "  - on: {name: b}\n    accessed_by: [gpu0, gpu2]\n"
					  "    preferred_location: gpu1\n");

	(void)state;
	assert_int_equal(um_policy_check_devices(policy, &machine), UM_EINVAL);
	assert_string_equal(um_error_message(),
			    "p.yaml:4: gpu2: machine small has 1 device, from gpu0");
	policy->rule_count = 1;
	assert_int_equal(um_policy_check_devices(policy, &machine), 0);
	policy->rule_count = 2;
	um_policy_destroy(policy);
}

/* ---------------------------------------------------------------- matching */

static const char *const sites[] = {"/home/u/train.hip:42", "setup(int)", "/opt/app+0x1234", NULL};
static const struct um_allocation_facts facts = {
	.index = 3, .kind = "managed", .name = "batch", .bytes = 1 << 20, .sites = sites};

struct match {
	const char *on;
	bool expected;
};
static const struct match matches[] = {
	{"{site: \"train.hip:42\"}", true},
	{"{site: \"/home/u/train.hip:42\"}", true},
	{"{site: \"train.hip:4\"}", false},
	{"{site: \"train.hip:*\"}", true},
	{"{site: \"setup*\"}", true},
	{"{site: \"app+0x1234\"}", true},
	{"{name: \"b*\"}", true},
	{"{name: b}", false},
	{"{index: 3}", true},
	{"{index: 4}", false},
	{"{kind: managed}", true},
	{"{kind: device}", false},
	{"{larger_than: 1MiB}", false},
	{"{larger_than: 1048575B}", true},
	{"{range: [1MiB, 2MiB]}", false},
	{"{range: [0.5MiB, 2MiB]}", true},
	{"{name: batch, index: 4}", false},
};

static void rules_match(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(matches) / sizeof(matches[0]); i++) {
		char text[200];
		snprintf(text, sizeof(text), "advise:\n  - {on: %s, read_mostly: true}\n",
			 matches[i].on);
		struct um_policy *policy = parsed(text);
		if (um_rule_matches(&policy->rules[0], &facts) != matches[i].expected)
			fail_msg("%s", matches[i].on);
		um_policy_destroy(policy);
	}
}

static void nameless_allocations(void **state)
{
	const struct um_allocation_facts bare = {.index = 1, .kind = "managed", .bytes = 1};
	struct um_policy *policy = parsed("advise:\n  - {on: {name: \"*\"}, read_mostly: true}\n"
					  "  - {on: {site: \"*\"}, read_mostly: true}\n");

	(void)state;
	assert_false(um_rule_matches(&policy->rules[0], &bare));
	assert_false(um_rule_matches(&policy->rules[1], &bare));
	um_policy_destroy(policy);
}

struct launch_match {
	const char *before, *kernel;
	bool expected;
};
static const struct launch_match launch_matches[] = {
	{"scale", "scale(float*, int)", true},
	{"scal", "scale(float*, int)", false},
	{"scal*", "scale(float*, int)", true},
	{"scale", "void scale<float>(float*, int)", true},
	{"scale<float>", "void scale<float>(float*, int)", true},
	{"scale<int>", "void scale<float>(float*, int)", false},
	{"void scale<float>(float[*], int)", "void scale<float>(float*, int)", true},
	{"*::k", "(anonymous namespace)::k(int)", true},
	{"f", "void f<(anonymous namespace)::T<int (*)(int)> >(int)", true},
	{"k", "k", true},
	{"*", "", true},
};

static void launches_match(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(launch_matches) / sizeof(launch_matches[0]); i++) {
		char before[100];
		snprintf(before, sizeof(before), "%s", launch_matches[i].before);
		const struct um_moment moment = {.before = before, .nth = 2};
		if (um_moment_names(&moment, launch_matches[i].kernel) !=
		    launch_matches[i].expected)
			fail_msg("%s of %s", before, launch_matches[i].kernel);
		assert_false(um_moment_matches(&moment, launch_matches[i].kernel, 1));
		assert_true(um_moment_matches(&moment, launch_matches[i].kernel, 2) ==
			    launch_matches[i].expected);
	}
	const struct um_moment at_allocation = {.before = NULL};
	assert_false(um_moment_names(&at_allocation, "k"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(refused),
		cmocka_unit_test(too_large),
		cmocka_unit_test(files),
		cmocka_unit_test(read_whole),
		cmocka_unit_test(one_over_another),
		cmocka_unit_test(text_is_a_fixed_point),
		cmocka_unit_test(defaults_are_spelled_out),
		cmocka_unit_test(orders_that_are_the_drivers_are_not_hypothetical),
		cmocka_unit_test(a_driver_may_take_no_order),
		cmocka_unit_test(command_line_over_it),
		cmocka_unit_test(driver_of_the_machine),
		cmocka_unit_test(machine_gives_defaults),
		cmocka_unit_test(machine_refused),
		cmocka_unit_test(xnack_is_decided),
		cmocka_unit_test(settled_again),
		cmocka_unit_test(devices),
		cmocka_unit_test(rules_match),
		cmocka_unit_test(nameless_allocations),
		cmocka_unit_test(launches_match),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
