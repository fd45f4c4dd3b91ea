#include "cc_plan.h"

#include "cc_bundle.h"
#include "trace/base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The words of a line of -###: each in double quotes, with backslashes before " \ and $. */
static void split_words(struct um_argv *out, char *line)
{
	while ((line = strchr(line, '"'))) {
		char *word = ++line, *to = word;

		for (; *line && *line != '"'; line++) {
			if (*line == '\\' && line[1])
				line++;
			*to++ = *line;
		}
		if (*line)
			line++;
		*to = 0;
		um_argv_push(out, word);
	}
}

/* What the driver has to say, other than its plan and what it calls itself. */
static bool show_complaints(char *text)
{
	static const char *const banner[] = {"Target:", "Thread model:", "InstalledDir:", " \"",
					     " (in-process)"};
	char *line, *rest = text;
	bool any = false;

	while ((line = strsep(&rest, "\n"))) {
		bool said = !*line || strstr(line, "clang version");

		for (size_t i = 0; i < sizeof banner / sizeof *banner; i++)
			said |= !strncmp(line, banner[i], strlen(banner[i]));
		if (!said)
			any |= fprintf(stderr, "%s\n", line) > 0;
	}
	return any;
}

static int ask_driver(struct um_argv *host, const struct um_argv *command, const char *folder)
{
	char path[1100], *text, *line, *rest;
	void *file;
	size_t bytes;
	int status;
	bool complained;

	snprintf(path, sizeof path, "%s/plan", folder);
	status = um_run(command, NULL, path);
	if (um_read_file(&file, &bytes, path))
		return UM_EIO;
	text = strdup(file);
	complained = show_complaints(file);
	free(file);
	if (!text)
		return um_fail(UM_ENOMEM, "out of memory");
	for (rest = text; (line = strsep(&rest, "\n"));)
		if (!strncmp(line, " \"", 2) && strstr(line, "\"-cc1\"") && !host->count)
			split_words(host, line);
	free(text);
	if (status)
		return UM_EINVAL;
	if (!host->count && !complained)
		fputs("umhipcc: clang sees nothing to compile\n", stderr);
	return host->count ? 0 : UM_EINVAL;
}

struct edit {
	const char *name;
	unsigned values; /* that follow it */
	bool prefix;
};

/* Kinds of output, and by-products that one of the steps makes. */
static const struct edit outputs[] = {
	{"-emit-obj", 0, false},
	{"-S", 0, false},
	{"-emit-llvm", 0, true},
	{"-o", 1, false},
	{"-disable-llvm-passes", 0, false},
};
static const struct edit by_products[] = {
	{"-dependency-file", 1, false},
	{"-MT", 1, false},
	{"-MQ", 1, false},
	{"-MP", 0, false},
	{"-MG", 0, false},
	{"-MV", 0, false},
	{"-sys-header-deps", 0, false},
	{"-H", 0, false},
	{"-serialize-diagnostic-file", 1, false},
	{"-fsyntax-only", 0, false},
};
/* What is for the host's code only. */
static const struct edit host_only[] = {
	{"-pic-is-pie", 0, false},
	{"-mrelocation-model", 1, false},
	{"-pic-level", 1, false},
	{"-fmath-errno", 0, false},
	{"-stack-protector", 1, false},
	{"-fcoverage", 0, true},
	{"-coverage-", 0, true},
	{"-fprofile", 0, true},
	{"-fsanitize", 0, true},
	{"-flto", 0, true},
	{"-split-dwarf-file", 1, false},
	{"-split-dwarf-output", 1, false},
	{"-pg", 0, false},
	{"-O0", 0, false},
	{"-vectorize-loops", 0, false},
	{"-vectorize-slp", 0, false},
	{"-ftime-trace", 0, true},
	{"-v", 0, false},
};

static const struct edit *find_edit(const char *text, const struct edit *edits, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (edits[i].prefix ? !strncmp(text, edits[i].name, strlen(edits[i].name))
				    : !strcmp(text, edits[i].name))
			return &edits[i];
	return NULL;
}

struct edits {
	const struct edit *edits;
	size_t count;
};
#define EDITS(table)	((struct edits){table, sizeof(table) / sizeof *(table)})
#define EDIT_TABLES_MAX 3

