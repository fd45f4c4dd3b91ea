#include "policy_rule.h"

#include "trace/base/error.h"
#include "trace/base/units.h"

#include <stdlib.h>
#include <string.h>

#define SELECTOR(member) offsetof(struct um_selector, member)
#define MOMENT(member)	 offsetof(struct um_moment, member)
#define RULE(member)	 offsetof(struct um_rule, member)

#define BYTES_MAX (double)(UINT64_C(1) << 48)

/* The first of them are what HIP can be asked for. */
#define KINDS_ASKED_FOR 3
static const char *const kinds[] = {"managed", "device", "pinned", "registered", "pageable"};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

/* One of the first `count` kinds, kept as a string. */
static int read_word(const struct um_yaml_file *file, const struct um_yaml_node *node,
		     const struct um_yaml_key *key, void *target, size_t count)
{
	const char *text = um_yaml_scalar(file, node, key->name);

	if (!text)
		return UM_EINVAL;
	for (size_t i = 0; i < count; i++)
		if (strcmp(kinds[i], text) == 0)
			return um_yaml_string(file, node, key, target);
	return um_yaml_fail(file, node, "%s: \"%.48s\" is none of managed, device, pinned%s",
			    key->name, text, count == KINDS ? ", registered, pageable" : "");
}

static int read_kind(const struct um_yaml_file *file, const struct um_yaml_node *node,
		     const struct um_yaml_key *key, void *target)
{
	return read_word(file, node, key, target, KINDS);
}

static int read_kind_asked_for(const struct um_yaml_file *file, const struct um_yaml_node *node,
			       const struct um_yaml_key *key, void *target)
{
	return read_word(file, node, key, target, KINDS_ASKED_FOR);
}

static int read_bound(const struct um_yaml_file *file, const struct um_yaml_node *node,
		      uint64_t *out)
{
	static const struct um_yaml_key key = {.name = "range", .maximum = BYTES_MAX};

	return um_yaml_bytes(file, node, &key, out);
}

static int read_range(const struct um_yaml_file *file, const struct um_yaml_node *node,
		      const struct um_yaml_key *key, void *target)
{
	struct um_selector *on = (struct um_selector *)((char *)target + key->offset);
	const struct um_yaml_node *start = node->first;

	if (node->kind != UM_YAML_LIST || !start || !start->next || start->next->next)
		return um_yaml_fail(file, node, "range takes two sizes: [0, 64MiB]");
	int error = read_bound(file, start, &on->range_start);
	if (!error)
		error = read_bound(file, start->next, &on->range_end);
	if (error)
		return error;
	if (on->range_start >= on->range_end)
		return um_yaml_fail(file, node, "range: %s to %s holds nothing", start->text,
				    start->next->text);
	on->has_range = true;
	return 0;
}

static const struct um_yaml_key selector_keys[] = {
	{"site", um_yaml_string, SELECTOR(site), 0, 0, 0, false},
	{"name", um_yaml_string, SELECTOR(name), 0, 0, 0, false},
	{"index", um_yaml_u32, SELECTOR(index), 0, 1, UINT32_MAX, false},
	{"kind", read_kind, SELECTOR(kind), 0, 0, 0, false},
	{"larger_than", um_yaml_bytes, SELECTOR(larger_than_bytes), 0, 0, BYTES_MAX, false},
	{"range", read_range, 0, 0, 0, 0, false},
	{0},
};

static int read_selector(const struct um_yaml_file *file, const struct um_yaml_node *node,
			 const struct um_yaml_key *key, void *target)
{
	if (node->kind == UM_YAML_MAPPING && !node->first)
		return um_yaml_fail(file, node,
				    "on is empty: {kind: managed} is all managed memory");
	return um_yaml_read_mapping(file, node, "on", selector_keys, (char *)target + key->offset);
}

static const struct um_yaml_key moment_keys[] = {
	{"before", um_yaml_string, MOMENT(before), 0, 0, 0, true},
	{"nth", um_yaml_u32, MOMENT(nth), 0, 1, UINT32_MAX, false},
	{0},
};

static int read_moment(const struct um_yaml_file *file, const struct um_yaml_node *node,
		       const struct um_yaml_key *key, void *target)
{
	return um_yaml_read_mapping(file, node, "at", moment_keys, (char *)target + key->offset);
}

/* "gpu0" or "host"; `key` names who asks. */
static int parse_place(const struct um_yaml_file *file, const struct um_yaml_node *node,
		       const char *name, um_device_id *out)
{
	const char *text = um_yaml_scalar(file, node, name);
	uint64_t number;

	if (!text)
		return UM_EINVAL;
	if (strcmp(text, "host") == 0) {
		*out = UM_HOST;
		return 0;
	}
	if (strncmp(text, "gpu", 3) != 0 || um_parse_u64(text + 3, &number))
		return um_yaml_fail(file, node, "%s: \"%.48s\" is neither host nor a gpu (gpu0)",
				    name, text);
	if (number >= UM_DEVICES_MAX)
		return um_yaml_fail(file, node, "%s: there are at most %d devices, from gpu0", name,
				    UM_DEVICES_MAX);
	*out = (um_device_id)number;
	return 0;
}

