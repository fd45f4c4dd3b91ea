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

static void folded_titles(void **state)
{
	static const struct um_text_column folded[] = {{"kernel", UM_ALIGN_LEFT},
						       {"device\nfaults", UM_ALIGN_RIGHT},
						       {"to\nthe host", UM_ALIGN_RIGHT},
						       {NULL, 0}};
	struct um_text_table *table;

	(void)state;
	assert_int_equal(um_text_table_create(&table, folded), 0);
	um_text_table_cell(table, "%s", "scale");
	um_text_table_cell(table, "%d", 7);
	um_text_table_cell(table, "%d", 8);
	char *text = printed(table, 1);
	assert_string_equal(text, "         device        to\n"
				  " kernel  faults  the host\n"
				  " scale        7         8\n");
	free(text);
	um_text_table_destroy(table);
}

static char *wrapped(const char *words, unsigned indent)
{
	char *text = NULL;
	size_t bytes;
	FILE *file = open_memstream(&text, &bytes);

	um_text_print_wrapped(file, words, indent, 2);
	fclose(file);
	return text;
}

#define TEN	"123456789 "
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static void wrapped_text(void **state)
{
	static const struct {
		const char *words, *lines;
		unsigned indent;
	} cases[] = {
		{"", "\n", 2},
		{"a word", "  a word\n", 2},
		{HUNDRED TEN "1234567890", HUNDRED TEN "1234567890\n", 0},
		{HUNDRED TEN "1234567890 b", HUNDRED TEN "1234567890\n  b\n", 0},
		{HUNDRED TEN "12345678901", HUNDRED "123456789\n  12345678901\n", 0},
		{HUNDRED TEN "1234567890", " " HUNDRED "123456789\n   1234567890\n", 1},
		/* A character of two columns, which are 120 and 121 in all. */
		{"\xe8\xa1\x8c " HUNDRED TEN "1234567", "\xe8\xa1\x8c " HUNDRED TEN "1234567\n", 0},
		{"\xe8\xa1\x8c " HUNDRED TEN "12345678",
		 "\xe8\xa1\x8c " HUNDRED "123456789\n  12345678\n", 0},
		{"a\nb", "a?b\n", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char *text = wrapped(cases[i].words, cases[i].indent);
		assert_string_equal(text, cases[i].lines);
		free(text);
	}
}

/* What has no blank stays whole. */
static void long_word(void **state)
{
	char word[301] = "", expected[310];

	(void)state;
	memset(word, 'x', 300);
	snprintf(expected, sizeof(expected), "a\n  %s\n", word);
	char with_word[310];
	snprintf(with_word, sizeof(with_word), "a %s", word);
	char *text = wrapped(with_word, 0);
	assert_string_equal(text, expected);
	free(text);
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
		cmocka_unit_test(aligned),	 cmocka_unit_test(no_rows),
		cmocka_unit_test(folded_titles), cmocka_unit_test(wrapped_text),
		cmocka_unit_test(long_word),	 cmocka_unit_test(broken_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
