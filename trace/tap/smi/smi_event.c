#include "smi_event.h"

#include <stdbool.h>

#define PAGE_SHIFT 12
/* Addresses beyond are none: a page number may not overflow when it becomes one. */
#define PAGES_MAX (UINT64_C(1) << (63 - PAGE_SHIFT))

/* What is left of a line. A NUL counts as its end: some drivers print one before the newline. */
struct text {
	const char *at, *end;
	bool wrong;
};

static bool at_end(const struct text *text)
{
	return text->at == text->end || *text->at == '\0';
}

static unsigned digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (unsigned)(c - 'a') + 10;
	return 16;
}

static uint64_t number(struct text *text, unsigned base, uint64_t most)
{
	uint64_t value = 0;
	bool any = false;

	for (; !at_end(text) && digit_of(*text->at) < base; text->at++) {
		unsigned digit = digit_of(*text->at);

		if (value > (most - digit) / base)
			text->wrong = true;
		else
			value = value * base + digit;
		any = true;
	}
	if (!any)
		text->wrong = true;
	return value;
}

static void expect(struct text *text, char c)
{
	if (at_end(text) || *text->at != c)
		text->wrong = true;
	else
		text->at++;
}

static uint32_t hex32(struct text *text)
{
	return (uint32_t)number(text, 16, UINT32_MAX);
}

/* " 12": what one more blank brings. */
static int32_t decimal32(struct text *text)
{
	expect(text, ' ');
	return (int32_t)number(text, 10, INT32_MAX);
}

/* An error is negative where the kernel tells one. */
static int32_t signed32(struct text *text)
{
	expect(text, ' ');
	bool negative = !at_end(text) && *text->at == '-';

	text->at += negative;
	int32_t value = (int32_t)number(text, 10, INT32_MAX);
	return negative ? -value : value;
}

static char letter_of(struct text *text)
{
	expect(text, ' ');
	if (at_end(text)) {
		text->wrong = true;
		return 0;
	}
	return *text->at++;
}

static void address(struct um_smi_event *event, struct text *text)
{
	expect(text, ' ');
	expect(text, '@');
	event->address = number(text, 16, PAGES_MAX - 1) << PAGE_SHIFT;
	expect(text, '(');
}

static void range(struct um_smi_event *event, struct text *text)
{
	address(event, text);
	event->pages = number(text, 16, PAGES_MAX - 1);
	expect(text, ')');
	if (event->pages > PAGES_MAX - (event->address >> PAGE_SHIFT))
		text->wrong = true;
}

static void locations(struct um_smi_event *event, struct text *text)
{
	expect(text, ' ');
	event->from = hex32(text);
	expect(text, '-');
	expect(text, '>');
	event->to = hex32(text);
}

static void migrate_start(struct um_smi_event *event, struct text *text)
{
	range(event, text);
	locations(event, text);
	expect(text, ' ');
	event->prefetch = hex32(text);
	expect(text, ':');
	event->preferred = hex32(text);
	event->trigger = decimal32(text);
}

static void migrate_end(struct um_smi_event *event, struct text *text)
{
	range(event, text);
	locations(event, text);
	event->trigger = decimal32(text);
	if (!at_end(text))
		event->error = signed32(text);
}

static void fault(struct um_smi_event *event, struct text *text)
{
	address(event, text);
	event->gpu = hex32(text);
	expect(text, ')');
	event->letter = letter_of(text);
	event->pages = 1;
	bool starts = event->id == UM_SMI_FAULT_START;
	if (event->letter != (starts ? 'R' : 'M') && event->letter != (starts ? 'W' : 'U'))
		text->wrong = true;
}

static void queue_eviction(struct um_smi_event *event, struct text *text)
{
	expect(text, ' ');
	event->gpu = hex32(text);
	event->trigger = decimal32(text);
}

/* Behind the GPU: nothing, a NUL, '0', or 'R' of one that is tried again later. */
static void queue_restore(struct um_smi_event *event, struct text *text)
{
	expect(text, ' ');
	event->gpu = hex32(text);
	if (at_end(text))
		return;
	expect(text, ' ');
	if (at_end(text))
		return;
	char letter = *text->at++;
	event->letter = letter == 'R' ? 'R' : 0;
	if (letter != 'R' && letter != '0')
		text->wrong = true;
}

static void unmap(struct um_smi_event *event, struct text *text)
{
	range(event, text);
	expect(text, ' ');
	event->gpu = hex32(text);
	event->trigger = decimal32(text);
}

/* Their text is nobody's business here, but may be as long as it likes. */
static void any_text(struct um_smi_event *event, struct text *text)
{
	(void)event;
	text->at = text->end;
}

static void process(struct um_smi_event *event, struct text *text)
{
	event->pid = hex32(text);
	if (!at_end(text) && *text->at != ':' && *text->at != ' ')
		text->wrong = true;
	text->at = text->end;
}

static const struct {
	void (*read)(struct um_smi_event *, struct text *);
	bool is_timed; /* "ns -pid" comes first */
	bool may_be_empty;
} kinds[UM_SMI_IDS] = {
	[UM_SMI_VMFAULT] = {process, false, false},
	[UM_SMI_THERMAL_THROTTLE] = {any_text, false, true},
	[UM_SMI_PRE_RESET] = {any_text, false, true},
	[UM_SMI_POST_RESET] = {any_text, false, true},
	[UM_SMI_MIGRATE_START] = {migrate_start, true, false},
	[UM_SMI_MIGRATE_END] = {migrate_end, true, false},
	[UM_SMI_FAULT_START] = {fault, true, false},
	[UM_SMI_FAULT_END] = {fault, true, false},
	[UM_SMI_QUEUE_EVICTION] = {queue_eviction, true, false},
	[UM_SMI_QUEUE_RESTORE] = {queue_restore, true, false},
	[UM_SMI_UNMAP] = {unmap, true, false},
	[UM_SMI_PROCESS_START] = {process, false, false},
	[UM_SMI_PROCESS_END] = {process, false, false},
};

enum um_smi_parsed um_smi_parse(struct um_smi_event *event, const char *line, size_t bytes)
{
	struct text text = {line, line + bytes, false};
	uint32_t id = hex32(&text);

	*event = (struct um_smi_event){
		.id = id,
		.at_ns = UM_SMI_NOT_TOLD,
		.trigger = UM_SMI_NOT_TOLD,
		.error = UM_SMI_ERROR_NOT_TOLD,
		.prefetch = UM_SMI_NOWHERE,
		.preferred = UM_SMI_NOWHERE,
	};
	if (text.wrong || (!at_end(&text) && *text.at != ' '))
		return UM_SMI_MALFORMED;
	if (id >= UM_SMI_IDS || !kinds[id].read)
		return UM_SMI_UNKNOWN;
	if (at_end(&text))
		return kinds[id].may_be_empty ? UM_SMI_EVENT : UM_SMI_MALFORMED;
	expect(&text, ' ');
	if (kinds[id].is_timed) {
		event->at_ns = (int64_t)number(&text, 10, INT64_MAX);
		expect(&text, ' ');
		expect(&text, '-');
		event->pid = (uint32_t)number(&text, 10, INT32_MAX);
	}
	kinds[id].read(event, &text);
	return text.wrong || !at_end(&text) ? UM_SMI_MALFORMED : UM_SMI_EVENT;
}
