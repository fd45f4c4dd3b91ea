/*
 * Eviction orders against textbook strings, whose fault counts are known, and against the plainest
 * implementations that there are, victim for victim.
 */
#include "sim/driver/evict.h"
#include "sim/driver/evict_future.h"
#include "trace/base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define DATA	  3 /* the allocation */
#define PAGES_MAX 64

static uint64_t random_state;

/* xorshift64*: the same numbers everywhere. */
static uint32_t draw(uint32_t limit)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return (uint32_t)((random_state * 0x2545f4914f6cdd1du) >> 33) % limit;
}

/* --- strings --- */

struct string {
	uint32_t pages[4096];
	size_t length;
};

static struct um_future *future_of(const struct string *string, um_page cell_pages)
{
	struct um_future *future;

	assert_int_equal(um_future_create(&future, cell_pages), 0);
	for (size_t i = 0; i < string->length; i++) {
		struct um_access_run run = {.allocation = DATA,
					    .first_page = string->pages[i],
					    .stride = 1,
					    .count = 1};

		assert_int_equal(um_future_add(future, 0, &run, i), 0);
	}
	assert_int_equal(um_future_seal(future), 0);
	return future;
}

/* Faults with so many frames; victims, in order, into `victims` if it is not NULL. */
static size_t run_order(const struct um_evict_ops *ops, uint64_t seed, const struct string *string,
			size_t frames, uint32_t *victims)
{
	struct um_evict_choice choice = {.ops = ops, .seed = seed, .future = future_of(string, 1)};
	struct um_evict_order *order;
	bool resident[PAGES_MAX] = {false};
	size_t used = 0, faults = 0, evicted = 0;

	assert_int_equal(um_evict_create(&order, &choice, NULL, 0), 0);
	for (size_t i = 0; i < string->length; i++) {
		struct um_page_range page = {DATA, string->pages[i], 1}, victim;

		if (!resident[page.first_page]) {
			faults++;
			if (used == frames) {
				assert_true(um_evict_victim(order, &victim));
				assert_int_equal(victim.allocation, DATA);
				assert_int_equal(victim.pages, 1);
				assert_true(resident[victim.first_page]);
				um_evict_left(order, DATA, victim.first_page);
				resident[victim.first_page] = false;
				if (victims)
					victims[evicted++] = victim.first_page;
			} else {
				used++;
			}
			assert_int_equal(um_evict_arrived(order, &page), 0);
			resident[page.first_page] = true;
		}
		um_evict_touched(order, &page);
	}
	um_evict_destroy(order);
	um_future_destroy((struct um_future *)choice.future);
	return faults;
}

static void read_string(struct string *string, const char *digits)
{
	string->length = 0;
	for (; *digits; digits++)
		string->pages[string->length++] = (uint32_t)(*digits - '0');
}

static const struct {
	const char *string;
	size_t frames, fifo, lru, belady;
} textbook[] = {
	/* Silberschatz, Galvin, Gagne: Operating System Concepts, "Page Replacement" */
	{"70120304230321201701", 3, 15, 12, 9},
	/* Belady, Nelson, Shedler 1969: fifo has more faults with more frames */
	{"123412512345", 3, 9, 10, 7},
	{"123412512345", 4, 10, 8, 6},
	{"123412512345", 5, 5, 5, 5},
	/* one frame: every change of page is a fault */
	{"1122331", 1, 4, 4, 4},
};

static void textbook_strings_have_their_known_faults(void **state)
{
	static struct string string;

	(void)state;
	for (size_t i = 0; i < sizeof(textbook) / sizeof(textbook[0]); i++) {
		read_string(&string, textbook[i].string);
		assert_int_equal(run_order(&um_evict_fifo, 0, &string, textbook[i].frames, NULL),
				 textbook[i].fifo);
		assert_int_equal(run_order(&um_evict_lru, 0, &string, textbook[i].frames, NULL),
				 textbook[i].lru);
		assert_int_equal(run_order(&um_evict_belady, 0, &string, textbook[i].frames, NULL),
				 textbook[i].belady);
	}
}

/* --- the plainest implementations: a time for each page, and the one with the least leaves --- */

/* When the page at `at` is touched again after `now`; the string's length: never. */
static size_t next_use(const struct string *string, uint32_t page, size_t now)
{
	size_t i = now;

	while (i < string->length && string->pages[i] != page)
		i++;
	return i;
}

