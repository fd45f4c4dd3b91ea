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
 * below starts at 0. Integers are LEB128 ("varint"); z() is zigzag.
 *
 *   chunk   := segment*
 *   segment := z(group - previous group) varint, runs varint, run*
 *   run     := head [allocation] [delta] [stride] [count]
 *   head    := one byte: bit 0 write; bit 1 count follows (else 1 touch); bit 2 stride follows
 *              (else +1 page); bit 3 another allocation than the run before;
 *              bits 4-7 z(first page - expected) if below 15, else 15 and `delta` follows
 *   allocation := varint, place in the chunk's list of allocations; a place equal to the length of
 *              the list adds one, and its id follows as a varint
 *   delta   := z(first page - expected) varint, minus nothing
 *   stride  := z(stride) varint, pages
 *   count   := varint, touches - 2
 *   expected := the last page of the allocation's previous run in this chunk (0 at first)
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
	size_t used;
	uint64_t touches, first_group, last_group;
	/* private: */
	uint64_t group;	      /* of the open segment */
	size_t segment_start; /* where its run count goes; runs are counted before they are written */
	uint32_t segment_runs;
	struct um_access_run pending;
	uint32_t allocations, last_allocation;
	struct {
		uint32_t allocation, last_page;
	} seen[UM_STREAM_ALLOCATIONS];
};

void um_stream_encoder_init(struct um_stream_encoder *, unsigned char *payload);
/*
 * Adds one touch. False: the chunk is full and the touch is not in it; the caller ends the chunk,
 * sends it, starts anew and adds the touch again.
 */
bool um_stream_put(struct um_stream_encoder *, uint64_t group, uint32_t allocation, uint32_t page,
		   bool write);
/* Closes the open run and segment. `payload[0 .. used)` is then a chunk; 0 touches: nothing to send. */
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
 * (pages beyond 32 bits, a place beyond the list, a cut-off integer).
 */
long um_stream_decode(struct um_stream_decoder *, struct um_access_run *out, size_t capacity);
void um_stream_decoder_destroy(struct um_stream_decoder *);

#endif
