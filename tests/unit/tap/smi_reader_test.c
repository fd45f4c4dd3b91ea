/*
 * Bytes from an SMI descriptor as spans: cut anywhere, halves that were lost, and ten million events through a queue
 * that drops what does not fit, as amdkfd's does, with a reader that is too slow.
 */
#include "trace/tap/smi/smi_descriptor.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct told {
	struct um_smi_span spans[64];
	size_t count;
};

static void keep(void *context, const struct um_smi_span *span)
{
	struct told *told = context;

	assert_true(told->count < 64);
	told->spans[told->count++] = *span;
}

static void put(struct um_smi_reader *reader, const char *text)
{
	um_smi_reader_put(reader, text, strlen(text));
}

static const char session[] = "7 1000 -42 @7f0000001(1ea0) W\n"
			      "5 1100 -42 @7f0000000(200) 0->1ea0 ffffffff:ffffffff 1\n"
			      "6 1900 -42 @7f0000000(200) 0->1ea0 1 0\n"
			      "8 2000 -42 @7f0000001(1ea0) M\n"
			      "9 3000 -42 1ea0 0\n"
			      "9 3001 -42 1ea0 0\n"
			      "a 3500 -42 1ea0 R\n"
			      "a 4000 -42 1ea0 0\n"
			      "b 4100 -42 @7f0000000(200) 1ea0 1\n"
			      "e 1 -2 3\n"
			      "3 \n";

static void check_session(const struct told *told)
{
	assert_int_equal(told->count, 4);
	assert_int_equal(told->spans[0].kind, UM_SMI_MIGRATION);
	assert_int_equal(told->spans[0].start_ns, 1100);
	assert_int_equal(told->spans[0].end_ns, 1900);
	assert_int_equal(told->spans[0].error, 0);
	assert_int_equal(told->spans[1].kind, UM_SMI_FAULT);
	assert_int_equal(told->spans[1].event.letter, 'W');
	assert_int_equal(told->spans[1].outcome, 'M');
	assert_int_equal(told->spans[2].kind, UM_SMI_STOP);
	assert_int_equal(told->spans[2].start_ns, 3000);
	assert_int_equal(told->spans[2].end_ns, 4000);
	assert_int_equal(told->spans[3].kind, UM_SMI_UNMAPPING);
}

/* read() returns bytes, not lines. */
static void cut_anywhere(void **state)
{
	(void)state;
	for (size_t piece = 1; piece <= sizeof(session); piece++) {
		struct told told = {0};
		struct um_smi_reader reader;

		um_smi_reader_init(&reader, keep, &told);
		for (size_t at = 0; at < sizeof(session) - 1; at += piece) {
			size_t left = sizeof(session) - 1 - at;

			um_smi_reader_put(&reader, session + at, left < piece ? left : piece);
		}
		um_smi_reader_end(&reader);
		check_session(&told);
		assert_int_equal(reader.lines, 11);
		assert_int_equal(reader.unknown, 1);
		assert_int_equal(reader.malformed, 0);
		assert_int_equal(reader.pairs.duplicates, 1);
		assert_int_equal(um_smi_reader_lost(&reader), 0);
	}
}

static void lost_halves(void **state)
{
	struct told told = {0};
	struct um_smi_reader reader;

	(void)state;
	um_smi_reader_init(&reader, keep, &told);
	put(&reader, "6 900 -42 @1(1) 0->1ea0 1 0\n");
	put(&reader, "7 1000 -42 @2(1ea0) R\n7 1500 -42 @2(1ea0) R\n8 1600 -42 @2(1ea0) U\n");
	/* Another process, another GPU: others' halves. */
	put(&reader, "7 2000 -42 @3(1ea0) R\n8 2100 -43 @3(1ea0) U\n8 2200 -42 @3(1ea1) U\n");
	put(&reader, "8 3000 -42 @4(1ea0) ");
	um_smi_reader_end(&reader);
	assert_int_equal(reader.pairs.spans, 1);
	assert_int_equal(reader.pairs.no_start, 3);
	assert_int_equal(reader.pairs.no_end, 2);
	assert_int_equal(reader.malformed, 1);
	assert_int_equal(um_smi_reader_lost(&reader), 6);
	assert_int_equal(told.count, 6);
	assert_int_equal(told.spans[0].start_ns, UM_SMI_NOT_TOLD);
	assert_int_equal(told.spans[1].end_ns, UM_SMI_NOT_TOLD);
}

