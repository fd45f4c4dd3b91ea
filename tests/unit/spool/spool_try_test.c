/*
 * Records that do not wait for room: what is refused never blocks, and what is taken comes out whole and
 * in order. The room that is told is there.
 */
#include "trace/spool/spool_ring.h"
#include "trace/spool/spool_ring_layout.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

#define SMALLEST_RING 1 /* rounded up to the minimum */

static const struct um_spool_config config = {.requests = 1};

struct numbered {
	struct um_record header;
	uint64_t serial;
};

struct ring {
	struct um_spool_reader *reader;
	struct um_spool_writer *writer;
};

static int set_up(void **state)
{
	struct ring *ring = calloc(1, sizeof(*ring));

	*state = ring;
	return um_spool_create(&ring->reader, NULL, SMALLEST_RING, &config) ||
	       um_spool_attach(&ring->writer, um_spool_path(ring->reader));
}

static int tear_down(void **state)
{
	struct ring *ring = *state;

	um_spool_detach(ring->writer);
	um_spool_destroy(ring->reader);
	free(ring);
	return 0;
}

static bool try_to_send(struct um_spool_writer *writer, uint64_t serial, size_t bytes)
{
	struct numbered *record = um_spool_try_reserve(writer, bytes);

	if (!record)
		return false;
	memset(record, 0, bytes);
	record->header = (struct um_record){(uint32_t)bytes, UM_RECORD_OP, 0};
	record->serial = serial;
	um_spool_commit(writer);
	return true;
}

static uint64_t serial_of(const struct um_record *record)
{
	assert_non_null(record);
	return ((const struct numbered *)record)->serial;
}

static void full(void **state)
{
	struct ring *ring = *state;
	const struct um_record *record;
	uint64_t sent = 0, received = 0;
	int error = 0;

	while (try_to_send(ring->writer, sent, 1024))
		sent++;
	assert_int_equal(sent, UM_RING_MIN_BYTES / 1024);
	assert_int_equal(um_spool_room(ring->writer), 0);
	assert_true(um_spool_is_on(ring->writer)); /* full is not off */
	assert_false(try_to_send(ring->writer, sent, 16));
	while ((record = um_spool_next(ring->reader, &error)))
		assert_int_equal(serial_of(record), received++);
	assert_int_equal(received, sent);
	assert_int_equal(um_spool_room(ring->writer), UM_RING_MIN_BYTES);
	assert_true(try_to_send(ring->writer, sent, 1024));
	assert_int_equal(um_spool_refused(ring->writer), 0); /* of the caller's faults */
}

static void refused_leaves_nothing(void **state)
{
	struct ring *ring = *state;
	int error = 0;

	assert_null(um_spool_try_reserve(ring->writer, UM_SPOOL_RECORD_MAX + 8));
	assert_null(um_spool_try_reserve(ring->writer, 12));
	assert_int_equal(um_spool_refused(ring->writer), 2);
	assert_null(um_spool_try_reserve(NULL, 64));
	assert_non_null(um_spool_try_reserve(ring->writer, 64));
	assert_null(um_spool_try_reserve(ring->writer, 64)); /* within the other */
	assert_int_equal(um_spool_refused(ring->writer), 3);
	um_spool_commit(ring->writer); /* the header was never written: nothing is published */
	assert_null(um_spool_next(ring->reader, &error));
	assert_true(try_to_send(ring->writer, 5, 64));
	assert_int_equal(serial_of(um_spool_next(ring->reader, &error)), 5);
}

/* At every place of the ring a record of half the room fits, padding included. */
static void room_is_there(void **state)
{
	struct ring *ring = *state;
	uint64_t serial = 0, received = 0;
	const struct um_record *record;
	int error = 0;

	assert_int_equal(um_spool_capacity(ring->writer), UM_RING_MIN_BYTES);
	srandom(3);
	for (int round = 0; round < 2000; round++) {
		size_t half = um_spool_room(ring->writer) / 2 & ~(uint64_t)7;
		size_t most = half < UM_SPOOL_RECORD_MAX ? half : UM_SPOOL_RECORD_MAX;

		if (most >= sizeof(struct numbered))
			assert_true(try_to_send(ring->writer, serial++, most));
		for (long take = random() % 3; take > 0; take--) {
			record = um_spool_next(ring->reader, &error);
			if (record)
				assert_int_equal(serial_of(record), received++);
		}
		um_spool_release(ring->reader);
	}
	while ((record = um_spool_next(ring->reader, &error)))
		assert_int_equal(serial_of(record), received++);
	assert_int_equal(received, serial);
}

static void reader_closes(void **state)
{
	struct ring *ring = *state;

	um_spool_destroy(ring->reader);
	ring->reader = NULL;
	assert_true(um_spool_is_on(ring->writer)); /* it has not looked yet */
	assert_false(try_to_send(ring->writer, 0, 64));
	assert_false(um_spool_is_on(ring->writer));
	assert_int_equal(um_spool_room(ring->writer), 0);
	assert_false(um_spool_is_on(NULL));
}

static void counter_that_cannot_be(void **state)
{
	struct ring *ring = *state;
	struct um_ring_header *header =
		(struct um_ring_header *)((char *)ring->writer + UM_RING_HEADER_BYTES);
	uint64_t serial = 0;

	atomic_store(&header->tail, 1ull << 40);
	while (try_to_send(ring->writer, serial, 4096))
		assert_true(++serial < 1000);
	assert_false(um_spool_is_on(ring->writer));
}

/* A reader that was killed looks like one that is slow: it is asked for after many refusals. */
static void reader_killed(void **state)
{
	char path[4096] = "";
	int ready[2], status = 0;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid_t child = fork();

	if (child == 0) {
		struct um_spool_reader *reader = NULL;

		if (um_spool_create(&reader, NULL, SMALLEST_RING, &config))
			_exit(1);
		strncpy(path, um_spool_path(reader), sizeof(path) - 1);
		if (write(ready[1], path, sizeof(path)) < 0)
			_exit(1);
		pause();
	}
	assert_int_equal(read(ready[0], path, sizeof(path)), (ssize_t)sizeof(path));
	struct um_spool_writer *writer = NULL;

	assert_int_equal(um_spool_attach(&writer, path), 0);
	while (try_to_send(writer, 0, 65536))
		;
	for (int i = 0; i < 5000; i++)
		assert_false(try_to_send(writer, 0, 65536));
	assert_true(um_spool_is_on(writer));
	kill(child, SIGKILL);
	waitpid(child, &status, 0);
	for (int i = 0; um_spool_is_on(writer); i++) {
		assert_true(i < 5000);
		try_to_send(writer, 0, 65536);
	}
	um_spool_detach(writer);
	close(ready[0]);
	close(ready[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(full, set_up, tear_down),
		cmocka_unit_test_setup_teardown(refused_leaves_nothing, set_up, tear_down),
		cmocka_unit_test_setup_teardown(room_is_there, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reader_closes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(counter_that_cannot_be, set_up, tear_down),
		cmocka_unit_test(reader_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
