/* What crosses the link of a device for certain: lemmas 1 to 4 of ideal.c. */
#include "ideal_state.h"

#include "trace/spool/spool_record.h"

/*
 * Lemmas 3 and 4. Pages that others share ask for nothing: how many of them fit is not known, and what
 * would be lost for want of room is not counted, which is less.
 */
static int ask(struct um_savings *savings, const struct touch *touch, uint32_t since,
	       unsigned lines, uint64_t pages)
{
	if (touch->own < UM_PAGE_LINES)
		return 0;
	return um_savings_ask(savings, &touch->books->moments,
			      first_moment_behind(touch->core, since), lines, pages);
}

/* --- to the device: lemmas 1 and 3 --- */

/* Where another device wrote the page only an operation that runs alone is behind that. */
static bool is_behind(const struct um_ideal_core *core, const struct page_state *page)
{
	return !page->by_device || core->alone;
}

static int read_page(const struct touch *touch, struct page_state *page, uint64_t pages)
{
	const struct um_ideal_core *core = touch->core;
	struct device_books *books = touch->books;
	int error = 0;

	if (!page->has_data || !is_behind(core, page))
		return 0;
	if (page->due) {
		uint8_t more = least_of(page->due - page->crossed, touch->read);

		page->crossed += more;
		books->epoch_lines_in += more * pages;
	}
	if (!page->held) {
		books->certain_lines_in += least_of(page->due, touch->read) * pages;
		page->held = core->op;
	} else if (core->alone) {
		error = ask(&books->in, touch, page->held, touch->read, pages);
		page->held = core->op;
	}
	return error;
}

/* --- to the host: lemmas 2 and 4 --- */

/* The lines that the last writing operation wrote ask to have stayed on the device until now. */
static int ask_to_stay(const struct touch *touch, const struct page_state *page, uint64_t pages)
{
	if (!page->unsent || !page->wrote_alone)
		return 0;
	return ask(&touch->books->out, touch, page->wrote, page->unsent, pages);
}

static int write_page(const struct touch *touch, struct page_state *page, uint64_t pages)
{
	const struct um_ideal_core *core = touch->core;
	int error = core->alone ? ask_to_stay(touch, page, pages) : 0;

	if (core->alone || !page->read_by_device)
		page->dirty = least_of(page->dirty + touch->written, touch->own);
	page->unsent = touch->written;
	page->wrote = core->op;
	page->wrote_alone = core->alone;
	if (!page->has_data)
		page->held = core->op;
	page->has_data = true;
	return error;
}

int um_ideal_bytes_own(const struct touch *touch, struct page_state *page, uint64_t pages)
{
	int error = touch->read ? read_page(touch, page, pages) : 0;

	if (!error && touch->written)
		error = write_page(touch, page, pages);
	page->touched = touch->core->op;
	return error;
}

/* All that wrote the page are over, and another side has it, of which it needs `lines` at least. */
static void send_page(const struct touch *touch, struct page_state *page, unsigned lines,
		      uint64_t pages)
{
	struct device_books *books = touch->books;

	books->epoch_lines_out += least_of(page->dirty, lines) * pages;
	if (page->wrote_alone)
		books->certain_lines_out += least_of(page->unsent, lines) * pages;
	page->dirty = page->unsent = 0;
}

/* The device's copies are gone, and `lines` lines or more cross before it reads as many. */
static void lose_page(struct page_state *page, uint8_t lines, bool by_device)
{
	page->due = lines;
	page->crossed = 0;
	page->held = 0;
	page->by_device = by_device;
}

void um_ideal_bytes_other(const struct touch *touch, struct page_state *page, uint64_t pages)
{
	if (touch->written)
		page->has_data = true;
	if (!touch->core->alone || touch->core->terms.peers)
		return;
	if (touch->read && page->dirty) {
		send_page(touch, page, touch->read, pages);
		page->read_by_device = true;
	}
	if (touch->written) {
		lose_page(page, touch->written, true);
		page->lost = touch->core->op;
	}
}

void um_ideal_bytes_host(const struct touch *touch, struct page_state *page, uint64_t pages)
{
	const struct um_ideal_core *core = touch->core;
	/* What the host writes over the link it need not have. */
	bool has_it = touch->read || !core->terms.coherent;

	if (has_it && page->wrote <= core->over) {
		send_page(touch, page, touch->own, pages);
		page->read_by_device = false;
	}
	if (!touch->written)
		return;
	page->has_data = true;
	if (!core->terms.coherent) /* else it may stay where it is, mapped by both */
		page->lost = core->over + 1;
	if (page->touched <= core->over)
		lose_page(page, touch->own, false);
}

int um_ideal_bytes_last(const struct touch *touch, struct page_state *page, uint64_t pages)
{
	return ask_to_stay(touch, page, pages);
}
