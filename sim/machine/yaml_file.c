#include "yaml_file.h"

#include "trace/base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

enum { FILE_BYTES_MAX = 1 << 20, NODES_MAX = 20000, DEPTH_MAX = 16 };

struct reading {
	struct um_yaml_file *file;
	yaml_parser_t parser;
	unsigned nodes;
};

static int out_of_memory(void)
{
	return um_fail(UM_ENOMEM, "out of memory");
}

int um_yaml_fail(const struct um_yaml_file *file, const struct um_yaml_node *node,
		 const char *format, ...)
{
	char text[768];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (node->source)
		return um_fail(UM_EINVAL, "%s: %s", node->source, text);
	return um_fail_at(UM_EINVAL, file->path, node->line, node->column, "%s", text);
}

static int fail_at_mark(const struct um_yaml_file *file, yaml_mark_t mark, const char *message)
{
	return um_fail_at(UM_EINVAL, file->path, (unsigned)mark.line + 1, (unsigned)mark.column + 1,
			  "%s", message);
}

/* libyaml gives errors of the encoding an offset only. */
static yaml_mark_t mark_of_offset(const struct um_yaml_file *file, size_t offset)
{
	yaml_mark_t mark = {.index = offset};

	for (size_t i = 0; i < offset && i < file->bytes; i++) {
		mark.column++;
		if (file->text[i] == '\n') {
			mark.line++;
			mark.column = 0;
		}
	}
	return mark;
}

/* The byte at a mark, which counts characters: lines are walked, then UTF-8 sequences. */
static char byte_at(const struct um_yaml_file *file, yaml_mark_t mark)
{
	const char *at = file->text;

	for (size_t line = 0; line < mark.line; line++) {
		at = strchr(at, '\n');
		if (!at)
			return '\0';
		at++;
	}
	for (size_t column = 0; *at && column < mark.column; column++)
		do
			at++;
		while ((*at & 0xc0) == 0x80);
	return *at;
}

/* libyaml's words, and what helps where they do not. */
static int syntax_error(const struct reading *reading)
{
	const yaml_parser_t *parser = &reading->parser;
	const struct um_yaml_file *file = reading->file;

	if (parser->error == YAML_MEMORY_ERROR)
		return out_of_memory();
	if (parser->error == YAML_READER_ERROR)
		return fail_at_mark(file, mark_of_offset(file, parser->problem_offset),
				    parser->problem && strstr(parser->problem, "control")
					    ? "a control character"
					    : "this is not text in UTF-8");
	const char *problem = parser->problem ? parser->problem : "not YAML";
	if (byte_at(file, parser->problem_mark) == '\t')
		problem = "a tab: YAML is indented with blanks";
	else if (parser->context && strstr(parser->context, "alias"))
		problem = "a value that begins with * needs quotes: \"*\"";
	return fail_at_mark(file, parser->problem_mark, problem);
}

static void free_nodes(struct um_yaml_node *node)
{
	while (node) {
		struct um_yaml_node *next = node->next;
		free_nodes(node->first);
		free(node->text);
		free(node);
		node = next;
	}
}

static int set_scalar(struct reading *reading, struct um_yaml_node *node, const yaml_event_t *event)
{
	const char *value = (const char *)event->data.scalar.value;

	if (strlen(value) != event->data.scalar.length)
		return um_yaml_fail(reading->file, node, "a value with a NUL in it");
	node->text = strdup(value);
	return node->text ? 0 : out_of_memory();
}

static const char *refusal(const struct reading *reading, const yaml_event_t *event, unsigned depth)
{
	const yaml_char_t *tag =
		event->type == YAML_SCALAR_EVENT	   ? event->data.scalar.tag
		: event->type == YAML_SEQUENCE_START_EVENT ? event->data.sequence_start.tag
		: event->type == YAML_MAPPING_START_EVENT  ? event->data.mapping_start.tag
							   : NULL;

	if (event->type == YAML_ALIAS_EVENT)
		return "aliases are not taken here: write the value out (a value that begins with "
		       "* needs quotes)";
	if (tag)
		return "tags are not taken here";
	if (reading->nodes >= NODES_MAX)
		return "more than 20,000 values";
	return depth >= DEPTH_MAX ? "more than 16 levels" : NULL;
}

static int read_node(struct reading *, const yaml_event_t *, unsigned depth,
		     struct um_yaml_node **out);

static int next_event(struct reading *reading, yaml_event_t *event)
{
	return yaml_parser_parse(&reading->parser, event) ? 0 : syntax_error(reading);
}

