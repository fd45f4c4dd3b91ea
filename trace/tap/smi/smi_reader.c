#include "smi_reader.h"

#include <string.h>

void um_smi_reader_init(struct um_smi_reader *reader,
			void (*take)(void *, const struct um_smi_span *), void *context)
{
	um_smi_pairs_init(&reader->pairs, take, context);
	reader->length = 0;
	reader->too_long = false;
	reader->bytes = reader->lines = reader->events = reader->unknown = reader->malformed = 0;
}

static void take_line(struct um_smi_reader *reader, const char *line, size_t bytes)
{
	struct um_smi_event event;
	enum um_smi_parsed parsed =
		reader->too_long ? UM_SMI_MALFORMED : um_smi_parse(&event, line, bytes);

	reader->lines++;
	reader->too_long = false;
	switch (parsed) {
	case UM_SMI_EVENT:
		reader->events++;
		um_smi_pairs_put(&reader->pairs, &event);
		break;
	case UM_SMI_UNKNOWN:
		reader->unknown++;
		break;
	case UM_SMI_MALFORMED:
		reader->malformed++;
		break;
	}
}

/* What is left of a line stays for the next piece; a task's name may make it longer than it should be. */
static void keep(struct um_smi_reader *reader, const char *data, size_t bytes)
{
	if (reader->too_long || bytes > sizeof(reader->line) - reader->length) {
		reader->too_long = true;
		reader->length = 0;
		return;
	}
	memcpy(reader->line + reader->length, data, bytes);
	reader->length += bytes;
}

void um_smi_reader_put(struct um_smi_reader *reader, const char *data, size_t bytes)
{
	const char *end = data + bytes, *newline;

	reader->bytes += bytes;
	for (; data < end && (newline = memchr(data, '\n', (size_t)(end - data)));
	     data = newline + 1) {
		size_t length = (size_t)(newline - data);

		if (reader->length == 0 && !reader->too_long) {
			reader->too_long = length > sizeof(reader->line);
			take_line(reader, data, length);
			continue;
		}
		keep(reader, data, length);
		take_line(reader, reader->line, reader->length);
		reader->length = 0;
	}
	if (data < end)
		keep(reader, data, (size_t)(end - data));
}

void um_smi_reader_end(struct um_smi_reader *reader)
{
	if (reader->length || reader->too_long) {
		reader->lines++;
		reader->malformed++;
	}
	reader->length = 0;
	reader->too_long = false;
	um_smi_pairs_end(&reader->pairs);
}

uint64_t um_smi_reader_lost(const struct um_smi_reader *reader)
{
	return reader->pairs.no_end + reader->pairs.no_start + reader->malformed;
}
