#include "policy.h"

#include "policy_evict.h"
#include "sim/machine/machine_file.h"
#include "trace/base/error.h"
#include "trace/base/text_width.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* YAML 1.1, c-printable, less the line breaks and the byte order mark, which mean something. */
static bool is_printable(uint32_t c)
{
	return (c >= 0x20 && c <= 0x7e) || (c >= 0xa0 && c <= 0x2027) ||
	       (c >= 0x202a && c <= 0xfefe) || (c >= 0xff00 && c <= 0xfffd) ||
	       (c >= 0x10000 && c <= 0x10ffff);
}

/* A double-quoted YAML scalar. A byte of a path that is no UTF-8 becomes '?'. */
static void write_string(FILE *out, const char *text)
{
	fputc('"', out);
	while (*text) {
		uint32_t c;
		size_t bytes = um_utf8_decode(text, &c);
		if (c == UM_NO_CHARACTER)
			fputc('?', out);
		else if (c == '"' || c == '\\')
			fprintf(out, "\\%c", (char)c);
		else if (is_printable(c))
			fwrite(text, 1, bytes, out);
		else
			fprintf(out, "\\u%04" PRIx32, c);
		text += bytes;
	}
	fputc('"', out);
}

static void write_bytes(FILE *out, uint64_t bytes)
{
	static const struct um_param param = {.type = UM_PARAM_BYTES};
	const struct um_param_value value = {.param = &param, .integer = bytes};
	char text[64];

	fputs(um_param_text(text, sizeof(text), &value), out);
}

static void write_place(FILE *out, um_device_id device)
{
	if (device == UM_HOST)
		fputs("host", out);
	else
		fprintf(out, "gpu%d", device);
}

/* Between the entries of a {...}. */
static void write_key(FILE *out, const char *key, bool *first)
{
	fprintf(out, "%s%s: ", *first ? "" : ", ", key);
	*first = false;
}

static void write_selector(FILE *out, const struct um_selector *on)
{
	bool first = true;

	fputs("on: {", out);
	if (on->site) {
		write_key(out, "site", &first);
		write_string(out, on->site);
	}
	if (on->name) {
		write_key(out, "name", &first);
		write_string(out, on->name);
	}
	if (on->index) {
		write_key(out, "index", &first);
		fprintf(out, "%" PRIu32, on->index);
	}
	if (on->kind) {
		write_key(out, "kind", &first);
		fputs(on->kind, out);
	}
	/* All allocations are larger than nothing: what a rule without conditions would say. */
	if (on->larger_than_bytes || (first && !on->has_range)) {
		write_key(out, "larger_than", &first);
		write_bytes(out, on->larger_than_bytes);
	}
	if (on->has_range) {
		write_key(out, "range", &first);
		fputc('[', out);
		write_bytes(out, on->range_start);
		fputs(", ", out);
		write_bytes(out, on->range_end);
		fputc(']', out);
	}
	fputs("}\n", out);
}

static void write_accessors(FILE *out, uint32_t accessed_by)
{
	const char *separator = "";

	fputs("    accessed_by: [", out);
	for (um_device_id device = 0; device < UM_DEVICES_MAX; device++)
		if (accessed_by >> device & 1) {
			fprintf(out, "%sgpu%d", separator, device);
			separator = ", ";
		}
	if (accessed_by & UM_BY_HOST)
		fprintf(out, "%shost", separator);
	fputs("]\n", out);
}

static void write_advise(FILE *out, const struct um_rule *rule)
{
	if (rule->at.before) {
		fputs("    at: {before: ", out);
		write_string(out, rule->at.before);
		if (rule->at.nth)
			fprintf(out, ", nth: %" PRIu32, rule->at.nth);
		fputs("}\n", out);
	}
	if (rule->has_preferred_location) {
		fputs("    preferred_location: ", out);
		write_place(out, rule->preferred_location);
		fputc('\n', out);
	}
	if (rule->accessed_by)
		write_accessors(out, rule->accessed_by);
	if (rule->has_read_mostly)
		fprintf(out, "    read_mostly: %s\n", rule->read_mostly ? "true" : "false");
	if (rule->has_coarse_grain)
		fprintf(out, "    coarse_grain: %s\n", rule->coarse_grain ? "true" : "false");
	if (rule->allocate_as)
		fprintf(out, "    allocate_as: %s\n", rule->allocate_as);
}

