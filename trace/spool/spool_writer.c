/*
 * The program's side of the ring. Nothing is allocated but one mapping: a private page with the
 * writer's state, and behind it the ring file.
 *
 * Killed at any instruction, the program leaves a ring that reads well: head moves only after the
 * record before it is whole, and a PAD at the end of the ring is published with the record after
 * it.
 *
 * A signal handler that calls HIP while its own thread is between reserve and commit finds the
 * writer busy: its record is refused and counted, since waiting for itself would last for ever.
 *
 * In the child of a fork, also one made by a bare clone(), the private page reads as zeros
 * (MADV_WIPEONFORK) and the ring is not mapped (MADV_DONTFORK): the writer is off there.
 */
#include "spool_ring_layout.h"
#include "../base/error.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* How long a blocked writer sleeps before it looks whether the reader still lives. */
#define READER_CHECK_MS 100
/* Of those that do not wait: after how many refusals they look. */
#define REFUSALS_PER_CHECK 1024u

struct um_spool_writer {
	struct um_ring_header *ring; /* NULL: off */
	char *data;
	uint64_t capacity_bytes;
	uint64_t head;	    /* of the next record */
	uint64_t tail_seen; /* the reader is at least here */
	uint64_t reserved_at;
	uint64_t reserved_bytes; /* 0: none */
	uint64_t refused;
	uint64_t refusals; /* for want of room */
	atomic_bool busy;  /* from the start of reserve to the end of commit */
	bool reader_visible;
	char reader_exe[32]; /* "/proc/PID/exe" */
	void *apply_table;   /* NULL: none; a mapping of its own */
	struct um_spool_config config;
};
_Static_assert(sizeof(struct um_spool_writer) <= UM_RING_HEADER_BYTES, "state is one page");

/* No descriptor is needed to ask: the link of a dead process or zombie cannot be read. */
static bool reader_exe_readable(const char *reader_exe)
{
	char target[8];
	int saved = errno;
	bool readable = readlink(reader_exe, target, sizeof(target)) >= 0;
	bool gone = !readable && (errno == ENOENT || errno == ESRCH);

	errno = saved;
	return !gone;
}

static bool reader_is_gone(const struct um_spool_writer *writer)
{
	if (atomic_load_explicit(&writer->ring->closed, memory_order_relaxed))
		return true;
	/* In another pid namespace the reader was never visible: believe in it. */
	return writer->reader_visible && !reader_exe_readable(writer->reader_exe);
}

static int check_header(const struct um_ring_header *ring, uint64_t file_bytes, const char *path)
{
	if (ring->magic != UM_RING_MAGIC || ring->header_bytes != UM_RING_HEADER_BYTES)
		return um_fail(UM_EFORMAT, "%s: not a spool of umtrace", path);
	if (ring->version != UM_SPOOL_VERSION)
		return um_fail(UM_EVERSION, "%s: spool version %u, this runtime writes %u", path,
			       ring->version, UM_SPOOL_VERSION);
	uint64_t capacity = ring->capacity_bytes;

	if (capacity < UM_RING_MIN_BYTES || capacity > UM_RING_MAX_BYTES ||
	    (capacity & (capacity - 1)) ||
	    capacity + UM_RING_HEADER_BYTES + um_ring_apply_bytes(&ring->config) != file_bytes)
		return um_fail(UM_EFORMAT, "%s: damaged spool header", path);
	return 0;
}

/* Reserves address space for the private page and the file, and maps both there. */
static int map_ring(struct um_spool_writer **out, int fd, uint64_t file_bytes, const char *path)
{
	char *base = mmap(NULL, UM_RING_HEADER_BYTES + file_bytes, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (base == MAP_FAILED)
		return um_fail_errno(UM_EIO, "cannot map %s", path);
	/* All of it now: page faults of ours would look like touches to whoever counts them. */
	void *ring = mmap(base + UM_RING_HEADER_BYTES, file_bytes, PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_FIXED | MAP_POPULATE, fd, 0);

	if (ring == MAP_FAILED) {
		um_fail_errno(UM_EIO, "cannot map %s", path);
		munmap(base, UM_RING_HEADER_BYTES + file_bytes);
		return UM_EIO;
	}
	madvise(base, UM_RING_HEADER_BYTES, MADV_WIPEONFORK);
	madvise(ring, file_bytes, MADV_DONTFORK);
	*out = (struct um_spool_writer *)base;
	return 0;
}

/* Without the table the program runs as it would without a policy, which umtrace notices. */
static void map_apply_table(struct um_spool_writer *writer, int fd)
{
	uint64_t bytes = um_ring_apply_bytes(&writer->config);
	void *table;

	if (!bytes)
		return;
	table = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd,
		     (off_t)(UM_RING_HEADER_BYTES + writer->capacity_bytes));
	if (table == MAP_FAILED)
		return;
	madvise(table, bytes, MADV_DONTFORK);
	writer->apply_table = table;
}

