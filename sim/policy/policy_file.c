#include "policy.h"

#include "policy_evict.h"
#include "policy_rule.h"
#include "policy_settle.h"
#include "sim/machine/machine_file.h"
#include "sim/machine/yaml_file.h"
#include "trace/base/error.h"
#include "trace/base/suggest.h"
#include "trace/base/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Every rule is held against every allocation and launch of a trace. */
enum { RULES_MAX = 1000 };

#define POLICY(member) offsetof(struct um_policy, member)

static int out_of_memory(void)
{
	return um_fail(UM_ENOMEM, "out of memory");
}

/* ---------------------------------------------------------------- reading */

/* What has to wait until the driver is known, or is only needed while reading. */
struct policy_reading {
	struct um_policy *policy;
	const struct um_yaml_node *page_size, *driver, *evict_seed;
	size_t rule_capacity;
};

static int fail_again(const struct um_yaml_file *file, const struct um_yaml_node *node, int error)
{
	return error == UM_ENOMEM ? error : um_yaml_fail(file, node, "%s", um_error_message());
}

/* What it means depends on the driver, which may be known only once the machine is. */
static int read_setting(const struct um_yaml_file *file, const struct um_yaml_node *key,
			struct um_policy *policy)
{
	const struct um_yaml_node *value = key->next;
	const char *text = um_yaml_scalar(file, value, key->text);

	if (!text)
		return UM_EINVAL;
	return um_policy_add_setting(policy, &(struct um_policy_setting){
						     .name = key->text,
						     .text = (char *)text,
						     .name_at = {key->line, key->column},
						     .text_at = {value->line, value->column},
					     });
}

static const struct um_yaml_node *find_value(const struct um_yaml_node *mapping, const char *name)
{
	for (const struct um_yaml_node *key = mapping->first; key; key = key->next->next)
		if (key->kind == UM_YAML_SCALAR && strcmp(key->text, name) == 0)
			return key->next;
	return NULL;
}

static int check_once(const struct um_yaml_file *file, const struct um_yaml_node *mapping)
{
	for (const struct um_yaml_node *key = mapping->first; key; key = key->next->next) {
		if (key->kind != UM_YAML_SCALAR)
			return um_yaml_fail(file, key, "driver has plain words as its keys");
		if (find_value(mapping, key->text) != key->next)
			return um_yaml_fail(file, key, "\"%.48s\" stands here twice", key->text);
	}
	return 0;
}

static int name_driver(const struct um_yaml_file *file, const struct um_yaml_node *node,
		       struct um_policy *policy)
{
	const char *name = um_yaml_scalar(file, node, "driver");

	if (!name)
		return UM_EINVAL;
	const struct um_driver_ops *ops = um_driver_find(name);
	if (!ops)
		return fail_again(file, node, UM_EINVAL);
	policy->driver_named = true;
	return um_policy_adopt_driver(policy, ops);
}

/* `driver: NAME` or `driver: {name: NAME, parameter: value, ...}` */
static int read_driver(const struct um_yaml_file *file, const struct um_yaml_node *node,
		       struct um_policy *policy)
{
	if (node->kind != UM_YAML_MAPPING)
		return name_driver(file, node, policy);
	const struct um_yaml_node *name = find_value(node, "name");
	int error = name ? name_driver(file, name, policy) : 0;
	if (!error)
		error = check_once(file, node);
	for (const struct um_yaml_node *key = node->first; key && !error; key = key->next->next)
		if (key->next != name)
			error = read_setting(file, key, policy);
	return error || !policy->driver_named ? error : um_policy_apply_settings(policy);
}

static int defer_driver(const struct um_yaml_file *file, const struct um_yaml_node *node,
			const struct um_yaml_key *key, void *target)
{
	(void)file;
	(void)key;
	((struct policy_reading *)target)->driver = node;
	return 0;
}

static int defer_page_size(const struct um_yaml_file *file, const struct um_yaml_node *node,
			   const struct um_yaml_key *key, void *target)
{
	(void)file;
	(void)key;
	((struct policy_reading *)target)->page_size = node;
	return 0;
}

