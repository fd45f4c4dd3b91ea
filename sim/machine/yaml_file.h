/*
 * YAML as policy and machine files use it: scalars, lists, mappings, each with its place in the
 * file. Read from untrusted files, so: one document, no aliases (an alias can stand for itself a
 * billion times) and no tags, at most 1 MiB, 20,000 values, 16 levels. All errors are UM_EINVAL
 * with "file:line:column: ", but for a file that cannot be read (UM_ENOENT, UM_EIO) and UM_ENOMEM.
 *
 * A mapping is read with a table of its keys: unknown, missing and double keys are errors there.
 */
#ifndef UM_YAML_FILE_H
#define UM_YAML_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum um_yaml_kind { UM_YAML_SCALAR, UM_YAML_LIST, UM_YAML_MAPPING };

struct um_yaml_node {
	enum um_yaml_kind kind;
	unsigned line, column;	    /* from 1 */
	char *text;		    /* of a scalar, else NULL */
	struct um_yaml_node *first; /* of a list: its items; of a mapping: key, value, key, ... */
	struct um_yaml_node *next;
	const char *source; /* where it comes from if not from the file: um_yaml_set() */
};

struct um_yaml_file {
	char *path; /* as shown in messages */
	char *text; /* the file */
	size_t bytes;
	struct um_yaml_node *root; /* NULL: nothing in the file, or only comments */
};

int um_yaml_load(struct um_yaml_file **out, const char *path);
/* The same of a text in memory; `path` is for messages. */
int um_yaml_parse(struct um_yaml_file **out, const char *path, const char *text, size_t bytes);
void um_yaml_destroy(struct um_yaml_file *); /* NULL is legal */

/*
 * Puts a scalar over what the file has: `key` is that of the mapping, or "outer.inner" for one in a
 * mapping within; where `outer` has a single value, that becomes its key `name`. Errors about it begin with
 * `source` in place of "file:line:column", which outlives the file. UM_ENOMEM.
 */
int um_yaml_set(struct um_yaml_file *, const char *key, const char *text, const char *source);

/* UM_EINVAL with the place of `node`. */
int um_yaml_fail(const struct um_yaml_file *, const struct um_yaml_node *, const char *format, ...)
	__attribute__((format(printf, 3, 4), cold));

struct um_yaml_key;
typedef int (*um_yaml_read_fn)(const struct um_yaml_file *, const struct um_yaml_node *value,
			       const struct um_yaml_key *, void *target);

struct um_yaml_key {
	const char *name; /* NULL ends the table */
	um_yaml_read_fn read;
	size_t offset;		 /* of the field in the target */
	size_t capacity;	 /* um_yaml_name: bytes of the array */
	double minimum, maximum; /* of numbers, in bytes, ns or as it is */
	bool required;
};

/*
 * Reads a mapping into `target` by its table (at most 63 keys); `what` names it in messages ("a
 * machine"). Keys are read in the order of the file.
 */
int um_yaml_read_mapping(const struct um_yaml_file *, const struct um_yaml_node *, const char *what,
			 const struct um_yaml_key *keys, void *target);
/* The text of a scalar, or NULL and an error that says that `name` wants a single value. */
const char *um_yaml_scalar(const struct um_yaml_file *, const struct um_yaml_node *,
			   const char *name);

/*
 * What a value of one of the readers below can be, by its bounds: "1 to 1,024", "1 MB/s to 1 PB/s", "true or
 * false", "at most 31 characters"; "" of another reader. Returns `buffer` (96 bytes do).
 */
char *um_yaml_range_text(char *buffer, size_t capacity, const struct um_yaml_key *);

/* Readers for the table; the field's type is behind each. */
int um_yaml_bytes(const struct um_yaml_file *, const struct um_yaml_node *,
		  const struct um_yaml_key *, void *target); /* uint64_t */
int um_yaml_bytes32(const struct um_yaml_file *, const struct um_yaml_node *,
		    const struct um_yaml_key *, void *target); /* uint32_t */
int um_yaml_duration(const struct um_yaml_file *, const struct um_yaml_node *,
		     const struct um_yaml_key *, void *target); /* uint64_t, ns */
int um_yaml_bandwidth(const struct um_yaml_file *, const struct um_yaml_node *,
		      const struct um_yaml_key *, void *target); /* double, bytes a second */
int um_yaml_u32(const struct um_yaml_file *, const struct um_yaml_node *,
		const struct um_yaml_key *, void *target); /* uint32_t */
int um_yaml_rate(const struct um_yaml_file *, const struct um_yaml_node *,
		 const struct um_yaml_key *, void *target); /* double, from a whole number */
int um_yaml_bool(const struct um_yaml_file *, const struct um_yaml_node *,
		 const struct um_yaml_key *, void *target); /* bool */
int um_yaml_string(const struct um_yaml_file *, const struct um_yaml_node *,
		   const struct um_yaml_key *, void *target); /* char *, malloc'ed, not empty */
int um_yaml_name(const struct um_yaml_file *, const struct um_yaml_node *,
		 const struct um_yaml_key *, void *target); /* char[capacity], not empty */

#endif
