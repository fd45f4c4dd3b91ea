/*
 * mprotect() and SIGSEGV, for kernels and containers without userfaultfd: a watched page has no
 * rights until it is read, and no right to write until it is written. What this cannot do is said
 * in wrap/wrap.h, whose library must be loaded, since the kernel fails with EFAULT on such a page.
 *
 * Faults of several threads, system calls and the runtime meet in the state of a page, under a lock
 * that is held with all signals blocked: a signal handler may touch watched memory, too. Only
 * collect() goes without the lock, since writing records may take as long as the reader likes; the
 * states are changed by atomic operations for its sake.
 */
#include "hostwatch_method.h"
#include "arena.h"
#include "hostwatch_place.h"
#include "lazy_map.h"

#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The state of a page: its touch is UM_TOUCH_READ and UM_TOUCH_WRITTEN. */
#define TOUCH	(UM_TOUCH_READ | UM_TOUCH_WRITTEN)
#define MANAGED 4u
#define ARMED	8u
#define CALL	16u   /* times the system calls that have it open now */
#define CALLS	0xf0u /* all 15 counted: stays so */

/* When the system has no more mappings (vm.max_map_count), so much around a page is given up. */
static const uint64_t give_up_pages[] = {512, 32768, UM_ARENA_PAGES};

static uint8_t *state; /* of UM_ARENA_PAGES pages, filled lazily */
static atomic_flag lock_flag = ATOMIC_FLAG_INIT;
static um_wrap_stop_call *wrap_stop;
static bool asks_places;
static atomic_bool changed; /* a page was touched or opened since arm() */

/* Who touched first, by page and access (UM_FAULT_READ, UM_FAULT_WRITE); NULL: not asked for. */
static struct um_page_touch (*first_touch)[2];
static um_wrap_guard_call *wrap_guard;
static uint32_t touches; /* of this interval */

/* The system call itself: pthread_sigmask() is wrapped. */
static void set_mask(const uint64_t *mask, uint64_t *before)
{
	syscall(SYS_rt_sigprocmask, SIG_SETMASK, mask, before, sizeof(*mask));
}

static void lock(uint64_t *before)
{
	const uint64_t all = ~0ull;

	set_mask(&all, before);
	while (atomic_flag_test_and_set_explicit(&lock_flag, memory_order_acquire))
		sched_yield();
}

static void unlock(const uint64_t *before)
{
	atomic_flag_clear_explicit(&lock_flag, memory_order_release);
	set_mask(before, NULL);
}

/* --- rights --- */

static bool set_rights(uint64_t first_page, uint64_t end_page, int rights)
{
	return first_page == end_page ||
	       !mprotect(um_watch_address(first_page), (end_page - first_page) << UM_PAGE_SHIFT,
			 rights);
}

/* What a page may be used for when no system call has it open. */
static int rights_of(unsigned page_state)
{
	if (!(page_state & ARMED) || page_state & UM_TOUCH_WRITTEN)
		return PROT_READ | PROT_WRITE;
	return page_state & UM_TOUCH_READ ? PROT_READ : PROT_NONE;
}

static unsigned state_of(uint64_t page)
{
	return __atomic_load_n(&state[page], __ATOMIC_RELAXED);
}

static unsigned clear_state(uint64_t page, unsigned bits)
{
	return __atomic_fetch_and(&state[page], (uint8_t)~bits, __ATOMIC_RELAXED);
}

static void set_state(uint64_t page, unsigned bits)
{
	__atomic_fetch_or(&state[page], (uint8_t)bits, __ATOMIC_RELAXED);
}

static void disarm(uint64_t first_page, uint64_t end_page)
{
	for (uint64_t page = first_page; page < end_page; page++)
		clear_state(page, ARMED);
	atomic_store_explicit(&changed, true, memory_order_relaxed);
}

/* What reads a page that was written does not fault, and so counts nowhere. */
static bool is_first(uint64_t page, bool write)
{
	return !first_touch[page][write].touch && !first_touch[page][true].touch;
}

static void note_place(uint64_t page, bool write, uint32_t place)
{
	if (first_touch && is_first(page, write))
		first_touch[page][write] = (struct um_page_touch){++touches, place};
}

