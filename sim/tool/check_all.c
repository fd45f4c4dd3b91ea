/* umsim check --all: everything that was measured in a folder, beside its accesses. */
#include "check_command.h"

#include "sim/check/check_measured.h"
#include "trace/base/error.h"

#include <errno.h>
#include <fts.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The accesses of DIR/X.um.db are DIR/accesses/X.um.db. */
#define ACCESSES "accesses"
#define SUFFIX	 ".um.db"

/* --- remarks --- */

/* Takes the line, which is malloc'ed. */
static int remark(struct um_check_all *all, char *line)
{
	int error = line ? um_check_room(&all->remarks, all->remark_count, &all->remark_room,
					 sizeof(*all->remarks))
			 : um_fail(UM_ENOMEM, "no memory for a remark");

	for (size_t i = 0; i < all->remark_count && !error; i++)
		if (strcmp(all->remarks[i], line) == 0) {
			free(line);
			return 0;
		}
	if (error)
		free(line);
	else
		all->remarks[all->remark_count++] = line;
	return error;
}

__attribute__((format(printf, 2, 3))) static int remark_on(struct um_check_all *all,
							   const char *format, ...)
{
	va_list args;
	char *line;

	va_start(args, format);
	if (vasprintf(&line, format, args) < 0)
		line = NULL;
	va_end(args);
	return remark(all, line);
}

static int remark_on_all(struct um_check_all *all, const struct um_check_comparison *comparison,
			 const struct um_check_side *predicted,
			 const struct um_check_side *measured)
{
	char *line;
	int error = 0;

	for (size_t i = 0; i < all->model.warning_count && !error; i++)
		error = remark_on(all, "warning: %s", all->model.warnings[i]);
	if (error || !comparison->is_other)
		return error;
	error = um_check_difference_line(&line, comparison, predicted, measured, 0);
	if (error)
		return error;
	error = remark_on(all, "%s: %s", predicted->path, line);
	free(line);
	return error;
}

/* --- one trace --- */

static int predict_and_add(struct um_check_all *all, struct um_check_side *measured,
			   const char *accesses, const char *run_name)
{
	struct um_check_side predicted = {0}, untraced = {0};
	struct um_check_comparison comparison = {0};
	bool has_times = all->folder.times.count > 0;
	int error;

	um_check_model_free(&all->model);
	error = um_check_predict(&predicted, &all->model, all->arguments, accesses, &measured->card,
				 true);
	if (!error)
		error = um_check_compare(&comparison, &predicted, measured, 1);
	if (!error && has_times && comparison.ranges.count)
		error = um_check_predict(&untraced, NULL, all->arguments, accesses, &measured->card,
					 false);
	if (!error)
		error = remark_on_all(all, &comparison, &predicted, measured);
	if (!error)
		error = um_check_table_add(&all->table, &comparison, run_name, &all->folder,
					   untraced.path ? &untraced : NULL);
	um_check_comparison_free(&comparison);
	um_check_side_free(&predicted);
	um_check_side_free(&untraced);
	return error;
}

static int check_trace(struct um_check_all *all, const char *path, const char *accesses)
{
	const char *slash = strrchr(path, '/');
	const char *base = slash ? slash + 1 : path;
	char *run_name = strndup(base, strlen(base) - strlen(SUFFIX));
	struct um_check_side measured;
	int error = run_name ? um_check_measured_read(&measured, path)
			     : um_fail(UM_ENOMEM, "no memory for a name");

	if (!error) {
		all->card = measured.card;
		error = predict_and_add(all, &measured, accesses, run_name);
		um_check_side_free(&measured);
	}
	free(run_name);
	return error;
}

/* `inside` is its path within the folder. */
static int check_file(struct um_check_all *all, const char *path, const char *inside)
{
	char *accesses;
	int error;

	if (asprintf(&accesses, "%s/" ACCESSES "/%s", all->arguments->all, inside) < 0)
		return um_fail(UM_ENOMEM, "no memory for a path");
	error = access(accesses, F_OK) == 0
			? check_trace(all, path, accesses)
			: remark_on(all, "%s: left out, it has no accesses beside it", path);
	free(accesses);
	return error;
}

/* --- the folder --- */

static bool is_trace(const FTSENT *entry)
{
	size_t length = strlen(SUFFIX);

	return (entry->fts_info == FTS_F || entry->fts_info == FTS_SL) &&
	       entry->fts_namelen > length &&
	       strcmp(entry->fts_name + entry->fts_namelen - length, SUFFIX) == 0;
}

