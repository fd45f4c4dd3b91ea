/* umtrace: runs a program, writes its trace, adds what a driver model says of it. */
#include "apply_run.h"
#include "calibrate_command.h"
#include "closing.h"
#include "ingest.h"
#include "injection.h"
#include "launcher.h"
#include "model.h"
#include "output.h"
#include "program.h"
#include "progress.h"
#include "run_context.h"
#include "trace_options.h"
#include "verify_command.h"

#include "trace/base/error.h"
#include "trace/base/paths.h"
#include "trace/base/shell_quote.h"
#include "trace/doctor/doctor_command.h"
#include "trace/import/import_command.h"
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
/* The same by the names that programs of ROCm 6 and 7 ask for. */
#define RUNTIME_OF_6 "libamdhip64.so.6"
#define RUNTIME_OF_7 "libamdhip64.so.7"
/* In place of AMD's, which would not tell the runtime. */
#define ROCTX_LIBRARY "libroctx64.so.4"
/* Stands before libc's read(), sigaction() and so on, for watching by mprotect(). */
#define WRAP_LIBRARY "libumtrace_wrap.so"
#define WAIT_MS	     20
/* Linux 6.7, include/uapi/linux/userfaultfd.h; older headers lack it. */
#ifndef UFFD_FEATURE_WP_ASYNC
#define UFFD_FEATURE_WP_ASYNC (1 << 15)
#endif

struct tracing {
	struct um_trace_options options;
	struct um_output output;
	struct um_model model;
	struct um_apply_run apply;
	char *program_path, *command, *preload, *environment;
	char started[32];
	struct um_db *db;
	struct um_spool_reader *spool;
	struct um_ingest *ingest;
	struct um_program program;
	struct um_injection injection;
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

static int find_libraries(struct tracing *tracing)
{
	static const char *const always[] = {RUNTIME_LIBRARY, RUNTIME_OF_6, RUNTIME_OF_7,
					     ROCTX_LIBRARY};
	int error = 0;

	for (size_t i = 0; i < sizeof(always) / sizeof(*always) && !error; i++)
		error = add_library(&tracing->preload, always[i]);
	if (!error && !watches_without_wrapping(tracing->options.host_watch))
		error = add_library(&tracing->preload, WRAP_LIBRARY);
	if (!error)
		error = um_injection_find(&tracing->injection);
	return error;
}

static uint64_t boot_time_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000ull + (uint64_t)now.tv_nsec;
}

static struct um_run_row describe_run(struct tracing *tracing)
{
	time_t now = time(NULL);
	struct tm utc;
	struct um_run_row run = {
		.role = "trace",
		.tool = "umtrace " UM_VERSION,
		.command = tracing->command,
		.host = tracing->output.host,
		.pid = UM_NULL,
		.rank = tracing->output.rank.rank,
		.ranks = tracing->output.rank.ranks,
		.rank_source = tracing->output.rank.source,
		.job = tracing->output.rank.job,
		.executable = tracing->program_path,
		.started = tracing->started,
		.clock = "CLOCK_BOOTTIME",
		.start_ns = (int64_t)tracing->start_ns,
		.end_ns = UM_NULL,
		.ended = "running",
		.exit_status = UM_NULL,
		.exit_signal = UM_NULL,
		.filter_pages = UM_NULL,
		.page_bytes = UM_NULL,
		.memory_bytes = UM_NULL,
		.policy = tracing->apply.policy_text,
	};