static int read_page_size(const struct um_yaml_file *file, const struct um_yaml_node *node,
			  struct um_policy *policy)
{
	const char *text = um_yaml_scalar(file, node, "page_size");
	uint64_t bytes;

	if (!text)
		return UM_EINVAL;
	if (um_parse_bytes(text, &bytes))
		return um_yaml_fail(file, node, "page_size: %s", um_error_message());
	if (bytes == 0)
		return um_yaml_fail(file, node, "page_size: a page of 0 bytes holds nothing");
	policy->page_bytes = bytes;
	policy->page_at = (struct um_policy_place){node->line, node->column};
	return policy->driver_named ? um_policy_check_page_bytes(policy) : 0;
}

static int read_evict(const struct um_yaml_file *file, const struct um_yaml_node *node,
		      const struct um_yaml_key *key, void *target)
{
	(void)key;
	return um_policy_read_evict(file, node, ((struct policy_reading *)target)->policy);
}

static int defer_evict_seed(const struct um_yaml_file *file, const struct um_yaml_node *node,
			    const struct um_yaml_key *key, void *target)
{
	(void)file;
	(void)key;
	((struct policy_reading *)target)->evict_seed = node;
	return 0;
}

/* Of the footprint: "0.8x". */
static int read_multiple(const struct um_yaml_file *file, const struct um_yaml_node *node,
			 struct um_policy *policy, const char *text)
{
	struct um_memory_limit limit;
	char message[256];

	if (um_memory_limit_parse(&limit, text)) {
		snprintf(message, sizeof(message), "%s", um_error_message());
		return um_yaml_fail(file, node, "memory: %s", message);
	}
	policy->memory_times = limit.times;
	return 0;
}

static int read_memory(const struct um_yaml_file *file, const struct um_yaml_node *node,
		       const struct um_yaml_key *key, void *target)
{
	struct um_policy *policy = ((struct policy_reading *)target)->policy;
	const char *text = um_yaml_scalar(file, node, "memory");
	size_t length = text ? strlen(text) : 0;
	int error;

	if (!text)
		return UM_EINVAL;
	policy->memory_source = UM_MEMORY_BY_POLICY;
	if (length && text[length - 1] == 'x')
		return read_multiple(file, node, policy, text);
	error = um_yaml_bytes(file, node, key, policy);
	if (!error && policy->memory_bytes % UM_MEMORY_PAGE_BYTES)
		return um_yaml_fail(file, node, "memory: %s is not whole pages of 4 KiB",
				    node->text);
	return error;
}

/* A file that the policy names lies beside the policy unless it says otherwise. */
static int read_machine(const struct um_yaml_file *file, const struct um_yaml_node *node,
			const struct um_yaml_key *key, void *target)
{
	struct um_policy *policy = ((struct policy_reading *)target)->policy;
	const char *slash = strrchr(file->path, '/');
	struct um_machine_spec *spec;
	int error = um_yaml_string(file, node, key, policy);

	if (error)
		return error;
	if (slash && um_machine_is_path(policy->machine) && policy->machine[0] != '/') {
		char *path;
		if (asprintf(&path, "%.*s/%s", (int)(slash - file->path), file->path,
			     policy->machine) < 0)
			return out_of_memory();
		free(policy->machine);
		policy->machine = path;
	}
	error = um_machine_load(&spec, policy->machine);
	if (error)
		return fail_again(file, node, error);
	um_machine_spec_destroy(spec);
	return 0;
}

static int read_keep(const struct um_yaml_file *file, const struct um_yaml_node *node,
		     const struct um_yaml_key *key, void *target)
{
	const char *text = um_yaml_scalar(file, node, key->name);

	if (!text)
		return UM_EINVAL;
	if (strcmp(text, "keep") != 0 && strcmp(text, "drop") != 0)
		return um_yaml_fail(file, node, "%s: \"%.48s\" is neither keep nor drop", key->name,
				    text);
	*(bool *)((char *)target + key->offset) = text[0] == 'k';
	return 0;
}