static size_t run_plain(const struct um_evict_ops *ops, const struct string *string, size_t frames,
			uint32_t *victims)
{
	size_t time[PAGES_MAX] = {0}, used = 0, faults = 0, evicted = 0;
	bool resident[PAGES_MAX] = {false};

	for (size_t i = 0; i < string->length; i++) {
		uint32_t page = string->pages[i], victim = PAGES_MAX;

		if (ops == &um_evict_lru || !resident[page])
			time[page] = i;
		if (resident[page])
			continue;
		faults++;
		for (uint32_t p = 0; used == frames && p < PAGES_MAX; p++) {
			if (!resident[p])
				continue;
			if (ops == &um_evict_belady)
				time[p] = string->length - next_use(string, p, i);
			if (victim == PAGES_MAX || time[p] < time[victim])
				victim = p;
		}
		if (victim < PAGES_MAX) {
			resident[victim] = false;
			victims[evicted++] = victim;
		} else {
			used++;
		}
		resident[page] = true;
	}
	return faults;
}

static void draw_string(struct string *string, uint32_t pages, size_t length)
{
	uint32_t window = 1 + draw(pages), at = 0;

	string->length = length;
	for (size_t i = 0; i < length; i++) { /* mostly near to the one before */
		at = draw(8) ? (at + draw(window)) % pages : draw(pages);
		string->pages[i] = at;
	}
}

static void random_strings_have_the_plain_orders_victims(void **state)
{
	static const struct um_evict_ops *const orders[] = {&um_evict_fifo, &um_evict_lru,
							    &um_evict_belady};
	static struct string string;
	static uint32_t expected[4096], victims[4096];

	(void)state;
	random_state = 42;
	for (int round = 0; round < 300; round++) {
		uint32_t pages = 1 + draw(PAGES_MAX - 1);
		size_t frames = 1 + draw(pages), faults[3];

		draw_string(&string, pages, 1 + draw(600));
		for (size_t i = 0; i < 3; i++) {
			size_t plain = run_plain(orders[i], &string, frames, expected);

			faults[i] = run_order(orders[i], 0, &string, frames, victims);
			assert_int_equal(faults[i], plain);
			assert_memory_equal(victims, expected,
					    (plain > frames ? plain - frames : 0) *
						    sizeof(*victims));
		}
		assert_true(faults[2] <= faults[0] && faults[2] <= faults[1]);
		assert_true(faults[2] <= run_order(&um_evict_random, 1, &string, frames, NULL));
	}
}

/* --- random --- */

static void a_seed_draws_the_same_again(void **state)
{
	static struct string string;
	static uint32_t first[4096], second[4096];
	size_t faults;

	(void)state;
	random_state = 7;
	draw_string(&string, 32, 2000);
	faults = run_order(&um_evict_random, 5, &string, 8, first);
	assert_true(faults > 100);
	assert_int_equal(run_order(&um_evict_random, 5, &string, 8, second), faults);
	assert_memory_equal(first, second, (faults - 8) * sizeof(*first));
	run_order(&um_evict_random, 6, &string, 8, second);
	assert_memory_not_equal(first, second, 50 * sizeof(*first));
}

static struct um_evict_order *order_of_pages(const struct um_evict_ops *ops,
					     const struct um_future *future, um_device_id device,
					     uint32_t pages)
{
	struct um_evict_choice choice = {.ops = ops, .seed = 9, .future = future};
	struct um_evict_order *order;

	assert_int_equal(um_evict_create(&order, &choice, NULL, device), 0);
	for (uint32_t page = 0; page < pages; page++)
		um_evict_arrived(order, &(struct um_page_range){DATA, page, 1});
	return order;
}

static void every_unit_is_drawn_as_often_as_the_others(void **state)
{
	struct um_evict_order *order = order_of_pages(&um_evict_random, NULL, 0, 16);
	size_t drawn[16] = {0};
	struct um_page_range victim;

	(void)state;
	for (int i = 0; i < 16000; i++) {
		assert_true(um_evict_victim(order, &victim));
		drawn[victim.first_page]++;
	}
	for (int i = 0; i < 16; i++)
		assert_in_range(drawn[i], 845, 1155); /* binomial: 1000 +- 31; five times that */
	um_evict_destroy(order);
}

static void devices_draw_apart(void **state)
{
	struct um_evict_order *first = order_of_pages(&um_evict_random, NULL, 0, 64);
	struct um_evict_order *second = order_of_pages(&um_evict_random, NULL, 1, 64);
	struct um_page_range one, other;
	int same = 0;

	(void)state;
	for (int i = 0; i < 64; i++) {
		um_evict_victim(first, &one);
		um_evict_victim(second, &other);
		same += one.first_page == other.first_page;
	}
	assert_true(same < 16);
	um_evict_destroy(first);
	um_evict_destroy(second);
}

/* --- leaving --- */

/* Pages 0 to 7 will be touched in this order: belady's victims are from its end. */
static const char coming[] = "01234567";

