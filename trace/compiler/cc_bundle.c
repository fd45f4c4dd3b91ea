#include "cc_bundle.h"

#include "trace/base/error.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { IMAGE_ALIGN = 4096 };

static const char magic[] = "__CLANG_OFFLOAD_BUNDLE__";
static const char host_target[] = "host-x86_64-unknown-linux";

int um_read_file(void **out, size_t *out_bytes, const char *path)
{
	FILE *file = fopen(path, "rb");
	struct stat status;
	char *data;

	if (!file || fstat(fileno(file), &status)) {
		if (file)
			fclose(file);
		return um_fail_errno(UM_EIO, "cannot read %s", path);
	}
	data = malloc((size_t)status.st_size + 1);
	if (!data || fread(data, 1, (size_t)status.st_size, file) != (size_t)status.st_size) {
		free(data);
		fclose(file);
		return um_fail(UM_EIO, "cannot read %s", path);
	}
	fclose(file);
	data[status.st_size] = 0;
	*out = data;
	*out_bytes = (size_t)status.st_size;
	return 0;
}

static char *put_u64(char *to, uint64_t value)
{
	memcpy(to, &value, sizeof value);
	return to + sizeof value;
}

static char *put_entry(char *to, uint64_t offset, uint64_t bytes, const char *target)
{
	to = put_u64(to, offset);
	to = put_u64(to, bytes);
	to = put_u64(to, strlen(target));
	memcpy(to, target, strlen(target));
	return to + strlen(target);
}

static size_t align_up(size_t n)
{
	return (n + IMAGE_ALIGN - 1) / IMAGE_ALIGN * IMAGE_ALIGN;
}

static int read_images(void **images, size_t *bytes, const struct um_bundle_image *from,
		       size_t count)
{
	int error = 0;

	for (size_t i = 0; i < count && !error; i++)
		error = um_read_file(&images[i], &bytes[i], from[i].path);
	return error;
}

static int assemble(void **out, size_t *out_bytes, const struct um_bundle_image *from,
		    void *const *images, const size_t *bytes, size_t count)
{
	size_t total = sizeof magic - 1 + 8 + 24 + sizeof host_target - 1, offset;
	char *bundle, *to;

	for (size_t i = 0; i < count; i++)
		total += 24 + strlen(from[i].target);
	offset = total = align_up(total);
	for (size_t i = 0; i < count; i++)
		total += align_up(bytes[i]);
	bundle = calloc(1, total);
	if (!bundle)
		return um_fail(UM_ENOMEM, "out of memory for a bundle of %zu bytes", total);
	memcpy(bundle, magic, sizeof magic - 1);
	to = put_u64(bundle + sizeof magic - 1, count + 1);
	to = put_entry(to, offset, 0, host_target);
	for (size_t i = 0; i < count; i++) {
		to = put_entry(to, offset, bytes[i], from[i].target);
		memcpy(bundle + offset, images[i], bytes[i]);
		offset += align_up(bytes[i]);
	}
	*out = bundle;
	*out_bytes = total;
	return 0;
}

int um_bundle_make(void **out, size_t *out_bytes, const struct um_bundle_image *from, size_t count)
{
	void **images = calloc(count, sizeof *images);
	size_t *bytes = calloc(count, sizeof *bytes);
	int error = images && bytes ? 0 : um_fail(UM_ENOMEM, "out of memory");

	if (!error)
		error = read_images(images, bytes, from, count);
	if (!error)
		error = assemble(out, out_bytes, from, images, bytes, count);
	for (size_t i = 0; images && i < count; i++)
		free(images[i]);
	free(images);
	free(bytes);
	return error;
}
