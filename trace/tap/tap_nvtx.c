/* Ranges that the program names through NVTX, which tells them to CUPTI. */
#include "tap.h"
#include "tap_map.h"
#include "../spool/spool_environment.h"

#include <errno.h>
#include <string.h>
#include <wchar.h>

#define OPEN_RANGES	  65536u
#define TEXT_MEMORY_BYTES (16u << 20) /* of registered strings and domains' names */

struct range {
	void *domain;
	uint64_t start_ns;
	uint32_t op;
	uint32_t below; /* pushed before it by its thread; 0: none. Or the next that is free */
};

static struct range *ranges; /* the first is not used */
static uint32_t range_count, free_ranges;
static struct um_tap_map started; /* places in ranges, by NVTX's id */
static struct um_tap_map texts;	  /* places in text_memory, by the handle of string or domain */
static char *text_memory;	  /* the first byte is not used */
static size_t text_bytes = 1;

/* --- texts --- */

/* As UTF-8. What is no character there becomes '?'. */
static size_t encode(wchar_t wide, char *out)
{
	uint32_t code = (uint32_t)wide;

	if (code > 0x10ffff || (code >= 0xd800 && code < 0xe000))
		code = '?';
	if (code < 0x80) {
		out[0] = (char)code;
		return 1;
	}
	if (code < 0x800) {
		out[0] = (char)(0xc0 | code >> 6);
		out[1] = (char)(0x80 | (code & 0x3f));
		return 2;
	}
	if (code < 0x10000) {
		out[0] = (char)(0xe0 | code >> 12);
		out[1] = (char)(0x80 | (code >> 6 & 0x3f));
		out[2] = (char)(0x80 | (code & 0x3f));
		return 3;
	}
	out[0] = (char)(0xf0 | code >> 18);
	out[1] = (char)(0x80 | (code >> 12 & 0x3f));
	out[2] = (char)(0x80 | (code >> 6 & 0x3f));
	out[3] = (char)(0x80 | (code & 0x3f));
	return 4;
}

struct name {
	size_t bytes;
	char text[UM_RANGE_NAME_BYTES]; /* always terminated */
};

static void append(struct name *name, const char *text)
{
	size_t bytes = strnlen(text, sizeof(name->text) - 1 - name->bytes);

	memcpy(name->text + name->bytes, text, bytes);
	name->bytes += bytes;
	name->text[name->bytes] = '\0';
}

static void append_wide(struct name *name, const wchar_t *text)
{
	while (*text && name->bytes + 5 < sizeof(name->text))
		name->bytes += encode(*text++, name->text + name->bytes);
	name->text[name->bytes] = '\0';
}

static const char *known_text(const void *handle)
{
	uint64_t at = 0;

	return um_tap_map_get(&texts, (uintptr_t)handle, &at) ? text_memory + at : NULL;
}

static void keep_text(const void *handle, const struct name *name)
{
	if (!text_memory)
		text_memory = um_tap_reserve_memory(TEXT_MEMORY_BYTES);
	if (!handle || !text_memory || text_bytes + name->bytes + 1 > TEXT_MEMORY_BYTES)
		return;
	memcpy(text_memory + text_bytes, name->text, name->bytes + 1);
	if (um_tap_map_set(&texts, (uintptr_t)handle, text_bytes))
		text_bytes += name->bytes + 1;
}

/* How a call gives its text. */
enum form { ASCII, WIDE, ATTRIBUTES };

static void append_message(struct name *name, const struct um_nvtx_attributes *attributes)
{
	const char *known = NULL;

	if (!attributes || !attributes->message)
		return;
	switch (attributes->message_type) {
	case UM_NVTX_ASCII:
		append(name, attributes->message);
		break;
	case UM_NVTX_UNICODE:
		append_wide(name, attributes->message);
		break;
	case UM_NVTX_REGISTERED:
		known = known_text(attributes->message);
		append(name, known ? known : "");
		break;
	default:
		break;
	}
}

static void append_text(struct name *name, enum form form, const void *text)
{
	if (!text)
		return;
	if (form == ASCII)
		append(name, text);
	else if (form == WIDE)
		append_wide(name, text);
	else
		append_message(name, text);
}

