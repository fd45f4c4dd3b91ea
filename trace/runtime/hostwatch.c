/* Ranges, choice of the method, and the cutting of what it found at the ranges' ends. */
#include "hostwatch_method.h"
#include "arena.h"
#include "../spool/spool_ring.h"

#include <string.h>
#include <sys/mman.h>

/* Best first. */
static const struct um_watch_method *const methods[] = {
	&um_watch_wp_async,
	&um_watch_uffd_sync,
	&um_watch_mprotect,
};

static struct {
	const struct um_watch_method *method; /* NULL: off */
	const char *trouble;
	bool asks_places;
	struct um_watch_range *range; /* sorted; from mmap */
	struct um_watch_range *block; /* the same, joined; room for as many */
	size_t count, capacity, block_count;
	bool blocks_stale;
} watch;

char *um_watch_address(uint64_t page)
{
	return um_arena.base + (page << UM_PAGE_SHIFT);
}

enum um_host_watch um_hostwatch_init(uint32_t wanted)
{
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++) {
		if (wanted != UM_HOST_WATCH_BEST && wanted != methods[i]->kind)
			continue;
		if (watch.asks_places && !methods[i]->ask_places)
			continue;
		if (watch.asks_places)
			methods[i]->ask_places();
		if (methods[i]->start()) {
			watch.method = methods[i];
			return methods[i]->kind;
		}
	}
	return UM_HOST_WATCH_NONE;
}

void um_hostwatch_ask_places(void)
{
	watch.asks_places = true;
}

bool um_hostwatch_touch(uint64_t page, unsigned access, struct um_page_touch *touch)
{
	return watch.asks_places && watch.method && watch.method->touch &&
	       watch.method->touch(page, access, touch);
}

const char *um_hostwatch_limits(void)
{
	return watch.method ? watch.method->limits : NULL;
}

uint32_t um_hostwatch_threads(void)
{
	return watch.method ? watch.method->threads : 0;
}

const char *um_hostwatch_trouble(void)
{
	const char *text = watch.trouble;

	watch.trouble = NULL;
	return text;
}

void um_watch_note(const char *trouble)
{
	watch.trouble = trouble;
}

static void check(bool works, const char *trouble)
{
	if (works)
		return;
	watch.method = NULL;
	um_watch_note(trouble);
}

/* --- ranges --- */

