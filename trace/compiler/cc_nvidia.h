/*
 * --nvidia: the same HIP source for an NVIDIA GPU. nvcc compiles it as CUDA, with headers of ours
 * (nvidia/hip/) that give HIP's names to CUDA's functions; no code that runs without a GPU is made.
 */
#ifndef UM_CC_NVIDIA_H
#define UM_CC_NVIDIA_H

#include "cc_args.h"

/* Compiles and links; returns the exit status, with messages on stderr. */
int um_cc_nvidia(const struct um_cc_args *);

#endif
