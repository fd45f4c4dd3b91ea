#include "fuzz.h"

#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Noreturn void um_fuzz_bug(const char *what, const char *detail)
{
	fprintf(stderr, "bug: %s: %s\n", what, detail);
	abort();
}

void um_fuzz_check_result(int error, const void *object)
{
	if (!error != !!object)
		um_fuzz_bug("success without an object, or an object in spite of an error",
			    um_error_message());
	if (error && error != UM_EINVAL)
		um_fuzz_bug("an error that is not of the file", um_error_message());
	if (error && strncmp(um_error_message(), "fuzz.yaml:", strlen("fuzz.yaml:")) != 0)
		um_fuzz_bug("a message without a place", um_error_message());
}
