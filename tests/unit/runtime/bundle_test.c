#include "trace/base/error.h"
#include "trace/runtime/module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define HOST "host-x86_64-unknown-linux"
#define GPU  "hip-amdgcn-amd-amdhsa--gfx90a"

struct entry {
	const char *target;
	uint64_t offset, bytes;
};

/* Bytes at the end of exactly their allocation, so that a sanitizer sees a read behind them. */
struct bytes {
	unsigned char *data;
	size_t count;
};

static void put(struct bytes *b, const void *data, size_t count)
{
	b->data = realloc(b->data, b->count + count);
	assert_non_null(b->data);
	memcpy(b->data + b->count, data, count);
	b->count += count;
}

static void put_u64(struct bytes *b, uint64_t value)
{
	put(b, &value, sizeof(value));
}

static struct bytes bundle(const struct entry *entries, uint64_t count, size_t total)
{
	struct bytes b = {0};

	put(&b, "__CLANG_OFFLOAD_BUNDLE__", 24);
	put_u64(&b, count);
	for (uint64_t i = 0; i < count; i++) {
		put_u64(&b, entries[i].offset);
		put_u64(&b, entries[i].bytes);
		put_u64(&b, strlen(entries[i].target));
		put(&b, entries[i].target, strlen(entries[i].target));
	}
	while (b.count < total)
		put(&b, &(unsigned char){(unsigned char)b.count}, 1);
	return b;
}

static void test_finds(void **state)
{
	(void)state;
	const struct entry entries[] = {{HOST, 0, 0}, {GPU, 300, 50}, {UM_TARGET, 400, 100}};
	struct bytes b = bundle(entries, 3, 500);
	struct um_bundle_entry found;

	assert_int_equal(um_bundle_find(&found, b.data, b.count, UM_TARGET), 0);
	assert_ptr_equal(found.image, b.data + 400);
	assert_int_equal(found.image_bytes, 100);
	assert_int_equal(found.target_length, strlen(UM_TARGET));
	assert_memory_equal(found.target, UM_TARGET, found.target_length);
	assert_int_equal(um_bundle_find(&found, b.data, SIZE_MAX, UM_TARGET), 0);
	assert_ptr_equal(found.image, b.data + 400);
	free(b.data);
}

static void test_names_what_is_there(void **state)
{
	(void)state;
	const struct entry entries[] = {{HOST, 0, 0}, {GPU, 200, 50}};
	struct bytes b = bundle(entries, 2, 300);
	struct um_bundle_entry found;

	assert_int_equal(um_bundle_find(&found, b.data, b.count, UM_TARGET), UM_ENOENT);
	assert_non_null(strstr(um_error_message(), HOST ", " GPU));
	free(b.data);
	b = bundle(NULL, 0, 40);
	assert_int_equal(um_bundle_find(&found, b.data, b.count, UM_TARGET), UM_ENOENT);
	assert_non_null(strstr(um_error_message(), "nothing"));
	free(b.data);
}

/* Cut off after any number of bytes, it is an error and nothing is read behind the end. */
static void test_cut_off(void **state)
{
	(void)state;
	const struct entry entries[] = {{HOST, 0, 0}, {GPU, 200, 50}, {UM_TARGET, 250, 50}};
	struct bytes whole = bundle(entries, 3, 300);
	struct um_bundle_entry found;

	for (size_t count = 0; count < whole.count; count++) {
		unsigned char *cut = malloc(count ? count : 1);

		memcpy(cut, whole.data, count);
		int error = um_bundle_find(&found, cut, count, UM_TARGET);

		assert_int_equal(error, UM_EFORMAT);
		free(cut);
	}
	free(whole.data);
}

static int find_one(struct entry entry)
{
	struct bytes b = bundle(&entry, 1, 200);
	struct um_bundle_entry found;
	int error = um_bundle_find(&found, b.data, b.count, UM_TARGET);

	free(b.data);
	return error;
}

static void test_damaged_entries(void **state)
{
	(void)state;
	assert_int_equal(find_one((struct entry){UM_TARGET, 100, 100}), 0);
	assert_int_equal(find_one((struct entry){UM_TARGET, 100, 101}), UM_EFORMAT);
	assert_int_equal(find_one((struct entry){UM_TARGET, 201, 0}), UM_EFORMAT);
	assert_int_equal(find_one((struct entry){UM_TARGET, UINT64_MAX, 2}), UM_EFORMAT);
	assert_int_equal(find_one((struct entry){UM_TARGET, 2, UINT64_MAX}), UM_EFORMAT);
}

static void test_not_a_bundle(void **state)
{
	(void)state;
	struct um_bundle_entry found;

	assert_int_equal(um_bundle_find(&found, "", 0, UM_TARGET), UM_EFORMAT);
	assert_int_equal(um_bundle_find(&found,
					"\x7f"
					"ELF, or anything else of some length",
					36, UM_TARGET),
			 UM_EFORMAT);
	struct bytes b = bundle(NULL, 0, 0);

	memset(b.data + 24, 0xff, 8); /* entries without end */
	assert_int_equal(um_bundle_find(&found, b.data, b.count, UM_TARGET), UM_EFORMAT);
	assert_int_equal(um_bundle_find(&found, b.data, SIZE_MAX, UM_TARGET), UM_EFORMAT);
	free(b.data);
}

/* What a terminal would obey is not passed on in the message. */
static void test_control_characters(void **state)
{
	(void)state;
	const struct entry entries[] = {{"hip-\x1b[2J\n", 0, 0}};
	struct bytes b = bundle(entries, 1, 100);
	struct um_bundle_entry found;

	assert_int_equal(um_bundle_find(&found, b.data, b.count, UM_TARGET), UM_ENOENT);
	assert_non_null(strstr(um_error_message(), "hip-?[2J?"));
	free(b.data);
}

/* Each byte of the head in turn becomes each of some values: no crash, and an image within. */
static void test_any_byte(void **state)
{
	(void)state;
	const struct entry entries[] = {{GPU, 200, 50}, {UM_TARGET, 250, 50}};
	const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
	struct bytes b = bundle(entries, 2, 300);

	for (size_t at = 0; at < 160; at++) {
		unsigned char before = b.data[at];

		for (size_t v = 0; v < sizeof(values); v++) {
			struct um_bundle_entry found;

			b.data[at] = values[v];
			if (um_bundle_find(&found, b.data, b.count, UM_TARGET))
				continue;
			const unsigned char *image = found.image;

			assert_true(image >= b.data && image <= b.data + b.count);
			assert_true(found.image_bytes <= (size_t)(b.data + b.count - image));
		}
		b.data[at] = before;
	}
	free(b.data);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_finds),	     cmocka_unit_test(test_names_what_is_there),
		cmocka_unit_test(test_cut_off),	     cmocka_unit_test(test_damaged_entries),
		cmocka_unit_test(test_not_a_bundle), cmocka_unit_test(test_control_characters),
		cmocka_unit_test(test_any_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
