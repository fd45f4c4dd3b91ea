#include "range_table.h"

#include <stdlib.h>

#define PLACES_FIRST 64

/* Ids are counted up, so that their low bits spread them evenly. */
static struct um_range_link **place_of(const struct um_range_table *table, uint64_t id)
{
	return &table->places[id & (table->place_count - 1)];
}

/* Appends, so that links of one id keep their order. */
static void move_to(struct um_range_table *table, struct um_range_link *link)
{
	struct um_range_link **end = place_of(table, link->id);

	while (*end)
		end = &(*end)->next;
	link->next = NULL;
	*end = link;
}

/* Twice as many places; without memory for them it is as it was, and slower. */
static void grow(struct um_range_table *table)
{
	struct um_range_table larger = {.place_count = 2 * table->place_count,
					.count = table->count};

	larger.places = calloc(larger.place_count, sizeof(*larger.places));
	if (!larger.places)
		return;
	for (size_t i = 0; i < table->place_count; i++)
		for (struct um_range_link *link = table->places[i], *next; link; link = next) {
			next = link->next;
			move_to(&larger, link);
		}
	free(table->places);
	*table = larger;
}

int um_range_table_put(struct um_range_table *table, struct um_range_link *link)
{
	if (!table->places) {
		table->places = calloc(PLACES_FIRST, sizeof(*table->places));
		if (!table->places)
			return -1;
		table->place_count = PLACES_FIRST;
	}
	if (table->count == table->place_count)
		grow(table);
	struct um_range_link **place = place_of(table, link->id);

	link->next = *place;
	*place = link;
	table->count++;
	return 0;
}

struct um_range_link *um_range_table_take(struct um_range_table *table, uint64_t id)
{
	struct um_range_link **link, *taken;

	if (!table->places)
		return NULL;
	for (link = place_of(table, id); *link && (*link)->id != id; link = &(*link)->next)
		;
	taken = *link;
	if (taken) {
		*link = taken->next;
		table->count--;
	}
	return taken;
}