/* --- ranges --- */

static uint32_t new_range(void)
{
	uint32_t at = free_ranges;

	if (!ranges)
		ranges = um_tap_reserve_memory(OPEN_RANGES * sizeof(*ranges));
	if (!ranges || (!at && range_count + 1 >= OPEN_RANGES))
		return 0;
	if (at)
		free_ranges = ranges[at].below;
	else
		at = ++range_count;
	return at;
}

static void put_name(uint32_t op, const struct name *name)
{
	size_t bytes = (sizeof(struct um_record_range) + name->bytes + 8) & ~(size_t)7;
	struct um_record_range *record = um_tap_reserve(bytes);

	if (!record)
		return;
	memset(record, 0, bytes);
	record->header = (struct um_record){(uint32_t)bytes, UM_RECORD_RANGE, 0};
	record->op = op;
	memcpy(record->name, name->text, name->bytes);
	um_tap_commit();
}

static struct um_record_op range_op(const struct range *range, uint64_t end_ns)
{
	return (struct um_record_op){
		.op = range->op,
		.kind = UM_OP_RANGE,
		.start_ns = range->start_ns,
		.end_ns = end_ns,
	};
}

/* The place of the range that began; 0: it is not recorded. */
static uint32_t begin(void *domain, enum form form, const void *text)
{
	struct name name = {0};
	const char *domain_name = known_text(domain);
	uint32_t at = new_range();

	if (!at) {
		um_tap_lost(UM_LOSS_DROPPED, 1, "ranges: too many are open");
		return 0;
	}
	if (domain_name) {
		append(&name, domain_name);
		append(&name, ": ");
	}
	append_text(&name, form, text);
	ranges[at] = (struct range){.domain = domain, .start_ns = um_tap_now_ns()};
	struct um_record_op op = range_op(ranges + at, 0);

	ranges[at].op = um_tap_put_op(&op, 0);
	if (ranges[at].op)
		put_name(ranges[at].op, &name);
	return at;
}

static void end(uint32_t at, uint64_t end_ns)
{
	struct um_record_op op = range_op(ranges + at, end_ns);

	if (op.op)
		um_tap_put_op(&op, 0);
	ranges[at].below = free_ranges;
	free_ranges = at;
}

/* A range that ends where it begins. */
static void mark(void *domain, enum form form, const void *text)
{
	uint32_t at = begin(domain, form, text);

	if (at)
		end(at, ranges[at].start_ns);
}

static void push(void *domain, enum form form, const void *text)
{
	uint32_t at = begin(domain, form, text);
	struct um_tap_thread *thread = um_tap_thread();

	if (!at)
		return;
	ranges[at].below = thread->ranges;
	thread->ranges = at;
}

/* Each domain has a stack of its own. */
static void pop(void *domain)
{
	uint32_t *link = &um_tap_thread()->ranges;

	while (*link && ranges[*link].domain != domain)
		link = &ranges[*link].below;
	uint32_t at = *link;

	if (!at)
		return;
	*link = ranges[at].below;
	end(at, um_tap_now_ns());
}

static uint64_t result_of(const struct um_cupti_nvtx_data *data)
{
	uint64_t result = 0;

	if (data->result)
		memcpy(&result, data->result, sizeof(result));
	return result;
}

static void start(void *domain, enum form form, const void *text, uint64_t id)
{
	uint32_t at = begin(domain, form, text);

	if (at && !um_tap_map_set(&started, id, at))
		end(at, um_tap_now_ns());
}

static void stop(uint64_t id)
{
	uint64_t at = 0;

	if (!um_tap_map_get(&started, id, &at))
		return;
	um_tap_map_remove(&started, id);
	end((uint32_t)at, um_tap_now_ns());
}

/* --- of umtrace.h, which are a domain of their own --- */

static char own_domain;

void um_tap_range_push(const char *text)
{
	push(&own_domain, ASCII, text);
}

void um_tap_range_pop(void)
{
	pop(&own_domain);
}

