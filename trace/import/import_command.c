#include "import_command.h"

#include "import_format.h"
#include "import_writer.h"
#include "trace/base/error.h"
#include "trace/base/units.h"
#include "trace/tool/progress.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* SQLite's own, between two looks at the clock: a few milliseconds. */
#define SORTING_STEPS 100000

struct importing {
	const struct um_import_request *request;
	struct um_import_file file;
	const struct um_import_format *format;
	char *output, *partial;
	struct um_db *db;
	struct um_import_writer *writer;
	struct um_progress progress;
};

/* "log/x.sqlite" is "x.um.db". */
static int name_output(struct importing *importing)
{
	const char *path = importing->request->path, *slash = strrchr(path, '/');
	const char *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
	int length = (int)(dot && dot > name ? (size_t)(dot - name) : strlen(name));
	const char *given = importing->request->output;

	if ((given ? asprintf(&importing->output, "%s", given)
		   : asprintf(&importing->output, "%.*s.um.db", length, name)) < 0 ||
	    asprintf(&importing->partial, "%s.partial", importing->output) < 0)
		return um_fail(UM_ENOMEM, "out of memory");
	return um_db_check_new(importing->output, importing->request->force);
}

static void show_progress(void *context, uint64_t done, uint64_t all)
{
	struct importing *importing = context;

	um_progress_import(&importing->progress, importing->request->path, done, all);
}

static int read_all(struct importing *importing)
{
	struct um_import_events events = um_import_writer_events(importing->writer);

	events.progress = show_progress;
	events.progress_context = importing;
	um_progress_init(&importing->progress, importing->request->quiet);
	int error = importing->format->read(&importing->file, &events);
	um_progress_clear(&importing->progress);
	return error;
}

/* Called by SQLite as it works; 0: go on. */
static int show_sorting(void *context)
{
	struct importing *importing = context;

	um_progress_sorting(&importing->progress, importing->request->path);
	return 0;
}

/* The longer part, of a large file. */
static int finish(struct importing *importing)
{
	struct sqlite3 *sqlite = um_db_handle(importing->db);

	sqlite3_progress_handler(sqlite, SORTING_STEPS, show_sorting, importing);
	int error = um_import_writer_finish(importing->writer);
	sqlite3_progress_handler(sqlite, 0, NULL, NULL);
	um_progress_clear(&importing->progress);
	return error;
}

static int fill(struct importing *importing)
{
	int error = um_import_writer_create(&importing->writer, importing->db, importing->format,
					    importing->request->path);

	if (!error)
		error = read_all(importing);
	return error ? error : finish(importing);
}

/* Under another name first, so that there is a whole trace or none. */
static int make(struct importing *importing)
{
	int error = um_db_create(&importing->db, importing->partial, true);

	if (error)
		return error;
	error = fill(importing);
	int closed = um_db_close(importing->db);
	if (!error)
		error = closed;
	if (!error)
		error = um_db_rename(importing->partial, importing->output,
				     importing->request->force);
	if (error)
		unlink(importing->partial);
	return error;
}

/* --- the closing lines --- */

static void tell_moved(const char *where, uint64_t bytes)
{
	char text[32];

	if (bytes)
		fprintf(stderr, "  %-11s %s (%llu bytes)\n", where,
			um_format_bytes(text, sizeof(text), bytes), (unsigned long long)bytes);
}

static void tell(const struct importing *importing)
{
	const struct um_import_totals *totals = um_import_writer_totals(importing->writer);
	char number[4][32];

	fprintf(stderr, "umtrace: %s: imported from a %s\n", importing->output,
		importing->format->what);
	fprintf(stderr,
		"  kernel launches %s, page faults %s of devices, %s of the host; migrations %s\n",
		um_format_count(number[0], sizeof(*number), totals->launches),
		um_format_count(number[1], sizeof(*number), totals->device_faults),
		um_format_count(number[2], sizeof(*number), totals->host_faults),
		um_format_count(number[3], sizeof(*number), totals->migrations));
	tell_moved("to device", totals->bytes_to_device);
	tell_moved("to host", totals->bytes_to_host);
	tell_moved("to another", totals->bytes_between);
	if (totals->lost)
		fprintf(stderr, "  %s records were lost, as the file says or as it shows\n",
			um_format_count(number[0], sizeof(*number), totals->lost));
	fprintf(stderr,
		"umtrace: table origin says what is imported, what inferred and what absent\n");
}

int um_import_command(const struct um_import_request *request)
{
	struct importing importing = {.request = request};
	int error = um_import_open(&importing.file, &importing.format, request->path);

	if (!error)
		error = name_output(&importing);
	if (!error)
		error = make(&importing);
	if (error)
		fprintf(stderr, "umtrace: %s\n", um_error_message());
	else if (!request->quiet)
		tell(&importing);
	um_import_writer_destroy(importing.writer);
	um_import_close(&importing.file);
	free(importing.output);
	free(importing.partial);
	return (int)um_exit_status(error);
}