static void what_is_taken_out_does_not_leave(void **state)
{
	static const struct {
		const struct um_evict_ops *ops;
		um_page leaving[6]; /* in order, when 0 and 7 were taken out */
	} expected[] = {{&um_evict_fifo, {1, 2, 3, 4, 5, 6}},
			{&um_evict_lru, {1, 2, 3, 4, 5, 6}},
			{&um_evict_belady, {6, 5, 4, 3, 2, 1}}};
	static struct string string;
	struct um_future *future;

	(void)state;
	read_string(&string, coming);
	future = future_of(&string, 1);
	for (size_t i = 0; i < 3; i++) {
		struct um_evict_order *order = order_of_pages(expected[i].ops, future, 0, 8);
		struct um_page_range victim;

		um_evict_left(order, DATA, 0);
		um_evict_left(order, DATA, 7);
		um_evict_left(order, DATA, 7); /* is not there, which is legal */
		for (size_t n = 0; n < 6; n++) {
			assert_true(um_evict_victim(order, &victim));
			assert_int_equal(victim.first_page, expected[i].leaving[n]);
			um_evict_left(order, DATA, victim.first_page);
		}
		assert_false(um_evict_victim(order, &victim));
		um_evict_destroy(order);
	}
	um_future_destroy(future);
}

/* --- units of several pages, of several allocations --- */

static um_page first_victim(struct um_evict_order *order)
{
	struct um_page_range victim;

	assert_true(um_evict_victim(order, &victim));
	return victim.first_page;
}

static void a_touch_of_any_page_is_a_touch_of_its_unit(void **state)
{
	struct um_evict_choice choice = {.ops = &um_evict_lru};
	struct um_evict_order *order;
	struct um_page_range victim;

	(void)state;
	assert_int_equal(um_evict_create(&order, &choice, NULL, 0), 0);
	um_evict_arrived(order, &(struct um_page_range){DATA, 0, 16});
	um_evict_arrived(order, &(struct um_page_range){DATA, 16, 16});
	um_evict_arrived(order, &(struct um_page_range){DATA, 48, 5}); /* a gap before it */
	um_evict_arrived(order, &(struct um_page_range){DATA + 1, 0, 16});
	assert_int_equal(first_victim(order), 0);
	um_evict_touched(order, &(struct um_page_range){DATA, 15, 1});
	assert_int_equal(first_victim(order), 16);
	um_evict_touched(order, &(struct um_page_range){DATA, 31, 18}); /* 16, then 48 */
	um_evict_victim(order, &victim);
	assert_int_equal(victim.allocation, DATA + 1);
	um_evict_touched(order, &(struct um_page_range){DATA + 1, 8, 1});
	assert_int_equal(first_victim(order), 0);
	/* What is not in it: between units, behind them, in other allocations. */
	um_evict_touched(order, &(struct um_page_range){DATA, 32, 16});
	um_evict_touched(order, &(struct um_page_range){DATA, 53, 4000});
	um_evict_touched(order, &(struct um_page_range){DATA + 4000, 0, 1});
	assert_int_equal(first_victim(order), 0);
	/* Only where a unit begins it leaves. */
	um_evict_left(order, DATA, 8);
	um_evict_left(order, DATA + 4000, 0);
	assert_int_equal(first_victim(order), 0);
	um_evict_left(order, DATA, 0);
	um_evict_left(order, DATA, 0);
	assert_int_equal(first_victim(order), 16);
	um_evict_left(order, DATA, 16);
	um_evict_victim(order, &victim);
	assert_int_equal(victim.first_page, 48);
	assert_int_equal(victim.pages, 5);
	um_evict_destroy(order);
}

static void belady_sees_any_page_of_a_unit(void **state)
{
	static struct string string;
	struct um_future *future;
	struct um_evict_choice choice = {.ops = &um_evict_belady};
	struct um_evict_order *order;

	(void)state;
	string = (struct string){{9, 1, 5, 2, 8}, 5}; /* units of 4: 2, 0, 1, 0, 2 */
	choice.future = future = future_of(&string, 1);
	assert_int_equal(um_evict_create(&order, &choice, NULL, 0), 0);
	for (um_page first = 0; first < 16; first += 4)
		um_evict_arrived(order, &(struct um_page_range){DATA, first, 4});
	assert_int_equal(first_victim(order), 12); /* never */
	um_evict_left(order, DATA, 12);
	assert_int_equal(first_victim(order), 4); /* at 2; the others at 1 and 0 */
	um_evict_touched(order, &(struct um_page_range){DATA, 9, 1});
	assert_int_equal(first_victim(order), 8); /* at 4 */
	um_evict_touched(order, &(struct um_page_range){DATA, 1, 1});
	um_evict_touched(order, &(struct um_page_range){DATA, 5, 1});
	assert_int_equal(first_victim(order), 4); /* never again */
	um_evict_destroy(order);
	um_future_destroy(future);
}

