#include "trace/base/shell_quote.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char *quote(const char *const *words)
{
	return um_shell_quote((char *const *)(uintptr_t)words);
}

static void expect(const char *const *words, const char *line)
{
	char *got = quote(words);

	assert_string_equal(got, line);
	free(got);
}

static void words_are_quoted_where_they_need_it(void **state)
{
	(void)state;
	expect((const char *const[]){"./app", "--n=3", "a,b:c/d@e%f", NULL},
	       "./app --n=3 a,b:c/d@e%f");
	expect((const char *const[]){"two words", "", "$HOME", "a*b", NULL},
	       "'two words' '' '$HOME' 'a*b'");
	expect((const char *const[]){"it's", "''", NULL}, "'it'\\''s' ''\\'''\\'''");
	expect((const char *const[]){"line\nbreak", "\xc3\xa9", NULL}, "'line\nbreak' '\xc3\xa9'");
	expect((const char *const[]){NULL}, "");
}

/* What the shell makes of the line is what went in. */
static void the_shell_agrees(void **state)
{
	const char *const words[] = {"printf", "%s\n", "a'b\"c", "`x` $(y) \\ ;&|<>",
				     "~",      "#",    NULL};
	char *line = quote(words), got[256];
	FILE *shell = popen(line, "r");

	(void)state;
	assert_non_null(shell);
	for (size_t i = 2; words[i]; i++) {
		assert_non_null(fgets(got, sizeof(got), shell));
		got[strcspn(got, "\n")] = '\0';
		assert_string_equal(got, words[i]);
	}
	assert_int_equal(pclose(shell), 0);
	free(line);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_are_quoted_where_they_need_it),
		cmocka_unit_test(the_shell_agrees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