/* A START's time is that of the fault, and it is printed later. */
static void out_of_order(void **state)
{
	struct told told = {0};
	struct um_smi_reader reader;

	(void)state;
	um_smi_reader_init(&reader, keep, &told);
	put(&reader, "8 2000 -42 @1(1ea0) M\n7 1000 -42 @1(1ea0) R\n");
	um_smi_reader_end(&reader);
	assert_int_equal(reader.pairs.spans, 0);
	assert_int_equal(um_smi_reader_lost(&reader), 2);
}

static void long_lines(void **state)
{
	struct told told = {0};
	struct um_smi_reader reader;
	char line[4096];

	(void)state;
	memset(line, '1', sizeof(line));
	um_smi_reader_init(&reader, keep, &told);
	for (int i = 0; i < 8; i++)
		um_smi_reader_put(&reader, line, sizeof(line));
	put(&reader, "\n7 1000 -42 @1(1ea0) R\n8 1001 -42 @1(1ea0) U\n");
	um_smi_reader_end(&reader);
	assert_int_equal(reader.malformed, 1);
	assert_int_equal(reader.pairs.spans, 1);
}

/* --- a queue that drops --- */

struct queue {
	char data[8192];
	size_t capacity, start, used;
};

/* kfifo: all of a line, or none of it and nobody is told. */
static bool push(struct queue *queue, const char *line, size_t bytes)
{
	if (bytes > queue->capacity - queue->used)
		return false;
	for (size_t i = 0; i < bytes; i++)
		queue->data[(queue->start + queue->used + i) % queue->capacity] = line[i];
	queue->used += bytes;
	return true;
}

static void pull(struct queue *queue, struct um_smi_reader *reader, size_t most)
{
	char data[512];
	size_t bytes = queue->used < most ? queue->used : most;

	bytes = bytes < sizeof(data) ? bytes : sizeof(data);
	for (size_t i = 0; i < bytes; i++)
		data[i] = queue->data[(queue->start + i) % queue->capacity];
	queue->start = (queue->start + bytes) % queue->capacity;
	queue->used -= bytes;
	um_smi_reader_put(reader, data, bytes);
}

static size_t append(char *line, char c)
{
	*line = c;
	return 1;
}

static size_t hex(char *line, uint64_t value)
{
	char digits[16];
	size_t count = 0;

	do
		digits[count++] = "0123456789abcdef"[value & 15];
	while (value >>= 4);
	for (size_t i = 0; i < count; i++)
		line[i] = digits[count - 1 - i];
	return count;
}

static size_t decimal(char *line, uint64_t value)
{
	char digits[20];
	size_t count = 0;

	do
		digits[count++] = (char)('0' + value % 10);
	while (value /= 10);
	for (size_t i = 0; i < count; i++)
		line[i] = digits[count - 1 - i];
	return count;
}

/* A half of the n-th fault: sprintf() would take most of the test's time. */
static size_t print_half(char *line, uint64_t number, bool begins)
{
	size_t at = 0;

	at += append(line + at, begins ? '7' : '8');
	at += append(line + at, ' ');
	at += decimal(line + at, 1000 + 2 * number + !begins);
	memcpy(line + at, " -42 @", 6);
	at += 6;
	at += hex(line + at, 0x7f0000000 + number);
	memcpy(line + at, "(1ea0) ", 7);
	at += 7;
	at += append(line + at, begins ? 'R' : 'M');
	return at + append(line + at, '\n');
}

struct truth {
	uint64_t told, whole, no_end, no_start, neither;
};

static void count_span(void *context, const struct um_smi_span *span)
{
	*(uint64_t *)context +=
		span->start_ns != UM_SMI_NOT_TOLD && span->end_ns != UM_SMI_NOT_TOLD;
}

/* Slow at times, and then for long. */
static void read_slowly(struct queue *queue, struct um_smi_reader *reader, uint64_t *random,
			unsigned slowness)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	if (*random % slowness == 0 || (*random >> 40 & 4095) < 3)
		pull(queue, reader, 1 + *random % 400);
}

