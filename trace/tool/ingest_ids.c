/* The allocations that were named so far, for checking what is said about them. */
#include "ingest_private.h"

#include "trace/base/error.h"
#include "trace/base/sorted.h"

#include <stdlib.h>

struct um_known_allocation *um_ingest_known(struct um_ingest *ingest, uint32_t allocation)
{
	return um_sorted_find(ingest->known, ingest->known_count, sizeof(*ingest->known),
			      allocation);
}

static int grow(struct um_ingest *ingest)
{
	size_t capacity = ingest->known_capacity ? 2 * ingest->known_capacity : 64;
	void *known = realloc(ingest->known, capacity * sizeof(*ingest->known));

	if (!known)
		return um_fail(UM_ENOMEM, "out of memory for %zu allocations", capacity);
	ingest->known = known;
	ingest->known_capacity = capacity;
	return 0;
}

int um_ingest_know(struct um_ingest *ingest, uint32_t allocation, uint64_t bytes)
{
	uint64_t pages = (bytes >> UM_PAGE_SHIFT) + (bytes % UM_PAGE_BYTES != 0);

	if (pages > UINT32_MAX || allocation == 0 ||
	    (ingest->known_count > 0 &&
	     allocation <= ingest->known[ingest->known_count - 1].allocation))
		return UM_RECORD_INVALID;
	if (ingest->known_count == ingest->known_capacity && grow(ingest) != 0)
		return UM_ENOMEM;
	ingest->known[ingest->known_count++] =
		(struct um_known_allocation){allocation, (uint32_t)pages, false, false};
	return 0;
}
