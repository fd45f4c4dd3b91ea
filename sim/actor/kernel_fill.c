#include "kernel_fill.h"

/* Lines of a page that bytes [from, to) of it lie in. */
static int64_t line_mask(uint64_t from, uint64_t to)
{
	uint64_t first = from / UM_LINE_BYTES, last = (to - 1) / UM_LINE_BYTES;
	uint64_t up_to = last == UM_PAGE_LINES - 1 ? ~0ull : (1ull << (last + 1)) - 1;

	return (int64_t)(up_to & ~((1ull << first) - 1));
}

static void add_row(struct um_kernel_fill *fill, const struct um_op_row *op, um_page first,
		    uint64_t pages, uint64_t from, uint64_t to)
{
	if (!pages)
		return;
	fill->rows[fill->row_count++] = (struct um_page_access_row){
		.op = op->op,
		.allocation = fill->run.allocation,
		.first_page = first,
		.pages = (int64_t)pages,
		.touch = UM_TOUCH_WRITTEN | UM_TOUCH_WRITTEN_FIRST,
		.lines_written = line_mask(from, to),
		.requests = UM_NULL,
		.atomics = UM_NULL,
	};
}

static void add_rows(struct um_kernel_fill *fill, const struct um_op_row *op)
{
	uint64_t offset = op->offset_bytes > 0 ? (uint64_t)op->offset_bytes : 0;
	uint64_t end = offset + (uint64_t)op->bytes;
	uint64_t head = offset % UM_PAGE_BYTES, tail = end % UM_PAGE_BYTES;
	um_page first = fill->run.first_page, pages = fill->run.count;

	if (pages == 1) {
		add_row(fill, op, first, 1, head, tail ? tail : UM_PAGE_BYTES);
		return;
	}
	add_row(fill, op, first, head > 0, head, UM_PAGE_BYTES);
	add_row(fill, op, first + (head > 0), pages - (head > 0) - (tail > 0), 0, UM_PAGE_BYTES);
	add_row(fill, op, first + pages - 1, tail > 0, 0, tail);
}

void um_kernel_fill(struct um_kernel_fill *fill, const struct um_op_row *op,
		    const struct um_page_range *pages)
{
	*fill = (struct um_kernel_fill){.run = {.allocation = pages->allocation,
						.first_page = pages->first_page,
						.stride = 1,
						.count = pages->pages,
						.write = true}};
	add_rows(fill, op);
}
