/*
 * An ELF file that a program has loaded, and its debug information: its own, or what lies beside it
 * (.gnu_debuglink) or, unless it is a library of the system's, under /usr/lib/debug; what was split off,
 * in .dwo files or, where one is missing, in the package "FILE.dwp". Units are found by their addresses, whoever compiled them.
 */
#ifndef UM_SOURCE_MODULE_H
#define UM_SOURCE_MODULE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UM_BUILD_ID_BYTES 32 /* 20 as a rule, of SHA-1 */

struct um_source_package;

struct um_source_unit {
	uint64_t start, end;
	Dwarf_Die unit; /* of its lines: a skeleton where the unit was split */
	Dwarf_Die code; /* of its functions */
};

struct um_source_global {
	uint64_t start, end;
	Dwarf_Die variable;
};

struct um_source_module {
	int file, debug_file;		   /* -1: none */
	Elf *elf;			   /* NULL: none */
	Elf *debug_elf;			   /* where the symbols are; may be `elf` */
	Dwarf *dwarf;			   /* NULL: none */
	struct um_source_package *package; /* of split units; NULL: none, or not needed */
	struct um_source_unit *units;	   /* by start */
	size_t unit_count;
	struct um_source_global *globals; /* by start; once one was asked for */
	size_t global_count;
	bool has_read_globals;
	char build_id[2 * UM_BUILD_ID_BYTES + 1]; /* "": none */
};

/* What is not there, or cannot be read, is left out. */
void um_source_module_open(struct um_source_module *, const char *path);
void um_source_module_close(struct um_source_module *);
/* NULL: no unit has code there. */
const struct um_source_unit *um_source_module_unit(const struct um_source_module *,
						   uint64_t address);

#endif
