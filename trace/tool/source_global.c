/* Variables that lie in a module's data: global ones, those of namespaces and classes, static ones. */
#include "source_function.h"
#include "source_package.h"
#include "source_type.h"
#include "source_variable.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH   16
#define MAX_DIES    (1u << 22) /* that are looked at in a module */
#define MAX_GLOBALS (1u << 20)

struct walk {
	struct um_source_module *module;
	size_t capacity;
	size_t dies;
};

static bool address_of(Dwarf_Die *variable, Dwarf_Addr *address)
{
	Dwarf_Attribute attribute, value;
	Dwarf_Op *ops;
	size_t count;

	if (!dwarf_attr(variable, DW_AT_location, &attribute) ||
	    dwarf_getlocation(&attribute, &ops, &count) != 0 || count != 1)
		return false;
	*address = ops[0].number;
	if (ops[0].atom == DW_OP_addr)
		return true;
	return (ops[0].atom == DW_OP_addrx || ops[0].atom == DW_OP_GNU_addr_index) &&
	       dwarf_getlocation_attr(&attribute, ops, &value) == 0 &&
	       dwarf_formaddr(&value, address) == 0;
}

static void add_variable(struct walk *walk, Dwarf_Die *variable)
{
	struct um_source_module *module = walk->module;
	struct um_source_global global = {.variable = *variable};
	Dwarf_Die type;
	uint64_t bytes;

	if (!address_of(variable, &global.start) || global.start == 0 ||
	    !um_source_type_of(variable, &type) || !um_source_type_bytes(&type, &bytes) ||
	    __builtin_add_overflow(global.start, bytes, &global.end))
		return;
	if (module->global_count == walk->capacity) {
		size_t wanted = walk->capacity ? 2 * walk->capacity : 64;
		void *grown = wanted <= MAX_GLOBALS
				      ? reallocarray(module->globals, wanted, sizeof(global))
				      : NULL;

		if (!grown)
			return;
		module->globals = grown;
		walk->capacity = wanted;
	}
	module->globals[module->global_count++] = global;
}

static bool has_variables(int tag)
{
	return tag == DW_TAG_namespace || tag == DW_TAG_subprogram || tag == DW_TAG_lexical_block;
}

static void walk_children(struct walk *walk, Dwarf_Die *of, unsigned depth)
{
	Dwarf_Die child;

	if (depth == MAX_DEPTH || dwarf_child(of, &child) != 0)
		return;
	do {
		int tag = dwarf_tag(&child);

		if (tag == DW_TAG_variable)
			add_variable(walk, &child);
		else if (has_variables(tag))
			walk_children(walk, &child, depth + 1);
	} while (++walk->dies < MAX_DIES && dwarf_siblingof(&child, &child) == 0);
}

static int compare(const void *left, const void *right)
{
	const struct um_source_global *a = left, *b = right;

	return (a->start > b->start) - (a->start < b->start);
}

/* A unit may have several ranges of code, and none. */
static void read_globals(struct um_source_module *module)
{
	struct walk walk = {.module = module};
	Dwarf_Die unit, split;
	Dwarf_CU *cu = NULL;
	uint8_t type;

	while (module->dwarf &&
	       dwarf_get_units(module->dwarf, cu, &cu, NULL, &type, &unit, &split) == 0) {
		if (type == DW_UT_skeleton &&
		    (split.addr || um_source_package_unit(module->package, &unit, &split)))
			unit = split;
		walk_children(&walk, &unit, 0);
	}
	if (module->global_count)
		qsort(module->globals, module->global_count, sizeof(*module->globals), compare);
}

static const struct um_source_global *find(const struct um_source_module *module,
					   Dwarf_Addr address)
{
	size_t low = 0, high = module->global_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (module->globals[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 && address < module->globals[low - 1].end ? &module->globals[low - 1] : NULL;
}

/* With its scope, where its symbol tells. */
static bool put_name(Dwarf_Die *variable, char name[UM_SOURCE_NAME_MAX])
{
	Dwarf_Attribute attribute;
	const char *word = dwarf_diename(variable);
	Dwarf_Attribute *linkage = dwarf_attr_integrate(variable, DW_AT_linkage_name, &attribute);
	const char *symbol = linkage ? dwarf_formstring(linkage) : NULL;
	char *scoped = symbol ? um_source_symbol_name(symbol) : word ? strdup(word) : NULL;
	bool fits = scoped && um_source_name_append(name, "%s", scoped);

	free(scoped);
	return fits;
}

char *um_source_global(struct um_source_module *module, Dwarf_Addr address)
{
	char name[UM_SOURCE_NAME_MAX] = "";
	Dwarf_Die variable, type;

	if (!module->has_read_globals)
		read_globals(module);
	module->has_read_globals = true;
	const struct um_source_global *found = find(module, address);

	if (!found)
		return NULL;
	variable = found->variable;
	if (!put_name(&variable, name) || !um_source_type_of(&variable, &type) ||
	    !um_source_type_member(&type, address - found->start, name))
		return NULL;
	return strdup(name);
}
