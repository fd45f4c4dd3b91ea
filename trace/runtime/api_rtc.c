/*
 * hiprtc: programs in source that are compiled at run time (rtc.h). Its functions know nothing of
 * devices, so that they take a lock of their own, and none while the compiler runs; as with any
 * library, one program is not for two threads at once.
 */
#include "rtc.h"

#include <hip/hiprtc.h>

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Names of hiprtc.h, which are also AMD's texts. */
static const char *const result_names[] = {
	[HIPRTC_SUCCESS] = "HIPRTC_SUCCESS",
	[HIPRTC_ERROR_OUT_OF_MEMORY] = "HIPRTC_ERROR_OUT_OF_MEMORY",
	[HIPRTC_ERROR_PROGRAM_CREATION_FAILURE] = "HIPRTC_ERROR_PROGRAM_CREATION_FAILURE",
	[HIPRTC_ERROR_INVALID_INPUT] = "HIPRTC_ERROR_INVALID_INPUT",
	[HIPRTC_ERROR_INVALID_PROGRAM] = "HIPRTC_ERROR_INVALID_PROGRAM",
	[HIPRTC_ERROR_INVALID_OPTION] = "HIPRTC_ERROR_INVALID_OPTION",
	[HIPRTC_ERROR_COMPILATION] = "HIPRTC_ERROR_COMPILATION",
	[HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE] = "HIPRTC_ERROR_BUILTIN_OPERATION_FAILURE",
	[HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION] =
		"HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
	[HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION] =
		"HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
	[HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID] = "HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
	[HIPRTC_ERROR_INTERNAL_ERROR] = "HIPRTC_ERROR_INTERNAL_ERROR",
};

const char *hiprtcGetErrorString(hiprtcResult result)
{
	if ((unsigned)result >= sizeof(result_names) / sizeof(*result_names))
		return "HIPRTC_ERROR_UNKNOWN";
	return result_names[result];
}

hiprtcResult hiprtcVersion(int *major, int *minor)
{
	if (!major || !minor)
		return HIPRTC_ERROR_INVALID_INPUT;
	*major = 9; /* what HIP 5.2 answers */
	*minor = 0;
	return HIPRTC_SUCCESS;
}

/* --- programs --- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct um_rtc_program *all;

static struct um_rtc_program *find(hiprtcProgram handle)
{
	struct um_rtc_program *program;

	pthread_mutex_lock(&lock);
	program = all;
	while (program && (hiprtcProgram)program != handle)
		program = program->next;
	pthread_mutex_unlock(&lock);
	return program;
}

static void free_list(char **list, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(list[i]);
	free(list);
}

static void program_free(struct um_rtc_program *program)
{
	for (size_t i = 0; i < program->header_count; i++) {
		free(program->headers[i].name);
		free(program->headers[i].text);
	}
	free(program->headers);
	free_list(program->expressions, program->expression_count);
	free_list(program->lowered, program->expression_count);
	free(program->source);
	free(program->name);
	free(program->log);
	free(program->code);
	free(program);
}

/* A header is written where its name says, so that must be in the folder. */
static bool is_inside(const char *name)
{
	return *name && *name != '/' && !strstr(name, "..");
}

static bool keep_headers(struct um_rtc_program *program, int count, const char **texts,
			 const char **names)
{
	program->headers = calloc((size_t)count + 1, sizeof(*program->headers));
	for (int i = 0; program->headers && i < count; i++) {
		struct um_rtc_header *header = &program->headers[program->header_count++];

		header->name = strdup(names[i]);
		header->text = strdup(texts[i]);
		if (!header->name || !header->text)
			return false;
	}
	return program->headers;
}

static bool headers_are_valid(int count, const char **texts, const char **names)
{
	if (count < 0 || (count && (!texts || !names)))
		return false;
	for (int i = 0; i < count; i++)
		if (!texts[i] || !names[i] || !is_inside(names[i]))
			return false;
	return true;
}

