#include "machine_render.h"

#include "trace/base/error.h"

#include <jansson.h>

static int put(FILE *out, json_t *json)
{
	int failed = !json || json_dumpf(json, out, JSON_INDENT(2)) || fputc('\n', out) == EOF;

	json_decref(json);
	return failed ? um_fail(UM_EIO, "cannot write JSON") : 0;
}

static json_t *machine_json(const struct um_machine_spec *machine)
{
	return json_pack("{s:s, s:s, s:s, s:I, s:I, s:s, s:f, s:f, s:s?}", "name", machine->name,
			 "device_name", machine->device_name, "arch", machine->arch,
			 "compute_units", (json_int_t)machine->compute_units, "memory_bytes",
			 (json_int_t)machine->memory_bytes, "link", machine->link.name,
			 "link_to_device_bytes_per_s", machine->link.to_device_bytes_per_s,
			 "link_to_host_bytes_per_s", machine->link.to_host_bytes_per_s, "path",
			 machine->path);
}

int um_machine_list_json(FILE *out, struct um_machine_spec *const *machines, size_t count)
{
	json_t *all = json_array();

	for (size_t i = 0; i < count; i++)
		json_array_append_new(all, machine_json(machines[i]));
	return put(out, all);
}

static json_t *keys_json(const struct um_machine_section *section)
{
	json_t *all = json_array();
	char range[96];

	for (size_t i = 0; i < section->key_count; i++) {
		const struct um_machine_key *key = &section->keys[i];

		json_array_append_new(
			all,
			json_pack("{s:s, s:b, s:s, s:s}", "key", key->yaml.name, "needed",
				  key->yaml.required, "range",
				  key->takes ? key->takes
					     : um_yaml_range_text(range, sizeof(range), &key->yaml),
				  "help", key->help));
	}
	return all;
}

int um_machine_keys_json(FILE *out)
{
	size_t count;
	const struct um_machine_section *sections = um_machine_sections(&count);
	json_t *all = json_object();

	for (size_t i = 0; i < count; i++)
		json_object_set_new(all, sections[i].name ? sections[i].name : "machine",
				    keys_json(&sections[i]));
	return put(out, all);
}

static json_t *parameters_json(const struct um_machine_shown *shown)
{
	const struct um_driver_ops *driver = shown->policy->driver;
	json_t *all = json_array();
	char value[64];

	for (size_t i = 0; driver->params && driver->params[i].name; i++)
		json_array_append_new(
			all,
			json_pack("{s:s, s:s, s:s, s:b, s:s}", "name", driver->params[i].name,
				  "value",
				  um_param_text(value, sizeof(value), &shown->policy->params[i]),
				  "default", driver->params[i].default_text, "of_machine",
				  um_machine_sets(shown->machine, driver->name,
						  driver->params[i].name),
				  "help", driver->params[i].help));
	return all;
}

int um_machine_show_json(FILE *out, const struct um_machine_shown *shown)
{
	json_t *all = machine_json(shown->machine);

	json_object_set_new(all, "driver", json_string(shown->policy->driver->name));
	json_object_set_new(all, "parameters", parameters_json(shown));
	return put(out, all);
}
