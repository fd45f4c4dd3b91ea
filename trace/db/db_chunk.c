/* Chunks of the access stream, deflated. */
#include "db_private.h"

#include "trace/base/error.h"
#include "trace/spool/access_stream.h"

#include <stdlib.h>
#include <zstd.h>

/* zstd's own default: the next level up takes half as long again for 1 to 2 % (tests/bench). */
#define LEVEL 3

int um_db_chunk_payload(const struct um_access_chunk_row *row, unsigned char **payload)
{
	*payload = NULL;
	if (row->payload_bytes < 0 || row->payload_bytes > UM_STREAM_PAYLOAD_MAX)
		return um_fail(UM_EFORMAT, "damaged access chunk (op %lld, chunk %lld): its length",
			       (long long)row->op, (long long)row->chunk);
	unsigned char *bytes = malloc((size_t)row->payload_bytes + 1);
	if (!bytes)
		return um_fail(UM_ENOMEM, "out of memory for an access chunk");
	size_t got =
		ZSTD_decompress(bytes, (size_t)row->payload_bytes, row->data.data, row->data.bytes);
	if (ZSTD_isError(got) || got != (size_t)row->payload_bytes) {
		free(bytes);
		return um_fail(UM_EFORMAT, "damaged access chunk (op %lld, chunk %lld): %s",
			       (long long)row->op, (long long)row->chunk,
			       ZSTD_isError(got) ? ZSTD_getErrorName(got) : "its length");
	}
	*payload = bytes;
	return 0;
}

int um_db_chunk_pack(struct um_access_chunk_row *row, const void *payload, size_t bytes)
{
	size_t capacity = ZSTD_compressBound(bytes), packed = 0;
	void *data = malloc(capacity);
	ZSTD_CCtx *context = ZSTD_createCCtx();

	if (data && context) {
		ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel, LEVEL);
		ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
		packed = ZSTD_compress2(context, data, capacity, payload, bytes);
	}
	ZSTD_freeCCtx(context);
	if (packed == 0 || ZSTD_isError(packed)) {
		free(data);
		return um_fail(UM_ENOMEM, "out of memory for an access chunk");
	}
	row->data = (struct um_blob){data, packed};
	row->payload_bytes = (int64_t)bytes;
	return 0;
}
