/*
 * The ordered access stream: for each work-group of a launch, which page it touched next and
 * whether it wrote.
 *
 * Order within a group is that of its lanes in step: the k-th access of every lane before the
 * (k+1)-th of any. A touch of one of the last K distinct (page, write) emissions of the group is
 * dropped (K in the header of the trace: reuse at a distance of K or less is not seen, reuse
 * beyond is); a write to a page whose emission was a read is kept. Groups follow each other in the
 * order in which they ran.
 *
 * Payload of a chunk, before zstd (which the database adds). Chunks are independent: every state
 * below starts at 0. Heads, one byte each, stand at the front. Their operands stand at the back and
 * are read from the payload's last byte backwards; heads and operands meet. Apart, the heads of a
 * pattern, and of random pages too, are a repetition that zstd finds.
 *
 *   chunk := (group | run)*
 *   group := head, [step]        the runs that follow are of another work-group
 *     head: bits 4-7 are 15; bits 0-3: group - previous group - 1 if 0 to 14, else 15 and `step`
 *     step := varint z(group - previous group)
 *   run   := head, [place, [allocation]], [delta], [stride], [count]
 *     head: bit 0 write; bit 1 count follows (else 1 touch); bit 2 stride follows (else +1 page);
 *           bit 3 another allocation than that of the run before: place follows; bits 4-7 tell the
 *           first page from `last`, the last page of the allocation's run before in this chunk
 *           (d = z(first page - last)):
 *             0-7    d is 0 to 7
 *             8-11   d is 8 + 256 * (bits - 8) + u8
 *             12     the page has the bits above 16 of `last`, and the lower 16 of last + u16
 *             13     the same with 24 bits and a u24
 *             14     d is a varint
 *     place      := varint, place in the chunk's list of allocations; a place equal to the list's
 *                   length (below UM_STREAM_ALLOCATIONS) adds one, whose id follows
 *     allocation := varint id
 *     delta      := the u8, u16, u24 (low byte first) or varint of the page
 *     stride     := varint z(stride), pages
 *     count      := varint, touches - 2
 *
 * varint is LEB128, at most 64 bits; z() is zigzag.
 */
#ifndef UM_ACCESS_STREAM_H
#define UM_ACCESS_STREAM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* `count` touches: first_page, first_page + stride, ... all in the allocation. count >= 1. */
struct um_access_run {
	uint64_t group; /* linear: x + grid.x * (y + grid.y * z) */
	uint32_t allocation;
	uint32_t first_page;
	int32_t stride;
	uint32_t count;
	bool write;
};

/* --- encoder: no allocation; used inside the traced program --- */

#define UM_STREAM_PAYLOAD_MAX 65536u
#define UM_STREAM_ALLOCATIONS 256u /* distinct allocations in a chunk before it is closed */

struct um_stream_encoder {
	unsigned char *payload; /* UM_STREAM_PAYLOAD_MAX bytes, owned by the caller */
	size_t used;		/* of them, once finished */
	uint64_t touches, first_group, last_group; /* smallest and largest */
	/* private: */
	size_t operands;	      /* where they begin; heads end at `used` */
	uint64_t written_group;	      /* that the runs in the payload have reached */
	struct um_access_run pending; /* not in the payload yet; count 0: none */
	uint32_t pending_place, pending_last_page;
	uint32_t allocations;	      /* in `seen` */
	uint32_t written_allocations; /* of them, those that the payload names */
	uint32_t written_place;	      /* of the run last written */
	struct {
		uint32_t allocation, last_page;
	} seen[UM_STREAM_ALLOCATIONS];
	unsigned char place_of[64]; /* guess of the place, by the allocation's low bits */
};

void um_stream_encoder_init(struct um_stream_encoder *, unsigned char *payload);
/*
 * Adds one touch. False: the chunk is full and the touch is not in it; the caller ends the chunk,
 * sends it, starts anew and adds the touch again.
 */
bool um_stream_put(struct um_stream_encoder *, uint64_t group, uint32_t allocation, uint32_t page,
		   bool write);
/* Writes the open run. `payload[0 .. used)` is then a chunk; 0 touches: nothing to send. */
void um_stream_finish(struct um_stream_encoder *);

/* --- decoder --- */

struct um_stream_decoder;
/* The payload stays the caller's and must outlive the decoder. UM_ENOMEM. */
int um_stream_decoder_create(struct um_stream_decoder **out, const unsigned char *payload,
			     size_t bytes);
/* Starts over with another payload. */
void um_stream_decoder_reset(struct um_stream_decoder *, const unsigned char *payload,
			     size_t bytes);
/*
 * Fills up to `capacity` runs; returns how many, 0 at the end, UM_EFORMAT for a damaged payload
 * (pages beyond 32 bits, a place beyond the list, a cut-off integer); the decoder then stays at its
 * end. Any bytes are safe to decode.
 */
long um_stream_decode(struct um_stream_decoder *, struct um_access_run *out, size_t capacity);
void um_stream_decoder_destroy(struct um_stream_decoder *);

#endif
