#include "kernel_times.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

struct measured {
	char *name;
	int64_t shape[6];
	uint64_t ns;
};

struct um_kernel_times {
	char *path, *device;
	bool is_measured;
	struct measured *kernels; /* sorted when all are there */
	size_t count, capacity;
	struct um_db *db;
};

void um_kernel_times_destroy(struct um_kernel_times *times)
{
	if (!times)
		return;
	for (size_t i = 0; i < times->count; i++)
		free(times->kernels[i].name);
	free(times->kernels);
	free(times->path);
	free(times->device);
	free(times);
}

const char *um_kernel_times_path(const struct um_kernel_times *times)
{
	return times->path;
}

const char *um_kernel_times_device(const struct um_kernel_times *times)
{
	return times->device;
}

/* Compilers write parameters differently. */
static size_t name_bytes(const char *name)
{
	return strcspn(name, "(");
}

static void take_shape(int64_t shape[6], const struct um_kernel_row *row)
{
	const int64_t from[6] = {row->grid_x,  row->grid_y,  row->grid_z,
				 row->block_x, row->block_y, row->block_z};

	memcpy(shape, from, sizeof(from));
}

static int compare_kinds(const void *a, const void *b)
{
	const struct measured *left = a, *right = b;
	int order = strcmp(left->name, right->name);

	for (size_t i = 0; i < 6 && !order; i++)
		order = (left->shape[i] > right->shape[i]) - (left->shape[i] < right->shape[i]);
	return order;
}

static int compare(const void *a, const void *b)
{
	const struct measured *left = a, *right = b;
	int order = compare_kinds(a, b);

	return order ? order : (left->ns > right->ns) - (left->ns < right->ns);
}

static int grow(struct um_kernel_times *times)
{
	size_t capacity = times->capacity ? times->capacity * 2 : 64;
	struct measured *grown = realloc(times->kernels, capacity * sizeof(*grown));

	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for the times of %zu launches", capacity);
	times->kernels = grown;
	times->capacity = capacity;
	return 0;
}

static int take_kernel(const void *data, void *context)
{
	const struct um_kernel_row *row = data;
	struct um_kernel_times *times = context;
	struct measured *kernel;
	int64_t ns;
	int error = um_db_integer(times->db,
				  "SELECT COALESCE(MAX(end_ns - start_ns), 0) FROM op WHERE op = ?",
				  row->op, &ns);

	if (error || ns <= 0 || !row->name)
		return error;
	if (times->count == times->capacity && grow(times))
		return UM_ENOMEM;
	kernel = &times->kernels[times->count];
	kernel->name = strndup(row->name, name_bytes(row->name));
	if (!kernel->name)
		return um_fail(UM_ENOMEM, "no memory for a name");
	take_shape(kernel->shape, row);
	kernel->ns = (uint64_t)ns;
	times->count++;
	return 0;
}

static int take_origin(const void *data, void *context)
{
	const struct um_origin_row *row = data;
	struct um_kernel_times *times = context;

	times->is_measured = row->origin &&
			     (!strcmp(row->origin, "measured") || !strcmp(row->origin, "imported"));
	return 0;
}

static int take_device(const void *data, void *context)
{
	const struct um_device_row *row = data;
	struct um_kernel_times *times = context;

	if (!times->device)
		times->device = strdup(row->name ? row->name : "?");
	return times->device ? 0 : um_fail(UM_ENOMEM, "no memory for a name");
}

static int read_times(struct um_kernel_times *times)
{
	int error = um_db_each(times->db, &um_table_origin, "record = 'op.time' AND ?1 = 0", 0,
			       take_origin, times);

	if (!error)
		error = um_db_each(times->db, &um_table_device, NULL, 0, take_device, times);
	if (!error && times->is_measured)
		error = um_db_each(times->db, &um_table_kernel, NULL, 0, take_kernel, times);
	if (error || times->count)
		return error;
	return um_fail(UM_ENOTSUP, "%s: it has no times of kernels that a GPU took", times->path);
}

int um_kernel_times_load(struct um_kernel_times **out, const char *path)
{
	struct um_kernel_times *times = calloc(1, sizeof(*times));
	int error;

	if (!times)
		return um_fail(UM_ENOMEM, "no memory for the times of kernels");
	times->path = strdup(path);
	error = times->path ? um_db_open(&times->db, path)
			    : um_fail(UM_ENOMEM, "no memory for a name");
	if (!error) {
		error = read_times(times);
		um_db_close(times->db);
	}
	if (error) {
		um_kernel_times_destroy(times);
		return error;
	}
	qsort(times->kernels, times->count, sizeof(*times->kernels), compare);
	*out = times;
	return 0;
}

uint64_t um_kernel_times_find(const struct um_kernel_times *times, const struct um_kernel_row *row)
{
	struct measured wanted = {.name = strndup(row->name, name_bytes(row->name))};
	size_t low = 0, high = times->count;
	uint64_t ns = 0;

	if (!wanted.name)
		return 0;
	take_shape(wanted.shape, row);
	while (low < high) { /* the first of those alike, which is the shortest */
		size_t middle = (low + high) / 2;

		if (compare_kinds(&times->kernels[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < times->count && !compare_kinds(&times->kernels[low], &wanted))
		ns = times->kernels[low].ns;
	free(wanted.name);
	return ns;
}
