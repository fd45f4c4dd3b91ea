#include "calibrate_card.h"

#include "trace/base/error.h"
#include "trace/base/units.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A line of machine.tsv: its first word, and where its second goes. */
static const struct card_line {
	const char *key;
	size_t offset;
	size_t capacity; /* of a text; 0: a whole number */
} card_lines[] = {
#define TEXT(key, member)                                                                          \
	{                                                                                          \
		key, offsetof(struct um_calibrated_card, member),                                  \
			sizeof(((struct um_calibrated_card *)0)->member)                           \
	}
#define NUMBER(key, member)                                                                        \
	{                                                                                          \
		key, offsetof(struct um_calibrated_card, member), 0                                \
	}
	TEXT("date", date),
	TEXT("gpu", name),
	TEXT("driver", driver),
	TEXT("pcie", link),
	NUMBER("total_bytes", memory_bytes),
	NUMBER("multiProcessorCount", compute_units),
	NUMBER("maxThreadsPerMultiProcessor", threads_per_unit),
	NUMBER("warpSize", wave_lanes),
	NUMBER("clockRate", clock_khz),
	NUMBER("memoryClockRate", memory_clock_khz),
	NUMBER("memoryBusWidth", memory_bus_bits),
	NUMBER("l2CacheSize", l2_bytes),
#undef TEXT
#undef NUMBER
};

#define CARD_LINES (sizeof(card_lines) / sizeof(*card_lines))

static int take_value(struct um_calibrated_card *card, const struct card_line *line,
		      const char *value, const char *path, unsigned number)
{
	char *field = (char *)card + line->offset;
	uint64_t whole;

	if (line->capacity) {
		snprintf(field, line->capacity, "%s", value);
		return 0;
	}
	if (um_parse_u64(value, &whole) || !whole)
		return um_fail_at(UM_EFORMAT, path, number, 0,
				  "%s: \"%.40s\" is no whole number above 0", line->key, value);
	memcpy(field, &whole, sizeof(whole));
	return 0;
}

/* *seen: bit n, card_lines[n] was there. */
static int read_line(struct um_calibrated_card *card, char *text, const char *path, unsigned number,
		     unsigned *seen)
{
	char *value = text;
	const char *key = strsep(&value, "\t");

	if (!value)
		return um_fail_at(UM_EFORMAT, path, number, 0,
				  "no line of a card: a word and a value, with a tab between");
	value[strcspn(value, "\n")] = '\0';
	for (size_t i = 0; i < CARD_LINES; i++)
		if (strcmp(card_lines[i].key, key) == 0) {
			*seen |= 1u << i;
			return take_value(card, &card_lines[i], value, path, number);
		}
	return 0;
}

/* "generation 5, 16 lanes", as nvidia-smi has it, is "PCIe 5.0 x16". */
static void name_link(struct um_calibrated_card *card)
{
	unsigned generation, lanes;

	if (sscanf(card->link, "generation %u, %u lanes", &generation, &lanes) == 2)
		snprintf(card->link, sizeof(card->link), "PCIe %u.0 x%u", generation, lanes);
}

static int read_file(struct um_calibrated_card *card, FILE *file, const char *path)
{
	char *text = NULL;
	size_t capacity = 0;
	unsigned number = 0, seen = 0;
	int error = 0;

	while (!error && getline(&text, &capacity, file) >= 0)
		error = read_line(card, text, path, ++number, &seen);
	if (!error && ferror(file))
		error = um_fail_errno(UM_EIO, "%s", path);
	free(text);
	for (size_t i = 0; i < CARD_LINES && !error; i++)
		if (!(seen >> i & 1))
			error = um_fail(UM_EFORMAT, "%s: no line \"%s\"", path, card_lines[i].key);
	return error;
}

int um_calibrated_card_read(struct um_calibrated_card *card, const char *path)
{
	FILE *file = fopen(path, "re");

	*card = (struct um_calibrated_card){.name = ""};
	if (!file)
		return um_fail_errno(errno == ENOENT ? UM_ENOENT : UM_EIO, "%s", path);
	int error = read_file(card, file, path);

	fclose(file);
	name_link(card);
	return error;
}
