#include "output_name.h"

#include "trace/base/error.h"
#include "trace/base/shell_quote.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For printf. */
#define LETTERS "%%h (host), %%p (process), %%r (rank) and %%%% (a percent sign)"

int um_output_pattern_check(const char *pattern)
{
	for (const char *at = strchr(pattern, '%'); at; at = strchr(at + 2, '%')) {
		if (!at[1])
			return um_fail(UM_EINVAL,
				       "-o: '%s' ends in a single %%; there are " LETTERS, pattern);
		if (!strchr("hpr%", at[1]))
			return um_fail(UM_EINVAL,
				       "-o: no %%%c is known in '%s'; there are " LETTERS, at[1],
				       pattern);
	}
	return 0;
}

static void put_host(FILE *name, const char *host)
{
	for (; *host; host++)
		fputc(*host == '/' ? '_' : *host, name);
}

static void put_place(FILE *name, char letter, const struct um_output_place *place)
{
	int64_t rank = place->rank->rank;

	switch (letter) {
	case 'h':
		put_host(name, place->host);
		break;
	case 'p':
		fprintf(name, "%ld", (long)place->pid);
		break;
	case 'r':
		fprintf(name, "%" PRId64, rank == UM_NULL ? 0 : rank);
		break;
	default:
		fputc('%', name);
		break;
	}
}

/* Ends the stream that was opened into *text. */
static int close_text(FILE *stream, char **text)
{
	if (fclose(stream) == 0)
		return 0;
	free(*text);
	*text = NULL;
	return um_fail(UM_ENOMEM, "out of memory");
}

int um_output_name(char **out, const char *pattern, const struct um_output_place *place)
{
	size_t bytes;
	FILE *name = open_memstream(out, &bytes);

	if (!name)
		return um_fail(UM_ENOMEM, "out of memory");
	for (const char *at = pattern; *at; at++)
		if (*at == '%' && at[1])
			put_place(name, *++at, place);
		else
			fputc(*at, name);
	return close_text(name, out);
}

static void put_literal(FILE *pattern, const char *text)
{
	for (; *text; text++)
		fputs(*text == '%' ? "%%" : (char[]){*text, '\0'}, pattern);
}

int um_output_default(char **out, const char *program, const char *policy,
		      const struct um_job_rank *rank)
{
	const char *slash = strrchr(program, '/');
	size_t bytes;
	FILE *pattern = open_memstream(out, &bytes);

	if (!pattern)
		return um_fail(UM_ENOMEM, "out of memory");
	put_literal(pattern, slash ? slash + 1 : program);
	if (policy) {
		fputc('.', pattern);
		put_literal(pattern, policy);
		fputs(".applied", pattern);
	}
	fputs(um_job_rank_is_of_several(rank) ? ".%r.um.db" : ".um.db", pattern);
	return close_text(pattern, out);
}

bool um_output_tells_ranks_apart(const char *pattern)
{
	bool by_rank = false, by_process = false, by_host = false;

	for (const char *at = strchr(pattern, '%'); at && at[1]; at = strchr(at + 2, '%')) {
		by_rank |= at[1] == 'r';
		by_process |= at[1] == 'p';
		by_host |= at[1] == 'h';
	}
	return by_rank || (by_process && by_host);
}

/* A piece of the name as sh(1) wants it; `bytes` of it. */
static int put_quoted(FILE *glob, const char *piece, size_t bytes)
{
	char *text = strndup(piece, bytes);
	char *const words[] = {text, NULL};
	char *quoted = text && bytes ? um_shell_quote(words) : NULL;

	if (quoted)
		fputs(quoted, glob);
	free(text);
	free(quoted);
	return bytes && !quoted ? UM_ENOMEM : 0;
}

static int put_glob(FILE *glob, const char *pattern)
{
	int error = 0;

	while (*pattern && !error) {
		size_t bytes = strcspn(pattern, "%");

		error = put_quoted(glob, pattern, bytes);
		pattern += bytes;
		if (!*pattern || !pattern[1])
			break;
		fputs(pattern[1] == '%' ? "%" : "*", glob);
		pattern += 2;
	}
	return error;
}

char *um_output_glob(const char *pattern)
{
	char *text = NULL;
	size_t bytes;
	FILE *glob = open_memstream(&text, &bytes);

	if (!glob)
		return NULL;
	int error = put_glob(glob, pattern);
	if (close_text(glob, &text) == 0 && error) {
		free(text);
		text = NULL;
	}
	return text;
}
