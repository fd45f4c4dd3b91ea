/*
 * Making a database, so that of several processes that want one name each knows whether it has it.
 *
 * Whoever made a file holds a lock on a byte of it that SQLite does not use, from a moment behind its
 * making to its closing. Whoever is about to remove a file takes the same lock first. So a file that
 * is ours after we locked it stays ours. The lock is of the open file (F_OFD_SETLK), since SQLite gives up
 * all locks of the process on a file when it unlocks.
 */
#include "db_private.h"

#include "trace/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* SQLite's os.h: the bytes that connections lock. */
#define LOCK_START 0x40000000
#define LOCK_BYTES 512
/* Ours, behind them. */
#define RESERVED_BYTE (LOCK_START + LOCK_BYTES)

/* --- locks --- */

enum lock { LOCK_TAKEN, LOCK_NONE, LOCK_HELD };

/* LOCK_NONE: the file system has no locks. */
static enum lock take_lock(int file, short type)
{
	struct flock lock = {
		.l_type = type, .l_whence = SEEK_SET, .l_start = RESERVED_BYTE, .l_len = 1};

	if (fcntl(file, F_OFD_SETLK, &lock) == 0)
		return LOCK_TAKEN;
	return errno == EAGAIN || errno == EACCES ? LOCK_HELD : LOCK_NONE;
}

