/* How fast records go from a program to umtrace, against memcpy() of as many bytes. Prints only. */
#include "bench_clock.h"
#include "trace/spool/spool_ring.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define BENCH_BYTES (1ull << 30)

static void write_records(struct um_spool_writer *writer, size_t bytes, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++) {
		struct um_record *record = um_spool_reserve(writer, bytes);

		if (!record)
			_exit(1);
		memset(record, (int)i, bytes);
		*record = (struct um_record){(uint32_t)bytes, UM_RECORD_PAGES, 0};
		um_spool_commit(writer);
	}
	um_spool_detach(writer);
	_exit(0);
}

static uint64_t read_records(struct um_spool_reader *reader, uint64_t count)
{
	int error = 0;
	uint64_t read = 0;

	while (read < count && !error) {
		if (um_spool_next(reader, &error))
			read++;
		else
			um_spool_wait(reader, 100);
	}
	return read;
}

static double floor_s(size_t bytes)
{
	size_t window = 8u << 20;
	char *from = calloc(1, window + bytes), *to = calloc(1, window + bytes);
	double start = bench_now_s();

	for (uint64_t done = 0; done < BENCH_BYTES; done += bytes)
		memcpy(to + done % window, from + done % window, bytes);
	double seconds = bench_now_s() - start;

	__asm__ volatile("" : : "r"(to) : "memory");
	free(from);
	free(to);
	return seconds;
}

static void bench(size_t bytes)
{
	static const struct um_spool_config config;
	struct um_spool_reader *reader;
	uint64_t count = BENCH_BYTES / bytes / (bytes < 1024 ? 8 : 1);

	if (um_spool_create(&reader, NULL, 0, &config))
		return;
	pid_t pid = fork();

	if (pid == 0) {
		struct um_spool_writer *writer;

		if (um_spool_attach(&writer, um_spool_path(reader)))
			_exit(1);
		write_records(writer, bytes, count);
	}
	double start = bench_now_s();
	uint64_t read = read_records(reader, count);
	double seconds = bench_now_s() - start;
	double copy_s = floor_s(bytes) * (double)(count * bytes) / (double)BENCH_BYTES;

	waitpid(pid, NULL, 0);
	um_spool_destroy(reader);
	printf("records of %6zu bytes: %7.2f M/s  %6.2f GB/s  %5.1f times a memcpy%s\n", bytes,
	       (double)read * 1e-6 / seconds, (double)(read * bytes) * 1e-9 / seconds,
	       seconds / copy_s, read == count ? "" : "  INCOMPLETE");
}

int main(void)
{
	bench(64);
	bench(144);
	bench(4096);
	bench(65536);
	bench(UM_SPOOL_RECORD_MAX);
	return 0;
}
