/* What umtrace doctor finds in a program's file: which runtime it links, for which GPUs it has code. */
#ifndef UM_DOCTOR_PROGRAM_H
#define UM_DOCTOR_PROGRAM_H

#include <stdbool.h>
#include <stddef.h>

#define UM_DOCTOR_TARGETS 64u

struct um_doctor_program {
	const char *path;
	bool is_elf, is_static;
	char hip[64];			     /* "libamdhip64.so.6"; "": none */
	char cuda[64];			     /* "libcudart.so.12", "libcuda.so.1"; "": none */
	bool has_cuda_code;		     /* .nv_fatbin: the CUDA runtime may be in it */
	bool is_compressed;		     /* some of its bundles are, and cannot be read */
	char targets[UM_DOCTOR_TARGETS][48]; /* "gfx90a:xnack+", "x86_64" (umhipcc's), each once */
	size_t target_count;
};

/* Reads the file; a file that is no program has nothing. UM_EIO. */
int um_doctor_program_read(struct um_doctor_program *, const char *path);

#endif
