/* An access stream of any bytes: refused, or runs that stay within 32 bits of pages. */
#include "fuzz.h"

#include "trace/base/error.h"
#include "trace/spool/access_stream.h"

#include <stdlib.h>

static void check_run(const struct um_access_run *run)
{
	int64_t last = run->first_page + (int64_t)run->stride * ((int64_t)run->count - 1);

	if (run->count == 0 || last < 0 || last > UINT32_MAX)
		um_fuzz_bug("a run that leaves its allocation", "run");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct um_stream_decoder *decoder;
	struct um_access_run run[64];
	uint64_t heads = 0;
	long runs;

	if (um_stream_decoder_create(&decoder, data, bytes))
		abort();
	while ((runs = um_stream_decode(decoder, run, sizeof(run) / sizeof(*run))) > 0) {
		heads += (uint64_t)runs;
		for (long i = 0; i < runs; i++)
			check_run(&run[i]);
	}
	if (heads > bytes)
		um_fuzz_bug("more runs than bytes", "count");
	if (runs < 0 && runs != UM_EFORMAT)
		um_fuzz_bug("an error that is not of the stream", um_error_message());
	if (runs < 0 && um_stream_decode(decoder, run, 1) != 0)
		um_fuzz_bug("runs behind the damage", "run");
	um_stream_decoder_destroy(decoder);
	return 0;
}
