/*
 * Which variable lies somewhere: in a frame of the stack, or in a module's data, or is a member of
 * something that a variable points to. By the variables' locations in the debug information, as far as
 * they are a place in the frame, a register or an address.
 */
#ifndef UM_SOURCE_VARIABLE_H
#define UM_SOURCE_VARIABLE_H

#include "source_module.h"

/* Where, as seen from the frame of the function that runs at an address. */
struct um_source_place {
	bool in_register;   /* `at` is its number in DWARF */
	int64_t at;	    /* else from the end of the frame (DWARF's CFA) */
	bool is_pointed_to; /* a pointer lies there, to `before` bytes before what is sought */
	uint64_t before;
};

/* The functions and blocks that run at an address, which is dear to find out. */
struct um_source_scopes;

/* NULL: there are none, or no memory. Lives no longer than the module. */
struct um_source_scopes *um_source_scopes_create(const struct um_source_module *,
						 Dwarf_Addr address);
void um_source_scopes_destroy(struct um_source_scopes *); /* NULL is legal */

/*
 * "grid.edges[1]", "solver->cells": malloc'ed; NULL: none. `*depth` comes in as how many of the
 * functions that were inlined there are not asked, from the innermost on, and goes out as how many lie
 * before the variable's, or as UM_SOURCE_NOTHING where no variable lies, whatever it may point to.
 */
char *um_source_variable(struct um_source_scopes *, const struct um_source_place *, size_t *depth);
#define UM_SOURCE_NOTHING SIZE_MAX

/*
 * What lies at an address of the module's data: "um::state.cells", malloc'ed; NULL: none. All its
 * variables are read at the first time.
 */
char *um_source_global(struct um_source_module *, Dwarf_Addr address);

#endif
