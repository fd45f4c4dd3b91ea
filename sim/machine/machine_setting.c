#include "machine_setting.h"

#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

static struct um_machine_place place_of_node(const struct um_yaml_node *node)
{
	return (struct um_machine_place){node->line, node->column};
}

static int add_setting(struct um_machine_spec *spec, const struct um_yaml_node *driver,
		       const struct um_yaml_node *name)
{
	struct um_machine_setting *grown =
		reallocarray(spec->settings, spec->setting_count + 1, sizeof(*grown));

	if (!grown)
		return um_fail(UM_ENOMEM, "out of memory");
	spec->settings = grown;

	struct um_machine_setting *added = &grown[spec->setting_count++];

	*added = (struct um_machine_setting){
		.driver = strdup(driver->text),
		.name = strdup(name->text),
		.text = strdup(name->next->text),
		.driver_at = place_of_node(driver),
		.name_at = place_of_node(name),
		.text_at = place_of_node(name->next),
	};
	return added->driver && added->name && added->text ? 0
							   : um_fail(UM_ENOMEM, "out of memory");
}

/* Keys of a mapping are plain words, none of them twice. */
static int check_keys(const struct um_yaml_file *file, const struct um_yaml_node *mapping,
		      const char *what)
{
	if (mapping->kind != UM_YAML_MAPPING)
		return um_yaml_fail(file, mapping, "%s is a mapping, written as \"key: value\"",
				    what);
	if (!mapping->first)
		return um_yaml_fail(file, mapping, "%s is empty", what);
	for (const struct um_yaml_node *key = mapping->first; key; key = key->next->next) {
		if (key->kind != UM_YAML_SCALAR)
			return um_yaml_fail(file, key, "%s has plain words as its keys", what);
		for (const struct um_yaml_node *before = mapping->first; before != key;
		     before = before->next->next)
			if (strcmp(before->text, key->text) == 0)
				return um_yaml_fail(file, key, "\"%.48s\" stands here twice",
						    key->text);
	}
	return 0;
}

static int read_driver(const struct um_yaml_file *file, const struct um_yaml_node *driver,
		       struct um_machine_spec *spec)
{
	int error = check_keys(file, driver->next, driver->text);

	for (const struct um_yaml_node *name = driver->next->first; name && !error;
	     name = name->next->next)
		error = um_yaml_scalar(file, name->next, name->text)
				? add_setting(spec, driver, name)
				: UM_EINVAL;
	return error;
}

int um_machine_read_settings(const struct um_yaml_file *file, const struct um_yaml_node *node,
			     struct um_machine_spec *spec)
{
	int error = check_keys(file, node, "drivers");

	for (const struct um_yaml_node *driver = node->first; driver && !error;
	     driver = driver->next->next)
		error = read_driver(file, driver, spec);
	return error;
}

void um_machine_drop_settings(struct um_machine_spec *spec)
{
	for (size_t i = 0; i < spec->setting_count; i++) {
		free(spec->settings[i].driver);
		free(spec->settings[i].name);
		free(spec->settings[i].text);
	}
	free(spec->settings);
}