static int read_children(struct reading *reading, struct um_yaml_node *node, yaml_event_type_t end,
			 unsigned depth)
{
	struct um_yaml_node **last = &node->first;

	for (;;) {
		yaml_event_t event;
		int error = next_event(reading, &event);
		if (error)
			return error;
		if (event.type == end) {
			yaml_event_delete(&event);
			return 0;
		}
		error = read_node(reading, &event, depth, last);
		yaml_event_delete(&event);
		if (error)
			return error;
		last = &(*last)->next;
	}
}

/*
 * Recursion ends at DEPTH_MAX. The node is linked at once, so that an error leaves nothing loose.
 */
static int read_node(struct reading *reading, const yaml_event_t *event, unsigned depth,
		     struct um_yaml_node **out)
{
	const char *refused = refusal(reading, event, depth);

	if (refused)
		return fail_at_mark(reading->file, event->start_mark, refused);
	struct um_yaml_node *node = calloc(1, sizeof(*node));
	if (!node)
		return out_of_memory();
	*out = node;
	reading->nodes++;
	node->line = (unsigned)event->start_mark.line + 1;
	node->column = (unsigned)event->start_mark.column + 1;
	if (event->type == YAML_SCALAR_EVENT)
		return set_scalar(reading, node, event);
	node->kind = event->type == YAML_SEQUENCE_START_EVENT ? UM_YAML_LIST : UM_YAML_MAPPING;
	return read_children(reading, node,
			     node->kind == UM_YAML_LIST ? YAML_SEQUENCE_END_EVENT
							: YAML_MAPPING_END_EVENT,
			     depth + 1);
}

static int read_event(struct reading *reading, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_STREAM_START_EVENT:
	case YAML_STREAM_END_EVENT:
	case YAML_DOCUMENT_END_EVENT:
		return 0;
	case YAML_DOCUMENT_START_EVENT:
		return reading->file->root ? fail_at_mark(reading->file, event->start_mark,
							  "a second document in the file")
					   : 0;
	default:
		return read_node(reading, event, 0, &reading->file->root);
	}
}

static int read_stream(struct reading *reading)
{
	for (bool more = true; more;) {
		yaml_event_t event;
		int error = next_event(reading, &event);
		if (error)
			return error;
		more = event.type != YAML_STREAM_END_EVENT;
		error = read_event(reading, &event);
		yaml_event_delete(&event);
		if (error)
			return error;
	}
	return 0;
}

static int parse_file(struct um_yaml_file *file)
{
	struct reading reading = {.file = file};

	if (!yaml_parser_initialize(&reading.parser))
		return out_of_memory();
	yaml_parser_set_encoding(&reading.parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&reading.parser, (const unsigned char *)file->text,
				     file->bytes);
	int error = read_stream(&reading);
	yaml_parser_delete(&reading.parser);
	return error;
}

int um_yaml_parse(struct um_yaml_file **out, const char *path, const char *text, size_t bytes)
{
	if (bytes > FILE_BYTES_MAX)
		return um_fail(UM_EINVAL, "%s: larger than 1 MiB: not a policy or machine file",
			       path);
	struct um_yaml_file *file = calloc(1, sizeof(*file));
	if (!file)
		return out_of_memory();
	file->path = strdup(path);
	file->text = strndup(text, bytes);
	file->bytes = bytes;
	int error = 0;
	if (!file->path || !file->text)
		error = out_of_memory();
	else if (strlen(file->text) != bytes)
		error = fail_at_mark(file, mark_of_offset(file, strlen(file->text)),
				     "this is not text in UTF-8");
	else
		error = parse_file(file);
	if (error)
		um_yaml_destroy(file);
	else
		*out = file;
	return error;
}

int um_yaml_load(struct um_yaml_file **out, const char *path)
{
	FILE *stream = fopen(path, "re");
	if (!stream)
		return um_fail_errno(errno == ENOENT ? UM_ENOENT : UM_EIO, "%s", path);
	char *text = malloc(FILE_BYTES_MAX + 1);
	size_t bytes = text ? fread(text, 1, FILE_BYTES_MAX + 1, stream) : 0;
	int error;

	if (!text)
		error = out_of_memory();
	else if (ferror(stream))
		error = um_fail_errno(UM_EIO, "%s", path);
	else
		error = um_yaml_parse(out, path, text, bytes);
	fclose(stream);
	free(text);
	return error;
}

void um_yaml_destroy(struct um_yaml_file *file)
{
	if (!file)
		return;
	free_nodes(file->root);
	free(file->text);
	free(file->path);
	free(file);
}
