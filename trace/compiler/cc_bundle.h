/* Writing a __CLANG_OFFLOAD_BUNDLE__ (clang's ClangOffloadBundler documentation). */
#ifndef UM_CC_BUNDLE_H
#define UM_CC_BUNDLE_H

#include <stddef.h>

struct um_bundle_image {
	const char *target; /* "hip-x86_64-unknown-linux-gnu" */
	const char *path;   /* the file that holds the image */
};

/* Out: malloc()ed. The bundle starts with the empty host entry that the runtimes expect. */
int um_bundle_make(void **out, size_t *out_bytes, const struct um_bundle_image *, size_t count);

/* Reads a whole file into malloc()ed memory. */
int um_read_file(void **out, size_t *out_bytes, const char *path);

#endif
