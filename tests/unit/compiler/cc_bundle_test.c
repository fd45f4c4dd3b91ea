/* Bundles are what AMD's runtimes and clang-offload-bundler read. */
#include "cc_bundle.h"

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

static const char *make_file(char *path, const char *text)
{
	int file = mkstemp(path);

	assert_true(file >= 0);
	assert_int_equal(write(file, text, strlen(text)), (ssize_t)strlen(text));
	close(file);
	return path;
}

static uint64_t u64(const char *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static void entries_are_found_where_the_table_says(void **state)
{
	char one[] = "/tmp/cc_bundle_test-XXXXXX", two[] = "/tmp/cc_bundle_test-XXXXXX";
	const struct um_bundle_image images[] = {{"first", make_file(one, "image")},
						 {"second-target", make_file(two, "another")}};
	static const char *const targets[] = {"host-x86_64-unknown-linux", "first",
					      "second-target"};
	static const char *const contents[] = {"", "image", "another"};
	void *bundle;
	size_t bytes;
	const char *at;

	(void)state;
	assert_int_equal(um_bundle_make(&bundle, &bytes, images, 2), 0);
	assert_memory_equal(bundle, "__CLANG_OFFLOAD_BUNDLE__", 24);
	assert_int_equal(u64((char *)bundle + 24), 3);
	at = (char *)bundle + 32;
	for (size_t i = 0; i < 3; i++) {
		uint64_t offset = u64(at), length = u64(at + 8), name = u64(at + 16);

		assert_int_equal(name, strlen(targets[i]));
		assert_memory_equal(at + 24, targets[i], name);
		assert_int_equal(length, strlen(contents[i]));
		assert_int_equal(offset % 4096, 0);
		assert_true(offset + length <= bytes);
		assert_memory_equal((char *)bundle + offset, contents[i], length);
		at += 24 + name;
	}
	free(bundle);
	unlink(one);
	unlink(two);
}

static void a_missing_image_is_named(void **state)
{
	const struct um_bundle_image image = {"target", "/nowhere/image"};
	void *bundle;
	size_t bytes;

	(void)state;
	assert_int_equal(um_bundle_make(&bundle, &bytes, &image, 1), UM_EIO);
	assert_non_null(strstr(um_error_message(), "/nowhere/image"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_found_where_the_table_says),
		cmocka_unit_test(a_missing_image_is_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