	if (gmtime_r(&now, &utc))
		strftime(tracing->started, sizeof(tracing->started), "%Y-%m-%dT%H:%M:%SZ", &utc);
	um_model_describe_machine(&tracing->model, &run);
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

static int create_spool(struct tracing *tracing)
{
	struct um_spool_config config = {
		.requests = !tracing->options.no_requests,
		.wall = tracing->options.wall,
		.host_watch = tracing->options.host_watch,
		.host_sync = tracing->options.host_sync,
		.pageable = tracing->options.pageable,
		.faults = tracing->options.faults,
		.set_nvtx = tracing->injection.nvtx != NULL,
		.apply_bytes = um_apply_run_bytes(&tracing->apply),
	};

	memcpy(config.selection, tracing->options.selection, sizeof(config.selection));
	um_model_spool_config(&tracing->model, &config);
	int error = um_spool_create(&tracing->spool, NULL, ring_bytes(), &config);

	if (!error)
		um_apply_run_hand_over(&tracing->apply, tracing->spool);
	return error;
}

/* All that can be found out before the trace of that name is touched. */
static int check_first(struct tracing *tracing)
{
	int error = um_program_find(&tracing->program_path, tracing->options.program[0]);

	if (!error)
		tracing->is_static = um_program_is_static(tracing->program_path);
	return error;
}

static struct um_program_start describe_start(const struct tracing *tracing)
{
	return (struct um_program_start){
		.path = tracing->program_path,
		.words = tracing->options.program,
		.preload = tracing->preload,
		.spool = um_spool_path(tracing->spool),
		.injection = &tracing->injection,
	};
}

/* The program's number may be in the name of the trace, so that its process comes first. */
static int create_trace(struct tracing *tracing)
{
	const struct um_program_start start = describe_start(tracing);
	int error = um_program_fork(&tracing->program, &start);

	if (error)
		return error;
	error = um_output_create(&tracing->db, &tracing->output, tracing->program.pid,
				 tracing->command, tracing->options.force);
	if (error)
		return error;
	tracing->start_ns = boot_time_ns();
	struct um_run_row run = describe_run(tracing);
	error = um_run_context(&run, &tracing->environment, environ);
	if (!error)
		error = um_ingest_create(&tracing->ingest, tracing->db, &run);
	if (error)
		unlink(tracing->output.path);
	else
		um_ingest_expect_faults(tracing->ingest, tracing->options.faults);
	if (!error)
		error = um_ingest_expect_selection(tracing->ingest, tracing->options.selection);
	return error;
}

static int prepare_policy(struct tracing *tracing)
{
	const struct um_trace_options *options = &tracing->options;

	if (!options->policy)
		return 0;
	return um_apply_run_init(&tracing->apply, options->policy, options->baseline,
				 options->program[0]);
}

static int name_output(struct tracing *tracing)
{
	const struct um_trace_options *options = &tracing->options;
	char *policy = options->policy ? um_apply_policy_name(options->policy) : NULL;

	if (options->policy && !policy)
		return um_fail(UM_ENOMEM, "out of memory");
	int error = um_output_init(&tracing->output, options->output, policy, options->program[0],
				   environ);
	free(policy);
	return error;
}

static int prepare(struct tracing *tracing)
{
	int error = um_model_init(&tracing->model, &tracing->options);

	if (!error)
		error = prepare_policy(tracing);

	if (!error)
		error = um_model_set_environment(&tracing->model);
	if (!error)
		error = find_libraries(tracing);
	tracing->command = um_shell_quote(tracing->options.program);
	if (!error && !tracing->command)
		error = um_fail(UM_ENOMEM, "out of memory");
	if (!error)
		error = create_spool(tracing);
	if (!error)
		error = name_output(tracing);
	if (!error)
		error = create_trace(tracing);
	if (error)
		um_program_abandon(&tracing->program);
	return error;
}

/* --- while it runs --- */

static void lose(struct tracing *tracing)
{
	/* Whatever is left goes by; the program must not wait for it. */
	um_spool_destroy(tracing->spool);
	tracing->spool = NULL;
	tracing->lost = true;
	um_progress_clear(&tracing->progress);
	fprintf(stderr, "umtrace: %s\n", um_error_message());
	if (!tracing->program.ended)
		fprintf(stderr, "umtrace: %s goes on untraced; the trace ends here\n",
			tracing->options.program[0]);
}

static void spool_is_damaged(struct tracing *tracing)
{
	char detail[256];

	snprintf(detail, sizeof(detail), "%s: the program wrote over it", um_error_message());
	um_fail(UM_EFORMAT, "%s", detail);
	lose(tracing);
	tracing->lost = false; /* the database is well */
	if (um_ingest_loss(tracing->ingest, UM_LOSS_CUT_OFF, 1, detail) != 0)
		tracing->lost = true;
}

/* Takes what is there, at most `bytes` of it. */
static void drain(struct tracing *tracing, uint64_t bytes)
{
	const struct um_record *record;
	uint64_t taken = 0;
	int error = 0;

	while (taken < bytes && (record = um_spool_next(tracing->spool, &error))) {
		taken += record->bytes;
		if (um_ingest_record(tracing->ingest, record) != 0) {
			lose(tracing);
			return;
		}
	}
	if (error)
		spool_is_damaged(tracing);
	else if (um_ingest_tick(tracing->ingest) != 0)
		lose(tracing);
}

static void run(struct tracing *tracing)
{
	while (!tracing->program.ended) {
		um_program_poll(&tracing->program, tracing->spool == NULL);
		if (!tracing->spool)
			continue;
		um_spool_wait(tracing->spool, WAIT_MS);
		drain(tracing, UM_SPOOL_DEFAULT_BYTES / 4);
		um_progress_trace(&tracing->progress, um_ingest_totals(tracing->ingest));
	}
	tracing->end_ns = boot_time_ns();
	/* No more than the ring holds: a grandchild may go on for ever. */
	if (tracing->spool) {
		tracing->attached = um_spool_attached(tracing->spool);
		drain(tracing, UM_SPOOL_DEFAULT_BYTES);
	}
	um_progress_clear(&tracing->progress);
}

/* --- after it --- */

static int finish_trace(struct tracing *tracing)
{
	int status = tracing->program.wait_status;
	bool signalled = WIFSIGNALED(status);
	const struct um_run_row ended = {
		.ended = signalled ? "signalled" : "exited",
		.exit_status = signalled ? UM_NULL : WEXITSTATUS(status),
		.exit_signal = signalled ? WTERMSIG(status) : UM_NULL,
		.end_ns = (int64_t)tracing->end_ns,
	};
	int error = um_ingest_finish(tracing->ingest, &ended);

	/* The link of the machine that would have been played is none of a GPU's. */
	if (error || um_ingest_totals(tracing->ingest)->measured)
		return error;
	return um_model_complete_devices(&tracing->model, tracing->db);
}

static void add_model(struct tracing *tracing)
{
	const struct um_ingest_totals *totals = um_ingest_totals(tracing->ingest);

	if (tracing->options.no_model || totals->ops == 0 || totals->measured)
		return;
	int error = um_model_run(&tracing->model, tracing->db, um_ingest_run(tracing->ingest),
				 um_progress_model, &tracing->progress);
	um_progress_clear(&tracing->progress);
	if (error)
		fprintf(stderr, "umtrace: no faults and migrations in the trace: %s\n",
			um_error_message());
}

static void close_session(struct tracing *tracing)
{
	const struct um_closing closing = {
		.apply = &tracing->apply,
		.path = tracing->output.path,
		.program = tracing->options.program[0],
		.duration_ns = tracing->end_ns - tracing->start_ns,
		.totals = um_ingest_totals(tracing->ingest),
		.run = um_ingest_run(tracing->ingest),
		.model = &tracing->model,
		.attached = tracing->attached,
		.is_static = tracing->is_static,
		.options = &tracing->options,
		.output = &tracing->output,
		.injection = &tracing->injection,
		.db = tracing->db,
	};

	if (!tracing->options.quiet)
		um_closing_print(stderr, &closing);
}

/* The program, or whoever cleans up behind it, may take the file away; SQLite writes on. */
static bool is_removed(const struct tracing *tracing)
{
	if (access(tracing->output.path, F_OK) == 0 || errno != ENOENT)
		return false;
	fprintf(stderr, "umtrace: %s was removed while %s ran: there is no trace\n",
		tracing->output.path, tracing->options.program[0]);
	return true;
}

static void report(struct tracing *tracing)
{
	if (tracing->spool)
		um_apply_run_take(&tracing->apply, tracing->spool);
	um_spool_destroy(tracing->spool);
	tracing->spool = NULL;
	if (finish_trace(tracing) != 0 && !tracing->lost) {
		complain();
		tracing->lost = true;
	}
	if (!tracing->lost && um_apply_run_finish(&tracing->apply, tracing->db) != 0) {
		complain();
		tracing->lost = true;
	}
	if (!is_removed(tracing)) {
		if (!tracing->lost)
			add_model(tracing);
		close_session(tracing);
	}
	if (um_db_close(tracing->db) != 0 && !tracing->lost)
		complain();
	tracing->db = NULL;
}

static int exit_status_of(int error)
{
	return error == UM_ENOENT ? UM_TRACE_NOT_FOUND : UM_TRACE_NOT_EXECUTABLE;
}

static int start(struct tracing *tracing)
{
	const struct um_program_start start = describe_start(tracing);
	int error = um_program_start(&tracing->program, &start);

	if (!error)
		return 0;
	unlink(tracing->output.path);
	um_db_close(tracing->db);
	tracing->db = NULL;
	return exit_status_of(error);
}

static int trace(struct tracing *tracing)
{
	int error = check_first(tracing);

	if (error)
		return exit_status_of(error);
	if (prepare(tracing) != 0)
		return UM_TRACE_FAILED;
	if (!tracing->options.quiet) {
		um_opening_print(stderr, tracing->options.program, &tracing->output.rank);
		um_apply_run_print_notes(stderr, &tracing->apply);
	}
	int status = start(tracing);
	if (status)
		return status;
	um_progress_init(&tracing->progress, tracing->options.quiet);
	run(tracing);
	um_program_release(&tracing->program);
	report(tracing);
	return 0;
}

/* First words that are no program's. */
static const struct {
	const char *name, *whole;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"calibrate", "umtrace calibrate", um_calibrate_command},
	{"doctor", "umtrace doctor", um_doctor_command},
	{"verify", "umtrace verify", um_verify_command},
};