static void soak(size_t capacity, uint64_t faults, unsigned slowness)
{
	static struct um_smi_reader reader;
	struct queue queue = {.capacity = capacity};
	struct truth truth = {0};
	uint64_t random = 88172645463325252u, whole = 0;
	char line[UM_SMI_LINE_BYTES];

	um_smi_reader_init(&reader, count_span, &whole);
	for (uint64_t i = 0; i < faults; i++) {
		bool begun = push(&queue, line, print_half(line, i, true));

		read_slowly(&queue, &reader, &random, slowness);
		bool ended = push(&queue, line, print_half(line, i, false));

		truth.told += (uint64_t)begun + ended;
		truth.whole += begun && ended;
		truth.no_end += begun && !ended;
		truth.no_start += !begun && ended;
		truth.neither += !begun && !ended;
		read_slowly(&queue, &reader, &random, slowness);
	}
	while (queue.used)
		pull(&queue, &reader, 100);
	um_smi_reader_end(&reader);
	assert_int_equal(reader.malformed + reader.unknown, 0);
	assert_int_equal(reader.events, truth.told);
	assert_int_equal(whole, truth.whole);
	assert_int_equal(reader.pairs.spans, truth.whole);
	assert_int_equal(reader.pairs.no_end, truth.no_end);
	assert_int_equal(reader.pairs.no_start, truth.no_start);
	assert_int_equal(um_smi_reader_lost(&reader), truth.no_end + truth.no_start);
	/* What no half tells of is what the driver's own counter of faults has above what was seen. */
	assert_int_equal(faults - truth.whole - um_smi_reader_lost(&reader), truth.neither);
	/* All of these there were. */
	assert_true(truth.whole && truth.no_end && truth.no_start && truth.neither);
}

static void ten_million_events(void **state)
{
	(void)state;
	soak(1024, 2500000, 9);
	soak(8192, 2500000, 8);
}

/* --- descriptors --- */

static void drains_descriptors(void **state)
{
	struct told told[2] = {0};
	struct um_smi_descriptor descriptors[2];
	int files[2][2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(pipe(files[i]), 0);
		um_smi_descriptor_init(&descriptors[i], files[i][0], 0x1ea0, keep, &told[i]);
	}
	assert_int_equal(um_smi_drain(descriptors, 2, -1, 0), 0);
	assert_int_equal(write(files[1][1], session, 40), 40);
	assert_int_equal(um_smi_drain(descriptors, 2, -1, 1000), 40);
	assert_int_equal(write(files[1][1], session + 40, sizeof(session) - 41),
			 sizeof(session) - 41);
	assert_int_equal(um_smi_drain(descriptors, 2, -1, 1000), sizeof(session) - 41);
	check_session(&told[1]);
	close(files[0][1]);
	close(files[1][1]);
	um_smi_drain(descriptors, 2, -1, 1000);
	assert_int_equal(um_smi_drain(descriptors, 2, -1, 1000), -1);
	for (int i = 0; i < 2; i++)
		um_smi_descriptor_fini(&descriptors[i]);
	assert_int_equal(told[0].count, 0);
}

static void no_kfd(void **state)
{
	int file = open("/dev/null", O_RDWR);

	(void)state;
	assert_int_equal(um_smi_open(file, 1), -1);
	close(file);
}

static void put_file(const char *folder, const char *name, const char *text)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void reads_counters(void **state)
{
	char root[] = "/tmp/um-smi-XXXXXX", folder[200], command[300];
	struct um_smi_counters counters;

	(void)state;
	assert_non_null(mkdtemp(root));
	snprintf(folder, sizeof(folder), "%s/sys/class/kfd/kfd/proc/42/counters_7840", root);
	snprintf(command, sizeof(command), "mkdir -p %s", folder);
	assert_int_equal(system(command), 0);
	assert_false(um_smi_counters_read(&counters, root, 42, 7840));
	put_file(folder, "faults", "12\n");
	put_file(folder, "page_in", "512\n");
	put_file(folder, "page_out", "0\n");
	assert_true(um_smi_counters_read(&counters, root, 42, 7840));
	assert_int_equal(counters.faults, 12);
	assert_int_equal(counters.pages_in, 512);
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_anywhere),
		cmocka_unit_test(lost_halves),
		cmocka_unit_test(out_of_order),
		cmocka_unit_test(long_lines),
		cmocka_unit_test(ten_million_events),
		cmocka_unit_test(drains_descriptors),
		cmocka_unit_test(no_kfd),
		cmocka_unit_test(reads_counters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