hiprtcResult hiprtcCreateProgram(hiprtcProgram *out, const char *source, const char *name,
				 int header_count, const char **headers, const char **names)
{
	if (!out || !source || !headers_are_valid(header_count, headers, names))
		return HIPRTC_ERROR_INVALID_INPUT;
	struct um_rtc_program *program = calloc(1, sizeof(*program));

	if (!program)
		return HIPRTC_ERROR_OUT_OF_MEMORY;
	program->source = strdup(source);
	program->name = strdup(name && *name ? name : "default_program");
	if (!program->source || !program->name ||
	    !keep_headers(program, header_count, headers, names)) {
		program_free(program);
		return HIPRTC_ERROR_OUT_OF_MEMORY;
	}
	pthread_mutex_lock(&lock);
	program->next = all;
	all = program;
	pthread_mutex_unlock(&lock);
	*out = (hiprtcProgram)program;
	return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcDestroyProgram(hiprtcProgram *handle)
{
	struct um_rtc_program *program = handle ? find(*handle) : NULL;
	struct um_rtc_program **link = &all;

	if (!handle)
		return HIPRTC_ERROR_INVALID_INPUT;
	if (!program)
		return HIPRTC_ERROR_INVALID_PROGRAM;
	pthread_mutex_lock(&lock);
	while (*link != program)
		link = &(*link)->next;
	*link = program->next;
	pthread_mutex_unlock(&lock);
	program_free(program);
	*handle = NULL;
	return HIPRTC_SUCCESS;
}

/* One more string at the end; false when out of memory. */
static bool append(char ***list, size_t count, const char *text)
{
	char **grown = realloc(*list, (count + 1) * sizeof(*grown));

	if (!grown)
		return false;
	*list = grown;
	grown[count] = text ? strdup(text) : NULL;
	return !text || grown[count];
}

hiprtcResult hiprtcAddNameExpression(hiprtcProgram handle, const char *expression)
{
	struct um_rtc_program *program = find(handle);

	if (!expression)
		return HIPRTC_ERROR_INVALID_INPUT;
	if (!program)
		return HIPRTC_ERROR_INVALID_PROGRAM;
	if (program->log)
		return HIPRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION;
	if (!append(&program->lowered, program->expression_count, NULL) ||
	    !append(&program->expressions, program->expression_count, expression))
		return HIPRTC_ERROR_OUT_OF_MEMORY;
	program->expression_count++;
	return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcCompileProgram(hiprtcProgram handle, int option_count, const char **options)
{
	struct um_rtc_program *program = find(handle);

	if (!program)
		return HIPRTC_ERROR_INVALID_PROGRAM;
	if (option_count < 0 || (option_count && !options))
		return HIPRTC_ERROR_INVALID_INPUT;
	return um_rtc_compile(program, option_count, options) ? HIPRTC_SUCCESS
							      : HIPRTC_ERROR_COMPILATION;
}

hiprtcResult hiprtcGetLoweredName(hiprtcProgram handle, const char *expression, const char **out)
{
	const struct um_rtc_program *program = find(handle);

	if (!expression || !out)
		return HIPRTC_ERROR_INVALID_INPUT;
	if (!program)
		return HIPRTC_ERROR_INVALID_PROGRAM;
	if (!program->code)
		return HIPRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION;
	for (size_t i = 0; i < program->expression_count; i++)
		if (!strcmp(program->expressions[i], expression) && program->lowered[i]) {
			*out = program->lowered[i];
			return HIPRTC_SUCCESS;
		}
	return HIPRTC_ERROR_NAME_EXPRESSION_NOT_VALID;
}

/* --- what comes of a compilation --- */

static const char *log_of(const struct um_rtc_program *program)
{
	return program->log ? program->log : "";
}

hiprtcResult hiprtcGetProgramLogSize(hiprtcProgram handle, size_t *bytes)
{
	const struct um_rtc_program *program = find(handle);

	if (!bytes)
		return HIPRTC_ERROR_INVALID_INPUT;
	if (!program)
		return HIPRTC_ERROR_INVALID_PROGRAM;
	*bytes = strlen(log_of(program)) + 1;
	return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcGetProgramLog(hiprtcProgram handle, char *log)
{
	const struct um_rtc_program *program = find(handle);

	if (!log)
		return HIPRTC_ERROR_INVALID_INPUT;
	if (!program)
		return HIPRTC_ERROR_INVALID_PROGRAM;
	strcpy(log, log_of(program));
	return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcGetCodeSize(hiprtcProgram handle, size_t *bytes)
{
	const struct um_rtc_program *program = find(handle);

	if (!bytes)
		return HIPRTC_ERROR_INVALID_INPUT;
	if (!program || !program->code)
		return HIPRTC_ERROR_INVALID_PROGRAM;
	*bytes = program->code_bytes;
	return HIPRTC_SUCCESS;
}

hiprtcResult hiprtcGetCode(hiprtcProgram handle, char *code)
{
	const struct um_rtc_program *program = find(handle);

	if (!code)
		return HIPRTC_ERROR_INVALID_INPUT;
	if (!program || !program->code)
		return HIPRTC_ERROR_INVALID_PROGRAM;
	memcpy(code, program->code, program->code_bytes);
	return HIPRTC_SUCCESS;
}
