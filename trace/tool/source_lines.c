#include "source_lines.h"

#include "source_reader.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

/* What is known of an address. */
struct known {
	uint64_t address;
	struct um_source_answer answer;
};

/* What a variable is called; of where none lies, `before` counts for nothing: UINT64_MAX. */
struct named {
	struct um_source_query query;
	char *name; /* NULL: it has none */
	size_t depth;
};

struct file {
	struct file *next;
	bool failed;
	char *build_id; /* NULL: none */
	void *known;	/* a tree of struct known, by tsearch() */
	void *named;	/* a tree of struct named */
	char path[];
};

struct um_source_lines {
	struct um_source_reader *reader;
	struct file *files;
};

struct um_source_lines *um_source_lines_create(void)
{
	struct um_source_lines *lines = calloc(1, sizeof(*lines));

	if (lines)
		lines->reader = um_source_reader_create();
	if (lines && lines->reader)
		return lines;
	free(lines);
	return NULL;
}

static void forget(void *known)
{
	free(((struct known *)known)->answer.bytes);
	free(known);
}

static void forget_name(void *named)
{
	free(((struct named *)named)->name);
	free(named);
}

void um_source_lines_destroy(struct um_source_lines *lines)
{
	if (!lines)
		return;
	um_source_reader_destroy(lines->reader);
	for (struct file *file = lines->files, *next; file; file = next) {
		next = file->next;
		tdestroy(file->known, forget);
		tdestroy(file->named, forget_name);
		free(file->build_id);
		free(file);
	}
	free(lines);
}

/* A file that the reader did not survive is not asked for again. */
static bool ask(struct um_source_lines *lines, struct file *file,
		const struct um_source_query *query, struct um_source_answer *answer)
{
	*answer = (struct um_source_answer){0};
	if (file->failed)
		return false;
	file->failed = !um_source_reader_ask(lines->reader, query, answer);
	return !file->failed;
}

static struct file *open_file(struct um_source_lines *lines, const char *path)
{
	struct um_source_answer answer;
	struct file *file;

	for (file = lines->files; file; file = file->next)
		if (strcmp(file->path, path) == 0)
			return file;
	file = malloc(sizeof(*file) + strlen(path) + 1);
	if (!file)
		return NULL;
	*file = (struct file){.next = lines->files};
	strcpy(file->path, path);
	lines->files = file;
	ask(lines, file, &(struct um_source_query){.question = UM_SOURCE_BUILD_ID, .path = path},
	    &answer);
	file->build_id = answer.text ? strdup(answer.text) : NULL;
	free(answer.bytes);
	return file;
}

static int compare(const void *left, const void *right)
{
	const struct known *a = left, *b = right;

	return (a->address > b->address) - (a->address < b->address);
}

/* NULL without memory. */
static const struct known *find_known(struct um_source_lines *lines, struct file *file,
				      uint64_t address)
{
	const struct known wanted = {.address = address};
	struct known *const *found = tfind(&wanted, &file->known, compare);

	if (found)
		return *found;
	struct known *known = malloc(sizeof(*known));

	if (!known)
		return NULL;
	known->address = address;
	ask(lines, file,
	    &(struct um_source_query){
		    .question = UM_SOURCE_PLACE, .path = file->path, .address = address},
	    &known->answer);
	if (tsearch(known, &file->known, compare))
		return known;
	forget(known);
	return NULL;
}

size_t um_source_lines_find(struct um_source_lines *lines, const char *path,
			    uint64_t return_address, struct um_source_frame *frames,
			    size_t capacity)
{
	struct file *file = open_file(lines, path);
	const struct known *known = file ? find_known(lines, file, return_address) : NULL;
	size_t count = known ? known->answer.frame_count : 0;

	if (count > capacity)
		count = capacity;
	if (count)
		memcpy(frames, known->answer.frames, count * sizeof(*frames));
	return count;
}

const char *um_source_lines_build_id(struct um_source_lines *lines, const char *path)
{
	const struct file *file = open_file(lines, path);

	return file ? file->build_id : NULL;
}

const char *um_source_lines_symbol(struct um_source_lines *lines, const char *path,
				   uint64_t return_address)
{
	struct file *file = open_file(lines, path);
	const struct known *known = file ? find_known(lines, file, return_address) : NULL;

	return known ? known->answer.text : NULL;
}

const char *um_source_lines_path(struct um_source_lines *lines, const char *path)
{
	const struct file *file = open_file(lines, path);

	return file ? file->path : NULL;
}

static int compare_integers(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static int compare_queries(const void *left, const void *right)
{
	const struct um_source_query *a = left, *b = right; /* the first of struct named */
	int order = compare_integers((int64_t)a->address, (int64_t)b->address);

	order = order ? order : compare_integers(a->question, b->question);
	order = order ? order : compare_integers(a->place.at, b->place.at);
	order = order ? order : compare_integers(a->place.in_register, b->place.in_register);
	order = order ? order : compare_integers(a->place.is_pointed_to, b->place.is_pointed_to);
	return order ? order : compare_integers((int64_t)a->place.before, (int64_t)b->place.before);
}

/* A loop allocates for one variable, and other words of the stack are no pointers of the program's. */
static const struct named *find_named(const struct file *file, struct um_source_query query)
{
	struct named *const *found = tfind(&query, &file->named, compare_queries);

	if (!found && query.place.is_pointed_to) {
		query.place.before = UINT64_MAX;
		found = tfind(&query, &file->named, compare_queries);
	}
	return found ? *found : NULL;
}

static const struct named *ask_for_name(struct um_source_lines *lines, struct file *file,
					const struct um_source_query *query)
{
	struct um_source_answer answer;
	struct named *named = calloc(1, sizeof(*named));

	if (!named)
		return NULL;
	ask(lines, file, query, &answer);
	named->query = *query;
	named->query.path = NULL;
	named->name = answer.text ? strdup(answer.text) : NULL;
	named->depth = answer.depth;
	if (answer.depth == UM_SOURCE_NOTHING && query->place.is_pointed_to)
		named->query.place.before = UINT64_MAX;
	free(answer.bytes);
	if (tsearch(named, &file->named, compare_queries))
		return named;
	forget_name(named);
	return NULL;
}

static char *name_of(struct um_source_lines *lines, const struct um_source_query *query,
		     size_t *depth)
{
	struct file *file = open_file(lines, query->path);
	const struct named *named = file ? find_named(file, *query) : NULL;

	if (file && !named)
		named = ask_for_name(lines, file, query);
	*depth = named ? named->depth : 0;
	return named && named->name ? strdup(named->name) : NULL;
}

char *um_source_lines_variable(struct um_source_lines *lines, const char *path,
			       uint64_t return_address, const struct um_source_place *place,
			       size_t *depth)
{
	const struct um_source_query query = {.question = UM_SOURCE_VARIABLE,
					      .path = path,
					      .address = return_address,
					      .place = *place};

	return name_of(lines, &query, depth);
}

char *um_source_lines_global(struct um_source_lines *lines, const char *path, uint64_t address)
{
	const struct um_source_query query = {
		.question = UM_SOURCE_GLOBAL, .path = path, .address = address};
	size_t depth;

	return name_of(lines, &query, &depth);
}

int um_source_lines_each_failed(const struct um_source_lines *lines,
				int (*call)(const char *path, void *context), void *context)
{
	int error = 0;

	for (const struct file *file = lines->files; file && !error; file = file->next)
		if (file->failed)
			error = call(file->path, context);
	return error;
}
