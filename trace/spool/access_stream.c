#include "access_stream.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

enum {
	HEAD_WRITE = 1,
	HEAD_COUNT = 2,
	HEAD_STRIDE = 4,
	HEAD_PLACE = 8,
	HEAD_WAY_SHIFT = 4,
	HEAD_GROUP = 0xf0,
	HEAD_GROUP_FAR = 15, /* low bits: the step follows */
};

/* Ways to tell a page (access_stream.h), by bits 4 to 7 of the head. */
enum {
	WAY_U8 = 8,
	WAY_U16 = 12,
	WAY_U24 = 13,
	WAY_VARINT = 14,
	DELTA_U8 = 8, /* first d of WAY_U8 */
	DELTA_FAR = DELTA_U8 + 256 * (WAY_U16 - WAY_U8),
};

/*
 * The longest group is 11 bytes, the longest run 1 + 2 + 5 + 5 + 5 + 5. Between two checks of the
 * room, put() writes at most one group and two runs, and finish() as much again.
 */
#define UM_STREAM_MARGIN 128u

static uint64_t zigzag(int64_t value)
{
	return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

static int64_t unzigzag(uint64_t value)
{
	return (int64_t)(value >> 1 ^ -(value & 1));
}

/* --- encoder --- */

static void put_head(struct um_stream_encoder *encoder, unsigned head)
{
	encoder->payload[encoder->used++] = (unsigned char)head;
}

static void put_byte(struct um_stream_encoder *encoder, uint64_t byte)
{
	encoder->payload[--encoder->operands] = (unsigned char)byte;
}

static void put_varint(struct um_stream_encoder *encoder, uint64_t value)
{
	for (; value >= 0x80; value >>= 7)
		put_byte(encoder, value | 0x80);
	put_byte(encoder, value);
}

void um_stream_encoder_init(struct um_stream_encoder *encoder, unsigned char *payload)
{
	encoder->payload = payload;
	encoder->used = 0;
	encoder->operands = UM_STREAM_PAYLOAD_MAX;
	encoder->touches = 0;
	encoder->first_group = 0;
	encoder->last_group = 0;
	encoder->written_group = 0;
	encoder->pending.count = 0;
	encoder->pending_place = 0;
	encoder->allocations = 0;
	encoder->written_allocations = 0;
	encoder->written_place = 0;
	memset(encoder->place_of, 0, sizeof(encoder->place_of));
}

static void put_group(struct um_stream_encoder *encoder, uint64_t group)
{
	uint64_t step = group - encoder->written_group;

	encoder->written_group = group;
	if (step >= 1 && step <= HEAD_GROUP_FAR) {
		put_head(encoder, HEAD_GROUP | (unsigned)(step - 1));
		return;
	}
	put_head(encoder, HEAD_GROUP | HEAD_GROUP_FAR);
	put_varint(encoder, zigzag((int64_t)step));
}

static void put_place(struct um_stream_encoder *encoder, uint32_t place)
{
	put_varint(encoder, place);
	if (place == encoder->written_allocations) {
		put_varint(encoder, encoder->seen[place].allocation);
		encoder->seen[place].last_page = 0;
		encoder->written_allocations++;
	}
	encoder->written_place = place;
}

static unsigned put_far_page(struct um_stream_encoder *encoder, uint32_t last, uint32_t page)
{
	uint32_t delta = page - last;

	if (page >> 24 != last >> 24) {
		put_varint(encoder, zigzag((int64_t)page - (int64_t)last));
		return WAY_VARINT;
	}
	put_byte(encoder, delta);
	put_byte(encoder, delta >> 8);
	if (page >> 16 == last >> 16)
		return WAY_U16;
	put_byte(encoder, delta >> 16);
	return WAY_U24;
}

/* Returns the way. */
static unsigned put_page(struct um_stream_encoder *encoder, uint32_t last, uint32_t page)
{
	uint64_t d = zigzag((int64_t)page - (int64_t)last);

	if (d < DELTA_U8)
		return (unsigned)d;
	if (d >= DELTA_FAR)
		return put_far_page(encoder, last, page);
	put_byte(encoder, d - DELTA_U8);
	return WAY_U8 + (unsigned)((d - DELTA_U8) >> 8);
}

static void write_run(struct um_stream_encoder *encoder, uint32_t first_page, int32_t stride,
		      uint32_t count, uint32_t last_page)
{
	const struct um_access_run *run = &encoder->pending;
	uint32_t place = encoder->pending_place;
	unsigned head = run->write ? HEAD_WRITE : 0;

	if (run->group != encoder->written_group)
		put_group(encoder, run->group);
	if (place != encoder->written_place || encoder->written_allocations == 0) {
		head |= HEAD_PLACE;
		put_place(encoder, place);
	}
	head |= put_page(encoder, encoder->seen[place].last_page, first_page) << HEAD_WAY_SHIFT;
	if (count > 1 && stride != 1) {
		head |= HEAD_STRIDE;
		put_varint(encoder, zigzag(stride));
	}
	if (count > 1) {
		head |= HEAD_COUNT;
		put_varint(encoder, count - 2);
	}
	put_head(encoder, head);
	encoder->seen[place].last_page = last_page;
}

/* Two touches at some distance are a run only by chance, and cost less apart. */
static bool is_chance_pair(const struct um_access_run *run)
{
	return run->count == 2 && run->stride != 1;
}

/* Writes the first touch of a chance pair and keeps the second. */
static void write_first_of_pair(struct um_stream_encoder *encoder)
{
	struct um_access_run *run = &encoder->pending;

	write_run(encoder, run->first_page, 1, 1, run->first_page);
	run->first_page = encoder->pending_last_page;
	run->count = 1;
}

static void write_pending(struct um_stream_encoder *encoder)
{
	struct um_access_run *run = &encoder->pending;

	if (is_chance_pair(run))
		write_first_of_pair(encoder);
	if (run->count > 0)
		write_run(encoder, run->first_page, run->stride, run->count,
			  encoder->pending_last_page);
	run->count = 0;
}

/* The allocation's place in `seen`; false when it is not there and there is no room for it. */
static bool find_place(struct um_stream_encoder *encoder, uint32_t allocation, uint32_t *place)
{
	unsigned char *guess = &encoder->place_of[allocation % sizeof(encoder->place_of)];

	if (*guess < encoder->allocations && encoder->seen[*guess].allocation == allocation) {
		*place = *guess;
		return true;
	}
	for (uint32_t i = 0; i < encoder->allocations; i++)
		if (encoder->seen[i].allocation == allocation) {
			*guess = (unsigned char)(*place = i);
			return true;
		}
	if (encoder->allocations == UM_STREAM_ALLOCATIONS)
		return false;
	*place = encoder->allocations++;
	encoder->seen[*place].allocation = allocation;
	*guess = (unsigned char)*place;
	return true;
}

static bool extends(const struct um_stream_encoder *encoder, uint64_t group, uint32_t allocation,
		    bool write)
{
	const struct um_access_run *run = &encoder->pending;

	return run->count > 0 && run->group == group && run->allocation == allocation &&
	       run->write == write;
}

/* Makes the pending run one touch longer, where the step fits. */
static bool extend(struct um_stream_encoder *encoder, uint32_t page)
{
	struct um_access_run *run = &encoder->pending;
	int64_t step = (int64_t)page - (int64_t)encoder->pending_last_page;

	if (step != (int32_t)step || run->count == UINT32_MAX)
		return false;
	if (run->count == 1)
		run->stride = (int32_t)step;
	else if (run->stride != step)
		return false;
	run->count++;
	encoder->pending_last_page = page;
	return true;
}

static void count_touch(struct um_stream_encoder *encoder, uint64_t group)
{
	if (encoder->touches == 0 || group < encoder->first_group)
		encoder->first_group = group;
	if (encoder->touches == 0 || group > encoder->last_group)
		encoder->last_group = group;
	encoder->touches++;
}

bool um_stream_put(struct um_stream_encoder *encoder, uint64_t group, uint32_t allocation,
		   uint32_t page, bool write)
{
	bool same = extends(encoder, group, allocation, write);

	if (same && extend(encoder, page)) {
		encoder->touches++;
		return true;
	}
	uint32_t place = encoder->pending_place;
	if (encoder->used + UM_STREAM_MARGIN > encoder->operands)
		return false;
	if (!same && !find_place(encoder, allocation, &place))
		return false;
	count_touch(encoder, group);
	if (same && is_chance_pair(&encoder->pending)) {
		write_first_of_pair(encoder);
		if (extend(encoder, page))
			return true;
	}
	write_pending(encoder);
	encoder->pending = (struct um_access_run){
		.group = group,
		.allocation = allocation,
		.first_page = page,
		.stride = 1,
		.count = 1,
		.write = write,
	};
	encoder->pending_place = place;
	encoder->pending_last_page = page;
	return true;
}

void um_stream_finish(struct um_stream_encoder *encoder)
{
	write_pending(encoder);
	size_t bytes = UM_STREAM_PAYLOAD_MAX - encoder->operands;

	memmove(encoder->payload + encoder->used, encoder->payload + encoder->operands, bytes);
	encoder->used += bytes;
	encoder->operands = UM_STREAM_PAYLOAD_MAX;
}

/* --- decoder --- */

struct um_stream_decoder {
	const unsigned char *heads, *operands; /* the next head; behind the next operand */
	uint64_t group;
	uint32_t place, allocations;
	struct {
		uint32_t allocation, last_page;
	} seen[UM_STREAM_ALLOCATIONS];
};

int um_stream_decoder_create(struct um_stream_decoder **out, const unsigned char *payload,
			     size_t bytes)
{
	*out = malloc(sizeof(**out));
	if (!*out)
		return um_fail(UM_ENOMEM, "out of memory for an access stream decoder");
	um_stream_decoder_reset(*out, payload, bytes);
	return 0;
}

void um_stream_decoder_reset(struct um_stream_decoder *decoder, const unsigned char *payload,
			     size_t bytes)
{
	decoder->heads = payload;
	decoder->operands = bytes ? payload + bytes : payload;
	decoder->group = 0;
	decoder->place = 0;
	decoder->allocations = 0;
}

void um_stream_decoder_destroy(struct um_stream_decoder *decoder)
{
	free(decoder);
}

/* What is left between the heads and the operands. */
struct rest {
	const unsigned char *heads, *operands;
};

/* False: the integer is cut off or longer than 64 bits. */
static inline bool get_varint(struct rest *rest, uint64_t *value)
{
	uint64_t result = 0;

	for (unsigned shift = 0; shift < 64 && rest->operands > rest->heads; shift += 7) {
		uint64_t byte = *--rest->operands;

		if (shift == 63 && byte > 1)
			return false;
		result |= (byte & 0x7f) << shift;
		if (byte < 0x80) {
			*value = result;
			return true;
		}
	}
	return false;
}

/* `count` (at most 3) bytes, the lowest first. */
static inline bool get_bytes(struct rest *rest, unsigned count, uint32_t *value)
{
	uint32_t word;

	if (rest->operands - rest->heads >= (ptrdiff_t)sizeof(word)) { /* all but the last few */
		memcpy(&word, rest->operands - sizeof(word), sizeof(word));
		*value = __builtin_bswap32(word) & ((1u << 8 * count) - 1);
		rest->operands -= count;
		return true;
	}
	if (rest->operands - rest->heads < (ptrdiff_t)count)
		return false;
	*value = 0;
	for (unsigned i = 0; i < count; i++)
		*value |= (uint32_t) * --rest->operands << 8 * i;
	return true;
}

static bool get_group(struct um_stream_decoder *decoder, struct rest *rest, unsigned head)
{
	uint64_t step;

	if ((head & 15) != HEAD_GROUP_FAR) {
		decoder->group += (head & 15) + 1;
		return true;
	}
	if (!get_varint(rest, &step))
		return false;
	decoder->group += (uint64_t)unzigzag(step);
	return true;
}

static bool get_place(struct um_stream_decoder *decoder, struct rest *rest)
{
	uint64_t place, allocation;

	if (!get_varint(rest, &place) || place > decoder->allocations ||
	    place == UM_STREAM_ALLOCATIONS)
		return false;
	decoder->place = (uint32_t)place;
	if (place < decoder->allocations)
		return true;
	if (!get_varint(rest, &allocation) || allocation > UINT32_MAX)
		return false;
	decoder->seen[place].allocation = (uint32_t)allocation;
	decoder->seen[place].last_page = 0;
	decoder->allocations++;
	return true;
}

/* The page may come out beyond 32 bits. */
static inline bool get_page(struct rest *rest, unsigned way, uint32_t last, int64_t *page)
{
	uint64_t d = way;
	uint32_t bits = 0;

	if (way == WAY_U16 || way == WAY_U24) {
		uint32_t mask = way == WAY_U16 ? 0xffff : 0xffffff;

		if (!get_bytes(rest, way == WAY_U16 ? 2 : 3, &bits))
			return false;
		*page = (last & ~mask) | ((last + bits) & mask);
		return true;
	}
	if (way == WAY_VARINT) {
		if (!get_varint(rest, &d) || d > (uint64_t)UINT32_MAX << 1)
			return false;
	} else if (way >= WAY_U8) {
		if (!get_bytes(rest, 1, &bits))
			return false;
		d = DELTA_U8 + ((way - WAY_U8) << 8) + bits;
	}
	*page = (int64_t)last + unzigzag(d);
	return true;
}

static bool get_shape(struct rest *rest, unsigned head, struct um_access_run *run)
{
	uint64_t value;

	if (head & HEAD_STRIDE) {
		if (!get_varint(rest, &value) || unzigzag(value) != (int32_t)unzigzag(value))
			return false;
		run->stride = (int32_t)unzigzag(value);
	}
	if (head & HEAD_COUNT) {
		if (!get_varint(rest, &value) || value > UINT32_MAX - 2)
			return false;
		run->count = (uint32_t)value + 2;
	}
	return true;
}

static inline bool get_run(struct um_stream_decoder *decoder, struct rest *rest, unsigned head,
			   struct um_access_run *run)
{
	int64_t first;

	if (head & HEAD_PLACE) {
		if (!get_place(decoder, rest))
			return false;
	} else if (decoder->allocations == 0) {
		return false;
	}
	if (!get_page(rest, head >> HEAD_WAY_SHIFT, decoder->seen[decoder->place].last_page,
		      &first))
		return false;
	run->stride = 1;
	run->count = 1;
	if (head & (HEAD_STRIDE | HEAD_COUNT) && !get_shape(rest, head, run))
		return false;
	if (first != (uint32_t)first)
		return false;
	int64_t last = first + (int64_t)run->stride * ((int64_t)run->count - 1);
	if (last != (uint32_t)last)
		return false;
	run->group = decoder->group;
	run->allocation = decoder->seen[decoder->place].allocation;
	run->first_page = (uint32_t)first;
	run->write = head & HEAD_WRITE;
	decoder->seen[decoder->place].last_page = (uint32_t)last;
	return true;
}

long um_stream_decode(struct um_stream_decoder *decoder, struct um_access_run *out, size_t capacity)
{
	struct rest rest = {decoder->heads, decoder->operands};
	size_t count = 0;
	bool valid = true;

	while (count < capacity && rest.heads < rest.operands && valid) {
		unsigned head = *rest.heads++;

		if (head >= HEAD_GROUP) {
			valid = get_group(decoder, &rest, head);
		} else {
			valid = get_run(decoder, &rest, head, &out[count]);
			count++;
		}
	}
	decoder->heads = rest.heads;
	decoder->operands = rest.operands;
	if (valid)
		return (long)count;
	decoder->heads = decoder->operands;
	return um_fail(UM_EFORMAT, "damaged access stream");
}
