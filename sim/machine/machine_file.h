/*
 * Machine files: what a machine is, as YAML, every figure with its source beside it. Those that
 * come with umtrace lie in share/umtrace/machines and go by their name; any other is given as a
 * path.
 */
#ifndef UM_MACHINE_FILE_H
#define UM_MACHINE_FILE_H

#include "machine.h"
#include "yaml_file.h"

#define UM_MACHINE_DEFAULT "mi250x"

/*
 * `name`: a name, or a path if it holds a '/' or ends in ".yaml" or ".yml"; NULL is the default.
 * UM_ENOENT (lists the names there are), UM_EINVAL (with file, line and column), UM_EIO, UM_ENOMEM.
 */
int um_machine_load(struct um_machine_spec **out, const char *name);
/* From a text (of a trace's run.machine_text); `path` is for messages. UM_EINVAL, UM_ENOMEM. */
int um_machine_parse(struct um_machine_spec **out, const char *path, const char *text,
		     size_t bytes);
void um_machine_spec_destroy(struct um_machine_spec *); /* NULL is legal */

/* Whether a machine's name is a path in fact. */
bool um_machine_is_path(const char *name);
/* The names that there are, in order: malloc'ed, as each of them; UM_EIO, UM_ENOMEM. */
int um_machine_names(char ***names, size_t *count);

/* A key of a machine file, by which it is read and explained. */
struct um_machine_key {
	struct um_yaml_key yaml;
	const char *takes; /* NULL: what um_yaml_range_text() says */
	const char *help;
};

/* A mapping of a machine file. */
struct um_machine_section {
	const char *name; /* of its key; NULL: the file itself */
	const char *what; /* "a machine", for messages */
	const struct um_machine_key *keys;
	size_t key_count;
};
/* All there are; of `drivers` each driver's table has the keys. */
const struct um_machine_section *um_machine_sections(size_t *count);

#endif
