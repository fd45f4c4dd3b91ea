/*
 * Stubs of the functions that symbols.def refuses. Each is called with whatever arguments the real
 * one has: the x86-64 calling convention leaves them to the caller.
 */
#ifndef UM_STUB_H
#define UM_STUB_H

#include <stddef.h>

/* hipErrorNotSupported, after a line on stderr and a loss in the trace, once per name. */
int um_refuse(const char *function, const char *reason);

#define STUB(type, name, statement)                                                                \
	__attribute__((visibility("default"))) type name(void);                                    \
	type name(void)                                                                            \
	{                                                                                          \
		statement;                                                                         \
	}
#define STUB_error(name, why) STUB(int, name, return um_refuse(#name, why))
#define STUB_text(name, why)  STUB(const char *, name, um_refuse(#name, why); return "")
#define STUB_zero(name, why)  STUB(size_t, name, um_refuse(#name, why); return 0)
#define STUB_void(name, why)  STUB(void, name, um_refuse(#name, why))

/* A name that another library is to have: the dynamic loader binds it there (DT_FILTER). */
#define NAME(name) STUB(void, name, __builtin_trap())

#endif