static void note_touch(uint64_t page, bool write, uint32_t place)
{
	note_place(page, write, place);
	set_state(page, write ? UM_TOUCH_WRITTEN : UM_TOUCH_READ);
	atomic_store_explicit(&changed, true, memory_order_relaxed);
}

/* The page must become usable, whatever it costs: more and more around it is no longer watched. */
static void give_up(uint64_t page)
{
	uint64_t span_pages = um_arena.span >> UM_PAGE_SHIFT;

	um_watch_note("too many pages touched apart for mprotect (vm.max_map_count): part of what "
		      "the host touched is not known");
	for (size_t i = 0; i < sizeof(give_up_pages) / sizeof(give_up_pages[0]); i++) {
		uint64_t first = page / give_up_pages[i] * give_up_pages[i];
		uint64_t end = first + give_up_pages[i];

		if (end > span_pages)
			end = span_pages;
		if (!set_rights(first, end, PROT_READ | PROT_WRITE))
			continue;
		disarm(first, end);
		return;
	}
}

/* Sets the rights that `wanted` gives for each page, with one call for equal neighbours. */
static void set_rights_of(uint64_t first_page, uint64_t end_page, int (*wanted)(uint64_t page))
{
	for (uint64_t first = first_page, end; first < end_page; first = end) {
		int rights = wanted(first);

		for (end = first + 1; end < end_page && wanted(end) == rights; end++)
			;
		if (!set_rights(first, end, rights))
			give_up(first);
	}
}

/* --- faults and system calls --- */

static bool page_at(uintptr_t address, uint64_t *page)
{
	uint64_t offset = address - (uintptr_t)um_arena.base;

	*page = offset >> UM_PAGE_SHIFT;
	return offset < um_arena.span;
}

/* The lock is held, and given up meanwhile where the stack is a new one. */
static uint32_t find_place(struct um_touch_place *place, uint64_t *before)
{
	uint32_t touch = um_touch_find(place);

	if (touch)
		return touch;
	unlock(before);
	um_touch_walk(place, wrap_guard);
	lock(before);
	return um_touch_add(place);
}

static uint32_t interrupted_place(const ucontext_t *interrupted, uint64_t *before)
{
	struct um_touch_place place;

	if (!first_touch)
		return 0;
	um_touch_interrupted(&place, interrupted);
	return find_place(&place, before);
}

static bool fault(const void *address, bool write, const ucontext_t *interrupted)
{
	uint64_t page, before;
	uint32_t place = 0;

	if (!page_at((uintptr_t)address, &page))
		return false;
	lock(&before);
	if (state_of(page) & ARMED)
		place = interrupted_place(interrupted, &before);
	bool managed = state_of(page) & MANAGED;

	if (managed) {
		if (state_of(page) & ARMED)
			note_touch(page, write, place);
		if (!set_rights(page, page + 1, rights_of(state_of(page))))
			give_up(page);
	}
	unlock(&before);
	return managed;
}

/* The part of a buffer that lies in the arena, as pages. */
static bool arena_part(uintptr_t start, size_t bytes, struct um_watch_range *part)
{
	uintptr_t arena = (uintptr_t)um_arena.base, arena_end = arena + um_arena.span;

	if (!um_arena.span || !bytes || start >= arena_end || start + bytes <= arena)
		return false;
	page_at(start > arena ? start : arena, &part->first_page);
	page_at((start + bytes < arena_end ? start + bytes : arena_end) - 1, &part->end_page);
	part->end_page++;
	return true;
}

static int rights_to_write(uint64_t page)
{
	(void)page;
	return PROT_READ | PROT_WRITE;
}

static int rights_to_read(uint64_t page)
{
	return rights_of(state_of(page)) | PROT_READ;
}

static int rights_now(uint64_t page)
{
	/* Another call may need it: of its rights only that it has some is known. */
	unsigned now = state_of(page);

	return now & CALLS ? PROT_READ | PROT_WRITE : rights_of(now);
}

