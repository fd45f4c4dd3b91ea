/* Which machine file is of the card that was measured. */
#include "check_command.h"

#include "sim/machine/machine_file.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

struct search {
	const char *device_name;
	char *found;
	bool is_ambiguous;
};

/* Files that are wrong are not this search's matter. Takes the name. */
static void look_at(struct search *search, char *name)
{
	struct um_machine_spec *machine;

	if (um_machine_load(&machine, name) == 0) {
		if (strcasecmp(machine->device_name, search->device_name) == 0) {
			search->is_ambiguous = search->found != NULL;
			free(search->found);
			search->found = name;
			name = NULL;
		}
		um_machine_spec_destroy(machine);
	}
	free(name);
}

static int look_at_all(struct search *search)
{
	char **names;
	size_t count;
	int error = um_machine_names(&names, &count);

	if (error)
		return error;
	for (size_t i = 0; i < count; i++)
		look_at(search, names[i]);
	free(names);
	return 0;
}

int um_check_machine_of(char **out, const char *device_name)
{
	struct search search = {.device_name = device_name};
	int error = look_at_all(&search);

	if (!error && (!search.found || search.is_ambiguous))
		error = um_fail(UM_EINVAL,
				"%s machine file has a device \"%s\", which was measured: give "
				"--machine NAME (umsim machine list), or a file",
				search.found ? "more than one" : "no", device_name);
	if (error)
		free(search.found);
	else
		*out = search.found;
	return error;
}
