/*
 * What makes NVIDIA's driver load the tap into a program: CUDA_INJECTION64_PATH, and where libcupti was
 * found, NVTX_INJECTION64_PATH, so that the program's NVTX ranges come to the tap through it.
 */
#ifndef UM_INJECTION_H
#define UM_INJECTION_H

#define UM_INJECTION_TAP  "CUDA_INJECTION64_PATH"
#define UM_INJECTION_NVTX "NVTX_INJECTION64_PATH"

struct um_injection {
	char *tap;  /* NULL: not to be set */
	char *nvtx; /* the same */
	const char
		*taken; /* what UM_INJECTION_TAP holds already, so that nothing is set; else NULL */
};

/* UM_ENOENT: the tap is not where umtrace's libraries are. */
int um_injection_find(struct um_injection *);
void um_injection_fini(struct um_injection *);

#endif
