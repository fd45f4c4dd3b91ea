#include "api_fixture.h"

#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

static void *read_whole(const char *path, size_t *bytes)
{
	FILE *file = fopen(path, "rb");

	assert_non_null(file);
	fseek(file, 0, SEEK_END);
	*bytes = (size_t)ftell(file);
	rewind(file);
	char *data = malloc(*bytes + 1);

	assert_int_equal(fread(data, 1, *bytes, file), *bytes);
	data[*bytes] = 0;
	fclose(file);
	return data;
}

void *read_code_object(size_t *bytes)
{
	return read_whole(UM_TEST_CODE_OBJECT, bytes);
}

void *make_bundle(const char *target, const void *image, size_t bytes)
{
	uint64_t head[] = {1, 4096, bytes, strlen(target)};
	char *bundle = calloc(1, 4096 + bytes);

	assert_non_null(bundle);
	memcpy(bundle, "__CLANG_OFFLOAD_BUNDLE__", 24);
	memcpy(bundle + 24, head, sizeof(head));
	memcpy(bundle + 24 + sizeof(head), target, strlen(target));
	memcpy(bundle + 4096, image, bytes);
	return bundle;
}

static struct code {
	struct fat_wrapper wrapper;
	void **handle;
} codes[4];

void **register_code_object(const char *target)
{
	struct code *code = codes;
	size_t bytes;
	void *image = read_code_object(&bytes);

	while (code->handle)
		code++;
	assert_true(code < codes + sizeof(codes) / sizeof(*codes));
	code->wrapper =
		(struct fat_wrapper){0x48495046, 1, make_bundle(target, image, bytes), NULL};
	free(image);
	code->handle = __hipRegisterFatBinary(&code->wrapper);
	return code->handle;
}

void unregister_code_object(void **handle)
{
	struct code *code = codes;

	while (code->handle != handle)
		code++;
	__hipUnregisterFatBinary(handle);
	free((void *)(uintptr_t)code->wrapper.binary);
	code->handle = NULL;
}

char scale_stub, counter_variable;
static void **code;

int set_up_code(void **state)
{
	(void)state;
	code = register_code_object(OUR_TARGET);
	__hipRegisterFunction(code, &scale_stub, NULL, "_Z5scalePfj", 0, NULL, NULL, NULL, NULL,
			      NULL);
	__hipRegisterVar(code, &counter_variable, NULL, "counter", 0, sizeof(int), 0, 0);
	return 0;
}

int tear_down_code(void **state)
{
	(void)state;
	unregister_code_object(code);
	return 0;
}

char *stderr_of(void (*body)(void))
{
	char path[] = "/tmp/api_test.XXXXXX";
	int file = mkstemp(path), kept = dup(STDERR_FILENO);
	size_t bytes;

	assert_true(file >= 0 && kept >= 0);
	fflush(stderr);
	dup2(file, STDERR_FILENO);
	body();
	fflush(stderr);
	dup2(kept, STDERR_FILENO);
	close(kept);
	close(file);
	char *text = read_whole(path, &bytes);

	unlink(path);
	return text;
}
