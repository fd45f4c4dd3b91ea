/*
 * The ring between a program and umtrace: what comes out is what went in, whatever dies meanwhile.
 */
#include "trace/spool/spool_ring.h"
#include "trace/spool/spool_ring_layout.h"
#include "trace/base/error.h"

#include <dirent.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <cmocka.h>

#define SMALLEST_RING 1 /* rounded up to the minimum */

/* A record whose content tells whether it is whole: a serial number and words made from it. */
struct numbered {
	struct um_record header;
	uint64_t serial;
	uint64_t word[];
};

static const struct um_spool_config config = {.requests = 1, .devices = 2, .device_arch = "gfx90a"};

/* 16 bytes to 64 KiB, sizes that never divide the ring evenly. */
static size_t record_bytes(uint64_t serial)
{
	uint64_t mixed = serial * 0x9e3779b97f4a7c15ull;

	return sizeof(struct numbered) + (mixed >> 40) % (serial % 50 == 0 ? 8000 : 40) * 8;
}

static void write_numbered(struct numbered *record, uint64_t serial)
{
	size_t bytes = record_bytes(serial);

	record->header = (struct um_record){(uint32_t)bytes, UM_RECORD_OP, 0};
	record->serial = serial;
	for (size_t i = 0; i < (bytes - sizeof(*record)) / 8; i++)
		record->word[i] = serial ^ i;
}

static void check_numbered(const struct um_record *header, uint64_t serial)
{
	const struct numbered *record = (const struct numbered *)header;

	assert_int_equal(header->kind, UM_RECORD_OP);
	assert_int_equal(record->serial, serial);
	assert_int_equal(header->bytes, record_bytes(serial));
	for (size_t i = 0; i < (header->bytes - sizeof(*record)) / 8; i++)
		assert_int_equal(record->word[i], serial ^ i);
}

/* False once the reader has gone. */
static bool send_numbered(struct um_spool_writer *writer, uint64_t serial)
{
	struct numbered *record = um_spool_reserve(writer, record_bytes(serial));

	if (!record)
		return false;
	write_numbered(record, serial);
	um_spool_commit(writer);
	return true;
}

static struct um_spool_reader *new_ring(size_t bytes)
{
	struct um_spool_reader *reader = NULL;

	assert_int_equal(um_spool_create(&reader, NULL, bytes, &config), 0);
	return reader;
}

static struct um_spool_writer *attach(struct um_spool_reader *reader)
{
	struct um_spool_writer *writer = NULL;

	assert_int_equal(um_spool_attach(&writer, um_spool_path(reader)), 0);
	return writer;
}

/* Starts a child that attaches and runs `work`. */
static pid_t spawn(struct um_spool_reader *reader, void (*work)(struct um_spool_writer *))
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0) {
		struct um_spool_writer *writer = NULL;

		if (um_spool_attach(&writer, um_spool_path(reader)))
			_exit(99);
		work(writer);
		um_spool_detach(writer);
		_exit(0);
	}
	return pid;
}

