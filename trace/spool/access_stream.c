#include "access_stream.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

enum {
	HEAD_WRITE = 1,
	HEAD_COUNT = 2,
	HEAD_STRIDE = 4,
	HEAD_PLACE = 8,
	HEAD_DELTA_SHIFT = 4,
	HEAD_GROUP = 0xf0,
	HEAD_GROUP_FAR = 15, /* low bits: the step follows */
};

/* First d of each way to write it (access_stream.h), and the head bits that name the way. */
enum {
	DELTA_U8 = 8,
	DELTA_U16 = 520,
	DELTA_VARINT = 262664,
	WAY_U8 = 8,
	WAY_U16 = 10,
	WAY_VARINT = 14,
};

/*
 * The longest group token is 11 bytes, the longest run 1 + 2 + 5 + 5 + 5 + 5. Between two checks of
 * the room, put() writes at most one group and two runs, and finish() as much again.
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

static unsigned char *put_varint(unsigned char *at, uint64_t value)
{
	while (value >= 0x80) {
		*at++ = (unsigned char)(value | 0x80);
		value >>= 7;
	}
	*at++ = (unsigned char)value;
	return at;
}

void um_stream_encoder_init(struct um_stream_encoder *encoder, unsigned char *payload)
{
	encoder->payload = payload;
	encoder->used = 0;
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

static unsigned char *put_group(struct um_stream_encoder *encoder, unsigned char *at,
				uint64_t group)
{
	uint64_t step = group - encoder->written_group;

	encoder->written_group = group;
	if (step >= 1 && step <= HEAD_GROUP_FAR) {
		*at++ = (unsigned char)(HEAD_GROUP | (step - 1));
		return at;
	}
	*at++ = HEAD_GROUP | HEAD_GROUP_FAR;
	return put_varint(at, zigzag((int64_t)step));
}

/* Writes the delta's bytes and returns the head bits that say how. */
static unsigned put_delta(unsigned char **at, uint64_t d)
{
	if (d < DELTA_U8)
		return (unsigned)d;
	if (d < DELTA_U16) {
		d -= DELTA_U8;
		*(*at)++ = (unsigned char)d;
		return WAY_U8 + (unsigned)(d >> 8);
	}
	if (d < DELTA_VARINT) {
		d -= DELTA_U16;
		*(*at)++ = (unsigned char)d;
		*(*at)++ = (unsigned char)(d >> 8);
		return WAY_U16 + (unsigned)(d >> 16);
	}
	*at = put_varint(*at, d - DELTA_VARINT);
	return WAY_VARINT;
}

static unsigned char *put_place(struct um_stream_encoder *encoder, unsigned char *at,
				uint32_t place)
{
	at = put_varint(at, place);
	if (place == encoder->written_allocations) {
		at = put_varint(at, encoder->seen[place].allocation);
		encoder->seen[place].last_page = 0;
		encoder->written_allocations++;
	}
	encoder->written_place = place;
	return at;
}

static void write_run(struct um_stream_encoder *encoder, uint32_t first_page, int32_t stride,
		      uint32_t count, uint32_t last_page)
{
	const struct um_access_run *run = &encoder->pending;
	unsigned char *at = encoder->payload + encoder->used;
	uint32_t place = encoder->pending_place;

	if (run->group != encoder->written_group)
		at = put_group(encoder, at, run->group);
	unsigned char *head_at = at++;
	unsigned head = run->write ? HEAD_WRITE : 0;
	if (place != encoder->written_place || encoder->written_allocations == 0) {
		head |= HEAD_PLACE;
		at = put_place(encoder, at, place);
	}
	int64_t delta = (int64_t)first_page - (int64_t)encoder->seen[place].last_page;
	head |= put_delta(&at, zigzag(delta)) << HEAD_DELTA_SHIFT;
	if (count > 1 && stride != 1) {
		head |= HEAD_STRIDE;
		at = put_varint(at, zigzag(stride));
	}
	if (count > 1) {
		head |= HEAD_COUNT;
		at = put_varint(at, count - 2);
	}
	*head_at = (unsigned char)head;
	encoder->seen[place].last_page = last_page;
	encoder->used = (size_t)(at - encoder->payload);
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
	if (encoder->used + UM_STREAM_MARGIN > UM_STREAM_PAYLOAD_MAX)
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
}

/* --- decoder --- */