static bool is_reserved(int file)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = RESERVED_BYTE, .l_len = 1};

	return fcntl(file, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

/* Who has it open through SQLite: 0 nobody, -1 somebody of whom that is not known. */
static pid_t find_user(int file)
{
	struct flock lock = {.l_type = F_WRLCK,
			     .l_whence = SEEK_SET,
			     .l_start = LOCK_START,
			     .l_len = LOCK_BYTES};

	return fcntl(file, F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK ? lock.l_pid : 0;
}

static int in_use(const char *path, pid_t by)
{
	return by > 0 ? um_fail(UM_EEXIST, "%s is in use by process %ld", path, (long)by)
		      : um_fail(UM_EEXIST, "%s is in use by another process", path);
}

static bool is_at(int file, const char *path)
{
	struct stat opened, named;

	return fstat(file, &opened) == 0 && stat(path, &named) == 0 &&
	       opened.st_dev == named.st_dev && opened.st_ino == named.st_ino;
}

static int taken_meanwhile(const char *path)
{
	return um_fail(UM_EEXIST, "%s: another process took this name at the same moment", path);
}

/* --- what stands there --- */

/* Whether the open file may make way: empty, or ours and not in use. `is_trace`: it is not empty. */
static int check_replaceable(const char *path, int file, bool *is_trace)
{
	unsigned char header[UM_DB_HEADER_BYTES] = {0};
	ssize_t got = pread(file, header, sizeof(header), 0);
	pid_t user = find_user(file);

	*is_trace = um_db_is_trace(header, got);
	if (user != 0)
		return in_use(path, user);
	if (got == 0 || *is_trace)
		return 0;
	return um_fail(UM_EEXIST, "%s exists and is not a trace: not replaced", path);
}

static int not_a_file(const char *path)
{
	return um_fail(UM_EEXIST,
		       "%s exists and cannot be replaced: not a regular file that can be read",
		       path);
}

static int check_standing(const char *path)
{
	struct stat status;
	bool is_trace;
	int file = um_db_open_plainly(path, O_RDONLY, &status);

	if (file < 0)
		return not_a_file(path);
	int error = check_replaceable(path, file, &is_trace);
	if (!error && is_reserved(file))
		error = in_use(path, -1);
	close(file);
	return error;
}

static void remove_logs(const char *path)
{
	static const char *const suffixes[] = {"-wal", "-shm", "-journal"};
	char beside[4096];

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		snprintf(beside, sizeof(beside), "%s%s", path, suffixes[i]);
		unlink(beside);
	}
}

struct keeping {
	int (*keep)(const char *path, void *context);
	void *context;
};

static int remove_locked(const char *path, int file, short lock, const struct keeping *keeping)
{
	bool is_trace;
	int error;

	if (take_lock(file, lock) == LOCK_HELD)
		return in_use(path, find_user(file));
	error = check_replaceable(path, file, &is_trace);
	if (error)
		return error;
	if (!is_at(file, path))
		return taken_meanwhile(path);
	if (is_trace && keeping->keep && (error = keeping->keep(path, keeping->context)) != 0)
		return error;
	if (unlink(path) != 0 && errno != ENOENT)
		return um_fail_errno(UM_EIO, "%s cannot be replaced", path);
	remove_logs(path);
	return 0;
}

/* One that may not be written can be removed all the same: it takes the lock of a reader. */
static int remove_old(const char *path, const struct keeping *keeping)
{
	struct stat status;
	short lock = F_WRLCK;
	int file = um_db_open_plainly(path, O_RDWR, &status);

	if (file < 0) {
		lock = F_RDLCK;
		file = um_db_open_plainly(path, O_RDONLY, &status);
	}
	if (file == UM_ENOENT)
		return 0;
	if (file < 0)
		return not_a_file(path);
	int error = remove_locked(path, file, lock, keeping);
	close(file);
	return error;
}

int um_db_check_new(const char *path, bool force)
{
	struct stat status;

	if (lstat(path, &status) != 0)
		return 0; /* whatever else is wrong with the name, making the file tells */
	return force ? check_standing(path) : um_fail(UM_EEXIST, "%s exists", path);
}

int um_db_rename(const char *from, const char *path, bool force)
{
	int error = um_db_check_new(path, force);

	if (error)
		return error;
	if (renameat2(AT_FDCWD, from, AT_FDCWD, path, force ? 0 : RENAME_NOREPLACE) != 0)
		return um_fail_errno(UM_EIO, "%s cannot be written", path);
	remove_logs(path);
	return 0;
}

/* --- making one --- */

/* Between its making and its lock others may have removed it. */
static int keep_reserved(const char *path, int file)
{
	if (take_lock(file, F_WRLCK) != LOCK_HELD && is_at(file, path))
		return file;
	close(file);
	return taken_meanwhile(path);
}

/* Takes the name, so that nobody else's file is written into: a descriptor that holds it. */
static int reserve(const char *path, const struct keeping *force)
{
	for (bool removed = false;; removed = true) {
		int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

		if (file >= 0)
			return keep_reserved(path, file);
		if (errno != EEXIST)
			return um_fail_errno(UM_EIO, "%s cannot be written", path);
		if (!force)
			return um_fail(UM_EEXIST, "%s exists", path);
		if (removed)
			return taken_meanwhile(path);
		int error = remove_old(path, force);
		if (error)
			return error;
	}
}

/* The schema goes into the file before there is a log: what it is shows in its header. */
static int fill(struct um_db *db)
{
	int error = um_db_exec(db, "BEGIN");

	if (error == 0)
		error = um_db_exec(db, um_schema);
	if (error == 0)
		error = um_db_exec(db, "COMMIT");
	return error ? error : um_db_start_writing(db);
}

static int create(struct um_db **out, const char *path, const struct keeping *force)
{
	int reserved = reserve(path, force);

	*out = NULL;
	if (reserved < 0)
		return reserved;
	int error = um_db_connect(out, path, SQLITE_OPEN_READWRITE);
	if (error) {
		unlink(path);
		close(reserved);
		return error;
	}
	(*out)->reserved = reserved;
	error = fill(*out);
	if (error == 0)
		return 0;
	unlink(path);
	return um_db_fail_and_close(out, error);
}

int um_db_create(struct um_db **out, const char *path, bool force)
{
	const struct keeping keeping = {0};

	return create(out, path, force ? &keeping : NULL);
}

int um_db_create_over(struct um_db **out, const char *path,
		      int (*keep)(const char *path, void *context), void *context)
{
	const struct keeping keeping = {keep, context};

	return create(out, path, &keeping);
}
