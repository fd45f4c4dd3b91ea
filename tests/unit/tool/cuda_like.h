/*
 * Functions with the names that a program has where CUDA's runtime was linked in, and that nvcc gives it.
 * Each notes where it was called from, innermost first.
 */
#ifndef CUDA_LIKE_H
#define CUDA_LIKE_H

#include <stddef.h>

extern const void *cuda_like_stack[8];
extern size_t cuda_like_depth;

void cudaMallocManaged(void);
void _Z5scalePfi(void); /* scale(float*, int), as it is launched */

#endif
