#include "source_reader.h"

#include "source_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define ANSWER_MAX_BYTES (1u << 20)
/* Of addresses, files that are mapped included; 0: the address sanitizer reserves all there are. */
#if defined(__SANITIZE_ADDRESS__)
#define MEMORY_BYTES 0
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define MEMORY_BYTES 0
#endif
#endif
#ifndef MEMORY_BYTES
#define MEMORY_BYTES (16ull << 30)
#endif
#define ANSWER_S   60 /* for one answer: large files are read whole at the first */
#define STARTS_MAX 16

struct request {
	uint32_t question;
	uint32_t path_bytes; /* follows, with its NUL */
	uint64_t address;
	struct um_source_place place;
};

/* Texts follow, each with its NUL; "" is none. */
struct reply {
	uint32_t bytes; /* that follow */
	uint32_t frame_count;
	uint64_t depth;
	struct {
		uint32_t line, inlined;
	} frames[UM_SOURCE_FRAMES_MAX];
};

struct um_source_reader {
	bool runs;
	int socket;
	unsigned starts;
};

/* --- both sides --- */

static bool send_all(int to, const void *data, size_t bytes)
{
	for (const char *at = data; bytes > 0;) {
		ssize_t sent = send(to, at, bytes, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		bytes -= (size_t)sent;
	}
	return true;
}

/* `wait_ms` -1: for ever. */
static bool receive_all(int from, void *data, size_t bytes, int wait_ms)
{
	for (char *at = data; bytes > 0;) {
		struct pollfd ready = {.fd = from, .events = POLLIN};
		int polled = poll(&ready, 1, wait_ms);

		if (polled < 0 && errno == EINTR)
			continue;
		ssize_t got = polled > 0 ? recv(from, at, bytes, 0) : 0;

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		at += got;
		bytes -= (size_t)got;
	}
	return true;
}

/* --- the reader --- */

static void put_text(FILE *out, const char *text)
{
	if (text && *text)
		fwrite(text, 1, strlen(text), out);
	fputc('\0', out);
}

static void put_place(struct um_source_files *files, const struct request *request,
		      const char *path, struct reply *reply, FILE *out)
{
	struct um_source_frame frames[UM_SOURCE_FRAMES_MAX];
	size_t count =
		um_source_files_find(files, path, request->address, frames, UM_SOURCE_FRAMES_MAX);

	put_text(out, um_source_files_symbol(files, path, request->address));
	reply->frame_count = (uint32_t)count;
	for (size_t i = 0; i < count; i++) {
		reply->frames[i].line = frames[i].line;
		reply->frames[i].inlined = frames[i].inlined;
		put_text(out, frames[i].function);
		put_text(out, frames[i].file);
	}
}

static void put_answer(struct um_source_files *files, const struct request *request,
		       const char *path, struct reply *reply, FILE *out)
{
	char *name = NULL;
	size_t depth = 0;

	switch (request->question) {
	case UM_SOURCE_PLACE:
		put_place(files, request, path, reply, out);
		return;
	case UM_SOURCE_BUILD_ID:
		put_text(out, um_source_files_build_id(files, path));
		return;
	case UM_SOURCE_VARIABLE:
		name = um_source_files_variable(files, path, request->address, &request->place,
						&depth);
		break;
	case UM_SOURCE_GLOBAL:
		name = um_source_files_global(files, path, request->address);
		break;
	}
	put_text(out, name);
	reply->depth = depth;
	free(name);
}

static bool serve(struct um_source_files *files, int socket)
{
	struct request request;
	struct reply reply = {0};
	char path[PATH_MAX], *text = NULL;
	size_t bytes = 0;

	alarm(0);
	if (!receive_all(socket, &request, sizeof(request), -1) ||
	    request.path_bytes > sizeof(path) || !receive_all(socket, path, request.path_bytes, -1))
		return false;
	FILE *out = open_memstream(&text, &bytes);

	if (!out)
		return false;
	alarm(ANSWER_S);
	put_answer(files, &request, path, &reply, out);
	bool good = fclose(out) == 0 && bytes <= ANSWER_MAX_BYTES;

	reply.bytes = (uint32_t)bytes;
	good = good && send_all(socket, &reply, sizeof(reply)) && send_all(socket, text, bytes);
	free(text);
	return good;
}

/* Nothing of umtrace's stays open, and neither its signals nor its terminal's are the reader's. */
static void leave_umtrace(int socket)
{
	static const int ignored[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGPIPE, SIGTSTP};
	const struct rlimit no_core = {0, 0}, memory = {MEMORY_BYTES, MEMORY_BYTES};
	int nothing = open("/dev/null", O_RDWR);
	sigset_t alarms;

	for (size_t i = 0; i < sizeof(ignored) / sizeof(*ignored); i++)
		signal(ignored[i], SIG_IGN);
	signal(SIGALRM, SIG_DFL);
	sigemptyset(&alarms);
	sigaddset(&alarms, SIGALRM);
	sigprocmask(SIG_UNBLOCK, &alarms, NULL);
	setrlimit(RLIMIT_CORE, &no_core);
	if (memory.rlim_cur)
		setrlimit(RLIMIT_AS, &memory);
	for (int file = 0; file < 3; file++)
		dup2(nothing, file);
	if (socket != 3)
		dup2(socket, 3);
	close_range(4, ~0u, 0);
}

_Noreturn static void read_for_ever(int socket)
{
	leave_umtrace(socket);
	struct um_source_files *files = um_source_files_create();

	while (files && serve(files, 3))
		;
	_exit(0);
}

/* --- who asks --- */

struct um_source_reader *um_source_reader_create(void)
{
	return calloc(1, sizeof(struct um_source_reader));
}

/* It ends by itself: when nobody asks any more, or when an answer takes too long. */
static void stop(struct um_source_reader *reader)
{
	if (reader->runs)
		close(reader->socket);
	reader->runs = false;
}

void um_source_reader_destroy(struct um_source_reader *reader)
{
	if (reader)
		stop(reader);
	free(reader);
}

/* A child's child, so that umtrace has no other child than the program. */
static bool start(struct um_source_reader *reader)
{
	int ends[2];

	if (reader->runs)
		return true;
	if (reader->starts++ >= STARTS_MAX ||
	    socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return false;
	pid_t pid = fork();

	if (pid == 0 && fork() == 0)
		read_for_ever(ends[1]);
	if (pid == 0)
		_exit(0);
	close(ends[1]);
	reader->socket = ends[0];
	reader->runs = pid > 0;
	if (pid < 0)
		close(ends[0]);
	else
		waitpid(pid, NULL, 0);
	return reader->runs;
}

static bool exchange(struct um_source_reader *reader, const struct um_source_query *query,
		     struct reply *reply, char **bytes)
{
	struct request request;

	memset(&request, 0, sizeof(request));
	request.question = query->question;
	request.path_bytes = (uint32_t)strlen(query->path) + 1;
	request.address = query->address;
	request.place = query->place;
	if (request.path_bytes > PATH_MAX || !send_all(reader->socket, &request, sizeof(request)) ||
	    !send_all(reader->socket, query->path, request.path_bytes) ||
	    !receive_all(reader->socket, reply, sizeof(*reply), 2 * ANSWER_S * 1000) ||
	    reply->bytes > ANSWER_MAX_BYTES || reply->frame_count > UM_SOURCE_FRAMES_MAX)
		return false;
	*bytes = malloc(reply->bytes + 1);
	if (!*bytes || !receive_all(reader->socket, *bytes, reply->bytes, 2 * ANSWER_S * 1000))
		return false;
	(*bytes)[reply->bytes] = '\0';
	return true;
}

/* "" is none. */
static const char *next_text(const char **at, const char *end)
{
	const char *text = *at;

	if (text >= end)
		return NULL;
	*at += strlen(text) + 1;
	return *text ? text : NULL;
}

bool um_source_reader_ask(struct um_source_reader *reader, const struct um_source_query *query,
			  struct um_source_answer *answer)
{
	struct reply reply;

	*answer = (struct um_source_answer){0};
	if (!start(reader))
		return false;
	if (!exchange(reader, query, &reply, &answer->bytes)) {
		free(answer->bytes);
		answer->bytes = NULL;
		stop(reader);
		return false;
	}
	const char *at = answer->bytes, *end = at + reply.bytes;

	answer->text = next_text(&at, end);
	answer->depth = reply.depth;
	answer->frame_count = reply.frame_count;
	for (size_t i = 0; i < reply.frame_count; i++) {
		answer->frames[i].function = next_text(&at, end);
		answer->frames[i].file = next_text(&at, end);
		answer->frames[i].line = reply.frames[i].line;
		answer->frames[i].inlined = reply.frames[i].inlined != 0;
	}
	return true;
}