static int take_over(struct um_spool_writer *writer, struct um_ring_header *ring, const char *path)
{
	uint32_t nobody = 0;

	if (!atomic_compare_exchange_strong(&ring->writer_pid, &nobody, (uint32_t)getpid()))
		return um_fail(UM_EEXIST, "%s: process %u writes to it", path, nobody);
	writer->data = (char *)ring + UM_RING_HEADER_BYTES;
	writer->capacity_bytes = ring->capacity_bytes;
	writer->config = ring->config;
	snprintf(writer->reader_exe, sizeof(writer->reader_exe), "/proc/%u/exe", ring->reader_pid);
	writer->reader_visible = reader_exe_readable(writer->reader_exe);
	writer->ring = ring;
	unlink(path); /* nobody else can use it, and no kill leaves it behind */
	return 0;
}

static int attach_fd(struct um_spool_writer **out, int fd, const char *path)
{
	struct um_ring_header header;
	struct stat status;

	if (fstat(fd, &status) || !S_ISREG(status.st_mode))
		return um_fail(UM_EFORMAT, "%s: not a file", path);
	if (pread(fd, &header, sizeof(header), 0) != sizeof(header))
		return um_fail(UM_EFORMAT, "%s: not a spool of umtrace", path);
	int failed = check_header(&header, (uint64_t)status.st_size, path);
	struct um_spool_writer *writer = NULL;

	if (!failed)
		failed = map_ring(&writer, fd, UM_RING_HEADER_BYTES + header.capacity_bytes, path);
	if (failed)
		return failed;
	char *ring = (char *)writer + UM_RING_HEADER_BYTES;

	failed = take_over(writer, (struct um_ring_header *)ring, path);
	if (failed) {
		munmap(writer, 2 * UM_RING_HEADER_BYTES + header.capacity_bytes);
		return failed;
	}
	map_apply_table(writer, fd);
	*out = writer;
	return 0;
}

int um_spool_attach(struct um_spool_writer **out, const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return um_fail_errno(UM_EIO, "cannot open %s", path);
	int failed = attach_fd(out, fd, path);

	close(fd);
	return failed;
}

const struct um_spool_config *um_spool_config(const struct um_spool_writer *writer)
{
	return &writer->config;
}

void *um_spool_apply_table(const struct um_spool_writer *writer, size_t *bytes)
{
	*bytes = writer->config.apply_bytes;
	return writer->apply_table;
}

uint64_t um_spool_refused(const struct um_spool_writer *writer)
{
	return writer->refused;
}

static void switch_off(struct um_spool_writer *writer)
{
	struct um_ring_header *ring = writer->ring;

	writer->ring = NULL;
	munmap(ring, UM_RING_HEADER_BYTES + writer->capacity_bytes);
}

/* False: the reader's counter cannot be right. */
static bool look_at_tail(struct um_spool_writer *writer)
{
	uint64_t tail = atomic_load_explicit(&writer->ring->tail, memory_order_acquire);

	if (tail < writer->tail_seen || tail > writer->head)
		return false;
	writer->tail_seen = tail;
	return true;
}

static bool has_room(const struct um_spool_writer *writer, uint64_t bytes)
{
	return writer->capacity_bytes - (writer->head - writer->tail_seen) >= bytes;
}

static void sleep_for_room(struct um_spool_writer *writer, uint64_t bytes)
{
	struct um_ring_header *ring = writer->ring;
	/* Awake for a quarter of the ring at a time, or what there is: not for every record. */
	uint64_t wish = writer->head + bytes - writer->capacity_bytes + writer->capacity_bytes / 4;

	if (wish > writer->head)
		wish = writer->head;
	atomic_store_explicit(&ring->wanted_tail, wish, memory_order_relaxed);
	atomic_thread_fence(memory_order_seq_cst);
	uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);

	if (tail == writer->tail_seen && !atomic_load_explicit(&ring->closed, memory_order_relaxed))
		um_ring_sleep(&ring->tail, tail, READER_CHECK_MS);
	atomic_store_explicit(&ring->wanted_tail, 0, memory_order_relaxed);
}

/* False: the reader's counter cannot be right. */
static bool find_room(struct um_spool_writer *writer, uint64_t bytes, bool *found)
{
	*found = has_room(writer, bytes);
	if (*found)
		return true;
	if (!look_at_tail(writer))
		return false;
	*found = has_room(writer, bytes);
	return true;
}

static bool wait_for_room(struct um_spool_writer *writer, uint64_t bytes)
{
	bool found = false;

	if (atomic_load_explicit(&writer->ring->closed, memory_order_relaxed))
		return false;
	for (;;) {
		uint64_t before = writer->tail_seen;

		if (!find_room(writer, bytes, &found))
			return false;
		if (found)
			return true;
		if (writer->tail_seen == before && reader_is_gone(writer))
			return false;
		sleep_for_room(writer, bytes);
	}
}

