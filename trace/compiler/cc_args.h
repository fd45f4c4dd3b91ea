/*
 * The command line of umhipcc: what hipcc takes. Options that only clang needs to understand are
 * passed on in their order; what umhipcc itself must know is in struct um_cc_args.
 */
#ifndef UM_CC_ARGS_H
#define UM_CC_ARGS_H

#include "cc_process.h"

enum um_cc_stage {
	UM_CC_LINK,	  /* none of the options below: to an executable or library */
	UM_CC_COMPILE,	  /* -c */
	UM_CC_ASSEMBLY,	  /* -S */
	UM_CC_SYNTAX,	  /* -fsyntax-only */
	UM_CC_BUNDLE,	  /* --genco: the code objects alone */
	UM_CC_PREPROCESS, /* -E, -M, -MM */
};

enum um_cc_language {
	UM_CC_HIP,
	UM_CC_C,
	UM_CC_OTHER, /* what clang knows from -x or the name: assembler, C++ by -x c++, ... */
	UM_CC_OBJECT /* for the linker */
};

struct um_cc_input {
	const char *path;
	enum um_cc_language language;
	const char *x;	   /* the value of -x in force, or NULL */
	bool is_copy;	   /* of standard input: headers are looked for in the working folder */
	size_t link_index; /* where in `link` its object belongs */
};

struct um_cc_args {
	struct um_argv words; /* the whole command line, which the rest points into */
	enum um_cc_stage stage;
	const char *output; /* -o */
	const char *level;  /* "O0" to "O3", "Os", "Oz"; hipcc's default is O3 */
	bool level_given;
	bool help, version, show_only; /* --help --version -### */
	bool nvidia;		       /* --nvidia: nvcc makes it */
	bool relocatable;	       /* -fgpu-rdc */
	struct um_argv archs;	       /* --offload-arch, each with its features: "gfx90a:xnack+" */
	struct um_argv compile;	       /* options for every compilation, in order */
	struct um_argv link; /* options and inputs for the linker, in order; "" for a source */
	struct um_cc_input *inputs;
	size_t input_count;
};

/* `argv` without the program's name; response files (@file) are read. fini() also after an error. */
int um_cc_args_parse(struct um_cc_args *out, int argc, char **argv);
void um_cc_args_fini(struct um_cc_args *);

#endif
