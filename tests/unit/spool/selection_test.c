/* Criteria as text, what is refused, and what holds for names and numbers. */
#include "trace/base/error.h"
#include "trace/spool/selection_state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char text[UM_SELECTION_BYTES];

static void asked(enum um_criterion criterion, const char *value)
{
	assert_int_equal(um_selection_add(text, criterion, value), 0);
}

static int start(void **state)
{
	(void)state;
	text[0] = '\0';
	return 0;
}

static void criteria_come_as_they_were_given(void **state)
{
	static const struct {
		enum um_criterion criterion;
		const char *value;
	} given[] = {{UM_SELECT_KERNELS, "a*"},
		     {UM_SELECT_RANGES, "step [0-9]"},
		     {UM_SELECT_LAUNCHES, "10..20"},
		     {UM_SELECT_PROFILE_FROM_START, "off"},
		     {UM_SELECT_KERNELS, "\\[b"}};
	const size_t count = sizeof(given) / sizeof(*given);
	enum um_criterion criterion;
	const char *at = NULL, *value;

	(void)state;
	assert_false(um_selection_next(text, &at, &criterion, &value));
	for (size_t i = 0; i < count; i++)
		asked(given[i].criterion, given[i].value);
	for (size_t i = 0; i < count; i++) {
		assert_true(um_selection_next(text, &at, &criterion, &value));
		assert_int_equal(criterion, given[i].criterion);
		assert_string_equal(value, given[i].value);
	}
	assert_false(um_selection_next(text, &at, &criterion, &value));
	assert_true(um_selection_has(text, UM_SELECT_RANGES));
	assert_false(um_selection_has(text, UM_SELECT_EXCLUDE_KERNELS));
}

static void what_cannot_be_is_refused(void **state)
{
	static const struct {
		enum um_criterion criterion;
		const char *value;
	} wrong[] = {{UM_SELECT_KERNELS, ""},
		     {UM_SELECT_RANGES, "a["},
		     {UM_SELECT_RANGES, "[]"},
		     {UM_SELECT_EXCLUDE_KERNELS, "a\\"},
		     {UM_SELECT_LAUNCHES, ""},
		     {UM_SELECT_LAUNCHES, "0"},
		     {UM_SELECT_LAUNCHES, ".."},
		     {UM_SELECT_LAUNCHES, "3..2"},
		     {UM_SELECT_LAUNCHES, "+1"},
		     {UM_SELECT_LAUNCHES, "1..2..3"},
		     {UM_SELECT_LAUNCHES, "1-2"},
		     {UM_SELECT_LAUNCHES, "18446744073709551616"},
		     {UM_SELECT_PROFILE_FROM_START, "on"}};

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		assert_int_equal(um_selection_add(text, wrong[i].criterion, wrong[i].value),
				 UM_EINVAL);
		assert_non_null(strstr(um_error_message(), um_criterion_names[wrong[i].criterion]));
	}
	assert_string_equal(text, "");
}

static void there_is_room_for_so_much(void **state)
{
	char longest[UM_SELECTION_BYTES + 1];

	(void)state;
	/* Its letter, its end, and the end of all. */
	memset(longest, 'a', sizeof(longest));
	longest[UM_SELECTION_BYTES - 2] = '\0';
	assert_int_equal(um_selection_add(text, UM_SELECT_KERNELS, longest), UM_ELIMIT);
	longest[UM_SELECTION_BYTES - 3] = '\0';
	asked(UM_SELECT_KERNELS, longest);
	assert_int_equal(um_selection_add(text, UM_SELECT_KERNELS, "b"), UM_ELIMIT);
}

static void a_kernel_is_named_with_and_without_its_arguments(void **state)
{
	const char *name = "void n::scale<float, 4>(float*, int)";
	static const char *const fits[] = {"void n::scale<float, 4>(float\\*, int)",
					   "n::scale<float, 4>", "n::scale", "*scale*", "n::*"};
	static const char *const misses[] = {"scale", "n::scale<double, 4>", "void n::scale"};

	(void)state;
	for (size_t i = 0; i < sizeof(fits) / sizeof(*fits); i++)
		assert_true(um_selection_is_kernel(fits[i], name));
	for (size_t i = 0; i < sizeof(misses) / sizeof(*misses); i++)
		assert_false(um_selection_is_kernel(misses[i], name));
	assert_true(um_selection_is_kernel("sum_?p", "sum_up"));
}

static void kernels_are_let_through(void **state)
{
	(void)state;
	assert_true(um_selection_takes_kernel(text, "a"));
	asked(UM_SELECT_EXCLUDE_KERNELS, "b*");
	assert_true(um_selection_takes_kernel(text, "a"));
	assert_false(um_selection_takes_kernel(text, "bc"));
	asked(UM_SELECT_KERNELS, "a");
	asked(UM_SELECT_KERNELS, "b");
	assert_true(um_selection_takes_kernel(text, "a"));
	assert_false(um_selection_takes_kernel(text, "b")); /* excluded all the same */
	assert_false(um_selection_takes_kernel(text, "c"));
}