static int import(const struct um_trace_options *options)
{
	return um_import_command(&(struct um_import_request){
		.path = options->import,
		.output = options->output,
		.force = options->force,
		.quiet = options->quiet,
	});
}

int main(int argc, char **argv)
{
	struct tracing tracing = {0};
	int status;

	for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(*commands); i++)
		if (strcmp(argv[1], commands[i].name) == 0) {
			argv[1] = (char *)(uintptr_t)commands[i].whole;
			return commands[i].run(argc - 1, argv + 1);
		}
	guard_descriptors();
	um_program_init(&tracing.program);
	if (um_trace_options_parse(&tracing.options, argc, argv) != 0) {
		complain();
		return UM_TRACE_FAILED;
	}
	if (tracing.options.import)
		return import(&tracing.options);
	status = trace(&tracing);
	if (status)
		complain();
	else
		status = um_program_exit_status(&tracing.program);
	um_ingest_destroy(tracing.ingest);
	um_db_close(tracing.db);
	um_spool_destroy(tracing.spool);
	um_model_fini(&tracing.model);
	um_apply_run_fini(&tracing.apply);
	um_output_fini(&tracing.output);
	um_injection_fini(&tracing.injection);
	free(tracing.program_path);
	free(tracing.command);
	free(tracing.environment);
	free(tracing.preload);
	return status;
}