static bool open_pages(uintptr_t start, size_t bytes, bool write)
{
	struct um_watch_range part;
	bool watched = false;
	uint64_t before;

	if (!arena_part(start, bytes, &part))
		return false;
	lock(&before);
	for (uint64_t page = part.first_page; page < part.end_page; page++) {
		if (!(state_of(page) & MANAGED))
			continue;
		watched = true;
		if ((state_of(page) & CALLS) != CALLS)
			__atomic_fetch_add(&state[page], CALL, __ATOMIC_RELAXED);
	}
	if (watched)
		set_rights_of(part.first_page, part.end_page,
			      write ? rights_to_write : rights_to_read);
	unlock(&before);
	return watched;
}

/* Whether it would be the first to touch any of them. */
static bool is_news(struct um_watch_range used, bool write)
{
	for (uint64_t page = used.first_page; page < used.end_page; page++)
		if (state_of(page) & ARMED && is_first(page, write))
			return true;
	return false;
}

static uint32_t calling_place(struct um_watch_range used, bool write, uintptr_t slot,
			      uint64_t *before)
{
	struct um_touch_place place;

	if (!first_touch || !is_news(used, write))
		return 0;
	um_touch_in_call(&place, slot);
	return find_place(&place, before);
}

static void close_pages(uintptr_t start, size_t bytes, size_t touched, bool write, uintptr_t slot)
{
	struct um_watch_range part, used = {0, 0};
	uint64_t before;
	uint32_t place;

	if (!arena_part(start, bytes, &part))
		return;
	arena_part(start, touched, &used);
	lock(&before);
	place = calling_place(used, write, slot, &before);
	for (uint64_t page = part.first_page; page < part.end_page; page++) {
		unsigned calls = state_of(page) & CALLS;

		if (calls && calls != CALLS)
			__atomic_fetch_sub(&state[page], CALL, __ATOMIC_RELAXED);
		if (state_of(page) & ARMED && page >= used.first_page && page < used.end_page)
			note_touch(page, write, place);
	}
	set_rights_of(part.first_page, part.end_page, rights_now);
	unlock(&before);
}

/* --- the method --- */

static bool start(void)
{
	static const struct um_wrap_hooks hooks = {fault, open_pages, close_pages};
	um_wrap_start_call *wrap_start = (um_wrap_start_call *)dlsym(RTLD_DEFAULT, "um_wrap_start");

	wrap_stop = (um_wrap_stop_call *)dlsym(RTLD_DEFAULT, "um_wrap_stop");
	if (!wrap_start || !wrap_stop)
		return false;
	if (!state)
		state = um_lazy_map(UM_ARENA_PAGES);
	wrap_guard = (um_wrap_guard_call *)dlsym(RTLD_DEFAULT, "um_wrap_guard");
	if (asks_places && wrap_guard)
		first_touch = um_lazy_map(UM_ARENA_PAGES * sizeof(*first_touch));
	return state && (first_touch || !asks_places) && wrap_start(&hooks);
}

static void ask_places(void)
{
	asks_places = true;
}

static bool touch_of(uint64_t page, unsigned access, struct um_page_touch *touch)
{
	if (first_touch)
		*touch = first_touch[page][access];
	return first_touch != NULL;
}

/* With its touches, which belong to the interval before. */
static void forget_places(uint64_t first_page, uint64_t end_page)
{
	static const struct um_page_touch none[2];

	for (uint64_t page = first_page; first_touch && page < end_page; page++)
		if (memcmp(first_touch[page], none, sizeof(none)) != 0)
			memset(first_touch[page], 0, sizeof(none));
}

static bool add(struct um_watch_range range)
{
	uint64_t before;

	lock(&before);
	forget_places(range.first_page, range.end_page);
	memset(state + range.first_page, MANAGED | ARMED, range.end_page - range.first_page);
	bool works = set_rights(range.first_page, range.end_page, PROT_NONE);
	unlock(&before);
	return works;
}

static bool remove_range(struct um_watch_range range)
{
	uint64_t before;

	lock(&before);
	memset(state + range.first_page, 0, range.end_page - range.first_page);
	bool works = set_rights(range.first_page, range.end_page, PROT_READ | PROT_WRITE);
	unlock(&before);
	return works;
}

