#include "yaml_file.h"

#include "trace/base/error.h"
#include "trace/base/suggest.h"
#include "trace/base/units.h"

#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static size_t key_count(const struct um_yaml_key *keys)
{
	size_t count = 0;

	while (keys[count].name)
		count++;
	assert(count < 64);
	return count;
}

static int unknown_key(const struct um_yaml_file *file, const struct um_yaml_node *key,
		       const char *what, const struct um_yaml_key *keys)
{
	const char *meant = um_suggest(key->text, &keys->name, key_count(keys), sizeof(*keys));
	char list[400] = "";

	if (meant)
		return um_yaml_fail(file, key, "%s has no \"%.48s\": did you mean \"%s\"?", what,
				    key->text, meant);
	for (; keys->name; keys++) {
		strncat(list, list[0] ? ", " : "", sizeof(list) - strlen(list) - 1);
		strncat(list, keys->name, sizeof(list) - strlen(list) - 1);
	}
	return um_yaml_fail(file, key, "%s has no \"%.48s\"; it takes %s", what, key->text, list);
}

static int read_entry(const struct um_yaml_file *file, const struct um_yaml_node *key,
		      const char *what, const struct um_yaml_key *keys, uint64_t *seen,
		      void *target)
{
	size_t at = 0;

	if (key->kind != UM_YAML_SCALAR)
		return um_yaml_fail(file, key, "%s has plain words as its keys", what);
	while (keys[at].name && strcmp(keys[at].name, key->text) != 0)
		at++;
	if (!keys[at].name)
		return unknown_key(file, key, what, keys);
	if (*seen >> at & 1)
		return um_yaml_fail(file, key, "\"%s\" stands here twice", key->text);
	*seen |= UINT64_C(1) << at;
	return keys[at].read(file, key->next, &keys[at], target);
}

int um_yaml_read_mapping(const struct um_yaml_file *file, const struct um_yaml_node *node,
			 const char *what, const struct um_yaml_key *keys, void *target)
{
	uint64_t seen = 0;

	if (node->kind == UM_YAML_SCALAR && node->text[0] == '\0')
		return um_yaml_fail(file, node, "%s is empty", what);
	if (node->kind != UM_YAML_MAPPING)
		return um_yaml_fail(file, node, "%s is a mapping, written as \"key: value\"", what);
	for (const struct um_yaml_node *key = node->first; key; key = key->next->next) {
		int error = read_entry(file, key, what, keys, &seen, target);
		if (error)
			return error;
	}
	for (size_t at = 0; keys[at].name; at++)
		if (keys[at].required && !(seen >> at & 1))
			return um_yaml_fail(file, node, "%s needs \"%s\"", what, keys[at].name);
	return 0;
}

const char *um_yaml_scalar(const struct um_yaml_file *file, const struct um_yaml_node *node,
			   const char *name)
{
	if (node->kind == UM_YAML_SCALAR)
		return node->text;
	um_yaml_fail(file, node, "%s takes a single value, not a %s", name,
		     node->kind == UM_YAML_LIST ? "list" : "mapping");
	return NULL;
}

static int fail_of_value(const struct um_yaml_file *file, const struct um_yaml_node *node,
			 const struct um_yaml_key *key)
{
	return um_yaml_fail(file, node, "%s: %s", key->name, um_error_message());
}

/* `format` writes a bound the way the file would. */
static int check_bounds(const struct um_yaml_file *file, const struct um_yaml_node *node,
			const struct um_yaml_key *key, double value,
			void (*format)(char *, size_t, double))
{
	char least[32], most[32];

	if (value >= key->minimum && value <= key->maximum)
		return 0;
	format(least, sizeof(least), key->minimum);
	format(most, sizeof(most), key->maximum);
	return um_yaml_fail(file, node, "%s: %.48s is out of range: it can be %s to %s", key->name,
			    node->text, least, most);
}

static void bytes_bound(char *buffer, size_t capacity, double value)
{
	um_format_bytes(buffer, capacity, (uint64_t)value);
}

static void duration_bound(char *buffer, size_t capacity, double value)
{
	um_format_duration(buffer, capacity, (uint64_t)value);
}

static void bandwidth_bound(char *buffer, size_t capacity, double value)
{
	um_format_bandwidth(buffer, capacity, value);
}

static void count_bound(char *buffer, size_t capacity, double value)
{
	um_format_count(buffer, capacity, (uint64_t)value);
}

static int read_whole(const struct um_yaml_file *file, const struct um_yaml_node *node,
		      const struct um_yaml_key *key, int (*parse)(const char *, uint64_t *),
		      void (*format)(char *, size_t, double), uint64_t *out)
{
	const char *text = um_yaml_scalar(file, node, key->name);

	if (!text)
		return UM_EINVAL;
	if (parse(text, out))
		return fail_of_value(file, node, key);
	return check_bounds(file, node, key, (double)*out, format);
}

