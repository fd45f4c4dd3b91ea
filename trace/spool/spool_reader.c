/*
 * umtrace's side of the ring. The program may be hostile, or just write through a wild pointer:
 * every record is copied out before it is looked at, and only the copy's header is believed, after
 * it was checked against what can be.
 */
#include "spool_ring_layout.h"
#include "../base/error.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* A woken reader lets records gather for this long, so that the writer wakes it seldom. */
#define GATHER_MS 2

struct um_spool_reader {
	struct um_ring_header *ring;
	const char *data;
	uint64_t capacity_bytes;
	uint64_t file_bytes;
	uint64_t tail;		 /* of the next record */
	uint64_t tail_published; /* what the writer knows */
	uint64_t head_seen;
	bool damaged;
	dev_t device; /* of the file that was made */
	ino_t inode;
	char path[PATH_MAX];
	/* The record last returned. */
	alignas(8) char copy[UM_SPOOL_RECORD_MAX];
};

static uint64_t round_to_ring(size_t ring_bytes)
{
	uint64_t capacity = UM_RING_MIN_BYTES;

	while (capacity < ring_bytes && capacity < UM_RING_MAX_BYTES)
		capacity *= 2;
	return capacity;
}

static int map_file(struct um_spool_reader *reader, int fd)
{
	size_t file_bytes = reader->file_bytes;
	/* Blocks now: a full tmpfs is an error here, and SIGBUS in the program later. */
	int full = posix_fallocate(fd, 0, (off_t)file_bytes);

	if (full) {
		errno = full;
		return um_fail_errno(UM_EIO, "cannot make a spool of %zu bytes in %s", file_bytes,
				     reader->path);
	}
	void *ring = mmap(NULL, file_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	if (ring == MAP_FAILED)
		return um_fail_errno(UM_EIO, "cannot map %s", reader->path);
	struct stat status;

	if (!fstat(fd, &status)) {
		reader->device = status.st_dev;
		reader->inode = status.st_ino;
	}
	reader->ring = ring;
	reader->data = (const char *)ring + UM_RING_HEADER_BYTES;
	return 0;
}

/* Of the system's error only the last candidate's is kept; the caller has tried all of them. */
static int create_in(struct um_spool_reader *reader, const char *directory)
{
	int used = snprintf(reader->path, sizeof(reader->path), "%s/umtrace-XXXXXX", directory);

	if (used < 0 || (size_t)used >= sizeof(reader->path))
		return um_fail(UM_EINVAL, "%s: name too long", directory);
	int fd = mkostemp(reader->path, O_CLOEXEC);

	if (fd < 0)
		return um_fail_errno(UM_EIO, "cannot make a spool in %s", directory);
	int failed = map_file(reader, fd);

	close(fd);
	if (failed)
		unlink(reader->path);
	return failed;
}

static int create_anywhere(struct um_spool_reader *reader)
{
	const char *temporary = getenv("TMPDIR");

	if (!create_in(reader, "/dev/shm"))
		return 0;
	return create_in(reader, temporary && *temporary ? temporary : "/tmp");
}

static void fill_header(struct um_spool_reader *reader, const struct um_spool_config *config)
{
	struct um_ring_header *ring = reader->ring;

	ring->version = UM_SPOOL_VERSION;
	ring->header_bytes = UM_RING_HEADER_BYTES;
	ring->capacity_bytes = reader->capacity_bytes;
	ring->reader_pid = (uint32_t)getpid();
	ring->config = *config;
	ring->magic = UM_RING_MAGIC;
}

int um_spool_create(struct um_spool_reader **out, const char *directory, size_t ring_bytes,
		    const struct um_spool_config *config)
{
	struct um_spool_reader *reader = calloc(1, sizeof(*reader));

	if (!reader)
		return um_fail(UM_ENOMEM, "out of memory");
	reader->capacity_bytes = round_to_ring(ring_bytes ? ring_bytes : UM_SPOOL_DEFAULT_BYTES);
	reader->file_bytes =
		UM_RING_HEADER_BYTES + reader->capacity_bytes + um_ring_apply_bytes(config);
	int failed = directory ? create_in(reader, directory) : create_anywhere(reader);

	if (failed) {
		free(reader);
		return failed;
	}
	fill_header(reader, config);
	*out = reader;
	return 0;
}

void *um_spool_apply_room(struct um_spool_reader *reader)
{
	return reader->file_bytes > UM_RING_HEADER_BYTES + reader->capacity_bytes
		       ? (char *)reader->ring + UM_RING_HEADER_BYTES + reader->capacity_bytes
		       : NULL;
}

const char *um_spool_path(const struct um_spool_reader *reader)
{
	return reader->path;
}

bool um_spool_attached(const struct um_spool_reader *reader)
{
	return atomic_load_explicit(&reader->ring->writer_pid, memory_order_relaxed) != 0;
}

static int damaged(struct um_spool_reader *reader, const char *what)
{
	reader->damaged = true;
	return um_fail(UM_EFORMAT, "spool: %s after %llu bytes", what,
		       (unsigned long long)reader->tail);
}

static int look_at_head(struct um_spool_reader *reader)
{
	uint64_t head = atomic_load_explicit(&reader->ring->head, memory_order_acquire);

	if (head < reader->head_seen || head - reader->tail > reader->capacity_bytes || head % 8)
		return damaged(reader, "impossible write position");
	reader->head_seen = head;
	return 0;
}

/* Copies the next record and steps over it. */
static int take_record(struct um_spool_reader *reader, struct um_record **out)
{
	uint64_t at = reader->tail & (reader->capacity_bytes - 1);
	struct um_record header;

	memcpy(&header, reader->data + at, sizeof(header));
	if (header.bytes < sizeof(header) || header.bytes % 8 ||
	    header.bytes > UM_SPOOL_RECORD_MAX || header.bytes > reader->head_seen - reader->tail ||
	    header.bytes > reader->capacity_bytes - at)
		return damaged(reader, "impossible record length");
	if (header.kind != UM_RECORD_PAD) {
		memcpy(reader->copy, reader->data + at, header.bytes);
		memcpy(reader->copy, &header,
		       sizeof(header)); /* as checked, whatever is there now */
	}
	reader->tail += header.bytes;
	*out = header.kind == UM_RECORD_PAD ? NULL : (struct um_record *)reader->copy;
	return 0;
}

const struct um_record *um_spool_next(struct um_spool_reader *reader, int *error)
{
	struct um_record *record = NULL;
	int failed = 0;

	if (reader->damaged)
		failed = um_fail(UM_EFORMAT, "spool: damaged");
	while (!failed && !record) {
		if (reader->tail == reader->head_seen)
			failed = look_at_head(reader);
		if (failed || reader->tail == reader->head_seen)
			break;
		failed = take_record(reader, &record);
	}
	*error = failed;
	/* Giving space back in larger steps spares the writer's cache lines. */
	if (!record || reader->tail - reader->tail_published >= reader->capacity_bytes / 16)
		um_spool_release(reader);
	return failed ? NULL : record;
}

void um_spool_release(struct um_spool_reader *reader)
{
	if (reader->tail == reader->tail_published)
		return;
	reader->tail_published = reader->tail;
	um_ring_publish(&reader->ring->tail, reader->tail, &reader->ring->wanted_tail);
}

static void sleep_for_records(struct um_spool_reader *reader, uint64_t bytes, int timeout_ms)
{
	struct um_ring_header *ring = reader->ring;

	atomic_store_explicit(&ring->wanted_head, reader->tail + bytes, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);

	if (head - reader->tail < bytes)
		um_ring_sleep(&ring->head, head, timeout_ms);
	atomic_store_explicit(&ring->wanted_head, 0, memory_order_relaxed);
}

void um_spool_wait(struct um_spool_reader *reader, int timeout_ms)
{
	um_spool_release(reader);
	if (reader->damaged || timeout_ms <= 0)
		return;
	sleep_for_records(reader, sizeof(struct um_record), timeout_ms);
	if (atomic_load_explicit(&reader->ring->head, memory_order_relaxed) != reader->tail)
		sleep_for_records(reader, reader->capacity_bytes / 8, GATHER_MS);
}

/* The writer has removed it, unless it runs as another user; the name may be another's by now. */
static void remove_file(const struct um_spool_reader *reader)
{
	struct stat status;

	if (!lstat(reader->path, &status) && status.st_dev == reader->device &&
	    status.st_ino == reader->inode)
		unlink(reader->path);
}

void um_spool_destroy(struct um_spool_reader *reader)
{
	if (!reader)
		return;
	atomic_store_explicit(&reader->ring->closed, 1, memory_order_seq_cst);
	um_ring_wake(&reader->ring->tail);
	remove_file(reader);
	munmap(reader->ring, reader->file_bytes);
	free(reader);
}