/* Those that a system call has open keep their rights. */
static bool arm_run(uint64_t first_page, uint64_t end_page)
{
	unsigned calls = 0;

	forget_places(first_page, end_page);
	for (uint64_t page = first_page; page < end_page; page++) {
		clear_state(page, TOUCH);
		set_state(page, ARMED);
		calls |= state_of(page) & CALLS;
	}
	if (!calls)
		return set_rights(first_page, end_page, PROT_NONE);
	set_rights_of(first_page, end_page, rights_now);
	return true;
}

static bool untouched(uint64_t page)
{
	return (state_of(page) & (ARMED | TOUCH)) == ARMED;
}

static bool arm_block(struct um_watch_range block)
{
	bool works = true;

	for (uint64_t first = block.first_page, end; first < block.end_page; first = end) {
		bool armed = untouched(first);

		for (end = first + 1; end < block.end_page && untouched(end) == armed; end++)
			;
		if (!armed)
			works &= arm_run(first, end);
	}
	return works;
}

/* collect() has disarmed what was touched, and open() all. */
static bool arm(struct um_watch_blocks blocks)
{
	bool works = true;
	uint64_t before;

	if (!atomic_load_explicit(&changed, memory_order_relaxed))
		return true;
	lock(&before);
	atomic_store_explicit(&changed, false, memory_order_relaxed);
	touches = 0;
	for (size_t i = 0; i < blocks.count; i++)
		works &= arm_block(blocks.block[i]);
	unlock(&before);
	return works;
}

static bool open_blocks(struct um_watch_blocks blocks)
{
	bool works = true;
	uint64_t before;

	lock(&before);
	for (size_t i = 0; i < blocks.count; i++) {
		works &= set_rights(blocks.block[i].first_page, blocks.block[i].end_page,
				    PROT_READ | PROT_WRITE);
		disarm(blocks.block[i].first_page, blocks.block[i].end_page);
	}
	unlock(&before);
	return works;
}

static bool rearm(struct um_watch_blocks blocks)
{
	bool works = true;
	uint64_t before;

	if (!atomic_load_explicit(&changed, memory_order_relaxed))
		return true;
	lock(&before);
	for (size_t i = 0; i < blocks.count; i++)
		works &= arm_block(blocks.block[i]);
	unlock(&before);
	return works;
}

static uint32_t take_touch(uint64_t page)
{
	if (!(state_of(page) & TOUCH))
		return 0;
	unsigned before = clear_state(page, TOUCH | ARMED);

	if (!(before & ARMED))
		return 0;
	return before & UM_TOUCH_WRITTEN ? UM_TOUCH_WRITTEN : before & UM_TOUCH_READ;
}

static void emit_block(struct um_watch_range block, um_watch_emit *emit)
{
	uint64_t first = block.first_page;
	uint32_t touch = 0;

	for (uint64_t page = block.first_page; page < block.end_page; page++) {
		uint32_t here = take_touch(page);

		if (here == touch)
			continue;
		if (touch)
			emit(first, page, touch);
		first = page;
		touch = here;
	}
	if (touch)
		emit(first, block.end_page, touch);
}

static bool collect(struct um_watch_blocks blocks, um_watch_emit *emit)
{
	if (!atomic_load_explicit(&changed, memory_order_relaxed))
		return true;
	for (size_t i = 0; i < blocks.count; i++)
		emit_block(blocks.block[i], emit);
	return true;
}

static void child(void)
{
	atomic_flag_clear(&lock_flag); /* of a thread that is not here */
	wrap_stop();
}

const struct um_watch_method um_watch_mprotect = {
	.kind = UM_HOST_WATCH_MPROTECT,
	.limits =
		"watched with mprotect: system calls other than read, write, send, recv and "
		"stdio's fail with EFAULT on watched pages; pages in use by a system call are not "
		"seen by other threads",
	.start = start,
	.add = add,
	.remove = remove_range,
	.arm = arm,
	.rearm = rearm,
	.collect = collect,
	.open = open_blocks,
	.touch = touch_of,
	.ask_places = ask_places,
	.child = child,
};