static void *field(const struct um_yaml_key *key, void *target)
{
	return (char *)target + key->offset;
}

int um_yaml_bytes(const struct um_yaml_file *file, const struct um_yaml_node *node,
		  const struct um_yaml_key *key, void *target)
{
	return read_whole(file, node, key, um_parse_bytes, bytes_bound, field(key, target));
}

static int narrow(int error, uint64_t value, uint32_t *out)
{
	if (!error)
		*out = (uint32_t)value;
	return error;
}

int um_yaml_bytes32(const struct um_yaml_file *file, const struct um_yaml_node *node,
		    const struct um_yaml_key *key, void *target)
{
	uint64_t value = 0;
	int error = read_whole(file, node, key, um_parse_bytes, bytes_bound, &value);

	return narrow(error, value, field(key, target));
}

int um_yaml_duration(const struct um_yaml_file *file, const struct um_yaml_node *node,
		     const struct um_yaml_key *key, void *target)
{
	return read_whole(file, node, key, um_parse_duration, duration_bound, field(key, target));
}

int um_yaml_u32(const struct um_yaml_file *file, const struct um_yaml_node *node,
		const struct um_yaml_key *key, void *target)
{
	uint64_t value = 0;
	int error = read_whole(file, node, key, um_parse_u64, count_bound, &value);

	return narrow(error, value, field(key, target));
}

int um_yaml_rate(const struct um_yaml_file *file, const struct um_yaml_node *node,
		 const struct um_yaml_key *key, void *target)
{
	uint64_t value = 0;
	int error = read_whole(file, node, key, um_parse_u64, count_bound, &value);

	if (!error)
		*(double *)field(key, target) = (double)value;
	return error;
}

int um_yaml_bandwidth(const struct um_yaml_file *file, const struct um_yaml_node *node,
		      const struct um_yaml_key *key, void *target)
{
	const char *text = um_yaml_scalar(file, node, key->name);
	double value;

	if (!text)
		return UM_EINVAL;
	if (um_parse_bandwidth(text, &value))
		return fail_of_value(file, node, key);
	*(double *)field(key, target) = value;
	return check_bounds(file, node, key, value, bandwidth_bound);
}

int um_yaml_bool(const struct um_yaml_file *file, const struct um_yaml_node *node,
		 const struct um_yaml_key *key, void *target)
{
	static const char *const words[] = {"false", "true", "off", "on", "no", "yes"};
	const char *text = um_yaml_scalar(file, node, key->name);

	if (!text)
		return UM_EINVAL;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i], text) == 0) {
			*(bool *)field(key, target) = i & 1;
			return 0;
		}
	return um_yaml_fail(file, node, "%s: \"%.48s\" is neither true nor false", key->name, text);
}

int um_yaml_string(const struct um_yaml_file *file, const struct um_yaml_node *node,
		   const struct um_yaml_key *key, void *target)
{
	char **out = field(key, target);
	const char *text = um_yaml_scalar(file, node, key->name);

	if (!text)
		return UM_EINVAL;
	if (text[0] == '\0')
		return um_yaml_fail(file, node, "%s is empty", key->name);
	*out = strdup(text);
	return *out ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

int um_yaml_name(const struct um_yaml_file *file, const struct um_yaml_node *node,
		 const struct um_yaml_key *key, void *target)
{
	const char *text = um_yaml_scalar(file, node, key->name);

	if (!text)
		return UM_EINVAL;
	if (text[0] == '\0')
		return um_yaml_fail(file, node, "%s is empty", key->name);
	if (strlen(text) >= key->capacity)
		return um_yaml_fail(file, node, "%s is longer than %zu characters", key->name,
				    key->capacity - 1);
	strcpy(field(key, target), text);
	return 0;
}

char *um_yaml_range_text(char *buffer, size_t capacity, const struct um_yaml_key *key)
{
	static const struct {
		um_yaml_read_fn read;
		void (*format)(char *, size_t, double);
	} numbers[] = {{um_yaml_bytes, bytes_bound},	     {um_yaml_bytes32, bytes_bound},
		       {um_yaml_duration, duration_bound},   {um_yaml_u32, count_bound},
		       {um_yaml_bandwidth, bandwidth_bound}, {um_yaml_rate, count_bound}};
	char least[32], most[32];

	*buffer = '\0';
	if (key->read == um_yaml_bool)
		snprintf(buffer, capacity, "true or false");
	if (key->read == um_yaml_name)
		snprintf(buffer, capacity, "at most %zu characters", key->capacity - 1);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++)
		if (key->read == numbers[i].read) {
			numbers[i].format(least, sizeof(least), key->minimum);
			numbers[i].format(most, sizeof(most), key->maximum);
			snprintf(buffer, capacity, "%s to %s", least, most);
		}
	return buffer;
}