static int finish(pid_t pid)
{
	int status = 0;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static int open_descriptors(void)
{
	DIR *dir = opendir("/proc/self/fd");
	int count = 0;

	while (readdir(dir))
		count++;
	closedir(dir);
	return count;
}

static void attaching(void **state)
{
	struct um_spool_reader *reader = new_ring(SMALLEST_RING);
	struct um_spool_writer *second = NULL;
	struct stat status;
	char path[4096];
	int before = open_descriptors(), error = -1;

	(void)state;
	snprintf(path, sizeof(path), "%s", um_spool_path(reader));
	assert_int_equal(stat(path, &status), 0);
	assert_int_equal(status.st_mode & 0777, 0600);
	assert_false(um_spool_attached(reader));
	assert_null(um_spool_next(reader, &error));
	assert_int_equal(error, 0);

	int kept = open(path, O_RDWR | O_CLOEXEC);
	struct um_spool_writer *writer = attach(reader);

	assert_true(um_spool_attached(reader));
	assert_int_equal(open_descriptors(), before + 1);
	assert_int_equal(um_spool_config(writer)->devices, 2);
	assert_string_equal(um_spool_config(writer)->device_arch, "gfx90a");
	assert_int_not_equal(stat(path, &status), 0); /* removed: no kill leaves it behind */

	snprintf(path, sizeof(path), "/proc/self/fd/%d", kept);
	assert_int_equal(um_spool_attach(&second, path), UM_EIO); /* a link is not followed */
	close(kept);
	um_spool_detach(writer);
	um_spool_detach(NULL);
	um_spool_destroy(reader);
	um_spool_destroy(NULL);
}

static void only_one_writer(void **state)
{
	struct um_spool_reader *reader = new_ring(SMALLEST_RING);
	struct um_spool_writer *second = NULL;
	char other[4200];

	(void)state;
	snprintf(other, sizeof(other), "%s-link", um_spool_path(reader));
	assert_int_equal(link(um_spool_path(reader), other), 0);
	struct um_spool_writer *writer = attach(reader);

	assert_int_equal(um_spool_attach(&second, other), UM_EEXIST);
	unlink(other);
	um_spool_detach(writer);
	um_spool_destroy(reader);
}

static void unused_ring_leaves_no_file(void **state)
{
	struct um_spool_reader *reader = new_ring(SMALLEST_RING);
	struct stat status;
	char path[4096];

	(void)state;
	snprintf(path, sizeof(path), "%s", um_spool_path(reader));
	um_spool_destroy(reader);
	assert_int_not_equal(stat(path, &status), 0);
	assert_int_equal(um_spool_create(&reader, "/nonexistent", 0, &config), UM_EIO);
	assert_non_null(strstr(um_error_message(), "/nonexistent"));
}

static void write_file(const char *path, const void *data, size_t bytes)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, bytes), (ssize_t)bytes);
	close(fd);
}

static void not_a_ring(void **state)
{
	struct um_spool_reader *reader = new_ring(SMALLEST_RING);
	struct um_spool_writer *writer = NULL;
	char path[4200];
	size_t bytes = UM_RING_HEADER_BYTES + UM_RING_MIN_BYTES;
	struct um_ring_header *copy = calloc(1, bytes);

	(void)state;
	snprintf(path, sizeof(path), "%s-copy", um_spool_path(reader));
	int fd = open(um_spool_path(reader), O_RDONLY | O_CLOEXEC);

	assert_int_equal(read(fd, copy, bytes), (ssize_t)bytes);
	close(fd);
	assert_int_equal(um_spool_attach(&writer, "/nonexistent/ring"), UM_EIO);
	assert_int_equal(um_spool_attach(&writer, "/dev/null"), UM_EFORMAT);
	write_file(path, "short", 5);
	assert_int_equal(um_spool_attach(&writer, path), UM_EFORMAT);
	write_file(path, copy, bytes - 8);
	assert_int_equal(um_spool_attach(&writer, path), UM_EFORMAT);
	copy->capacity_bytes--;
	write_file(path, copy, bytes);
	assert_int_equal(um_spool_attach(&writer, path), UM_EFORMAT);
	copy->capacity_bytes++;
	copy->version = UM_SPOOL_VERSION + 1;
	write_file(path, copy, bytes);
	assert_int_equal(um_spool_attach(&writer, path), UM_EVERSION);
	copy->version = UM_SPOOL_VERSION;
	write_file(path, copy, bytes);
	assert_int_equal(um_spool_attach(&writer, path), 0); /* the copy itself was a good one */
	um_spool_detach(writer);
	free(copy);
	um_spool_destroy(reader);
}

static void wraparound(void **state)
{
	struct um_spool_reader *reader = new_ring(SMALLEST_RING);
	struct um_spool_writer *writer = attach(reader);
	uint64_t sent = 0, received = 0, sent_bytes = 0;
	int error = 0;

	(void)state;
	/* At most 5 records are in flight, so that one thread never blocks. */
	while (sent_bytes < 50ull * UM_RING_MIN_BYTES) {
		for (uint64_t n = 1 + sent % 5; n > 0; n--) {
			assert_true(send_numbered(writer, sent));
			sent_bytes += record_bytes(sent++);
		}
		const struct um_record *record;

		while ((record = um_spool_next(reader, &error)))
			check_numbered(record, received++);
		assert_int_equal(error, 0);
		assert_int_equal(received, sent);
	}
	um_spool_detach(writer);
	um_spool_destroy(reader);
}

