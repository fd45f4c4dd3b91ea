/* Which machine file is of the card that was measured. */
#include "check_command.h"

#include "sim/machine/machine_file.h"
#include "trace/base/error.h"
#include "trace/base/paths.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

struct search {
	const char *device_name;
	char *found;
	bool is_ambiguous;
};

/* Files that are wrong are not this search's matter. */
static int look_at(struct search *search, const char *file)
{
	static const char suffix[] = ".yaml";
	size_t length = strlen(file);
	struct um_machine_spec *machine;
	char *name;

	if (length <= strlen(suffix) || strcmp(file + length - strlen(suffix), suffix) != 0)
		return 0;
	name = strndup(file, length - strlen(suffix));
	if (!name)
		return um_fail(UM_ENOMEM, "no memory for a machine's name");
	if (um_machine_load(&machine, name)) {
		free(name);
		return 0;
	}
	if (strcasecmp(machine->device_name, search->device_name) == 0) {
		search->is_ambiguous = search->found != NULL;
		free(search->found);
		search->found = name;
		name = NULL;
	}
	um_machine_spec_destroy(machine);
	free(name);
	return 0;
}

static int look_at_all(struct search *search)
{
	char *folder;
	struct dirent *entry;
	DIR *machines;
	int error = um_path_share(&folder, "machines");

	if (error)
		return error;
	machines = opendir(folder);
	if (!machines)
		error = um_fail_errno(UM_EIO, "cannot read %s", folder);
	while (!error && (entry = readdir(machines)))
		error = look_at(search, entry->d_name);
	if (machines)
		closedir(machines);
	free(folder);
	return error;
}

int um_check_machine_of(char **out, const char *device_name)
{
	struct search search = {.device_name = device_name};
	int error = look_at_all(&search);

	if (!error && (!search.found || search.is_ambiguous))
		error = um_fail(UM_EINVAL,
				"%s machine file has a device \"%s\", which was measured: give "
				"--machine NAME (umtrace --help lists them), or a file",
				search.found ? "more than one" : "no", device_name);
	if (error)
		free(search.found);
	else
		*out = search.found;
	return error;
}
