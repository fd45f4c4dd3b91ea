/* The name in a kernel's demangled signature. */
#ifndef UM_KERNEL_NAME_H
#define UM_KERNEL_NAME_H

#include <stddef.h>

/*
 * Of "void scale<float>(float*, int)": `start` points at "scale", `length` covers "scale<float>",
 * `bare_length` "scale". All point into the signature.
 */
struct um_kernel_name {
	const char *start;
	size_t length, bare_length;
};

struct um_kernel_name um_kernel_name(const char *demangled);

#endif