static void ends_of_launches_belong_to_them(void **state)
{
	uint64_t first, last;

	(void)state;
	asked(UM_SELECT_LAUNCHES, "3..5");
	asked(UM_SELECT_LAUNCHES, "9..");
	assert_false(um_selection_takes_launch(text, 2, 3));
	assert_true(um_selection_takes_launch(text, 3, 1));
	assert_true(um_selection_takes_launch(text, 5, 1));
	assert_false(um_selection_takes_launch(text, 6, 3));
	assert_true(um_selection_takes_launch(text, UINT64_MAX, 1));
	asked(UM_SELECT_KERNELS, "*"); /* now each kernel's are counted */
	assert_true(um_selection_takes_launch(text, 2, 3));
	assert_false(um_selection_takes_launch(text, 3, 1));
	assert_true(um_selection_launches("..7", &first, &last));
	assert_int_equal(first, 1);
	assert_int_equal(last, 7);
	assert_true(um_selection_launches("18446744073709551615", &first, &last));
	assert_true(first == UINT64_MAX && last == UINT64_MAX);
}

static void ranges_select_only_if_asked_for(void **state)
{
	(void)state;
	assert_false(um_selection_takes_range(text, "a"));
	asked(UM_SELECT_KERNELS, "a");
	assert_false(um_selection_takes_range(text, "a"));
	asked(UM_SELECT_RANGES, "step ?");
	assert_true(um_selection_takes_range(text, "step 1"));
	assert_false(um_selection_takes_range(text, "step 10"));
}

/* --- the run --- */

static unsigned demangled;

static char *demangle(const char *symbol)
{
	char *name = NULL;

	demangled++;
	return asprintf(&name, "void %s(int)", symbol) < 0 ? NULL : name;
}

static void launches_of_each_kernel_are_counted(void **state)
{
	struct um_selection_state run;

	(void)state;
	asked(UM_SELECT_KERNELS, "a");
	asked(UM_SELECT_LAUNCHES, "2");
	um_selection_begin(&run, text, demangle);
	demangled = 0;
	assert_false(um_selection_launch(&run, "a", 0, false));
	assert_false(um_selection_launch(&run, "b", 0, false));
	assert_false(um_selection_launch(&run, "b", 0, false));
	assert_true(um_selection_launch(&run, "a", 0, false));
	assert_false(um_selection_launch(&run, "a", 0, false));
	assert_int_equal(demangled, 2); /* once a kernel */
	assert_int_equal(run.launches, 5);
	um_selection_end(&run);
}

static void launches_outside_count_too(void **state)
{
	struct um_selection_state run;

	(void)state;
	asked(UM_SELECT_RANGES, "r");
	asked(UM_SELECT_LAUNCHES, "2..3");
	um_selection_begin(&run, text, demangle);
	assert_false(um_selection_launch(&run, "a", 0, true));
	assert_false(um_selection_launch(&run, "a", 0, false));
	assert_true(um_selection_launch(&run, "a", 0, true));
	assert_false(um_selection_launch(&run, "a", 0, true));
	um_selection_end(&run);
}

static void the_switch_is_of_all_or_of_one_thread(void **state)
{
	struct um_selection_state run;

	(void)state;
	um_selection_begin(&run, text, demangle);
	assert_true(um_selection_launch(&run, "a", 7, false));
	um_selection_switch(&run, false, 7);
	um_selection_switch(&run, false, 7);
	assert_false(um_selection_launch(&run, "a", 7, false));
	assert_true(um_selection_launch(&run, "a", 8, false));
	um_selection_switch(&run, true, 7);
	assert_true(um_selection_launch(&run, "a", 7, false));
	um_selection_switch(&run, false, 8);
	um_selection_switch(&run, false, 0);
	assert_false(um_selection_is_on(&run, 7));
	um_selection_switch(&run, true, 8); /* not while all are off */
	assert_false(um_selection_is_on(&run, 8));
	um_selection_switch(&run, true, 0);
	assert_true(um_selection_is_on(&run, 8));
	for (uint32_t thread = 1; thread <= UM_SELECTION_THREADS + 1; thread++)
		um_selection_switch(&run, false, thread);
	assert_false(um_selection_is_on(&run, UM_SELECTION_THREADS));
	assert_true(um_selection_is_on(&run, UM_SELECTION_THREADS + 1)); /* said in the header */
	um_selection_end(&run);
}

static void it_may_start_off(void **state)
{
	struct um_selection_state run;

	(void)state;
	asked(UM_SELECT_PROFILE_FROM_START, "off");
	um_selection_begin(&run, text, demangle);
	assert_false(um_selection_launch(&run, "a", 0, false));
	um_selection_switch(&run, true, 0);
	assert_true(um_selection_launch(&run, "a", 0, false));
	um_selection_end(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(criteria_come_as_they_were_given, start),
		cmocka_unit_test_setup(what_cannot_be_is_refused, start),
		cmocka_unit_test_setup(there_is_room_for_so_much, start),
		cmocka_unit_test_setup(a_kernel_is_named_with_and_without_its_arguments, start),
		cmocka_unit_test_setup(kernels_are_let_through, start),
		cmocka_unit_test_setup(ends_of_launches_belong_to_them, start),
		cmocka_unit_test_setup(ranges_select_only_if_asked_for, start),
		cmocka_unit_test_setup(launches_of_each_kernel_are_counted, start),
		cmocka_unit_test_setup(launches_outside_count_too, start),
		cmocka_unit_test_setup(the_switch_is_of_all_or_of_one_thread, start),
		cmocka_unit_test_setup(it_may_start_off, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
