/* Which frame of a stack is the user's: the rules of stacks.h. */
#include "runtime_frames.h"
#include "stacks_private.h"

#include "trace/base/error.h"
#include "trace/base/kernel_name.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

/* A function with calls of one kind, and where these stand and come from. */
struct um_stacks_wrapper {
	const char *kind, *file;
	const char *function; /* of its name the first bytes */
	size_t function_bytes;
	int64_t line;	  /* of a call within it */
	uint64_t callers; /* a hash of what lies outside of it */
	bool is_wrapper;  /* of the first of a function and kind */
};

static const char *const memory_kinds[] = {"alloc",  "free",   "advise", "prefetch", "copy",
					   "memset", "attach", "name",	 "name_end"};

static const char *memory_kind(const char *kind)
{
	for (size_t i = 0; kind && i < sizeof(memory_kinds) / sizeof(*memory_kinds); i++)
		if (strcmp(kind, memory_kinds[i]) == 0)
			return memory_kinds[i];
	return NULL;
}

bool um_stacks_is_candidate(const struct um_stack_frame *frame)
{
	return frame->file && frame->line != UM_NULL && !frame->skipped;
}

/* --- names --- */

/* The last of "um::buffer<float>::buffer", less template arguments: start and bytes. */
static const char *last_name(const char *function, size_t bytes, size_t *last_bytes)
{
	size_t at = bytes, depth = 0;

	while (at > 0) {
		char c = function[at - 1];

		depth += c == '>';
		if (depth == 0 && c == ':')
			break;
		depth -= depth > 0 && c == '<';
		at--;
	}
	*last_bytes = bytes - at;
	return function + at;
}

/* "um::buffer<float>::buffer", "um::buffer<float>::~buffer" */
static bool is_of_a_class(const char *function, size_t bytes)
{
	size_t name_bytes, scope_bytes;
	const char *name = last_name(function, bytes, &name_bytes);

	if (*name == '~')
		return true;
	if (name - function < 3)
		return false;
	struct um_kernel_name within = {0};
	char *scope = strndup(function, (size_t)(name - function) - 2);

	if (!scope)
		return false;
	within = um_kernel_name(scope);
	const char *class = last_name(within.start, within.bare_length, &scope_bytes);
	bool same = scope_bytes == name_bytes && memcmp(class, name, name_bytes) == 0;

	free(scope);
	return same;
}

static bool has_wrapper_name(const char *function, size_t bytes)
{
	static const char *const names[] = {"*alloc*", "*free*", "*delete*",  "*operator new*",
					    "*check*", "*safe*", "*destroy*", "*release*"};
	size_t name_bytes;
	const char *name = last_name(function, bytes, &name_bytes);
	char *text = strndup(name, name_bytes);
	bool found = false;

	for (size_t i = 0; text && i < sizeof(names) / sizeof(*names) && !found; i++)
		found = fnmatch(names[i], text, FNM_CASEFOLD) == 0;
	free(text);
	return found || is_of_a_class(function, bytes);
}

static int compare_names(const struct um_stacks_wrapper *a, const struct um_stacks_wrapper *b)
{
	int order = strcmp(a->kind, b->kind);

	if (order == 0)
		order = strcmp(a->file, b->file);
	if (order == 0)
		order = (a->function_bytes > b->function_bytes) -
			(a->function_bytes < b->function_bytes);
	return order ? order : memcmp(a->function, b->function, a->function_bytes);
}

static int compare(const void *left, const void *right)
{
	const struct um_stacks_wrapper *a = left, *b = right;
	int order = compare_names(a, b);

	if (order == 0)
		order = (a->line > b->line) - (a->line < b->line);
	return order ? order : (a->callers > b->callers) - (a->callers < b->callers);
}

static struct um_stacks_wrapper function_of(const struct um_stack_frame *frame, const char *kind)
{
	struct um_kernel_name name = um_kernel_name(frame->function);

	return (struct um_stacks_wrapper){
		.kind = kind,
		.file = frame->file,
		.function = name.start,
		.function_bytes = name.bare_length,
		.line = frame->line,
	};
}

/* --- the functions of all calls --- */

static uint64_t mix(uint64_t hash, const void *bytes, size_t count)
{
	const unsigned char *at = bytes;

	for (size_t i = 0; i < count; i++)
		hash = (hash ^ at[i]) * 0x100000001b3ull; /* FNV-1a */
	return hash;
}

static int add_functions(struct um_stacks *stacks, int64_t site, const char *kind)
{
	const struct um_stack_frame *frames[UM_STACKS_FRAMES_MAX];
	size_t count = um_stacks_frames(stacks, site, frames, UM_STACKS_FRAMES_MAX);
	uint64_t callers = 0xcbf29ce484222325ull;

	for (size_t i = count; i-- > 0;) {
		if (!um_stacks_is_candidate(frames[i]))
			continue;
		if (frames[i]->function) {
			struct um_stacks_wrapper function = function_of(frames[i], kind);

			function.callers = callers;
			if (!um_stacks_room(&stacks->functions, stacks->function_count,
					    &stacks->function_capacity, sizeof(function)))
				return um_fail(UM_ENOMEM, "out of memory");
			stacks->functions[stacks->function_count++] = function;
		}
		callers = mix(callers, frames[i]->file, strlen(frames[i]->file));
		callers = mix(callers, &frames[i]->line, sizeof(frames[i]->line));
	}
	return 0;
}

