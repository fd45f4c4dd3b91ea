#include "trace/base/text_table.h"
#include "trace/base/text_width.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct um_text_column columns[] = {
	{"kernel", UM_ALIGN_LEFT}, {"bytes", UM_ALIGN_RIGHT}, {"note", UM_ALIGN_LEFT}, {NULL, 0}};

static char *printed(const struct um_text_table *table, unsigned indent)
{
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	assert_int_equal(um_text_table_print(table, file, indent), 0);
	fclose(file);
	return text;
}

static void aligned(void **state)
{
	struct um_text_table *table;

	(void)state;
	assert_int_equal(um_text_table_create(&table, columns), 0);
	um_text_table_cell(table, "%s", "scale");
	um_text_table_cell(table, "%d KiB", 64);
	um_text_table_cell(table, "%s", "");
	um_text_table_cell(table, "%s", "\xe8\xa1\x8c\xe5\x88\x97"); /* two wide characters */
	um_text_table_cell(table, "%s", "1 B");
	um_text_table_cell(table, "%s", "\x1b[31mred");
	um_text_table_cell(table, "%s", "e\xcc\x81t\xc3\xa9"); /* combining and composed */
	um_text_table_note(table, "%s", "and a note");
	char *text = printed(table, 2);
	assert_string_equal(text, "  kernel   bytes  note\n"
				  "  scale   64 KiB\n"
				  "  \xe8\xa1\x8c\xe5\x88\x97       1 B  ?[31mred\n"
				  "  e\xcc\x81t\xc3\xa9\n"
				  "  and a note\n");
	free(text);
	um_text_table_destroy(table);
}

static void no_rows(void **state)
{
	struct um_text_table *table;

	(void)state;
	assert_int_equal(um_text_table_create(&table, columns), 0);
	char *text = printed(table, 0);
	assert_string_equal(text, "kernel  bytes  note\n");
	free(text);
	um_text_table_destroy(table);
	um_text_table_destroy(NULL);
}

static void broken_text(void **state)
{
	/* Overlong, surrogate, above Unicode, cut off, lone continuation, C1, right-to-left
	 * override. */
	static const char *const bad[] = {"\xc0\xaf",	  "\xed\xa0\x80", "\xf4\x90\x80\x80",
					  "\xe8\xa1",	  "\x80",	  "\xc2\x9b",
					  "\xe2\x80\xae", "\xff",	  "\n",
					  "\xe0\x80\x80", "\x7f"};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int width = 5;
		size_t bytes = um_utf8_next(bad[i], &width);
		assert_int_equal(width, -1);
		assert_in_range(bytes, 1, strlen(bad[i]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(aligned),
		cmocka_unit_test(no_rows),
		cmocka_unit_test(broken_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
