/* Types in the debug information: what lies at a place within one. */
#ifndef UM_SOURCE_TYPE_H
#define UM_SOURCE_TYPE_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UM_SOURCE_NAME_MAX 256

/* The type of a variable, parameter or member, less typedefs, const and their like. */
bool um_source_type_of(Dwarf_Die *die, Dwarf_Die *type);
/* False: it is not complete, or its size is only known at run time. */
bool um_source_type_bytes(Dwarf_Die *type, uint64_t *bytes);
bool um_source_type_is_pointer(Dwarf_Die *type);
bool um_source_type_is_reference(Dwarf_Die *type);
/* Whether it can hold an address: a pointer, or an integer as wide. */
bool um_source_type_holds_address(Dwarf_Die *type);
/*
 * Appends to `name` how one writes what begins `at` bytes within `*type`: ".edges[1]", and makes
 * *type its type. Members that only an implementation has ("_M_start", "__begin_") are not written.
 * False: nothing begins there that can hold an address, or the name is too long.
 */
bool um_source_type_member(Dwarf_Die *type, uint64_t at, char name[UM_SOURCE_NAME_MAX]);
/* Appends, as printf(); false where there is no room. */
bool um_source_name_append(char name[UM_SOURCE_NAME_MAX], const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#endif
