/* The name of a function as a person would write it: its scope, no return type, no arguments. */
#ifndef UM_SOURCE_FUNCTION_H
#define UM_SOURCE_FUNCTION_H

/*
 * "um::make<float>", of the name in the debug information ("make<float>") and the mangled one
 * (NULL: none), malloc'ed. The former alone where the two do not fit. NULL without memory.
 */
char *um_source_function_name(const char *name, const char *linkage_name);
/* The same of a symbol alone, mangled or not. */
char *um_source_symbol_name(const char *symbol);

#endif
