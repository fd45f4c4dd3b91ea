/*
 * What is read from one SMI descriptor, as spans: bytes in, in pieces that end anywhere, lines put together,
 * parsed (smi_event.h) and paired (smi_pair.h). One a descriptor, that is, one a GPU. No allocation.
 */
#ifndef UM_SMI_READER_H
#define UM_SMI_READER_H

#include "smi_pair.h"

struct um_smi_reader {
	struct um_smi_pairs pairs;
	char line[UM_SMI_LINE_BYTES]; /* that has not ended yet */
	size_t length;
	bool too_long; /* and is no line: dropped to its end */
	uint64_t bytes, lines, events;
	uint64_t unknown, malformed; /* lines of ids that this does not know; that cannot be read */
};

void um_smi_reader_init(struct um_smi_reader *,
			void (*take)(void *context, const struct um_smi_span *), void *context);
/* Any bytes are safe. */
void um_smi_reader_put(struct um_smi_reader *, const char *data, size_t bytes);
/* The descriptor was closed: a line that was cut off is malformed, what is open has no end. */
void um_smi_reader_end(struct um_smi_reader *);
/*
 * At least so many events were lost: halves without the other, and what could not be read. A fault that could not
 * be served has no end either, so that it may be fewer.
 */
uint64_t um_smi_reader_lost(const struct um_smi_reader *);

#endif