/* `from` without the options in `drop`, and without its last words: -x LANGUAGE SOURCE. */
static void copy_without(struct um_argv *to, const struct um_argv *from, const struct edits *drop)
{
	for (size_t i = 0; i + 3 < from->count; i++) {
		const struct edit *edit = NULL;

		for (size_t d = 0; d < EDIT_TABLES_MAX && !edit; d++)
			edit = find_edit(from->items[i], drop[d].edits, drop[d].count);
		if (edit)
			i += edit->values;
		else
			um_argv_push(to, from->items[i]);
	}
}

static void push_source(struct um_argv *to, const struct um_argv *host)
{
	for (size_t i = host->count - 3; i < host->count; i++)
		um_argv_push(to, host->items[i]);
}

static bool contains(const struct um_argv *argv, const char *prefix)
{
	for (size_t i = 0; i < argv->count; i++)
		if (!strncmp(argv->items[i], prefix, strlen(prefix)))
			return true;
	return false;
}

static void push_words(struct um_argv *to, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		um_argv_push(to, words[i]);
}

/* clang's driver gives both halves one only where it makes both. */
static void push_unit_id(struct um_argv *to, const char *id)
{
	if (id)
		um_argv_pushf(to, "-cuid=%s", id);
}

static void make_front(struct um_cc_plan *plan, const struct um_cc_plan_files *files)
{
	const struct edits drop[EDIT_TABLES_MAX] = {EDITS(outputs)};
	const char *const words[] = {"-emit-llvm-bc", "-disable-llvm-passes", "-o",
				     files->host_bitcode};

	copy_without(&plan->front, &plan->host, drop);
	push_words(&plan->front, words, sizeof words / sizeof *words);
	push_unit_id(&plan->front, files->unit_id);
	push_source(&plan->front, &plan->host);
}

static void make_back(struct um_cc_plan *plan, const char *input)
{
	const struct edits drop[EDIT_TABLES_MAX] = {EDITS(by_products)};
	const char *const words[] = {"-x", "ir", input};

	copy_without(&plan->back, &plan->host, drop);
	push_words(&plan->back, words, sizeof words / sizeof *words);
}

static void make_device(struct um_cc_plan *plan, const struct um_cc_plan_files *files)
{
	const struct edits drop[EDIT_TABLES_MAX] = {EDITS(outputs), EDITS(by_products),
						    EDITS(host_only)};
	const char *const words[] = {
		"-fcuda-is-device",
		"-ffake-address-space-map",
		"-mrelocation-model",
		"pic",
		"-pic-level",
		"2",
		"-emit-llvm-bc",
		"-disable-llvm-passes",
		/* __shfl() of what one lane has: no promise that the others have it, too. */
		"-no-enable-noundef-analysis",
		"-D__AMDGCN_WAVEFRONT_SIZE=64",
		"-D__HIP_NO_IMAGE_SUPPORT=1",
		"-include",
		files->prelude,
		"-o",
		files->device_bitcode,
	};
	struct um_argv rest = {0};

	copy_without(&rest, &plan->host, drop);
	/*
	 * Our header comes before those that the driver and the user include from the command line.
	 */
	for (size_t i = 0; i < rest.count; i++) {
		um_argv_push(&plan->device, rest.items[i]);
		if (!strcmp(rest.items[i], "-cc1"))
			push_words(&plan->device, words, sizeof words / sizeof *words);
	}
	um_argv_fini(&rest);
	push_unit_id(&plan->device, files->unit_id);
	if (contains(&plan->host, "-O0"))
		um_argv_push(&plan->device, "-O1");
	/* Lines, so that errors after the front end can name the user's. */
	if (!contains(&plan->host, "-debug-info-kind="))
		um_argv_push(&plan->device, "-debug-info-kind=line-tables-only");
	push_source(&plan->device, &plan->host);
}

int um_cc_plan_make(struct um_cc_plan *out, const struct um_argv *command,
		    const struct um_cc_plan_files *files, const char *folder)
{
	int error;

	*out = (struct um_cc_plan){0};
	error = ask_driver(&out->host, command, folder);
	if (error)
		return error;
	make_front(out, files);
	make_device(out, files);
	make_back(out, files->finished_bitcode);
	return 0;
}

void um_cc_plan_fini(struct um_cc_plan *plan)
{
	um_argv_fini(&plan->host);
	um_argv_fini(&plan->front);
	um_argv_fini(&plan->device);
	um_argv_fini(&plan->back);
}
