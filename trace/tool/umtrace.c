/* umtrace: runs a program, writes its trace, adds what a driver model says of it. */
#include "closing.h"
#include "ingest.h"
#include "model.h"
#include "program.h"
#include "progress.h"
#include "run_context.h"
#include "trace_options.h"

#include "trace/base/error.h"
#include "trace/base/paths.h"
#include "trace/base/shell_quote.h"
#include "trace/spool/spool_ring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNTIME_LIBRARY "libamdhip64.so.5"
/* Stands before libc's read(), sigaction() and so on, for watching by mprotect(). */
#define WRAP_LIBRARY "libumtrace_wrap.so"
#define WAIT_MS	     20
/* Linux 6.7, include/uapi/linux/userfaultfd.h; older headers lack it. */
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif

struct session {
	struct um_trace_options options;
	struct um_model model;
	char *program_path, *command, *preload, *environment;
	char host[65], started[32];
	struct um_db *db;
	struct um_spool_reader *spool;
	struct um_ingest *ingest;
	struct um_program program;
	struct um_progress progress;
	bool is_static, attached;
	bool lost; /* the trace could not be written to its end */
	uint64_t start_ns, end_ns;
};

static void complain(void)
{
	fprintf(stderr, "umtrace: %s\n", um_error_message());
}

/* --- before the program --- */

/* Where one of the first three descriptors is closed, nothing of ours shall come to lie there. */
static void guard_descriptors(void)
{
	int file;

	do
		file = open("/dev/null", O_RDWR | O_CLOEXEC);
	while (file >= 0 && file <= STDERR_FILENO);
	if (file >= 0)
		close(file);
}

/* What works without wrapped system calls, for a program without privileges: Linux 6.7. */
static bool watches_without_wrapping(uint32_t host_watch)
{
	struct uffdio_api api = {.api = UFFD_API, .features = UFFD_FEATURE_WP_ASYNC};

	if (host_watch != UM_HOST_WATCH_BEST)
		return host_watch != UM_HOST_WATCH_MPROTECT;
	int file = (int)syscall(SYS_userfaultfd, O_CLOEXEC | UFFD_USER_MODE_ONLY);
	if (file < 0)
		return false;
	bool works = ioctl(file, UFFDIO_API, &api) == 0;
	close(file);
	return works;
}

static int add_library(char **list, const char *name)
{
	char *path, *longer;
	int error = um_path_lib(&path, name);

	if (error)
		return error;
	if (access(path, R_OK) != 0)
		error = um_fail_errno(UM_ENOENT, "this umtrace is not complete: %s", path);
	else if (strpbrk(path, " :"))
		error = um_fail(UM_ENOTSUP,
				"%s cannot be preloaded: no folder above it may have a blank or a "
				"colon in its name",
				path);
	else if (asprintf(&longer, "%s%s%s", *list ? *list : "", *list ? ":" : "", path) < 0)
		error = um_fail(UM_ENOMEM, "out of memory");
	free(path);
	if (error)
		return error;
	free(*list);
	*list = longer;
	return 0;
}

static int find_libraries(struct session *session)
{
	int error = add_library(&session->preload, RUNTIME_LIBRARY);

	if (!error && !watches_without_wrapping(session->options.host_watch))
		error = add_library(&session->preload, WRAP_LIBRARY);
	return error;
}

static uint64_t boot_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static struct um_run_row describe_run(struct session *session)
{
	time_t now = time(NULL);
	struct tm utc;
	struct um_run_row run = {
		.role = "trace",
		.tool = "umtrace " UM_VERSION,
		.command = session->command,
		.host = session->host,
		.pid = UM_NULL,
		.executable = session->program_path,
		.started = session->started,
		.clock = "CLOCK_BOOTTIME",
		.start_ns = (int64_t)session->start_ns,
		.end_ns = UM_NULL,
		.ended = "running",
		.exit_status = UM_NULL,
		.exit_signal = UM_NULL,
		.filter_pages = UM_NULL,
		.page_bytes = UM_NULL,
		.memory_bytes = UM_NULL,
	};

	gethostname(session->host, sizeof(session->host) - 1);
	if (gmtime_r(&now, &utc))
		strftime(session->started, sizeof(session->started), "%Y-%m-%dT%H:%M:%SZ", &utc);
	um_model_describe_machine(&session->model, &run);
	return run;
}