static void largest_records_fit(void **state)
{
	struct um_spool_reader *reader = new_ring(SMALLEST_RING);
	struct um_spool_writer *writer = attach(reader);
	struct um_record *record;
	int error = 0;

	(void)state;
	/* The second leaves 8 bytes less than a record before the end of the ring. */
	static const uint32_t sizes[] = {
		8,  UM_SPOOL_RECORD_MAX, UM_SPOOL_RECORD_MAX, UM_SPOOL_RECORD_MAX,
		16, UM_SPOOL_RECORD_MAX};

	for (int round = 0; round < 20; round++) {
		uint32_t bytes = sizes[round % 6];

		record = um_spool_reserve(writer, bytes);
		assert_non_null(record);
		memset(record, round, bytes);
		*record = (struct um_record){bytes, UM_RECORD_PAGES, 0};
		um_spool_commit(writer);
		const struct um_record *read = um_spool_next(reader, &error);

		assert_non_null(read);
		assert_int_equal(read->bytes, bytes);
		if (bytes > 8)
			assert_int_equal(((const unsigned char *)read)[bytes - 1], round);
		um_spool_release(reader);
	}
	assert_null(um_spool_reserve(writer, UM_SPOOL_RECORD_MAX + 8));
	assert_null(um_spool_reserve(writer, 0));
	assert_null(um_spool_reserve(writer, 12));
	assert_int_equal(um_spool_refused(writer), 3);
	um_spool_detach(writer);
	um_spool_destroy(reader);
}

static void record_may_shrink(void **state)
{
	struct um_spool_reader *reader = new_ring(SMALLEST_RING);
	struct um_spool_writer *writer = attach(reader);
	int error = 0;

	(void)state;
	struct numbered *record = um_spool_reserve(writer, 65536);

	write_numbered(record, 7);
	um_spool_commit(writer);
	assert_true(send_numbered(writer, 8));
	check_numbered(um_spool_next(reader, &error), 7);
	check_numbered(um_spool_next(reader, &error), 8);
	/* Growing beyond the reservation is the caller's fault: not published. */
	record = um_spool_reserve(writer, 64);
	record->header = (struct um_record){128, UM_RECORD_OP, 0};
	um_spool_commit(writer);
	assert_null(um_spool_next(reader, &error));
	assert_int_equal(error, 0);
	assert_true(send_numbered(writer, 9));
	check_numbered(um_spool_next(reader, &error), 9);
	um_spool_detach(writer);
	um_spool_destroy(reader);
}

static void nested_reservation_is_refused(void **state)
{
	struct um_spool_reader *reader = new_ring(SMALLEST_RING);
	struct um_spool_writer *writer = attach(reader);
	struct um_record loss = {8, UM_RECORD_LOSS, 0};
	int error = 0;

	(void)state;
	struct numbered *record = um_spool_reserve(writer, record_bytes(1));

	/* What a signal handler would do here. */
	assert_null(um_spool_reserve(writer, 64));
	assert_true(um_spool_put(writer, &loss)); /* lost, but the writer stays on */
	assert_int_equal(um_spool_refused(writer), 2);
	write_numbered(record, 1);
	um_spool_commit(writer);
	assert_true(send_numbered(writer, 2));
	check_numbered(um_spool_next(reader, &error), 1);
	check_numbered(um_spool_next(reader, &error), 2);
	um_spool_detach(writer);
	um_spool_destroy(reader);
}

#define STREAM_RECORDS 20000

static void send_many(struct um_spool_writer *writer)
{
	for (uint64_t serial = 0; serial < STREAM_RECORDS; serial++) {
		if (!send_numbered(writer, serial))
			_exit(1);
	}
}

static void slow_reader(void **state)
{
	struct um_spool_reader *reader = new_ring(SMALLEST_RING);
	pid_t pid = spawn(reader, send_many);
	uint64_t received = 0;
	int error = 0;

	(void)state;
	while (received < STREAM_RECORDS) {
		const struct um_record *record = um_spool_next(reader, &error);

		assert_int_equal(error, 0);
		if (!record) {
			um_spool_wait(reader, 1000);
			continue;
		}
		if (received % 2000 == 0)
			usleep(2000); /* the ring fills up meanwhile */
		check_numbered(record, received++);
	}
	assert_int_equal(finish(pid), 0);
	um_spool_destroy(reader);
}

