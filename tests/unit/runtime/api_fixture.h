/* What the tests of the HIP API share: a code object that is registered as a program's would be. */
#ifndef API_FIXTURE_H
#define API_FIXTURE_H

#include <hip/hip_runtime_api.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#define assert_hip(call, error) assert_string_equal(hipGetErrorName(call), #error)
#define assert_ok(call)		assert_hip(call, hipSuccess)

/* What clang makes the host half of a program call. */
struct fat_wrapper {
	unsigned magic, version;
	const void *binary;
	void *unused;
};
void **__hipRegisterFatBinary(const struct fat_wrapper *);
void __hipUnregisterFatBinary(void **);
void __hipRegisterFunction(void **, const void *, char *, const char *, unsigned, void *, void *,
			   dim3 *, dim3 *, int *);
void __hipRegisterVar(void **, void *, char *, const char *, int, size_t, int, int);
void __hipRegisterManagedVar(void **, void **, void *, const char *, size_t, unsigned);

/* The file of api_code.c, whole. Owned by the caller. */
void *read_code_object(size_t *bytes);
/* A bundle with one entry. Owned by the caller, who frees it after the fat binary. */
void *make_bundle(const char *target, const void *image, size_t bytes);
/* Registers api_code.c's code object under `target`; a few at once. */
void **register_code_object(const char *target);
void unregister_code_object(void **handle);
#define OUR_TARGET "hip-x86_64-unknown-linux-gnu"
/* Of a group of tests: scale() and the variable `counter` of that code object, by these. */
extern char scale_stub, counter_variable;
int set_up_code(void **state);
int tear_down_code(void **state);

/* What the calls in `body` write to stderr; owned by the caller. */
char *stderr_of(void (*body)(void));

#endif
