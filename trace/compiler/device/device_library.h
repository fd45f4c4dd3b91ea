/*
 * The device library (libumdevice.a): what device code calls and AMD's headers only declare. Linked
 * into every code object; hidden there.
 */
#ifndef UM_DEVICE_LIBRARY_H
#define UM_DEVICE_LIBRARY_H

#include "device_abi.h"

void um_trap(void) __attribute__((noreturn));
void __assert_fail(const char *assertion, const char *file, unsigned line, const char *function)
	__attribute__((noreturn));
void __assertfail(const char *assertion, const char *file, unsigned line, const char *function,
		  unsigned long char_bytes) __attribute__((noreturn));
void __cxa_pure_virtual(void) __attribute__((noreturn));
void __cxa_deleted_virtual(void) __attribute__((noreturn));

#endif
