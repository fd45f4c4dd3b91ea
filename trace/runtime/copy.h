/* Copies and fills of boxes of bytes, with their checks and their op in the trace. */
#ifndef UM_COPY_H
#define UM_COPY_H

#include "api.h"

/* Where a box lies: rows of `pitch` bytes, layers of `slice` bytes. */
struct um_box {
	const void *start;
	size_t pitch, slice;
};

struct um_extent {
	size_t width_bytes, height, depth;
};

struct um_copy {
	struct um_box to, from;
	struct um_extent extent;
	hipMemcpyKind kind;
	hipStream_t stream;
	bool async;
};

struct um_fill {
	struct um_box to;
	struct um_extent extent;
	uint32_t value;
	unsigned value_bytes; /* 1, 2 or 4; the width is a multiple of it */
	hipStream_t stream;
	bool async;
};

/*
 * The op tells the first byte and how many are moved; where rows have gaps between them, the gaps
 * are within that range and the last rows beyond it.
 */
hipError_t um_copy_run(const struct um_copy *);
hipError_t um_fill_run(const struct um_fill *);
/* What they would be refused for. */
hipError_t um_copy_check(const struct um_copy *);
hipError_t um_fill_check(const struct um_fill *);
/* As hipMemcpy3D() and graphs have it; arrays are refused (hipErrorNotSupported). */
hipError_t um_copy_of_params(struct um_copy *, const hipMemcpy3DParms *);
/* The other way: as much of it as there is. */
void um_copy_params(hipMemcpy3DParms *, const struct um_copy *);
void um_fill_params(hipMemsetParams *, const struct um_fill *);

#endif