static void send_for_ever(struct um_spool_writer *writer)
{
	for (uint64_t serial = 0; send_numbered(writer, serial); serial++)
		;
	_exit(42);
}

static uint64_t drain(struct um_spool_reader *reader, uint64_t received)
{
	const struct um_record *record;
	int error = 0;

	while ((record = um_spool_next(reader, &error)))
		check_numbered(record, received++);
	assert_int_equal(error, 0);
	return received;
}

/* Wherever the writer dies, the ring drains to its last whole record. */
static void writer_killed(void **state)
{
	(void)state;
	for (int round = 0; round < 60; round++) {
		struct um_spool_reader *reader = new_ring(SMALLEST_RING);
		pid_t pid = spawn(reader, send_for_ever);
		uint64_t received = 0;

		while (received < 200 + (uint64_t)round * 37)
			received = drain(reader, received);
		usleep((useconds_t)(round * 13));
		kill(pid, SIGKILL);
		assert_int_equal(WTERMSIG(finish(pid)), SIGKILL);
		drain(reader, received);
		um_spool_destroy(reader);
	}
}

/* A reader that says goodbye sets the flag; the blocked writer notices and goes on. */
static void reader_closes(void **state)
{
	struct um_spool_reader *reader = new_ring(SMALLEST_RING);
	pid_t pid = spawn(reader, send_for_ever);

	(void)state;
	while (!um_spool_attached(reader))
		usleep(100);
	usleep(20000);
	um_spool_destroy(reader);
	assert_int_equal(WEXITSTATUS(finish(pid)), 42);
}

/* The reader is killed without a word, and nobody reaps it for a while: the writer notices too. */
static void reader_killed(void **state)
{
	int ready[2];
	char path[4096] = "";

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid_t reader_pid = fork();

	if (reader_pid == 0) {
		struct um_spool_reader *reader = NULL;

		if (um_spool_create(&reader, NULL, SMALLEST_RING, &config))
			_exit(1);
		memcpy(path, um_spool_path(reader), strlen(um_spool_path(reader)));
		if (write(ready[1], path, sizeof(path)) < 0)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ready[0], path, sizeof(path)), (ssize_t)sizeof(path));
	pid_t writer_pid = fork();

	if (writer_pid == 0) {
		struct um_spool_writer *writer = NULL;

		if (um_spool_attach(&writer, path))
			_exit(1);
		for (uint64_t serial = 0; send_numbered(writer, serial); serial++)
			;
		/* Off for good, and still legal to use. */
		_exit(um_spool_reserve(writer, 64) ? 1 : 42);
	}
	while (!access(path, F_OK)) /* the writer has attached when the file is gone */
		usleep(1000);
	usleep(20000);
	kill(reader_pid, SIGKILL);
	assert_int_equal(WEXITSTATUS(finish(writer_pid)), 42); /* the reader is a zombie now */
	finish(reader_pid);
	close(ready[0]);
	close(ready[1]);
}

/* The child of a fork has no ring, even one that was made past pthread_atfork. */
static void forked_child_is_off(void **state)
{
	struct um_spool_reader *reader = new_ring(SMALLEST_RING);
	struct um_spool_writer *writer = attach(reader);
	int error = 0;

	(void)state;
	pid_t pid = (pid_t)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);

	if (pid == 0) {
		bool sent = send_numbered(writer, 1);

		um_spool_detach(writer);
		_exit(sent);
	}
	assert_int_equal(finish(pid), 0);
	assert_null(um_spool_next(reader, &error));
	assert_true(send_numbered(writer, 1));
	check_numbered(um_spool_next(reader, &error), 1);
	um_spool_detach(writer);
	um_spool_destroy(reader);
}

/*
 * A program that writes through wild pointers: any header and any counter, never a crash or a hang.
 */
