/*
 * Split DWARF that was packed: the units of all .dwo files in one, beside the program as "app.dwp". libdw
 * 0.188 does not read such files; so each unit is taken out by the package's index and handed to it as a
 * file of its own in memory, with the addresses that its skeleton has for it.
 * Format: DWARF 5, section 7.3.5; before it "DWARF Package File Format" (GCC wiki, DebugFissionDWP).
 */
#ifndef UM_SOURCE_PACKAGE_H
#define UM_SOURCE_PACKAGE_H

#include <elfutils/libdw.h>
#include <stdbool.h>

struct um_source_package;

/* Of the program or library at `path`; NULL: there is none that can be read. */
struct um_source_package *um_source_package_open(const char *path);
/* With all units that were taken out. NULL is legal. */
void um_source_package_close(struct um_source_package *);
/* The unit whose skeleton this is; false: it is not in there, or cannot be read. */
bool um_source_package_unit(struct um_source_package *, Dwarf_Die *skeleton, Dwarf_Die *unit);

#endif
