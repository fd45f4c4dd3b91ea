/*
 * The call stacks of a trace, and whose a call is: the one place that says which frame of a stack is
 * the user's. Of a stack, from the innermost frame outwards, these are left out:
 *   frames without a line, where others have one;
 *   frames of libraries: HIP's and CUDA's own, the C++ library, what lies in the system's folders;
 *   frames that the user names: --skip-frames;
 *   of calls about memory (allocations, frees, advice, prefetches, copies, memsets), wrappers:
 *   functions in which calls of that kind stand in one line only, and which either are constructors or
 *   destructors or have a wrapper's name (*alloc*, *free*, *check*, ...), or are called from several
 *   places of the program. Where a kernel is launched or a wait stands, its own line says the most.
 * A macro has no frame: its line is where it is used.
 */
#ifndef UM_STACKS_H
#define UM_STACKS_H

#include "trace_db.h"

struct um_stack_frame {
	const char *module;
	int64_t offset_bytes;
	const char *function, *file; /* NULL: not known */
	int64_t line;		     /* UM_NULL: not known */
	bool inlined;		     /* into the next frame */
	bool skipped;		     /* named by --skip-frames, or a library's */
};

struct um_stacks;

/*
 * Reads sites, frames and what was called there. `skip` (NULL: none; else ends with NULL) are
 * patterns of frames to leave out: of a function with its scope ("um::*"), with or without arguments
 * and template arguments, of a file or of a module, each with its folders or without. UM_ENOMEM, and
 * as um_db_each().
 */
int um_stacks_load(struct um_stacks **out, struct um_db *, const char *const *skip);
void um_stacks_destroy(struct um_stacks *); /* NULL is legal */
/*
 * The frames of a site's stack, innermost first; returns how many of at most `capacity`. 0: no such
 * site. They live as long as the stacks.
 */
size_t um_stacks_frames(const struct um_stacks *, int64_t site,
			const struct um_stack_frame **frames, size_t capacity);
#define UM_STACKS_FRAMES_MAX 512u
/*
 * The user's frame of a call of this kind (op.kind; NULL: of something else, a fault of the host) at
 * the site; of the stack's frames the `*depth`-th, where depth is not NULL. NULL: no such site.
 */
const struct um_stack_frame *um_stacks_user(const struct um_stacks *, int64_t site,
					    const char *kind, size_t *depth);
/* "file:line", else "function", else "module+0xOFFSET"; malloc'ed, NULL without memory. */
char *um_stack_frame_text(const struct um_stack_frame *);

#endif