static void damaged_headers(void **state)
{
	static const uint32_t lengths[] = {
		0,  4, 7, 12, 1u << 31, 0xffffffffu, UM_SPOOL_RECORD_MAX + 8,
		128 /* more than was published */};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct um_spool_reader *reader = new_ring(SMALLEST_RING);
		struct um_spool_writer *writer = attach(reader);
		int error = 0;

		assert_true(send_numbered(writer, 1));
		struct um_record *record = um_spool_reserve(writer, 64);

		*record = (struct um_record){64, UM_RECORD_OP, 0};
		um_spool_commit(writer);
		record->bytes = lengths[i];
		check_numbered(um_spool_next(reader, &error), 1);
		assert_null(um_spool_next(reader, &error));
		assert_int_equal(error, UM_EFORMAT);
		assert_null(um_spool_next(reader, &error)); /* and stays so */
		assert_int_equal(error, UM_EFORMAT);
		um_spool_wait(reader, 10);
		um_spool_detach(writer);
		um_spool_destroy(reader);
	}
}

/* The ring's header as the program sees it: the page behind the writer's own. */
static struct um_ring_header *header_of(struct um_spool_writer *writer)
{
	return (struct um_ring_header *)((char *)writer + UM_RING_HEADER_BYTES);
}

static void damaged_counters(void **state)
{
	static const uint64_t heads[] = {1, 0x7fffffffffffff00ull, UM_RING_MIN_BYTES + 64, 12};

	(void)state;
	for (size_t i = 0; i < sizeof(heads) / sizeof(heads[0]); i++) {
		struct um_spool_reader *reader = new_ring(SMALLEST_RING);
		struct um_spool_writer *writer = attach(reader);
		int error = 0;

		header_of(writer)->capacity_bytes = 1ull << 60;
		atomic_store(&header_of(writer)->head, heads[i]);
		assert_null(um_spool_next(reader, &error));
		assert_int_equal(error, UM_EFORMAT);
		um_spool_detach(writer);
		um_spool_destroy(reader);
	}
	struct um_spool_reader *reader = new_ring(SMALLEST_RING);
	struct um_spool_writer *writer = attach(reader);

	/* A tail that cannot be: the writer gives up, once it has to look at it. */
	atomic_store(&header_of(writer)->tail, 1ull << 40);
	for (uint64_t serial = 0; send_numbered(writer, serial); serial++)
		assert_true(serial < 100000);
	um_spool_detach(writer);
	um_spool_destroy(reader);
}

/* Random damage anywhere in the ring: every record that comes out is within limits. */
static void random_damage(void **state)
{
	(void)state;
	srandom(1);
	for (int round = 0; round < 300; round++) {
		struct um_spool_reader *reader = new_ring(SMALLEST_RING);
		struct um_spool_writer *writer = attach(reader);
		uint64_t *ring = (uint64_t *)((char *)header_of(writer) + UM_RING_HEADER_BYTES);
		const struct um_record *record;
		int error = 0;

		for (uint64_t serial = 1; serial < 50; serial++)
			send_numbered(writer, serial);
		for (int i = 0; i < 30; i++)
			ring[random() % 1500] ^= 1ull << (random() % 64);
		while ((record = um_spool_next(reader, &error))) {
			assert_true(record->bytes >= 8 && record->bytes <= UM_SPOOL_RECORD_MAX);
			assert_int_equal(record->bytes % 8, 0);
		}
		assert_true(error == 0 || error == UM_EFORMAT);
		um_spool_detach(writer);
		um_spool_destroy(reader);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(attaching),
		cmocka_unit_test(only_one_writer),
		cmocka_unit_test(unused_ring_leaves_no_file),
		cmocka_unit_test(not_a_ring),
		cmocka_unit_test(wraparound),
		cmocka_unit_test(largest_records_fit),
		cmocka_unit_test(record_may_shrink),
		cmocka_unit_test(nested_reservation_is_refused),
		cmocka_unit_test(slow_reader),
		cmocka_unit_test(writer_killed),
		cmocka_unit_test(reader_closes),
		cmocka_unit_test(reader_killed),
		cmocka_unit_test(forked_child_is_off),
		cmocka_unit_test(damaged_headers),
		cmocka_unit_test(damaged_counters),
		cmocka_unit_test(random_damage),
	};

	alarm(120); /* a hang is a failure */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
