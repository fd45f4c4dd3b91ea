/* How device code fails: assertions, traps, calls of pure virtual functions. */
#include "device_library.h"

#include <stdio.h>

/* hip/hip_runtime_api.h, hipError_t */
enum { ERROR_ASSERT = 710, ERROR_LAUNCH_FAILURE = 719 };

void um_trap(void)
{
	um_fault(ERROR_LAUNCH_FAILURE, "the kernel called abort() or trapped");
}

void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
{
	/* The text of AMD's runtime. */
	fprintf(stderr, "%s:%u: %s: Device-side assertion `%s' failed.\n", file, line, function,
		assertion);
	um_fault(ERROR_ASSERT, "device-side assertion");
}

void __assertfail(const char *assertion, const char *file, unsigned line, const char *function,
		  unsigned long char_bytes)
{
	(void)char_bytes;
	__assert_fail(assertion, file, line, function);
}

void __cxa_pure_virtual(void)
{
	um_fault(ERROR_LAUNCH_FAILURE, "the kernel called a pure virtual function");
}

void __cxa_deleted_virtual(void)
{
	um_fault(ERROR_LAUNCH_FAILURE, "the kernel called a deleted virtual function");
}
