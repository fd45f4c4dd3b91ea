/* An offload bundle of any bytes: refused, or what is found in it lies within it. */
#include "fuzz.h"

#include "trace/base/error.h"
#include "trace/runtime/module.h"

static void check_within(const struct um_bundle_entry *entry, const uint8_t *data, size_t bytes)
{
	const uint8_t *image = entry->image;
	const uint8_t *target = (const uint8_t *)entry->target;

	if (image < data || image > data + bytes ||
	    entry->image_bytes > (size_t)(data + bytes - image))
		um_fuzz_bug("an image outside its bundle", "image");
	if (target < data || target > data + bytes ||
	    entry->target_length > (size_t)(data + bytes - target))
		um_fuzz_bug("a target outside its bundle", "target");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	struct um_bundle_entry found;
	int error = um_bundle_find(&found, data, bytes, UM_TARGET);

	if (!error)
		check_within(&found, data, bytes);
	else if (error != UM_EFORMAT && error != UM_ENOENT)
		um_fuzz_bug("an error that is not of the bundle", um_error_message());
	return 0;
}