/* A limit on the size of files holds for the spool too. */
static size_t ring_bytes(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < 2 * UM_SPOOL_DEFAULT_BYTES)
		return limit.rlim_cur / 4;
	return UM_SPOOL_DEFAULT_BYTES;
}

static int create_spool(struct session *session)
{
	struct um_spool_config config = {
		.requests = !session->options.no_requests,
		.host_watch = session->options.host_watch,
	};

	um_model_spool_config(&session->model, &config);
	return um_spool_create(&session->spool, NULL, ring_bytes(), &config);
}

/* All that can be found out before the trace of that name is touched. */
static int check_first(struct session *session)
{
	int error = um_program_find(&session->program_path, session->options.program[0]);

	if (!error)
		session->is_static = um_program_is_static(session->program_path);
	return error;
}

static int prepare(struct session *session)
{
	int error = um_model_init(&session->model, &session->options);

	if (!error)
		error = find_libraries(session);
	session->command = um_shell_quote(session->options.program);
	if (!error && !session->command)
		error = um_fail(UM_ENOMEM, "out of memory");
	if (!error)
		error = create_spool(session);
	if (!error)
		error = um_db_create(&session->db, session->options.output, session->options.force);
	if (error == UM_EEXIST && !session->options.force)
		error = um_fail(error, "%s exists (--force replaces it; -o FILE names another)",
				session->options.output);
	if (error)
		return error;
	session->start_ns = boot_time_ns();
	struct um_run_row run = describe_run(session);
	error = um_run_context(&run, &session->environment, environ);
	if (!error)
		error = um_ingest_create(&session->ingest, session->db, &run);
	if (error)
		unlink(session->options.output);
	return error;
}

/* --- while it runs --- */

static void lose(struct session *session)
{
	/* Whatever is left goes by; the program must not wait for it. */
	um_spool_destroy(session->spool);
	session->spool = NULL;
	session->lost = true;
	um_progress_clear(&session->progress);
	fprintf(stderr, "umtrace: %s\n", um_error_message());
	if (!session->program.ended)
		fprintf(stderr, "umtrace: %s goes on untraced; the trace ends here\n",
			session->options.program[0]);
}

static void spool_is_damaged(struct session *session)
{
	char detail[256];

	snprintf(detail, sizeof(detail), "%s: the program wrote over it", um_error_message());
	um_fail(UM_EFORMAT, "%s", detail);
	lose(session);
	session->lost = false; /* the database is well */
	if (um_ingest_loss(session->ingest, UM_LOSS_CUT_OFF, 1, detail) != 0)
		session->lost = true;
}

/* Takes what is there, at most `bytes` of it. */
static void drain(struct session *session, uint64_t bytes)
{
	const struct um_record *record;
	uint64_t taken = 0;
	int error = 0;

	while (taken < bytes && (record = um_spool_next(session->spool, &error))) {
		taken += record->bytes;
		if (um_ingest_record(session->ingest, record) != 0) {
			lose(session);
			return;
		}
	}
	if (error)
		spool_is_damaged(session);
	else if (um_ingest_tick(session->ingest) != 0)
		lose(session);
}

static void run(struct session *session)
{
	while (!session->program.ended) {
		um_program_poll(&session->program, session->spool == NULL);
		if (!session->spool)
			continue;
		um_spool_wait(session->spool, WAIT_MS);
		drain(session, UM_SPOOL_DEFAULT_BYTES / 4);
		um_progress_trace(&session->progress, um_ingest_totals(session->ingest));
	}
	session->end_ns = boot_time_ns();
	/* No more than the ring holds: a grandchild may go on for ever. */
	if (session->spool) {
		session->attached = um_spool_attached(session->spool);
		drain(session, UM_SPOOL_DEFAULT_BYTES);
	}
	um_progress_clear(&session->progress);
}

