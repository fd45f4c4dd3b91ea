/*
 * Stubs of the functions that symbols.def refuses. Each is called with whatever arguments the real
 * one has: the x86-64 calling convention leaves them to the caller.
 */
#ifndef UM_STUB_H
#define UM_STUB_H

#include <stddef.h>

/* hipErrorNotSupported, after a line on stderr and a loss in the trace, once per name. */
int um_refuse(const char *function);
/* The same for hiprtc's own error codes. */
int um_refuse_rtc(const char *function);

#define STUB(type, name, statement)                                                                \
	__attribute__((visibility("default"))) type name(void);                                    \
	type name(void)                                                                            \
	{                                                                                          \
		statement;                                                                         \
	}
#define STUB_error(name) STUB(int, name, return um_refuse(#name))
#define STUB_rtc(name)	 STUB(int, name, return um_refuse_rtc(#name))
#define STUB_text(name)	 STUB(const char *, name, um_refuse(#name); return "")
#define STUB_zero(name)	 STUB(size_t, name, um_refuse(#name); return 0)
#define STUB_void(name)	 STUB(void, name, um_refuse(#name))

#endif
