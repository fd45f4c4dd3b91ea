/*
 * What makes NVIDIA's driver load the tap into a program: CUDA_INJECTION64_PATH, and where libcupti was
 * found, NVTX_INJECTION64_PATH, so that the program's NVTX ranges come to the tap through it. And what makes
 * Kokkos load its tool (trace/names/kokkos).
 */
#ifndef UM_INJECTION_H
#define UM_INJECTION_H

#define UM_INJECTION_TAP     "CUDA_INJECTION64_PATH"
#define UM_INJECTION_NVTX    "NVTX_INJECTION64_PATH"
#define UM_INJECTION_TOOLS   "KOKKOS_TOOLS_LIBS"
#define UM_INJECTION_PROFILE "KOKKOS_PROFILE_LIBRARY"

struct um_injection {
	char *tap;  /* NULL: not to be set */
	char *nvtx; /* the same */
	/*
	 * What Kokkos is to load: the tool of umtrace's, before what the user had in this variable or in that
	 * of older ones (which then is the one to be set: where both are, they have to be equal).
	 */
	char *tools, *profile; /* KOKKOS_TOOLS_LIBS, KOKKOS_PROFILE_LIBRARY; NULL: not to be set */
	const char
		*taken; /* what UM_INJECTION_TAP holds already, so that nothing is set; else NULL */
};

/* UM_ENOENT: the tap is not where umtrace's libraries are. */
int um_injection_find(struct um_injection *);
void um_injection_fini(struct um_injection *);

#endif