static void *map_ranges(size_t count)
{
	void *map = mmap(NULL, count * sizeof(struct um_watch_range), PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (map == MAP_FAILED)
		return NULL;
	/* Its flag keeps the kernel from joining it to mappings of the program (pageable.h). */
	madvise(map, count * sizeof(struct um_watch_range), MADV_DONTDUMP);
	return map;
}

static bool grow(void)
{
	size_t capacity = watch.capacity ? 2 * watch.capacity : 4096;
	struct um_watch_range *range = map_ranges(capacity), *block = map_ranges(capacity);
	size_t old_bytes = watch.capacity * sizeof(*range);

	if (!range || !block)
		return false;
	if (old_bytes) {
		memcpy(range, watch.range, watch.count * sizeof(*range));
		munmap(watch.range, old_bytes);
		munmap(watch.block, old_bytes);
	}
	watch.range = range;
	watch.block = block;
	watch.capacity = capacity;
	watch.blocks_stale = true;
	return true;
}

/* Index of the first range at or above `page`. */
static size_t find(uint64_t page)
{
	size_t low = 0, high = watch.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (watch.range[middle].first_page < page)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static struct um_watch_blocks blocks(void)
{
	if (watch.blocks_stale) {
		watch.block_count = 0;
		for (size_t i = 0; i < watch.count; i++) {
			struct um_watch_range *last = watch.block + watch.block_count - 1;

			if (watch.block_count && last->end_page == watch.range[i].first_page)
				last->end_page = watch.range[i].end_page;
			else
				watch.block[watch.block_count++] = watch.range[i];
		}
		watch.blocks_stale = false;
	}
	return (struct um_watch_blocks){watch.block, watch.block_count};
}

static struct um_watch_range pages_of(uint64_t offset, uint64_t bytes)
{
	return (struct um_watch_range){offset >> UM_PAGE_SHIFT,
				       (offset + bytes + UM_PAGE_BYTES - 1) >> UM_PAGE_SHIFT};
}

void um_hostwatch_add(uint64_t offset, uint64_t bytes)
{
	struct um_watch_range added = pages_of(offset, bytes);

	if (!watch.method)
		return;
	if (watch.count == watch.capacity && !grow()) {
		check(false, "no memory for the list of watched ranges");
		return;
	}
	size_t at = find(added.first_page);

	memmove(watch.range + at + 1, watch.range + at,
		(watch.count - at) * sizeof(watch.range[0]));
	watch.range[at] = added;
	watch.count++;
	watch.blocks_stale = true;
	check(watch.method->add(added), "managed memory could not be watched any more");
}

void um_hostwatch_remove(uint64_t offset, uint64_t bytes)
{
	struct um_watch_range removed = pages_of(offset, bytes);
	size_t at = find(removed.first_page);

	if (!watch.method || at == watch.count || watch.range[at].first_page != removed.first_page)
		return;
	watch.count--;
	memmove(watch.range + at, watch.range + at + 1,
		(watch.count - at) * sizeof(watch.range[0]));
	watch.blocks_stale = true;
	check(watch.method->remove(removed), "managed memory could not be watched any more");
}

/* --- intervals --- */

/* Of the collection that runs: callers hold the runtime lock. */
static struct {
	void (*run)(uint64_t first_page, uint64_t pages, uint32_t touch, void *context);
	void *context;
	size_t next; /* first range that may hold pages to come */
	struct um_watch_range pending;
	uint32_t pending_touch; /* 0: none */
} collection;

static void emit_pending(void)
{
	if (collection.pending_touch)
		collection.run(collection.pending.first_page,
			       collection.pending.end_page - collection.pending.first_page,
			       collection.pending_touch, collection.context);
	collection.pending_touch = 0;
}

static void emit_in_range(const struct um_watch_range *range, struct um_watch_range touched,
			  uint32_t touch)
{
	if (collection.pending_touch == touch &&
	    collection.pending.end_page == touched.first_page &&
	    collection.pending.first_page >= range->first_page) {
		collection.pending.end_page = touched.end_page;
		return;
	}
	emit_pending();
	collection.pending = touched;
	collection.pending_touch = touch;
}

static void cut_at_ranges(uint64_t first_page, uint64_t end_page, uint32_t touch)
{
	for (; collection.next < watch.count; collection.next++) {
		const struct um_watch_range *range = watch.range + collection.next;
		struct um_watch_range part = {first_page, end_page};

		if (part.first_page < range->first_page)
			part.first_page = range->first_page;
		if (part.end_page > range->end_page)
			part.end_page = range->end_page;
		if (part.first_page < part.end_page)
			emit_in_range(range, part, touch);
		if (end_page <= range->end_page)
			return;
	}
}

void um_hostwatch_arm(void)
{
	if (watch.method && watch.count)
		check(watch.method->arm(blocks()), "managed memory could not be watched any more");
}

/* `next`: the first range that may hold any of it. */
static void collect(struct um_watch_blocks of, size_t next,
		    void (*run)(uint64_t first_page, uint64_t pages, uint32_t touch, void *),
		    void *context)
{
	collection.run = run;
	collection.context = context;
	collection.next = next;
	collection.pending_touch = 0;
	check(watch.method->collect(of, cut_at_ranges),
	      "what the host touched could not be read any more");
	emit_pending();
}

void um_hostwatch_collect(void (*run)(uint64_t first_page, uint64_t pages, uint32_t touch, void *),
			  void *context)
{
	if (watch.method && watch.count)
		collect(blocks(), 0, run, context);
}

/* The blocks that have any of [first_page, end_page): from the first that ends behind its start. */
static struct um_watch_blocks blocks_between(uint64_t first_page, uint64_t end_page)
{
	struct um_watch_blocks all = blocks();
	size_t low = 0, high = all.count, end;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (all.block[middle].end_page <= first_page)
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < all.count && all.block[end].first_page < end_page; end++)
		;
	return (struct um_watch_blocks){all.block + low, end - low};
}

void um_hostwatch_split(uint64_t first_page, uint64_t end_page,
			void (*run)(uint64_t first_page, uint64_t pages, uint32_t touch, void *),
			void *context)
{
	if (!watch.method || !watch.count)
		return;
	struct um_watch_blocks some = blocks_between(first_page, end_page);

	if (!some.count)
		return;
	/* Those at its ends are cut to it meanwhile. */
	struct um_watch_range *first = watch.block + (some.block - watch.block);
	struct um_watch_range *last = first + some.count - 1;
	uint64_t first_whole = first->first_page, last_whole = last->end_page;
	size_t next = find(first_page);

	if (first->first_page < first_page)
		first->first_page = first_page;
	if (last->end_page > end_page)
		last->end_page = end_page;
	collect(some, next ? next - 1 : 0, run, context);
	if (watch.method)
		check(watch.method->rearm(some), "managed memory could not be watched any more");
	first->first_page = first_whole;
	last->end_page = last_whole;
}

void um_hostwatch_open(void)
{
	if (watch.method && watch.count && watch.method->open)
		check(watch.method->open(blocks()), "managed memory could not be opened again");
}

void um_hostwatch_child(void)
{
	if (watch.method)
		watch.method->child();
	watch.method = NULL;
	watch.count = 0;
}
