/*
 * Compiling at run time, for hiprtc: umhipcc does it, as a process of its own. What it reads and writes
 * is in a folder of temporary files that is gone when it is done.
 */
#ifndef UM_RTC_H
#define UM_RTC_H

#include <stdbool.h>
#include <stddef.h>

struct um_rtc_header {
	char *name; /* as in #include */
	char *text;
};

struct um_rtc_program {
	struct um_rtc_program *next;
	char *source, *name;
	struct um_rtc_header *headers;
	size_t header_count;
	char **expressions; /* whose names are asked for */
	char **lowered;	    /* of each, once compiled; "" where it has none */
	size_t expression_count;
	char *log; /* what the compiler said; NULL: not compiled yet */
	void *code;
	size_t code_bytes;
};

/* The variable that keeps the address of expression `number` in the code object. */
#define UM_RTC_VARIABLE "um_rtc_name_%zu"

/* False where it failed; the log says why. */
bool um_rtc_compile(struct um_rtc_program *, int option_count, const char *const *options);
/*
 * The name of what the pointer `variable` points to in an x86-64 code object, every offset checked.
 * Owned by the caller; NULL where there is no such variable or no such name.
 */
char *um_rtc_pointee(const void *elf, size_t bytes, const char *variable);

#endif
