/* Values that stand over those of a file: of a command line that varies them. */
#include "yaml_file.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

static int out_of_memory(void)
{
	return um_fail(UM_ENOMEM, "out of memory");
}

static struct um_yaml_node *make(enum um_yaml_kind kind, const char *text, size_t length,
				 const char *source)
{
	struct um_yaml_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->kind = kind;
	node->source = source;
	if (!text)
		return node;
	node->text = strndup(text, length);
	if (node->text)
		return node;
	free(node);
	return NULL;
}

/* Where the key's value is; a key that is not there is added, with no value yet. */
static struct um_yaml_node **find_or_add(struct um_yaml_node *mapping, const char *name,
					 size_t length, const char *source)
{
	struct um_yaml_node **at = &mapping->first;

	for (; *at && (*at)->next; at = &(*at)->next->next)
		if ((*at)->kind == UM_YAML_SCALAR && strlen((*at)->text) == length &&
		    !strncmp((*at)->text, name, length))
			return &(*at)->next;
	*at = make(UM_YAML_SCALAR, name, length, source);
	return *at ? &(*at)->next : NULL;
}

static void free_tree(struct um_yaml_node *node)
{
	while (node) {
		struct um_yaml_node *next = node->next;

		free_tree(node->first);
		free(node->text);
		free(node);
		node = next;
	}
}

/* Puts `value` in the place of what stands there, which it takes the followers of. */
static int put(struct um_yaml_node **slot, struct um_yaml_node *value)
{
	struct um_yaml_node *old = *slot;

	if (!value)
		return out_of_memory();
	value->next = old ? old->next : NULL;
	if (old)
		old->next = NULL;
	*slot = value;
	free_tree(old);
	return 0;
}

/* A single value becomes the `name` of a mapping; what is not there becomes an empty one. */
static int make_mapping(struct um_yaml_node **slot, const char *source)
{
	struct um_yaml_node *old = *slot, *mapping, *name, *value;

	if (old && old->kind == UM_YAML_MAPPING)
		return 0;
	mapping = make(UM_YAML_MAPPING, NULL, 0, source);
	if (!mapping || !old || old->kind != UM_YAML_SCALAR)
		return put(slot, mapping);
	mapping->first = name = make(UM_YAML_SCALAR, "name", strlen("name"), old->source);
	value = make(UM_YAML_SCALAR, old->text, strlen(old->text), old->source);
	if (!name || !value) {
		free_tree(mapping);
		free_tree(value);
		return out_of_memory();
	}
	name->next = value;
	name->line = value->line = old->line;
	name->column = value->column = old->column;
	return put(slot, mapping);
}

static int set_in(struct um_yaml_node *mapping, const char *key, const char *text,
		  const char *source)
{
	const char *dot = strchr(key, '.');
	struct um_yaml_node **slot =
		find_or_add(mapping, key, dot ? (size_t)(dot - key) : strlen(key), source);
	int error;

	if (!slot)
		return out_of_memory();
	if (!dot && *slot && (*slot)->kind == UM_YAML_MAPPING)
		return set_in(*slot, "name", text, source);
	if (!dot)
		return put(slot, make(UM_YAML_SCALAR, text, strlen(text), source));
	error = make_mapping(slot, source);
	return error ? error : set_in(*slot, dot + 1, text, source);
}

int um_yaml_set(struct um_yaml_file *file, const char *key, const char *text, const char *source)
{
	if (!file->root && !(file->root = make(UM_YAML_MAPPING, NULL, 0, source)))
		return out_of_memory();
	if (file->root->kind != UM_YAML_MAPPING)
		return 0; /* the reader says what is wrong */
	return set_in(file->root, key, text, source);
}
