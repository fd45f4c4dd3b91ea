/* Opens the buffers of system calls, and of stdio where it passes buffers on to them. */
#include "wrap_next.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

/* Macros in glibc's headers when it optimises. */
#undef fread_unlocked
#undef fwrite_unlocked

/* Where the return address of the function lies that this stands in. */
#define OWN_SLOT ((uintptr_t)__builtin_dwarf_cfa() - sizeof(uintptr_t))

/* glibc's checked variants, which -D_FORTIFY_SOURCE calls; no header declares them. */
ssize_t __read_chk(int fd, void *buffer, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *buffer, size_t bytes, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *buffer, size_t bytes, off64_t offset, size_t room);
ssize_t __recv_chk(int fd, void *buffer, size_t bytes, size_t room, int flags);
ssize_t __recvfrom_chk(int fd, void *buffer, size_t bytes, size_t room, int flags,
		       struct sockaddr *from, socklen_t *from_bytes);
size_t __fread_chk(void *buffer, size_t room, size_t item, size_t items, FILE *file);
size_t __fread_unlocked_chk(void *buffer, size_t room, size_t item, size_t items, FILE *file);

/*
 * By number: to gcc, a pointer that is only passed on is a buffer that is read before it is filled.
 */
static bool open_buffer(uintptr_t start, size_t bytes, bool write)
{
	const struct um_wrap_hooks *hooks =
		atomic_load_explicit(&um_wrap_hooks, memory_order_acquire);

	return hooks && bytes && hooks->open(start, bytes, write);
}

/* `touched`: what the call returned; negative: nothing. */
static void close_buffer(uintptr_t start, size_t bytes, ssize_t touched, bool write, uintptr_t slot)
{
	const struct um_wrap_hooks *hooks =
		atomic_load_explicit(&um_wrap_hooks, memory_order_acquire);
	size_t known = touched < 0 ? 0 : (size_t)touched;
	int saved = errno;

	if (hooks)
		hooks->close(start, bytes, known < bytes ? known : bytes, write, slot);
	errno = saved;
}

/* A call that moves `bytes` at `buffer` and returns how many it moved. */
#define WRAP_BUFFER(name, write, parameters, arguments)                                            \
	UM_WRAPPED ssize_t name parameters                                                         \
	{                                                                                          \
		bool watched = open_buffer((uintptr_t)buffer, bytes, write);                       \
		ssize_t moved = UM_NEXT(name) arguments;                                           \
                                                                                                   \
		if (watched)                                                                       \
			close_buffer((uintptr_t)buffer, bytes, moved, write, OWN_SLOT);            \
		return moved;                                                                      \
	}

WRAP_BUFFER(read, true, (int fd, void *buffer, size_t bytes), (fd, buffer, bytes))
WRAP_BUFFER(pread, true, (int fd, void *buffer, size_t bytes, off_t offset),
	    (fd, buffer, bytes, offset))
WRAP_BUFFER(pread64, true, (int fd, void *buffer, size_t bytes, off64_t offset),
	    (fd, buffer, bytes, offset))
WRAP_BUFFER(recv, true, (int fd, void *buffer, size_t bytes, int flags), (fd, buffer, bytes, flags))
WRAP_BUFFER(recvfrom, true,
	    (int fd, void *buffer, size_t bytes, int flags, struct sockaddr *from,
	     socklen_t *from_bytes),
	    (fd, buffer, bytes, flags, from, from_bytes))
WRAP_BUFFER(getrandom, true, (void *buffer, size_t bytes, unsigned flags), (buffer, bytes, flags))
WRAP_BUFFER(__read_chk, true, (int fd, void *buffer, size_t bytes, size_t room),
	    (fd, buffer, bytes, room))
WRAP_BUFFER(__pread_chk, true, (int fd, void *buffer, size_t bytes, off_t offset, size_t room),
	    (fd, buffer, bytes, offset, room))
WRAP_BUFFER(__pread64_chk, true, (int fd, void *buffer, size_t bytes, off64_t offset, size_t room),
	    (fd, buffer, bytes, offset, room))
WRAP_BUFFER(__recv_chk, true, (int fd, void *buffer, size_t bytes, size_t room, int flags),
	    (fd, buffer, bytes, room, flags))
WRAP_BUFFER(__recvfrom_chk, true,
	    (int fd, void *buffer, size_t bytes, size_t room, int flags, struct sockaddr *from,
	     socklen_t *from_bytes),
	    (fd, buffer, bytes, room, flags, from, from_bytes))
WRAP_BUFFER(write, false, (int fd, const void *buffer, size_t bytes), (fd, buffer, bytes))
WRAP_BUFFER(pwrite, false, (int fd, const void *buffer, size_t bytes, off_t offset),
	    (fd, buffer, bytes, offset))
WRAP_BUFFER(pwrite64, false, (int fd, const void *buffer, size_t bytes, off64_t offset),
	    (fd, buffer, bytes, offset))
WRAP_BUFFER(send, false, (int fd, const void *buffer, size_t bytes, int flags),
	    (fd, buffer, bytes, flags))
WRAP_BUFFER(sendto, false,
	    (int fd, const void *buffer, size_t bytes, int flags, const struct sockaddr *to,
	     socklen_t to_bytes),
	    (fd, buffer, bytes, flags, to, to_bytes))

/* --- vectors --- */

static bool open_vector(const struct iovec *part, size_t count, bool write)
{
	bool watched = false;

	if (!atomic_load_explicit(&um_wrap_hooks, memory_order_relaxed))
		return false;
	for (size_t i = 0; i < count; i++)
		watched |= open_buffer((uintptr_t)part[i].iov_base, part[i].iov_len, write);
	return watched;
}