struct um_stream_decoder {
	const unsigned char *at, *end;
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
	decoder->at = payload;
	decoder->end = payload + bytes;
	decoder->group = 0;
	decoder->place = 0;
	decoder->allocations = 0;
}

void um_stream_decoder_destroy(struct um_stream_decoder *decoder)
{
	free(decoder);
}

/* False: the integer is cut off or longer than 64 bits. */
static inline bool get_varint(const unsigned char **at, const unsigned char *end, uint64_t *value)
{
	uint64_t result = 0;

	for (unsigned shift = 0; shift < 64 && *at < end; shift += 7) {
		uint64_t byte = *(*at)++;

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

static bool get_group(struct um_stream_decoder *decoder, const unsigned char **at, unsigned head)
{
	uint64_t step;

	if ((head & 15) != HEAD_GROUP_FAR) {
		decoder->group += (head & 15) + 1;
		return true;
	}
	if (!get_varint(at, decoder->end, &step))
		return false;
	decoder->group += (uint64_t)unzigzag(step);
	return true;
}

static bool get_place(struct um_stream_decoder *decoder, const unsigned char **at)
{
	uint64_t place, allocation;

	if (!get_varint(at, decoder->end, &place) || place > decoder->allocations ||
	    place == UM_STREAM_ALLOCATIONS)
		return false;
	decoder->place = (uint32_t)place;
	if (place < decoder->allocations)
		return true;
	if (!get_varint(at, decoder->end, &allocation) || allocation > UINT32_MAX)
		return false;
	decoder->seen[place].allocation = (uint32_t)allocation;
	decoder->seen[place].last_page = 0;
	decoder->allocations++;
	return true;
}

static inline bool get_delta(const unsigned char **at, const unsigned char *end, unsigned way,
			     int64_t *delta)
{
	uint64_t d = way;

	if (way >= WAY_VARINT) {
		if (!get_varint(at, end, &d) || d > (uint64_t)UINT32_MAX << 1)
			return false;
		d += DELTA_VARINT;
	} else if (way >= WAY_U16) {
		if (end - *at < 2)
			return false;
		d = DELTA_U16 + ((uint64_t)(way - WAY_U16) << 16) + (*at)[0] +
		    ((uint64_t)(*at)[1] << 8);
		*at += 2;
	} else if (way >= WAY_U8) {
		if (end == *at)
			return false;
		d = DELTA_U8 + ((uint64_t)(way - WAY_U8) << 8) + *(*at)++;
	}
	*delta = unzigzag(d);
	return true;
}

static bool get_shape(const unsigned char **at, const unsigned char *end, unsigned head,
		      struct um_access_run *run)
{
	uint64_t value;

	if (head & HEAD_STRIDE) {
		if (!get_varint(at, end, &value) || unzigzag(value) != (int32_t)unzigzag(value))
			return false;
		run->stride = (int32_t)unzigzag(value);
	}
	if (head & HEAD_COUNT) {
		if (!get_varint(at, end, &value) || value > UINT32_MAX - 2)
			return false;
		run->count = (uint32_t)value + 2;
	}
	return true;
}

static inline bool get_run(struct um_stream_decoder *decoder, const unsigned char **at,
			   unsigned head, struct um_access_run *run)
{
	int64_t delta;

	if (head & HEAD_PLACE) {
		if (!get_place(decoder, at))
			return false;
	} else if (decoder->allocations == 0) {
		return false;
	}
	if (!get_delta(at, decoder->end, head >> HEAD_DELTA_SHIFT, &delta))
		return false;
	run->stride = 1;
	run->count = 1;
	if (head & (HEAD_STRIDE | HEAD_COUNT) && !get_shape(at, decoder->end, head, run))
		return false;
	int64_t first = decoder->seen[decoder->place].last_page + delta;
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
	const unsigned char *at = decoder->at;
	size_t count = 0;
	bool valid = true;

	while (count < capacity && at < decoder->end && valid) {
		unsigned head = *at++;

		if (head >= HEAD_GROUP) {
			valid = get_group(decoder, &at, head);
		} else {
			valid = get_run(decoder, &at, head, &out[count]);
			count++;
		}
	}
	decoder->at = at;
	if (valid)
		return (long)count;
	decoder->at = decoder->end;
	return um_fail(UM_EFORMAT, "damaged access stream");
}