static int add_without(const struct um_yaml_file *file, const struct um_yaml_node *node,
		       struct um_policy *policy)
{
	const char *text = um_yaml_scalar(file, node, "without");
	struct um_policy_without *grown;

	if (!text)
		return UM_EINVAL;
	if (!*text)
		return um_yaml_fail(file, node, "without: a line is \"file:line\"");
	grown = reallocarray(policy->without, policy->without_count + 1, sizeof(*grown));
	if (!grown)
		return out_of_memory();
	policy->without = grown;
	grown[policy->without_count] = (struct um_policy_without){strdup(text), node->line};
	return grown[policy->without_count++].site ? 0 : out_of_memory();
}

static int read_without(const struct um_yaml_file *file, const struct um_yaml_node *node,
			const struct um_yaml_key *key, void *target)
{
	int error = 0;

	(void)key;
	if (node->kind != UM_YAML_LIST || !node->first)
		return um_yaml_fail(file, node,
				    "without takes a list of lines: [\"train.hip:42\"]");
	for (const struct um_yaml_node *item = node->first; item && !error; item = item->next)
		error = add_without(file, item, target);
	return error;
}

static const struct um_yaml_key program_keys[] = {
	{"advice", read_keep, POLICY(keep_program_advice), 0, 0, 0, false},
	{"prefetch", read_keep, POLICY(keep_program_prefetch), 0, 0, 0, false},
	{"without", read_without, 0, 0, 0, 0, false},
	{0},
};

static int read_program(const struct um_yaml_file *file, const struct um_yaml_node *node,
			const struct um_yaml_key *key, void *target)
{
	(void)key;
	return um_yaml_read_mapping(file, node, "program", program_keys,
				    ((struct policy_reading *)target)->policy);
}

static struct um_rule *add_rule(struct policy_reading *reading)
{
	struct um_policy *policy = reading->policy;

	if (policy->rule_count == reading->rule_capacity) {
		size_t capacity = reading->rule_capacity ? 2 * reading->rule_capacity : 8;
		struct um_rule *rules = reallocarray(policy->rules, capacity, sizeof(*rules));
		if (!rules)
			return NULL;
		policy->rules = rules;
		reading->rule_capacity = capacity;
	}
	struct um_rule *rule = &policy->rules[policy->rule_count++];
	memset(rule, 0, sizeof(*rule));
	return rule;
}

typedef int (*rule_fn)(struct um_rule *, const struct um_yaml_file *, const struct um_yaml_node *);

static int read_rules(const struct um_yaml_file *file, const struct um_yaml_node *node,
		      const struct um_yaml_key *key, struct policy_reading *reading, rule_fn read)
{
	if (node->kind != UM_YAML_LIST)
		return um_yaml_fail(file, node,
				    "%s takes a list of rules, each begun with \"- on:\"",
				    key->name);
	for (const struct um_yaml_node *item = node->first; item; item = item->next) {
		if (reading->policy->rule_count == RULES_MAX)
			return um_yaml_fail(file, item, "more than %d rules", RULES_MAX);
		struct um_rule *rule = add_rule(reading);
		if (!rule)
			return out_of_memory();
		int error = read(rule, file, item);
		if (error)
			return error;
	}
	return 0;
}

static int read_advise(const struct um_yaml_file *file, const struct um_yaml_node *node,
		       const struct um_yaml_key *key, void *target)
{
	return read_rules(file, node, key, target, um_rule_read_advise);
}

static int read_prefetch(const struct um_yaml_file *file, const struct um_yaml_node *node,
			 const struct um_yaml_key *key, void *target)
{
	return read_rules(file, node, key, target, um_rule_read_prefetch);
}

