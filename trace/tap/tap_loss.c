#include "tap.h"

#include <stdio.h>
#include <string.h>

#define LOSSES	 32u
#define TEXT_MAX 512u
#define NUMBERED 0x80000000u

struct loss {
	const char *detail;
	uint32_t kind;
	uint32_t number; /* NUMBERED: has one */
	uint64_t count, told;
};

/* More kinds of loss than this are not: the last takes the rest. */
static struct loss losses[LOSSES];

static void count_loss(uint32_t kind, uint64_t count, const char *detail, uint32_t number)
{
	struct loss *loss = losses;

	while (loss < losses + LOSSES - 1 && loss->detail &&
	       (loss->kind != kind || loss->number != number || strcmp(loss->detail, detail) != 0))
		loss++;
	if (!loss->detail)
		*loss = (struct loss){.detail = detail, .kind = kind, .number = number};
	loss->count += count;
}

void um_tap_lost(enum um_loss_kind kind, uint64_t count, const char *detail)
{
	count_loss(kind, count, detail, 0);
}

void um_tap_lost_number(enum um_loss_kind kind, uint64_t count, const char *detail, uint32_t number)
{
	count_loss(kind, count, detail, number | NUMBERED);
}

/* Not through um_tap_put(): a loss that finds no room is none more. */
static bool put_loss(uint32_t kind, uint64_t count, const char *text)
{
	size_t text_bytes = strnlen(text, TEXT_MAX - 1);
	size_t bytes = (sizeof(struct um_record_loss) + text_bytes + 8) & ~(size_t)7;
	struct um_record_loss *loss = um_spool_try_reserve(um_tap.writer, bytes);

	if (!loss)
		return false;
	memset(loss, 0, bytes);
	loss->header = (struct um_record){(uint32_t)bytes, UM_RECORD_LOSS, 0};
	loss->kind = kind;
	loss->count = count;
	memcpy(loss->text, text, text_bytes);
	um_spool_commit(um_tap.writer);
	return true;
}

void um_tap_put_loss(enum um_loss_kind kind, uint64_t count, const char *text)
{
	put_loss(kind, count, text);
}

/* Until the end each is told whenever it has doubled: a trace has a few rows of it, not thousands. */
static bool is_worth_telling(const struct loss *loss, bool at_end)
{
	return at_end ? loss->count > loss->told : loss->count > 2 * loss->told;
}

void um_tap_tell_losses(bool at_end)
{
	char text[TEXT_MAX];

	for (struct loss *loss = losses; loss < losses + LOSSES && loss->detail; loss++) {
		if (!is_worth_telling(loss, at_end))
			continue;
		snprintf(text, sizeof(text), loss->number ? "%s %u" : "%s", loss->detail,
			 loss->number & ~NUMBERED);
		if (put_loss(loss->kind, loss->count - loss->told, text))
			loss->told = loss->count;
	}
}