static int read_place(const struct um_yaml_file *file, const struct um_yaml_node *node,
		      const struct um_yaml_key *key, void *target)
{
	return parse_place(file, node, key->name, (um_device_id *)((char *)target + key->offset));
}

static int read_preferred(const struct um_yaml_file *file, const struct um_yaml_node *node,
			  const struct um_yaml_key *key, void *target)
{
	((struct um_rule *)target)->has_preferred_location = true;
	return read_place(file, node, key, target);
}

static int read_read_mostly(const struct um_yaml_file *file, const struct um_yaml_node *node,
			    const struct um_yaml_key *key, void *target)
{
	((struct um_rule *)target)->has_read_mostly = true;
	return um_yaml_bool(file, node, key, target);
}

static int read_coarse_grain(const struct um_yaml_file *file, const struct um_yaml_node *node,
			     const struct um_yaml_key *key, void *target)
{
	((struct um_rule *)target)->has_coarse_grain = true;
	return um_yaml_bool(file, node, key, target);
}

static int add_accessor(const struct um_yaml_file *file, const struct um_yaml_node *node,
			struct um_rule *rule)
{
	um_device_id device = UM_HOST;
	int error = parse_place(file, node, "accessed_by", &device);

	if (error)
		return error;
	rule->accessed_by |= device == UM_HOST ? UM_BY_HOST : UINT32_C(1) << device;
	return 0;
}

static int read_accessors(const struct um_yaml_file *file, const struct um_yaml_node *node,
			  const struct um_yaml_key *key, void *target)
{
	int error = 0;

	(void)key;
	if (node->kind != UM_YAML_LIST)
		return add_accessor(file, node, target);
	if (!node->first)
		return um_yaml_fail(file, node, "accessed_by is empty");
	for (const struct um_yaml_node *item = node->first; item && !error; item = item->next)
		error = add_accessor(file, item, target);
	return error;
}

static const struct um_yaml_key advise_keys[] = {
	{"on", read_selector, RULE(on), 0, 0, 0, true},
	{"at", read_moment, RULE(at), 0, 0, 0, false},
	{"preferred_location", read_preferred, RULE(preferred_location), 0, 0, 0, false},
	{"accessed_by", read_accessors, 0, 0, 0, 0, false},
	{"read_mostly", read_read_mostly, RULE(read_mostly), 0, 0, 0, false},
	{"coarse_grain", read_coarse_grain, RULE(coarse_grain), 0, 0, 0, false},
	{"allocate_as", read_kind_asked_for, RULE(allocate_as), 0, 0, 0, false},
	{0},
};

int um_rule_read_advise(struct um_rule *rule, const struct um_yaml_file *file,
			const struct um_yaml_node *node)
{
	rule->line = node->line;
	int error = um_yaml_read_mapping(file, node, "an advise rule", advise_keys, rule);
	if (error)
		return error;
	if (!rule->has_preferred_location && !rule->accessed_by && !rule->has_read_mostly &&
	    !rule->has_coarse_grain && !rule->allocate_as)
		return um_yaml_fail(file, node,
				    "this rule advises nothing: give preferred_location, "
				    "accessed_by, read_mostly, coarse_grain or allocate_as");
	if (rule->allocate_as && rule->at.before)
		return um_yaml_fail(file, node,
				    "allocate_as acts at the allocation: leave `at` out");
	return 0;
}

static int read_stream(const struct um_yaml_file *file, const struct um_yaml_node *node,
		       const struct um_yaml_key *key, void *target)
{
	const char *text = um_yaml_scalar(file, node, key->name);

	if (!text)
		return UM_EINVAL;
	if (strcmp(text, "own") != 0 && strcmp(text, "kernel") != 0)
		return um_yaml_fail(file, node, "stream: \"%.48s\" is neither own nor kernel",
				    text);
	((struct um_rule *)target)->own_stream = text[0] == 'o';
	return 0;
}

static const struct um_yaml_key prefetch_keys[] = {
	{"on", read_selector, RULE(on), 0, 0, 0, true},
	{"to", read_place, RULE(to), 0, 0, 0, true},
	{"before", um_yaml_string, RULE(at.before), 0, 0, 0, true},
	{"nth", um_yaml_u32, RULE(at.nth), 0, 1, UINT32_MAX, false},
	{"ahead", um_yaml_u32, RULE(at.ahead), 0, 0, 1000, false},
	{"stream", read_stream, 0, 0, 0, 0, false},
	{0},
};

int um_rule_read_prefetch(struct um_rule *rule, const struct um_yaml_file *file,
			  const struct um_yaml_node *node)
{
	rule->line = node->line;
	rule->is_prefetch = true;
	return um_yaml_read_mapping(file, node, "a prefetch rule", prefetch_keys, rule);
}

void um_rule_fini(struct um_rule *rule)
{
	free(rule->on.site);
	free(rule->on.name);
	free(rule->on.kind);
	free(rule->at.before);
	free(rule->allocate_as);
}