static void close_vector(const struct iovec *part, size_t count, ssize_t moved, bool write,
			 uintptr_t slot)
{
	for (size_t i = 0; i < count; i++) {
		ssize_t here = moved < (ssize_t)part[i].iov_len ? moved : (ssize_t)part[i].iov_len;

		/* Parts outside watched memory are looked at again, and nothing is found. */
		close_buffer((uintptr_t)part[i].iov_base, part[i].iov_len, here, write, slot);
		if (here > 0)
			moved -= here;
	}
}

#define WRAP_VECTOR(name, write, parameters, arguments)                                            \
	UM_WRAPPED ssize_t name parameters                                                         \
	{                                                                                          \
		size_t parts = count > 0 ? (size_t)count : 0;                                      \
		bool watched = open_vector(part, parts, write);                                    \
		ssize_t moved = UM_NEXT(name) arguments;                                           \
                                                                                                   \
		if (watched)                                                                       \
			close_vector(part, parts, moved, write, OWN_SLOT);                         \
		return moved;                                                                      \
	}

WRAP_VECTOR(readv, true, (int fd, const struct iovec *part, int count), (fd, part, count))
WRAP_VECTOR(preadv, true, (int fd, const struct iovec *part, int count, off_t offset),
	    (fd, part, count, offset))
WRAP_VECTOR(preadv64, true, (int fd, const struct iovec *part, int count, off64_t offset),
	    (fd, part, count, offset))
WRAP_VECTOR(writev, false, (int fd, const struct iovec *part, int count), (fd, part, count))
WRAP_VECTOR(pwritev, false, (int fd, const struct iovec *part, int count, off_t offset),
	    (fd, part, count, offset))
WRAP_VECTOR(pwritev64, false, (int fd, const struct iovec *part, int count, off64_t offset),
	    (fd, part, count, offset))

UM_WRAPPED ssize_t recvmsg(int fd, struct msghdr *message, int flags)
{
	bool watched = open_vector(message->msg_iov, message->msg_iovlen, true);
	ssize_t moved = UM_NEXT(recvmsg)(fd, message, flags);

	if (watched)
		close_vector(message->msg_iov, message->msg_iovlen, moved, true, OWN_SLOT);
	return moved;
}

UM_WRAPPED ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	bool watched = open_vector(message->msg_iov, message->msg_iovlen, false);
	ssize_t moved = UM_NEXT(sendmsg)(fd, message, flags);

	if (watched)
		close_vector(message->msg_iov, message->msg_iovlen, moved, false, OWN_SLOT);
	return moved;
}

/* --- stdio --- */

/*
 * As glibc does it, by bytes: so that a last item that is not whole is known too. Products that
 * overflow go to the real function as they are.
 */
#define WRAP_ITEMS(name, write, parameters, as_is, by_bytes)                                       \
	UM_WRAPPED size_t name parameters                                                          \
	{                                                                                          \
		size_t bytes;                                                                      \
                                                                                                   \
		if (__builtin_mul_overflow(item, items, &bytes) ||                                 \
		    !open_buffer((uintptr_t)buffer, bytes, write))                                 \
			return UM_NEXT(name) as_is;                                                \
		size_t moved = UM_NEXT(name) by_bytes;                                             \
                                                                                                   \
		close_buffer((uintptr_t)buffer, bytes, (ssize_t)moved, write, OWN_SLOT);           \
		return moved / item;                                                               \
	}

WRAP_ITEMS(fread, true, (void *buffer, size_t item, size_t items, FILE *file),
	   (buffer, item, items, file), (buffer, 1, bytes, file))
WRAP_ITEMS(fread_unlocked, true, (void *buffer, size_t item, size_t items, FILE *file),
	   (buffer, item, items, file), (buffer, 1, bytes, file))
WRAP_ITEMS(__fread_chk, true, (void *buffer, size_t room, size_t item, size_t items, FILE *file),
	   (buffer, room, item, items, file), (buffer, room, 1, bytes, file))
WRAP_ITEMS(__fread_unlocked_chk, true,
	   (void *buffer, size_t room, size_t item, size_t items, FILE *file),
	   (buffer, room, item, items, file), (buffer, room, 1, bytes, file))
WRAP_ITEMS(fwrite, false, (const void *buffer, size_t item, size_t items, FILE *file),
	   (buffer, item, items, file), (buffer, 1, bytes, file))
WRAP_ITEMS(fwrite_unlocked, false, (const void *buffer, size_t item, size_t items, FILE *file),
	   (buffer, item, items, file), (buffer, 1, bytes, file))

/* Looking for the end of the string touches all of it already: only the protection is at stake. */
#define WRAP_TEXT(name, parameters, arguments)                                                     \
	UM_WRAPPED int name parameters                                                             \
	{                                                                                          \
		size_t bytes = strlen(text);                                                       \
		bool watched = open_buffer((uintptr_t)text, bytes, false);                         \
		int result = UM_NEXT(name) arguments;                                              \
                                                                                                   \
		if (watched)                                                                       \
			close_buffer((uintptr_t)text, bytes, (ssize_t)bytes, false, OWN_SLOT);     \
		return result;                                                                     \
	}

WRAP_TEXT(fputs, (const char *text, FILE *file), (text, file))
WRAP_TEXT(fputs_unlocked, (const char *text, FILE *file), (text, file))
WRAP_TEXT(puts, (const char *text), (text))
