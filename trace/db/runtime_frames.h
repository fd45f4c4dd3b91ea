/*
 * Which frames of a call stack are HIP's or CUDA's own, so that a call is the user's who stands before
 * them: their libraries, also where they were linked in statically, and what their headers and
 * compilers put into a program.
 */
#ifndef UM_RUNTIME_FRAMES_H
#define UM_RUNTIME_FRAMES_H

#include <stdbool.h>

struct um_stack_frame;

/* Paths of a library and of a source file. */
bool um_is_runtime_module(const char *path);
bool um_is_runtime_file(const char *path);
/* A function by its name, mangled or not; `has_source`: a line of it is known. */
bool um_is_runtime_function(const char *name, bool has_source);
/* "_Z4scalePf" of the stub that nvcc makes for launching it, mangled or not; NULL: it is none. */
const char *um_stub_kernel(const char *name);
/*
 * Whether a frame is any library's: one of these, the C++ library's, or of a source file in the
 * folders that systems keep headers in.
 */
bool um_is_library_frame(const struct um_stack_frame *);

#endif
