#include "machine_render.h"

#include "sim/machine/machine_topology.h"
#include "trace/base/error.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"

#include <stdlib.h>
#include <string.h>

static int print_and_destroy(struct um_text_table *table, FILE *out, unsigned indent)
{
	int error = um_text_table_print(table, out, indent);

	um_text_table_destroy(table);
	return error;
}

bool um_machine_sets(const struct um_machine_spec *machine, const char *driver,
		     const char *parameter)
{
	for (size_t i = 0; i < machine->setting_count; i++)
		if (strcmp(machine->settings[i].driver, driver) == 0 &&
		    strcmp(machine->settings[i].name, parameter) == 0)
			return true;
	return false;
}

/* --- all machines --- */

int um_machine_list_text(FILE *out, struct um_machine_spec *const *machines, size_t count)
{
	static const struct um_text_column columns[] = {
		{"machine", UM_ALIGN_LEFT}, {"device", UM_ALIGN_LEFT},	{"arch", UM_ALIGN_LEFT},
		{"units", UM_ALIGN_RIGHT},  {"memory", UM_ALIGN_RIGHT}, {"link", UM_ALIGN_LEFT},
		{NULL, UM_ALIGN_LEFT},
	};
	struct um_text_table *table;
	char memory[32];
	int error = um_text_table_create(&table, columns);

	if (error)
		return error;
	for (size_t i = 0; i < count; i++) {
		um_text_table_cell(table, "%s", machines[i]->name);
		um_text_table_cell(table, "%s", machines[i]->device_name);
		um_text_table_cell(table, "%s", machines[i]->arch);
		um_text_table_cell(table, "%u", machines[i]->compute_units);
		um_text_table_cell(
			table, "%s",
			um_format_bytes(memory, sizeof(memory), machines[i]->memory_bytes));
		um_text_table_cell(table, "%s", machines[i]->link.name);
	}
	return print_and_destroy(table, out, 0);
}

/* --- keys --- */

static int print_section(FILE *out, const struct um_machine_section *section)
{
	static const struct um_text_column columns[] = {
		{"key", UM_ALIGN_LEFT},	       {"needed", UM_ALIGN_LEFT}, {"can be", UM_ALIGN_LEFT},
		{"what it is", UM_ALIGN_LEFT}, {NULL, UM_ALIGN_LEFT},
	};
	struct um_text_table *table;
	char range[96];
	int error = um_text_table_create(&table, columns);

	if (error)
		return error;
	for (size_t i = 0; i < section->key_count; i++) {
		const struct um_machine_key *key = &section->keys[i];

		um_text_table_cell(table, "%s", key->yaml.name);
		um_text_table_cell(table, "%s", key->yaml.required ? "yes" : "");
		um_text_table_cell(table, "%s",
				   key->takes
					   ? key->takes
					   : um_yaml_range_text(range, sizeof(range), &key->yaml));
		um_text_table_cell(table, "%s", key->help);
	}
	return print_and_destroy(table, out, section->name ? 2 : 0);
}

int um_machine_keys_text(FILE *out)
{
	size_t count;
	const struct um_machine_section *sections = um_machine_sections(&count);
	int error = 0;

	for (size_t i = 0; i < count && !error; i++) {
		if (sections[i].name)
			fprintf(out, "\n%s:\n", sections[i].name);
		error = print_section(out, &sections[i]);
	}
	fputs("\ndrivers: {DRIVER: {PARAMETER: VALUE}}: umsim policy drivers lists them\n", out);
	return error;
}

/* --- one machine --- */

static int print_parameters(FILE *out, const struct um_machine_shown *shown)
{
	static const struct um_text_column columns[] = {
		{"parameter", UM_ALIGN_LEFT},
		{"here", UM_ALIGN_RIGHT},
		{"the driver's default", UM_ALIGN_RIGHT},
		{"what it is", UM_ALIGN_LEFT},
		{NULL, UM_ALIGN_LEFT},
	};
	const struct um_param *params = shown->policy->driver->params;
	struct um_text_table *table;
	char value[64];
	int error = um_text_table_create(&table, columns);

	if (error)
		return error;
	for (size_t i = 0; params && params[i].name; i++) {
		um_text_table_cell(
			table, "%s%s", params[i].name,
			um_machine_sets(shown->machine, shown->policy->driver->name, params[i].name)
				? " *"
				: "");
		um_text_table_cell(table, "%s",
				   um_param_text(value, sizeof(value), &shown->policy->params[i]));
		um_text_table_cell(table, "%s", params[i].default_text);
		um_text_table_cell(table, "%s", params[i].help);
	}
	um_text_table_note(table, "*: as the machine's file has it");
	return print_and_destroy(table, out, 2);
}

/* "75 GB/s" over one link, "37.5 GB/s over 2" over more. */
static void add_way(struct um_text_table *table, const struct um_topology *topology,
		    const struct um_route *route)
{
	char text[32];

	if (!route->links) {
		um_text_table_cell(table, "-");
		return;
	}
	um_format_bandwidth(text, sizeof(text), um_route_bytes_per_s(topology, route));
	if (route->links == 1)
		um_text_table_cell(table, "%s", text);
	else
		um_text_table_cell(table, "%s over %u", text, route->links);
}

/* What each device's ways leave, and over how many links, alone on them. */
static int print_topology(FILE *out, const struct um_machine_spec *machine)
{
	struct um_text_column columns[UM_DEVICES_MAX + 3] = {{"way", UM_ALIGN_LEFT},
							     {"host", UM_ALIGN_LEFT}};
	char names[UM_DEVICES_MAX][16];
	struct um_text_table *table;
	int error;

	for (uint32_t i = 0; i < machine->devices; i++) {
		snprintf(names[i], sizeof(names[i]), "gpu%u", i);
		columns[2 + i] = (struct um_text_column){names[i], UM_ALIGN_LEFT};
	}
	error = um_text_table_create(&table, columns);
	if (error)
		return error;
	for (uint32_t i = 0; i < machine->devices; i++) {
		um_text_table_cell(table, "%s", names[i]);
		add_way(table, machine->topology, &machine->topology->to_host[i]);
		for (uint32_t peer = 0; peer < machine->devices; peer++)
			if (peer == i)
				um_text_table_cell(table, " ");
			else
				add_way(table, machine->topology,
					&machine->topology->to_peer[i][peer]);
	}
	um_text_table_note(table, "-: through the host's memory");
	return print_and_destroy(table, out, 2);
}

int um_machine_show_text(FILE *out, const struct um_machine_shown *shown)
{
	const struct um_machine_spec *machine = shown->machine;
	char memory[32], to_device[32], to_host[32];

	fputs(machine->name, out);
	fprintf(out, ": %s (%s), %u compute units, %s\n", machine->device_name, machine->arch,
		machine->compute_units,
		um_format_bytes(memory, sizeof(memory), machine->memory_bytes));
	fprintf(out, "link: %s, %s to a device, %s to the host\n", machine->link.name,
		um_format_bandwidth(to_device, sizeof(to_device),
				    machine->link.to_device_bytes_per_s),
		um_format_bandwidth(to_host, sizeof(to_host), machine->link.to_host_bytes_per_s));
	if (machine->topology && print_topology(out, machine))
		return UM_ENOMEM;
	fprintf(out, "file: %s\ndriver: %s\n", machine->path, shown->policy->driver->name);
	return print_parameters(out, shown);
}