static void end_reservation(struct um_spool_writer *writer)
{
	writer->reserved_bytes = 0;
	atomic_signal_fence(memory_order_seq_cst);
	atomic_store_explicit(&writer->busy, false, memory_order_relaxed);
}

/* The whole of a reservation: the padding before the end of the ring, and the record. */
struct span {
	uint64_t pad_bytes, bytes;
};

static struct span span_of(const struct um_spool_writer *writer, size_t bytes)
{
	uint64_t to_end = writer->capacity_bytes - (writer->head & (writer->capacity_bytes - 1));

	return (struct span){to_end < bytes ? to_end : 0, bytes};
}

static bool begin_reservation(struct um_spool_writer *writer, size_t bytes)
{
	if (bytes < sizeof(struct um_record) || bytes > UM_SPOOL_RECORD_MAX || bytes % 8 ||
	    atomic_exchange_explicit(&writer->busy, true, memory_order_relaxed)) {
		writer->refused++;
		return false;
	}
	atomic_signal_fence(memory_order_seq_cst);
	return true;
}

static void *take_room(struct um_spool_writer *writer, struct span span)
{
	uint64_t mask = writer->capacity_bytes - 1;

	if (span.pad_bytes) {
		struct um_record pad = {(uint32_t)span.pad_bytes, UM_RECORD_PAD, 0};

		memcpy(writer->data + (writer->head & mask), &pad, sizeof(pad));
	}
	writer->reserved_at = writer->head + span.pad_bytes;
	writer->reserved_bytes = span.bytes;
	return writer->data + (writer->reserved_at & mask);
}

void *um_spool_reserve(struct um_spool_writer *writer, size_t bytes)
{
	if (!writer || !writer->ring || !begin_reservation(writer, bytes))
		return NULL;
	struct span span = span_of(writer, bytes);

	if (!wait_for_room(writer, span.pad_bytes + span.bytes)) {
		switch_off(writer);
		end_reservation(writer);
		return NULL;
	}
	return take_room(writer, span);
}

/* Whether the reader lives is asked seldom: a ring that stays full is what it looks like. */
static bool is_abandoned(struct um_spool_writer *writer)
{
	if (atomic_load_explicit(&writer->ring->closed, memory_order_relaxed))
		return true;
	return ++writer->refusals % REFUSALS_PER_CHECK == 0 && reader_is_gone(writer);
}

void *um_spool_try_reserve(struct um_spool_writer *writer, size_t bytes)
{
	bool found = false;

	if (!writer || !writer->ring || !begin_reservation(writer, bytes))
		return NULL;
	struct span span = span_of(writer, bytes);
	bool alive = !atomic_load_explicit(&writer->ring->closed, memory_order_relaxed) &&
		     find_room(writer, span.pad_bytes + span.bytes, &found);

	if (found && alive)
		return take_room(writer, span);
	if (!alive || is_abandoned(writer))
		switch_off(writer);
	end_reservation(writer);
	return NULL;
}

bool um_spool_is_on(const struct um_spool_writer *writer)
{
	return writer && writer->ring;
}

uint64_t um_spool_room(struct um_spool_writer *writer)
{
	if (!writer || !writer->ring || !look_at_tail(writer))
		return 0;
	return writer->capacity_bytes - (writer->head - writer->tail_seen);
}

uint64_t um_spool_capacity(const struct um_spool_writer *writer)
{
	return writer->capacity_bytes;
}

void um_spool_commit(struct um_spool_writer *writer)
{
	if (!writer || !writer->ring || !writer->reserved_bytes)
		return;
	struct um_record header;

	memcpy(&header, writer->data + (writer->reserved_at & (writer->capacity_bytes - 1)),
	       sizeof(header));
	if (header.bytes >= sizeof(header) && header.bytes % 8 == 0 &&
	    header.bytes <= writer->reserved_bytes) {
		writer->head = writer->reserved_at + header.bytes;
		um_ring_publish(&writer->ring->head, writer->head, &writer->ring->wanted_head);
	} else {
		writer->refused++;
	}
	end_reservation(writer);
}

bool um_spool_put(struct um_spool_writer *writer, const struct um_record *record)
{
	void *room = um_spool_reserve(writer, record->bytes);

	if (room) {
		memcpy(room, record, record->bytes);
		um_spool_commit(writer);
	}
	return writer && writer->ring;
}

void um_spool_detach(struct um_spool_writer *writer)
{
	if (!writer)
		return;
	if (writer->ring)
		switch_off(writer);
	munmap(writer, UM_RING_HEADER_BYTES);
}