/* --- after it --- */

static int finish_trace(struct session *session)
{
	int status = session->program.wait_status;
	bool signalled = WIFSIGNALED(status);
	const struct um_run_row ended = {
		.ended = signalled ? "signalled" : "exited",
		.exit_status = signalled ? UM_NULL : WEXITSTATUS(status),
		.exit_signal = signalled ? WTERMSIG(status) : UM_NULL,
		.end_ns = (int64_t)session->end_ns,
	};
	int error = um_ingest_finish(session->ingest, &ended);

	return error ? error : um_model_complete_devices(&session->model, session->db);
}

static void add_model(struct session *session)
{
	if (session->options.no_model || um_ingest_totals(session->ingest)->ops == 0)
		return;
	int error = um_model_run(&session->model, session->db, um_ingest_run(session->ingest),
				 um_progress_model, &session->progress);
	um_progress_clear(&session->progress);
	if (error)
		fprintf(stderr, "umtrace: no faults and migrations in the trace: %s\n",
			um_error_message());
}

static void close_session(struct session *session)
{
	const struct um_closing closing = {
		.path = session->options.output,
		.program = session->options.program[0],
		.duration_ns = session->end_ns - session->start_ns,
		.totals = um_ingest_totals(session->ingest),
		.model = &session->model,
		.attached = session->attached,
		.is_static = session->is_static,
		.db = session->db,
	};

	if (!session->options.quiet)
		um_closing_print(stderr, &closing);
}

/* The program, or whoever cleans up behind it, may take the file away; SQLite writes on. */
static bool is_removed(const struct session *session)
{
	if (access(session->options.output, F_OK) == 0 || errno != ENOENT)
		return false;
	fprintf(stderr, "umtrace: %s was removed while %s ran: there is no trace\n",
		session->options.output, session->options.program[0]);
	return true;
}

static void report(struct session *session)
{
	um_spool_destroy(session->spool);
	session->spool = NULL;
	if (finish_trace(session) != 0 && !session->lost) {
		complain();
		session->lost = true;
	}
	if (!is_removed(session)) {
		if (!session->lost)
			add_model(session);
		close_session(session);
	}
	if (um_db_close(session->db) != 0 && !session->lost)
		complain();
	session->db = NULL;
}

static int exit_status_of(int error)
{
	return error == UM_ENOENT ? UM_TRACE_NOT_FOUND : UM_TRACE_NOT_EXECUTABLE;
}

static int start(struct session *session)
{
	const struct um_program_start start = {
		.path = session->program_path,
		.words = session->options.program,
		.preload = session->preload,
		.spool = um_spool_path(session->spool),
	};
	int error = um_program_start(&session->program, &start);

	if (!error)
		return 0;
	um_db_close(session->db);
	session->db = NULL;
	unlink(session->options.output);
	return exit_status_of(error);
}

static int trace(struct session *session)
{
	int error = check_first(session);

	if (error)
		return exit_status_of(error);
	if (prepare(session) != 0)
		return UM_TRACE_FAILED;
	int status = start(session);
	if (status)
		return status;
	um_progress_init(&session->progress, session->options.quiet);
	run(session);
	um_program_release(&session->program);
	report(session);
	return 0;
}

int main(int argc, char **argv)
{
	struct session session = {0};
	int status;

	guard_descriptors();
	um_program_init(&session.program);
	if (um_trace_options_parse(&session.options, argc, argv) != 0) {
		complain();
		return UM_TRACE_FAILED;
	}
	status = trace(&session);
	if (status)
		complain();
	else
		status = um_program_exit_status(&session.program);
	um_ingest_destroy(session.ingest);
	um_db_close(session.db);
	um_spool_destroy(session.spool);
	um_model_fini(&session.model);
	um_trace_options_free(&session.options);
	free(session.program_path);
	free(session.command);
	free(session.environment);
	free(session.preload);
	return status;
}