void um_tap_range_start(const char *text, uint64_t id)
{
	start(&own_domain, ASCII, text, id);
}

void um_tap_range_stop(uint64_t id)
{
	stop(id);
}

/* --- calls --- */

enum action { MARK = 1, START, STOP, PUSH, POP, REGISTER };

static const struct call {
	uint8_t action;
	uint8_t form;
	bool has_domain;
} calls[UM_NVTX_CALLS] = {
	[UM_NVTX_MARK_A] = {MARK, ASCII, false},
	[UM_NVTX_MARK_W] = {MARK, WIDE, false},
	[UM_NVTX_MARK_EX] = {MARK, ATTRIBUTES, false},
	[UM_NVTX_RANGE_START_A] = {START, ASCII, false},
	[UM_NVTX_RANGE_START_W] = {START, WIDE, false},
	[UM_NVTX_RANGE_START_EX] = {START, ATTRIBUTES, false},
	[UM_NVTX_RANGE_END] = {STOP, 0, false},
	[UM_NVTX_RANGE_PUSH_A] = {PUSH, ASCII, false},
	[UM_NVTX_RANGE_PUSH_W] = {PUSH, WIDE, false},
	[UM_NVTX_RANGE_PUSH_EX] = {PUSH, ATTRIBUTES, false},
	[UM_NVTX_RANGE_POP] = {POP, 0, false},
	[UM_NVTX_DOMAIN_MARK_EX] = {MARK, ATTRIBUTES, true},
	[UM_NVTX_DOMAIN_RANGE_START_EX] = {START, ATTRIBUTES, true},
	[UM_NVTX_DOMAIN_RANGE_END] = {STOP, 0, true},
	[UM_NVTX_DOMAIN_RANGE_PUSH_EX] = {PUSH, ATTRIBUTES, true},
	[UM_NVTX_DOMAIN_RANGE_POP] = {POP, 0, true},
	[UM_NVTX_DOMAIN_REGISTER_STRING_A] = {REGISTER, ASCII, true},
	[UM_NVTX_DOMAIN_REGISTER_STRING_W] = {REGISTER, WIDE, true},
	[UM_NVTX_DOMAIN_CREATE_A] = {REGISTER, ASCII, false},
	[UM_NVTX_DOMAIN_CREATE_W] = {REGISTER, WIDE, false},
};

static void act(const struct call *call, const struct um_cupti_nvtx_data *data)
{
	const struct um_params_nvtx_domain_text *with_domain = data->params;
	const struct um_params_nvtx_text *without = data->params;
	void *domain = call->has_domain ? with_domain->domain : NULL;
	const void *text = NULL;
	uint64_t id = 0;
	struct name name = {0};

	if (call->action == STOP)
		id = call->has_domain ? ((const struct um_params_nvtx_domain_id *)data->params)->id
				      : ((const struct um_params_nvtx_id *)data->params)->id;
	else if (call->action != POP)
		text = call->has_domain ? with_domain->text : without->text;
	switch ((enum action)call->action) {
	case MARK:
		mark(domain, call->form, text);
		break;
	case START:
		start(domain, call->form, text, result_of(data));
		break;
	case STOP:
		stop(id);
		break;
	case PUSH:
		push(domain, call->form, text);
		break;
	case POP:
		pop(domain);
		break;
	case REGISTER:
		append_text(&name, call->form, text);
		keep_text((const void *)(uintptr_t)result_of(data), &name);
		break;
	}
}

void um_tap_on_nvtx(uint32_t number, const struct um_cupti_nvtx_data *data)
{
	const struct call *call = number < UM_NVTX_CALLS ? calls + number : NULL;
	int saved = errno;

	if (call && call->action && um_tap_lock()) {
		act(call, data);
		um_tap_unlock();
	}
	errno = saved;
}

void um_tap_enable_nvtx(void)
{
	for (uint32_t number = 0; number < UM_NVTX_CALLS; number++)
		if (calls[number].action)
			um_tap.cupti.enable_callback(1, um_tap.subscriber, UM_CUPTI_NVTX, number);
}
