/*
 * The ordered stream of a launch: filters repeats, encodes (../spool/access_stream.h), sends
 * chunks.
 */
#ifndef UM_RECORDER_STREAM_H
#define UM_RECORDER_STREAM_H

#include "recorder.h"
#include "recorder_pages.h"

/* Emissions so far in the launch, a number that only grows. */
extern uint64_t um_stream_emissions;

void um_stream_begin(uint32_t op);
/* Touches that follow are of this group; none of its emissions are known. */
void um_stream_group(uint64_t linear_group);
/* Adds a touch that the filter has let through. */
void um_stream_emit(struct um_page *, uint32_t number, bool write);
/* Sends the last chunk. */
void um_stream_end(void);

/* One touch of a page. A repeat of one of the group's last UM_STREAM_FILTER_PAGES emissions is
 * dropped. */
static inline void um_stream_touch(struct um_page *page, uint32_t number, bool write)
{
	if (um_stream_emissions - page->emitted[write] >= UM_STREAM_FILTER_PAGES)
		um_stream_emit(page, number, write);
}

#endif