static const struct um_yaml_key policy_keys[] = {
	{"machine", read_machine, POLICY(machine), 0, 0, 0, false},
	{"driver", defer_driver, 0, 0, 0, 0, false},
	{"page_size", defer_page_size, 0, 0, 0, 0, false},
	{"memory", read_memory, POLICY(memory_bytes), 0, UM_MEMORY_BYTES_MIN,
	 (double)UM_MEMORY_BYTES_MAX, false},
	{"evict", read_evict, 0, 0, 0, 0, false},
	{"evict_seed", defer_evict_seed, 0, 0, 0, 0, false},
	{"program", read_program, 0, 0, 0, 0, false},
	{"advise", read_advise, 0, 0, 0, 0, false},
	{"prefetch", read_prefetch, 0, 0, 0, 0, false},
	{0},
};

static int read_policy(struct um_policy *policy, const struct um_yaml_file *file)
{
	struct policy_reading reading = {.policy = policy};
	int error = file->root ? um_yaml_read_mapping(file, file->root, "a policy", policy_keys,
						      &reading)
			       : 0;

	if (!error && reading.driver)
		error = read_driver(file, reading.driver, policy);
	if (!error && reading.page_size)
		error = read_page_size(file, reading.page_size, policy);
	if (!error && reading.evict_seed)
		error = um_policy_read_evict_seed(file, reading.evict_seed, policy);
	return error;
}

/* ---------------------------------------------------------------- life */

static int create_policy(struct um_policy **out, const char *path)
{
	struct um_policy *policy = calloc(1, sizeof(*policy));
	const struct um_driver_ops *ops = um_driver_find(UM_DRIVER_DEFAULT);

	if (!policy)
		return out_of_memory();
	policy->path = strdup(path);
	policy->keep_program_advice = true;
	policy->keep_program_prefetch = true;
	policy->xnack_asked = policy->xnack = UM_XNACK_UNKNOWN;
	int error = !policy->path ? out_of_memory()
		    : ops	  ? um_policy_adopt_driver(policy, ops)
				  : UM_EINVAL;
	if (error)
		um_policy_destroy(policy);
	else
		*out = policy;
	return error;
}

static int policy_of_file(struct um_policy **out, const struct um_yaml_file *file)
{
	struct um_policy *policy = NULL;
	int error = create_policy(&policy, file->path);

	if (error)
		return error;
	error = read_policy(policy, file);
	if (error)
		um_policy_destroy(policy);
	else
		*out = policy;
	return error;
}

int um_policy_load(struct um_policy **out, const char *path)
{
	struct um_yaml_file *file;
	int error = um_yaml_load(&file, path);

	if (error)
		return error;
	error = policy_of_file(out, file);
	um_yaml_destroy(file);
	return error;
}

int um_policy_parse(struct um_policy **out, const char *path, const char *text, size_t bytes)
{
	struct um_yaml_file *file;
	int error = um_yaml_parse(&file, path, text, bytes);

	if (error)
		return error;
	error = policy_of_file(out, file);
	um_yaml_destroy(file);
	return error;
}

int um_policy_load_with(struct um_policy **out, const char *path,
			const struct um_policy_value *values, size_t count)
{
	struct um_yaml_file *file;
	int error = path ? um_yaml_load(&file, path) : um_yaml_parse(&file, "-", "", 0);

	if (error)
		return error;
	for (size_t i = 0; i < count && !error; i++)
		error = um_yaml_set(file, values[i].key, values[i].text, values[i].source);
	if (!error)
		error = policy_of_file(out, file);
	um_yaml_destroy(file);
	return error;
}

int um_policy_default(struct um_policy **out)
{
	return create_policy(out, "-");
}

void um_policy_destroy(struct um_policy *policy)
{
	if (!policy)
		return;
	for (size_t i = 0; i < policy->rule_count; i++)
		um_rule_fini(&policy->rules[i]);
	um_policy_drop_settings(policy);
	for (size_t i = 0; i < policy->without_count; i++)
		free(policy->without[i].site);
	free(policy->without);
	free(policy->rules);
	free(policy->params);
	free(policy->machine);
	free(policy->path);
	free(policy);
}
