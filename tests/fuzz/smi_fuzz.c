/*
 * Bytes as amdkfd's SMI descriptors might give them, cut anywhere: whatever comes is counted once, as an event, as
 * an id that nobody knows, or as malformed, and every beginning and end is told once.
 */
#include "fuzz.h"

#include "trace/tap/smi/smi_reader.h"

#include <string.h>

struct seen {
	uint64_t spans, halves;
};

static void take(void *context, const struct um_smi_span *span)
{
	struct seen *seen = context;
	bool has_both = span->start_ns != UM_SMI_NOT_TOLD && span->end_ns != UM_SMI_NOT_TOLD;

	if (span->start_ns < UM_SMI_NOT_TOLD || span->end_ns < UM_SMI_NOT_TOLD)
		um_fuzz_bug("a time below zero", "");
	if (span->event.address > INT64_MAX)
		um_fuzz_bug("an address that there cannot be", "");
	*(has_both ? &seen->spans : &seen->halves) += 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static struct um_smi_reader reader;
	struct seen seen = {0};
	size_t at = 0;

	um_smi_reader_init(&reader, take, &seen);
	for (size_t step = 1; at < bytes; at += step, step = step % 97 + 1) {
		size_t part = bytes - at < step ? bytes - at : step;

		um_smi_reader_put(&reader, (const char *)data + at, part);
		step = part;
	}
	um_smi_reader_end(&reader);
	if (seen.spans != reader.pairs.spans ||
	    seen.halves != reader.pairs.no_end + reader.pairs.no_start)
		um_fuzz_bug("spans were told that were not counted", "");
	if (reader.lines != reader.events + reader.unknown + reader.malformed)
		um_fuzz_bug("lines that were not counted", "");
	return 0;
}