/*
 * Units of 1 to 8 pages come, go and are touched at random, in three allocations; a list of them,
 * sorted anew for every question, says who is first.
 */
#define UNITS 96

struct plain_unit {
	struct um_page_range pages;
	bool is_in;
	uint64_t time; /* of arrival, or of the last touch */
};

static const struct plain_unit *plain_victim(const struct plain_unit *units)
{
	const struct plain_unit *first = NULL;

	for (size_t i = 0; i < UNITS; i++)
		if (units[i].is_in && (!first || units[i].time < first->time))
			first = &units[i];
	return first;
}

static void touch_plain(struct plain_unit *units, const struct um_page_range *range,
			uint64_t *clock)
{
	for (size_t i = 0; i < UNITS; i++) {
		const struct um_page_range *unit = &units[i].pages;

		if (units[i].is_in && unit->allocation == range->allocation &&
		    unit->first_page < range->first_page + range->pages &&
		    range->first_page < unit->first_page + unit->pages)
			units[i].time = ++*clock;
	}
}

static void make_units(struct plain_unit *units)
{
	um_page next[3] = {0};

	memset(units, 0, UNITS * sizeof(*units));
	for (size_t i = 0; i < UNITS; i++) {
		uint32_t allocation = (uint32_t)i % 3;

		units[i].pages =
			(struct um_page_range){allocation * 100 + 1, next[allocation], 1 + draw(8)};
		next[allocation] += units[i].pages.pages + draw(2);
	}
}

static void check_victim(struct um_evict_order *order, const struct plain_unit *units)
{
	const struct plain_unit *expected = plain_victim(units);
	struct um_page_range victim;

	assert_int_equal(um_evict_victim(order, &victim), expected != NULL);
	if (expected)
		assert_memory_equal(&victim, &expected->pages, sizeof(victim));
}

static void units_come_and_go(const struct um_evict_ops *ops)
{
	struct um_evict_choice choice = {.ops = ops};
	struct plain_unit units[UNITS];
	struct um_evict_order *order;
	uint64_t clock = 0;

	assert_int_equal(um_evict_create(&order, &choice, NULL, 0), 0);
	make_units(units);
	for (int step = 0; step < 20000; step++) {
		struct plain_unit *unit = &units[draw(UNITS)];
		struct um_page_range range = {unit->pages.allocation, draw(200), 1 + draw(40)};

		if (draw(2)) {
			um_evict_touched(order, &range);
			if (ops->touched)
				touch_plain(units, &range, &clock);
		} else if (unit->is_in || draw(8) == 0) {
			um_evict_left(order, unit->pages.allocation, unit->pages.first_page);
			unit->is_in = false;
		} else {
			assert_int_equal(um_evict_arrived(order, &unit->pages), 0);
			unit->is_in = true;
			unit->time = ++clock;
		}
		check_victim(order, units);
	}
	um_evict_destroy(order);
}

static void units_of_any_size_come_and_go(void **state)
{
	(void)state;
	random_state = 3;
	units_come_and_go(&um_evict_fifo);
	units_come_and_go(&um_evict_lru);
}

/* --- what is registered --- */

static void every_order_says_what_it_is(void **state)
{
	size_t count;
	const struct um_evict_ops *const *orders = um_evict_registry(&count);

	(void)state;
	assert_int_equal(count, 4);
	for (size_t i = 0; i < count; i++) {
		assert_non_null(orders[i]->name);
		assert_non_null(orders[i]->summary);
		assert_non_null(orders[i]->hypothetical);
	}
	um_evict_destroy(NULL);
}

static void without_a_choice_it_is_the_drivers(void **state)
{
	struct um_evict_order *order;

	(void)state;
	assert_int_equal(um_evict_create(&order, NULL, &um_evict_lru, 0), 0);
	assert_ptr_equal(order->ops, &um_evict_lru);
	um_evict_destroy(order);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(textbook_strings_have_their_known_faults),
		cmocka_unit_test(random_strings_have_the_plain_orders_victims),
		cmocka_unit_test(a_seed_draws_the_same_again),
		cmocka_unit_test(every_unit_is_drawn_as_often_as_the_others),
		cmocka_unit_test(devices_draw_apart),
		cmocka_unit_test(what_is_taken_out_does_not_leave),
		cmocka_unit_test(a_touch_of_any_page_is_a_touch_of_its_unit),
		cmocka_unit_test(belady_sees_any_page_of_a_unit),
		cmocka_unit_test(units_of_any_size_come_and_go),
		cmocka_unit_test(every_order_says_what_it_is),
		cmocka_unit_test(without_a_choice_it_is_the_drivers),
	};

	return cmocka_run_group_tests_name("evict", tests, NULL, NULL);
}
