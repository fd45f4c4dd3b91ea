/*
 * What the fuzz targets share. Each is libFuzzer's entry point, and is driven by mutate.c in ctest.
 */
#ifndef UM_FUZZ_H
#define UM_FUZZ_H

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

/* Says what is wrong and aborts, which a fuzzer takes for a finding. */
_Noreturn void um_fuzz_bug(const char *what, const char *detail);
/* Of a loader: an object on success; on an error none, and a message that begins with the file. */
void um_fuzz_check_result(int error, const void *object);

#endif
