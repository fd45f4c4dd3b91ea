/* The command line: what goes to which step, and what is refused. */
#include "cc_args.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trace/base/error.h"

#define PARSE(args, ...)                                                                           \
	um_cc_args_parse(args, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *),             \
			 (char **)(const char *[]){__VA_ARGS__})

static void expect_words(const struct um_argv *argv, const char *expected)
{
	char joined[1024] = "";

	for (size_t i = 0; i < argv->count; i++)
		snprintf(joined + strlen(joined), sizeof joined - strlen(joined), "%s%s",
			 i ? " " : "", argv->items[i]);
	assert_string_equal(joined, expected);
}

static void options_go_to_their_step(void **state)
{
	struct um_cc_args args;

	(void)state;
	assert_int_equal(PARSE(&args, "-DX=1", "-I", "dir", "-Wall", "-lm", "-L", "lib",
			       "-Wl,-z,now", "-fPIC", "-pthread", "-Xclang", "-lfoo", "a.hip",
			       "b.o", "-o", "app"),
			 0);
	assert_int_equal(args.stage, UM_CC_LINK);
	assert_string_equal(args.output, "app");
	expect_words(&args.compile, "-DX=1 -I dir -Wall -fPIC -pthread -Xclang -lfoo");
	/* The empty word is where the object of a.hip goes. */
	expect_words(&args.link, "-lm -L lib -Wl,-z,now -fPIC -pthread  b.o");
	assert_int_equal(args.input_count, 2);
	assert_string_equal(args.inputs[0].path, "a.hip");
	assert_int_equal(args.inputs[0].link_index, 6);
	um_cc_args_fini(&args);
}

static void names_tell_the_language(void **state)
{
	struct um_cc_args args;
	static const enum um_cc_language expected[] = {UM_CC_HIP,    UM_CC_HIP,	  UM_CC_HIP,
						       UM_CC_C,	     UM_CC_OTHER, UM_CC_OBJECT,
						       UM_CC_OBJECT, UM_CC_OTHER, UM_CC_HIP};

	(void)state;
	assert_int_equal(PARSE(&args, "a.hip", "b.cpp", "c.cu", "d.c", "e.s", "f.a", "g.so.1", "-x",
			       "c++", "h.cpp", "-xnone", "i.cc"),
			 0);
	assert_int_equal(args.input_count, 9);
	for (size_t i = 0; i < 9; i++)
		assert_int_equal(args.inputs[i].language, expected[i]);
	um_cc_args_fini(&args);
}

static void stages(void **state)
{
	static const struct {
		const char *option;
		enum um_cc_stage stage;
	} cases[] = {{"-c", UM_CC_COMPILE},
		     {"-S", UM_CC_ASSEMBLY},
		     {"-E", UM_CC_PREPROCESS},
		     {"-M", UM_CC_PREPROCESS},
		     {"-fsyntax-only", UM_CC_SYNTAX},
		     {"--genco", UM_CC_BUNDLE},
		     {"-MD", UM_CC_LINK}};
	struct um_cc_args args;

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		assert_int_equal(PARSE(&args, cases[i].option, "a.hip"), 0);
		assert_int_equal(args.stage, cases[i].stage);
		um_cc_args_fini(&args);
	}
}

static void the_level_is_hipccs(void **state)
{
	struct um_cc_args args;

	(void)state;
	assert_int_equal(PARSE(&args, "a.hip"), 0);
	assert_string_equal(args.level, "O3");
	assert_false(args.level_given);
	um_cc_args_fini(&args);
	assert_int_equal(PARSE(&args, "-O0", "-Os", "a.hip"), 0);
	assert_string_equal(args.level, "Os");
	assert_true(args.level_given);
	um_cc_args_fini(&args);
}

static void architectures(void **state)
{
	struct um_cc_args args;

	(void)state;
	assert_int_equal(
		PARSE(&args, "--offload-arch=gfx90a:xnack+,gfx906", "--amdgpu-target=gfx1030"), 0);
	expect_words(&args.archs, "gfx90a:xnack+ gfx906 gfx1030");
	um_cc_args_fini(&args);
	assert_int_equal(PARSE(&args, "--offload-arch=native"), UM_EINVAL);
	assert_non_null(strstr(um_error_message(), "gfx90a"));
	um_cc_args_fini(&args);
}

static void relocatable(void **state)
{
	struct um_cc_args args;

	(void)state;
	assert_int_equal(PARSE(&args, "-fgpu-rdc", "a.hip"), 0);
	assert_true(args.relocatable);
	expect_words(&args.compile, "");
	um_cc_args_fini(&args);
	assert_int_equal(PARSE(&args, "-fgpu-rdc", "-fno-gpu-rdc", "--offload-arch=gfx90a"), 0);
	assert_false(args.relocatable);
	expect_words(&args.archs, "gfx90a");
	um_cc_args_fini(&args);
	/* A code object by itself is whole; a program gets none for GPUs. */
	assert_int_equal(PARSE(&args, "-fgpu-rdc", "--genco", "--offload-arch=gfx90a"), 0);
	expect_words(&args.archs, "gfx90a");
	um_cc_args_fini(&args);
	assert_int_equal(PARSE(&args, "-fgpu-rdc", "--offload-arch=gfx90a"), 0);
	expect_words(&args.archs, "");
	um_cc_args_fini(&args);
}

static void refusals(void **state)
{
	struct um_cc_args args;

	(void)state;
	assert_int_equal(PARSE(&args, "-save-temps=obj"), UM_EINVAL);
	assert_non_null(strstr(um_error_message(), "-save-temps"));
	um_cc_args_fini(&args);
	assert_int_equal(PARSE(&args, "-o"), UM_EINVAL);
	assert_string_equal(um_error_message(), "-o needs a value");
	um_cc_args_fini(&args);
	assert_int_equal(PARSE(&args, "@/nowhere/response"), UM_EIO);
	um_cc_args_fini(&args);
}

static void response_files_are_read(void **state)
{
	char path[] = "/tmp/cc_args_test-XXXXXX", word[64];
	static const char text[] = "-DA='x y'  \"-DB=\\\"q\\\"\"\n-c\\ d a.hip";
	int file = mkstemp(path);
	struct um_cc_args args;

	(void)state;
	assert_int_equal(write(file, text, sizeof text - 1), sizeof text - 1);
	close(file);
	snprintf(word, sizeof word, "@%s", path);
	assert_int_equal(PARSE(&args, word, "-c"), 0);
	expect_words(&args.compile, "-DA=x y -DB=\"q\" -c d");
	assert_int_equal(args.stage, UM_CC_COMPILE);
	assert_string_equal(args.inputs[0].path, "a.hip");
	um_cc_args_fini(&args);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_go_to_their_step),
		cmocka_unit_test(names_tell_the_language),
		cmocka_unit_test(stages),
		cmocka_unit_test(the_level_is_hipccs),
		cmocka_unit_test(architectures),
		cmocka_unit_test(relocatable),
		cmocka_unit_test(refusals),
		cmocka_unit_test(response_files_are_read),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