static int by_name(const FTSENT **left, const FTSENT **right)
{
	return strcmp((*left)->fts_name, (*right)->fts_name);
}

static int visit(struct um_check_all *all, FTS *walk, FTSENT *entry)
{
	const char *inside = entry->fts_path + strlen(all->arguments->all);

	inside += strspn(inside, "/");
	if (entry->fts_info == FTS_D && entry->fts_level == 1 &&
	    strcmp(entry->fts_name, ACCESSES) == 0)
		fts_set(walk, entry, FTS_SKIP);
	if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR || entry->fts_info == FTS_NS) {
		errno = entry->fts_errno;
		return um_fail_errno(errno == ENOENT ? UM_ENOENT : UM_EIO, "%s", entry->fts_path);
	}
	return is_trace(entry) ? check_file(all, entry->fts_path, inside) : 0;
}

/* NULL at the end or on an error. */
static FTSENT *next_entry(FTS *walk, int *error)
{
	FTSENT *entry;

	errno = 0;
	entry = fts_read(walk);
	if (!entry && errno)
		*error = um_fail_errno(UM_EIO, "reading the folder");
	return entry;
}

static int walk_folder(struct um_check_all *all)
{
	char *const roots[] = {(char *)all->arguments->all, NULL};
	FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_COMFOLLOW | FTS_NOCHDIR, by_name);
	FTSENT *entry;
	int error = walk ? 0 : um_fail_errno(UM_EIO, "cannot read %s", all->arguments->all);

	while (!error && (entry = next_entry(walk, &error)))
		error = visit(all, walk, entry);
	if (walk)
		fts_close(walk);
	return error;
}

/* --- what lies beside the traces --- */

static int read_repetitions(struct um_check_repetitions *out, const char *folder, const char *file)
{
	char *path;
	int error;

	if (asprintf(&path, "%s/%s", folder, file) < 0)
		return um_fail(UM_ENOMEM, "no memory for a path");
	error = um_check_repetitions_read(out, path);
	free(path);
	return error;
}

static int read_folder(struct um_check_all *all)
{
	const struct um_check_arguments *arguments = all->arguments;
	int error = read_repetitions(&all->folder.figures, arguments->all, "figures.tsv");

	if (!error)
		error = read_repetitions(&all->folder.times, arguments->all, "times.tsv");
	if (!error && arguments->test_set)
		error = um_check_names_read(&all->folder.test_set, arguments->test_set);
	if (!error)
		error = walk_folder(all);
	if (!error && !all->table.count)
		error = um_fail(UM_EINVAL,
				"%s: no measured trace X" SUFFIX " with accesses in %s/" ACCESSES
				"/X" SUFFIX,
				arguments->all, arguments->all);
	if (!error && arguments->choices)
		error = um_check_choices_read(&all->choices, arguments->choices, &all->table);
	return error;
}

static int print(const struct um_check_all *all)
{
	static int (*const formats[])(FILE *, const struct um_check_all *) = {
		[UM_CHECK_TEXT] = um_check_all_print_text,
		[UM_CHECK_JSON] = um_check_all_print_json,
		[UM_CHECK_MARKDOWN] = um_check_all_print_markdown,
		[UM_CHECK_TSV] = um_check_all_print_tsv,
	};
	int error = formats[all->arguments->format](stdout, all);

	if (!error && (fflush(stdout) != 0 || ferror(stdout)))
		error = um_fail_errno(UM_EIO, "writing");
	return error;
}

int um_check_all(const struct um_check_arguments *arguments)
{
	struct um_check_all all = {.arguments = arguments};
	int error = read_folder(&all);

	for (size_t i = 0; i < all.remark_count && !arguments->quiet && !error; i++)
		fprintf(stderr, "umsim: %s\n", all.remarks[i]);
	if (!error)
		error = print(&all);
	if (!error)
		error = um_check_hold_all(&all);
	for (size_t i = 0; i < all.remark_count; i++)
		free(all.remarks[i]);
	free(all.remarks);
	um_check_choices_free(&all.choices);
	um_check_table_free(&all.table);
	um_check_repetitions_free(&all.folder.figures);
	um_check_repetitions_free(&all.folder.times);
	um_check_names_free(&all.folder.test_set);
	um_check_model_free(&all.model);
	return error;
}