static void write_prefetch(FILE *out, const struct um_rule *rule)
{
	fputs("    to: ", out);
	write_place(out, rule->to);
	fputs("\n    before: ", out);
	write_string(out, rule->at.before);
	if (rule->at.nth)
		fprintf(out, "\n    nth: %" PRIu32, rule->at.nth);
	fprintf(out, "\n    ahead: %" PRIu32 "\n    stream: %s\n", rule->at.ahead,
		rule->own_stream ? "own" : "kernel");
}

static void write_rules(FILE *out, const struct um_policy *policy, bool prefetch)
{
	bool any = false;

	for (size_t i = 0; i < policy->rule_count; i++) {
		const struct um_rule *rule = &policy->rules[i];
		if (rule->is_prefetch != prefetch)
			continue;
		if (!any)
			fputs(prefetch ? "prefetch:\n" : "advise:\n", out);
		any = true;
		fputs("  - ", out);
		write_selector(out, &rule->on);
		if (prefetch)
			write_prefetch(out, rule);
		else
			write_advise(out, rule);
	}
}

/* What a policy says of a driver that it does not name. */
static void write_settings(FILE *out, const struct um_policy *policy)
{
	if (!policy->setting_count) {
		fputs("# driver: the machine's own\n", out);
		return;
	}
	for (size_t i = 0; i < policy->setting_count; i++) {
		fputs(i ? ", " : "driver: {", out);
		write_string(out, policy->settings[i].name);
		fputs(": ", out);
		write_string(out, policy->settings[i].text);
	}
	fputs("}\n", out);
}

static void write_driver(FILE *out, const struct um_policy *policy)
{
	char text[64];

	if (!policy->driver_named && !policy->is_settled) {
		write_settings(out, policy);
		return;
	}
	fprintf(out, "driver: {name: %s", policy->driver->name);
	for (size_t i = 0; policy->driver->params && policy->driver->params[i].name; i++)
		fprintf(out, ", %s: %s", policy->driver->params[i].name,
			um_param_text(text, sizeof(text), &policy->params[i]));
	fputs("}\n", out);
}

static void write_page_size(FILE *out, const struct um_policy *policy)
{
	if (!policy->page_bytes && !policy->driver_named && !policy->is_settled) {
		fputs("# page_size: the driver's own\n", out);
		return;
	}
	fputs("page_size: ", out);
	write_bytes(out,
		    policy->page_bytes ? policy->page_bytes : policy->driver->default_page_bytes);
	fputc('\n', out);
}

static void write_memory(FILE *out, const struct um_policy *policy)
{
	if (policy->memory_bytes) {
		fputs("memory: ", out);
		write_bytes(out, policy->memory_bytes);
		if (policy->memory_times > 0)
			fprintf(out, " # %.12gx", policy->memory_times);
		fputc('\n', out);
	} else if (policy->memory_times > 0) {
		fprintf(out, "memory: %.12gx\n", policy->memory_times);
	} else {
		fputs("# memory: all that the machine has\n", out);
	}
}

static void write_program(FILE *out, const struct um_policy *policy)
{
	fprintf(out, "program: {advice: %s, prefetch: %s",
		policy->keep_program_advice ? "keep" : "drop",
		policy->keep_program_prefetch ? "keep" : "drop");
	for (size_t i = 0; i < policy->without_count; i++) {
		fputs(i ? ", " : ", without: [", out);
		write_string(out, policy->without[i].site);
	}
	fputs(policy->without_count ? "]}\n" : "}\n", out);
}

static void write_policy(FILE *out, const struct um_policy *policy)
{
	fputs("machine: ", out);
	write_string(out, policy->machine ? policy->machine : UM_MACHINE_DEFAULT);
	fputc('\n', out);
	write_driver(out, policy);
	write_page_size(out, policy);
	write_memory(out, policy);
	um_policy_write_evict(out, policy);
	write_program(out, policy);
	write_rules(out, policy, false);
	write_rules(out, policy, true);
}

int um_policy_text(char **out, const struct um_policy *policy)
{
	char *text = NULL;
	size_t bytes;
	FILE *stream = open_memstream(&text, &bytes);

	if (!stream)
		return um_fail(UM_ENOMEM, "out of memory");
	write_policy(stream, policy);
	if (fclose(stream) != 0) {
		free(text);
		return um_fail(UM_ENOMEM, "out of memory");
	}
	*out = text;
	return 0;
}
