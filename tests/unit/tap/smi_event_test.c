/*
 * Lines as kfd_ioctl.h's formats make them, of old and new drivers, and every trap in them: hexadecimal pids, resets
 * without a payload, a NUL before the newline, ends with an error and without.
 */
#include "trace/tap/smi/smi_event.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define NONE UM_SMI_NOT_TOLD

struct line {
	const char *text;
	size_t bytes; /* 0: of the text */
	struct um_smi_event event;
};

static const struct line lines[] = {
	{"5 14601738586508 -152990 @7f0f15200(2c02) 0->1ea0 1ea0:0 1",
	 0,
	 {UM_SMI_MIGRATE_START, 152990, 14601738586508, 0x7f0f15200000, 0x2c02, 0, 0, 0x1ea0,
	  0x1ea0, 0, 1, UM_SMI_ERROR_NOT_TOLD, 0}},
	{"5 1 -1 @0(1) ffffffff->fc7d ffffffff:ffffffff 3",
	 0,
	 {UM_SMI_MIGRATE_START, 1, 1, 0, 1, 0, UM_SMI_NOWHERE, 0xfc7d, UM_SMI_NOWHERE,
	  UM_SMI_NOWHERE, 3, UM_SMI_ERROR_NOT_TOLD, 0}},
	/* Before Linux 6.12 ends had no error. */
	{"6 15202910515905 -152990 @7f0f15200(2c02) 0->1ea0 1",
	 0,
	 {UM_SMI_MIGRATE_END, 152990, 15202910515905, 0x7f0f15200000, 0x2c02, 0, 0, 0x1ea0,
	  UM_SMI_NOWHERE, UM_SMI_NOWHERE, 1, UM_SMI_ERROR_NOT_TOLD, 0}},
	{"6 15202910515905 -152990 @7f0f15200(2c02) 0->1ea0 1 75",
	 0,
	 {UM_SMI_MIGRATE_END, 152990, 15202910515905, 0x7f0f15200000, 0x2c02, 0, 0, 0x1ea0,
	  UM_SMI_NOWHERE, UM_SMI_NOWHERE, 1, 75, 0}},
	{"6 15202910515905 -152990 @7f0f15200(2c02) 1ea0->0 3 -12",
	 0,
	 {UM_SMI_MIGRATE_END, 152990, 15202910515905, 0x7f0f15200000, 0x2c02, 0, 0x1ea0, 0,
	  UM_SMI_NOWHERE, UM_SMI_NOWHERE, 3, -12, 0}},
	{"7 40507688414784 -156893 @7fa608127(ad5c) R",
	 0,
	 {UM_SMI_FAULT_START, 156893, 40507688414784, 0x7fa608127000, 1, 0xad5c, 0, 0,
	  UM_SMI_NOWHERE, UM_SMI_NOWHERE, NONE, UM_SMI_ERROR_NOT_TOLD, 'R'}},
	{"8 40507688514376 -156893 @7fa608127(ad5c) U",
	 0,
	 {UM_SMI_FAULT_END, 156893, 40507688514376, 0x7fa608127000, 1, 0xad5c, 0, 0, UM_SMI_NOWHERE,
	  UM_SMI_NOWHERE, NONE, UM_SMI_ERROR_NOT_TOLD, 'U'}},
	{"9 38086928279363 -125752 1ea0 1",
	 0,
	 {UM_SMI_QUEUE_EVICTION, 125752, 38086928279363, 0, 0, 0x1ea0, 0, 0, UM_SMI_NOWHERE,
	  UM_SMI_NOWHERE, 1, UM_SMI_ERROR_NOT_TOLD, 0}},
	{"a 40082605896929 -148516 fc7d R",
	 0,
	 {UM_SMI_QUEUE_RESTORE, 148516, 40082605896929, 0, 0, 0xfc7d, 0, 0, UM_SMI_NOWHERE,
	  UM_SMI_NOWHERE, NONE, UM_SMI_ERROR_NOT_TOLD, 'R'}},
	{"a 1 -2 fc7d",
	 0,
	 {UM_SMI_QUEUE_RESTORE, 2, 1, 0, 0, 0xfc7d, 0, 0, UM_SMI_NOWHERE, UM_SMI_NOWHERE, NONE,
	  UM_SMI_ERROR_NOT_TOLD, 0}},
	/* ROCm/amdgpu#190: a NUL before the newline; '0' in its place since. */
	{"a 1 -2 fc7d \0",
	 13,
	 {UM_SMI_QUEUE_RESTORE, 2, 1, 0, 0, 0xfc7d, 0, 0, UM_SMI_NOWHERE, UM_SMI_NOWHERE, NONE,
	  UM_SMI_ERROR_NOT_TOLD, 0}},
	{"a 1 -2 fc7d 0",
	 0,
	 {UM_SMI_QUEUE_RESTORE, 2, 1, 0, 0, 0xfc7d, 0, 0, UM_SMI_NOWHERE, UM_SMI_NOWHERE, NONE,
	  UM_SMI_ERROR_NOT_TOLD, 0}},
	{"b 15203214457186 -152990 @7f93ac200(200) 1ea0 2",
	 0,
	 {UM_SMI_UNMAP, 152990, 15203214457186, 0x7f93ac200000, 0x200, 0x1ea0, 0, 0, UM_SMI_NOWHERE,
	  UM_SMI_NOWHERE, 2, UM_SMI_ERROR_NOT_TOLD, 0}},
	/* Its pid is hexadecimal, and has no time. */
	{"1 1a2b:train.py",
	 0,
	 {UM_SMI_VMFAULT, 0x1a2b, NONE, 0, 0, 0, 0, 0, UM_SMI_NOWHERE, UM_SMI_NOWHERE, NONE,
	  UM_SMI_ERROR_NOT_TOLD, 0}},
	{"c 1a2b a b c",
	 0,
	 {UM_SMI_PROCESS_START, 0x1a2b, NONE, 0, 0, 0, 0, 0, UM_SMI_NOWHERE, UM_SMI_NOWHERE, NONE,
	  UM_SMI_ERROR_NOT_TOLD, 0}},
	{"3 ",
	 0,
	 {UM_SMI_PRE_RESET, 0, NONE, 0, 0, 0, 0, 0, UM_SMI_NOWHERE, UM_SMI_NOWHERE, NONE,
	  UM_SMI_ERROR_NOT_TOLD, 0}},
	{"3",
	 0,
	 {UM_SMI_PRE_RESET, 0, NONE, 0, 0, 0, 0, 0, UM_SMI_NOWHERE, UM_SMI_NOWHERE, NONE,
	  UM_SMI_ERROR_NOT_TOLD, 0}},
	{"4 2 hang detected",
	 0,
	 {UM_SMI_POST_RESET, 0, NONE, 0, 0, 0, 0, 0, UM_SMI_NOWHERE, UM_SMI_NOWHERE, NONE,
	  UM_SMI_ERROR_NOT_TOLD, 0}},
	{"2 1f:3",
	 0,
	 {UM_SMI_THERMAL_THROTTLE, 0, NONE, 0, 0, 0, 0, 0, UM_SMI_NOWHERE, UM_SMI_NOWHERE, NONE,
	  UM_SMI_ERROR_NOT_TOLD, 0}},
};