/* The rows of one function and kind: [0, count). */
static bool is_wrapper(const struct um_stacks_wrapper *rows, size_t count)
{
	for (size_t i = 1; i < count; i++)
		if (rows[i].line != rows[0].line)
			return false;
	return rows[0].callers != rows[count - 1].callers ||
	       has_wrapper_name(rows[0].function, rows[0].function_bytes);
}

/* Leaves one row of each. */
static void judge(struct um_stacks *stacks)
{
	struct um_stacks_wrapper *rows = stacks->functions;
	size_t left = 0;

	for (size_t i = 0, next; i < stacks->function_count; i = next) {
		for (next = i + 1; next < stacks->function_count; next++)
			if (compare_names(&rows[i], &rows[next]) != 0)
				break;
		bool judged = is_wrapper(rows + i, next - i);

		rows[left] = rows[i];
		rows[left++].is_wrapper = judged;
	}
	stacks->function_count = left;
}

struct calls {
	struct um_stacks *stacks;
	struct {
		int64_t site;
		const char *kind;
	} * call; /* each once */
	size_t count, capacity;
};

static int compare_calls(const void *left, const void *right)
{
	return memcmp(left, right, sizeof(*((struct calls *)NULL)->call));
}

static int add_call(const void *row, void *context)
{
	const struct um_op_row *op = row;
	struct calls *calls = context;
	const char *kind = memory_kind(op->kind);

	if (!kind || op->site == UM_NULL)
		return 0;
	/* A loop calls from one place. */
	if (calls->count && calls->call[calls->count - 1].site == op->site &&
	    calls->call[calls->count - 1].kind == kind)
		return 0;
	if (!um_stacks_room(&calls->call, calls->count, &calls->capacity, sizeof(*calls->call)))
		return um_fail(UM_ENOMEM, "out of memory");
	calls->call[calls->count].site = op->site;
	calls->call[calls->count++].kind = kind;
	return 0;
}

int um_stacks_find_wrappers(struct um_stacks *stacks, struct um_db *db)
{
	struct calls calls = {.stacks = stacks};
	int error =
		um_db_each(db, &um_table_op,
			   "site IS NOT NULL AND kind NOT IN ('launch', 'host', 'range') OR op = ?",
			   0, add_call, &calls);

	if (!error && calls.count)
		qsort(calls.call, calls.count, sizeof(*calls.call), compare_calls);
	for (size_t i = 0; i < calls.count && !error; i++)
		if (i == 0 || compare_calls(&calls.call[i - 1], &calls.call[i]) != 0)
			error = add_functions(stacks, calls.call[i].site, calls.call[i].kind);
	free(calls.call);
	if (!error && stacks->function_count) {
		qsort(stacks->functions, stacks->function_count, sizeof(*stacks->functions),
		      compare);
		judge(stacks);
	}
	return error;
}

/* --- one stack --- */

static int compare_names_of(const void *left, const void *right)
{
	return compare_names(left, right);
}

static bool wraps(const struct um_stacks *stacks, const struct um_stack_frame *frame,
		  const char *kind)
{
	if (!frame->function || !stacks->function_count)
		return false;
	struct um_stacks_wrapper wanted = function_of(frame, kind);
	const struct um_stacks_wrapper *found =
		bsearch(&wanted, stacks->functions, stacks->function_count,
			sizeof(*stacks->functions), compare_names_of);

	return found && found->is_wrapper;
}

/* Without lines: the innermost that is not left out and has a function, else that has none. */
static size_t without_lines(const struct um_stack_frame **frames, size_t count)
{
	size_t best = count;

	for (size_t i = count; i-- > 0;)
		if (!frames[i]->skipped)
			best = i;
	for (size_t i = count; i-- > 0;)
		if (!frames[i]->skipped && frames[i]->function)
			best = i;
	return best < count ? best : 0;
}

const struct um_stack_frame *um_stacks_user(const struct um_stacks *stacks, int64_t site,
					    const char *kind, size_t *depth)
{
	const struct um_stack_frame *frames[UM_STACKS_FRAMES_MAX];
	size_t count = um_stacks_frames(stacks, site, frames, UM_STACKS_FRAMES_MAX);
	const char *memory = memory_kind(kind);
	size_t user = count, first = count;

	for (size_t i = 0; i < count && user == count; i++) {
		if (!um_stacks_is_candidate(frames[i]))
			continue;
		first = first == count ? i : first;
		if (!memory || !wraps(stacks, frames[i], memory))
			user = i;
	}
	if (count == 0)
		return NULL;
	if (user == count)
		user = first < count ? first : without_lines(frames, count);
	if (depth)
		*depth = user;
	return frames[user];
}
