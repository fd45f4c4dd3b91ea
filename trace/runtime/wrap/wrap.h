/*
 * libumtrace_wrap.so: loaded before libc by umtrace where the host can be watched only by
 * mprotect() and SIGSEGV, or is to be watched so (--host-sync). It stands between the program and
 *
 *   wrap_signal.c	sigaction, signal, sigprocmask, ...: the program keeps its own handler of
 * SIGSEGV wrap_io.c	read, write, fread, ...: the kernel fails with EFAULT on a protected page
 *
 * Without versions of its own it stands in for any version of these functions. Until
 * um_wrap_start() every call goes straight through.
 *
 * What it cannot do. System calls that are not wrapped (ioctl, io_uring, aio, vmsplice, a bare
 * syscall(2), and all the small ones that fill a struct) fail with EFAULT when their buffer lies in
 * a watched page that was not touched yet. So does printf("%s") of a long string there, where stdio
 * writes past its buffer. While a wrapped call runs, what other threads do to the pages of its
 * buffer is not seen. A SIGSEGV that the program blocks and another process sends is delivered all
 * the same, and a second fault inside the program's own handler calls it again.
 */
#ifndef UM_WRAP_H
#define UM_WRAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>

struct um_wrap_hooks {
	/* A fault at `address`: true if the page was watched. It is open now; the access is
	 * repeated. In the handler, with all signals blocked. */
	bool (*fault)(const void *address, bool write, const ucontext_t *interrupted);
	/*
	 * Opens the pages that a system call is about to read or write. True if any of them is
	 * watched; then close() follows with how many bytes it did read or write. `slot`: where the
	 * return address of the function lies that the program called.
	 */
	bool (*open)(uintptr_t start, size_t bytes, bool write);
	void (*close)(uintptr_t start, size_t bytes, size_t touched, bool write, uintptr_t slot);
};

/*
 * Exported; the runtime looks them up by name. `hooks` must last. False: no handler could be set.
 */
typedef bool um_wrap_start_call(const struct um_wrap_hooks *hooks);
/* Gives SIGSEGV back to the program; in the child of a fork. */
typedef void um_wrap_stop_call(void);
/*
 * Within a hook: runs `run`, and comes back with false from a fault of its own, which would end the
 * program there. For what reads the program's stack, which need not be as its tables say.
 */
typedef bool um_wrap_guard_call(void (*run)(void *context), void *context);
um_wrap_start_call um_wrap_start;
um_wrap_stop_call um_wrap_stop;
um_wrap_guard_call um_wrap_guard;

#endif