static void assert_event(const struct um_smi_event *got, const struct um_smi_event *want)
{
	assert_int_equal(got->id, want->id);
	assert_int_equal(got->pid, want->pid);
	assert_int_equal(got->at_ns, want->at_ns);
	assert_int_equal(got->address, want->address);
	assert_int_equal(got->pages, want->pages);
	assert_int_equal(got->gpu, want->gpu);
	assert_int_equal(got->from, want->from);
	assert_int_equal(got->to, want->to);
	assert_int_equal(got->prefetch, want->prefetch);
	assert_int_equal(got->preferred, want->preferred);
	assert_int_equal(got->trigger, want->trigger);
	assert_int_equal(got->error, want->error);
	assert_int_equal(got->letter, want->letter);
}

static void documented_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
		struct um_smi_event event;
		size_t bytes = lines[i].bytes ? lines[i].bytes : strlen(lines[i].text);

		assert_int_equal(um_smi_parse(&event, lines[i].text, bytes), UM_SMI_EVENT);
		assert_event(&event, &lines[i].event);
	}
}

/* Each line, cut off at every length: never something else than what it says, or nothing. */
static void cut_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
		for (size_t bytes = 0; bytes < strlen(lines[i].text); bytes++) {
			struct um_smi_event event;
			enum um_smi_parsed parsed = um_smi_parse(&event, lines[i].text, bytes);

			if (parsed == UM_SMI_EVENT)
				assert_true(event.address <= INT64_MAX);
		}
}

static void malformed_lines(void **state)
{
	static const char *const wrong[] = {
		"",
		" ",
		"x",
		"5",
		"5 ",
		"5 1",
		"5 1 -2",
		"5 1 2 @1(1) 0->1 0:0 1",
		"5 1 -2 @1(1) 0-1 0:0 1",
		"5 1 -2 @1(1) 0->1 0:0",
		"5 1 -2 @1(1) 0->1 0:0 1 2",
		"5 1 -2 1(1) 0->1 0:0 1",
		"5 1 -2 @g(1) 0->1 0:0 1",
		"5 99999999999999999999 -2 @1(1) 0->1 0:0 1",
		"5 1 -99999999999 @1(1) 0->1 0:0 1",
		"5 1 -2 @ffffffffffffffff(1) 0->1 0:0 1",
		"5 1 -2 @1(fffffffffffffff) 0->1 0:0 1",
		"5 1 -2 @1(1) 0->100000000 0:0 1",
		"6 1 -2 @1(1) 0->1 1 2 3",
		"6 1 -2 @1(1) 0->1 1 -",
		"7 1 -2 @1(1) M",
		"7 1 -2 @1(1) ",
		"7 1 -2 @1(1)",
		"8 1 -2 @1(1) R",
		"8 1 -2 @1(1) MM",
		"9 1 -2 1",
		"9 1 -2 1 x",
		"a 1 -2 1 X",
		"a 1 -2 ",
		"b 1 -2 @1(1) 1",
		"1 :task",
		"5x 1 -2",
	};
	struct um_smi_event event;

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++)
		if (um_smi_parse(&event, wrong[i], strlen(wrong[i])) != UM_SMI_MALFORMED)
			fail_msg("'%s' was read", wrong[i]);
}

/* Newer kernels have others; 14 means two things (DROPPED in ROCm's header). */
static void unknown_ids(void **state)
{
	static const char *const unknown[] = {"0 1", "e 1 -2 3", "f", "ffffffff 1 2", "10 1 -2 3"};
	struct um_smi_event event;

	(void)state;
	for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
		assert_int_equal(um_smi_parse(&event, unknown[i], strlen(unknown[i])),
				 UM_SMI_UNKNOWN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(documented_lines),
		cmocka_unit_test(cut_lines),
		cmocka_unit_test(malformed_lines),
		cmocka_unit_test(unknown_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
