/*
 * Thousands of small managed objects that a kernel reaches through a table of pointers, each an
 * allocation of its own, or all out of one pool.
 *
 * Object i has 4 << i % 9 words: 16 bytes to 4 KiB, each a power of two, 9 in turn. What its trace
 * must show, with n objects, n a multiple of 9, w = 2044 n / 9 words in all, T = 16 n / 4096 pages
 * of the table (rounded up), r launches:
 *   allocations   n + 1 managed; --pool: 2, and the pool's 4 w bytes are Q = 4 w / 4096 pages
 *   host, before  n pages (Q) and T pages written
 *   each launch   w reads and w writes of the objects, and 2 reads of the table by each lane
 *                 (64 lanes an object); n pages (Q) and T pages
 *   host, after   n pages (Q) read
 *
 * Under driver `demand`, page size 4 KiB: n + T device faults (--pool: Q + T), 4096 bytes each to
 * the device, n (Q) host faults and 4096 bytes each back. 64 KiB: n + T / 16 device faults but the
 * same bytes, since an allocation has pages of its own; --pool: Q / 16 + T / 16 (all rounded up).
 *
 * Under driver `amdgpu_svm`, table and pool at most 2 MiB: with XNACK n + 1 device faults and n
 * host faults, --pool: 2 and 1, the same bytes. Without: no fault, no migration, by each launch all
 * 129 n / 9 lines of the objects (--pool: 4 w / 64) read and written remotely, and 16 n / 64 of the
 * table read.
 */
#include "kernel_common.h"

#include <vector>

#define SIZES 9

struct object {
	unsigned *words;
	unsigned long count;
};

__global__ void touch_objects(const struct object *__restrict__ table)
{
	struct object object = table[blockIdx.x];
	for (unsigned long i = threadIdx.x; i < object.count; i += blockDim.x)
		object.words[i] += 1;
}

static unsigned long words_of(long i)
{
	return 4ul << i % SIZES;
}

static unsigned value_at(long i, unsigned long word)
{
	return (unsigned)(i * 31 + word);
}

static void *allocate(size_t bytes)
{
	void *memory;
	HIP_CHECK(hipMallocManaged(&memory, bytes, hipMemAttachGlobal));
	return memory;
}

/* Where each object is; the pool, if there is one, begins with the first. */
static std::vector<unsigned *> make_objects(long count, bool pool)
{
	std::vector<unsigned *> objects(count);
	size_t words = 0;
	for (long i = 0; i < count; i++)
		words += words_of(i);
	unsigned *next = pool ? (unsigned *)allocate(words * 4) : nullptr;
	for (long i = 0; i < count; i++) {
		objects[i] = pool ? next : (unsigned *)allocate(words_of(i) * 4);
		next = pool ? next + words_of(i) : nullptr;
	}
	return objects;
}

static void fill(const std::vector<unsigned *> &objects, struct object *table)
{
	for (size_t i = 0; i < objects.size(); i++) {
		table[i] = {objects[i], words_of(i)};
		for (unsigned long word = 0; word < words_of(i); word++)
			objects[i][word] = value_at(i, word);
	}
}

static long count_wrong(const std::vector<unsigned *> &objects, long launches)
{
	long wrong = 0;
	for (size_t i = 0; i < objects.size(); i++)
		for (unsigned long word = 0; word < words_of(i); word++)
			wrong += objects[i][word] != value_at(i, word) + launches;
	return wrong;
}

int main(int argc, char **argv)
{
	long count = 1998, launches = 2;
	bool pool = false;
	const struct option_row rows[] = {
		{"count", "COUNT", "objects (default 1998)", &count, nullptr, nullptr},
		{"launches", "COUNT", "that touch all of them (default 2)", &launches, nullptr,
		 nullptr},
		{"pool", nullptr, "one allocation for all objects", nullptr, &pool, nullptr},
	};
	parse_options(argc, argv, "Thousands of small managed objects behind a table of pointers.",
		      rows, 3);

	std::vector<unsigned *> objects = make_objects(count, pool);
	struct object *table = (struct object *)allocate(count * sizeof(*table));
	fill(objects, table);
	for (long i = 0; i < launches; i++)
		touch_objects<<<count, 64>>>(table);
	HIP_CHECK(hipGetLastError());
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = count_wrong(objects, launches);
	HIP_CHECK(hipFree(table));
	for (size_t i = 0; i < (pool ? 1 : objects.size()); i++)
		HIP_CHECK(hipFree(objects[i]));
	return report("small_allocs", wrong);
}
