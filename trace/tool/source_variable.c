#include "source_variable.h"

#include "source_type.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define MAX_CHILDREN 65536
#define MAX_ELEMENTS 64 /* that a pointer may be to, where no type says how many there are */

struct location {
	enum { NOWHERE, IN_FRAME, IN_REGISTER, AT_ADDRESS } where;
	int64_t at;
};

/* What the locations of a function's variables are relative to. */
struct frame {
	Dwarf_Addr address;
	bool has_cfa, has_base;
	int cfa_register; /* the frame's end is this register and... */
	int64_t cfa_offset;
	int64_t base; /* from the frame's end */
};

/* --- frames --- */

static void read_cfa(struct frame *frame, Elf *elf)
{
	Dwarf_CFI *cfi = dwarf_getcfi_elf(elf);
	Dwarf_Frame *rules = NULL;
	Dwarf_Op *ops;
	size_t count;

	if (!cfi || dwarf_cfi_addrframe(cfi, frame->address, &rules) != 0)
		return;
	if (dwarf_frame_cfa(rules, &ops, &count) == 0 && count == 1 && ops[0].atom == DW_OP_bregx) {
		frame->cfa_register = (int)ops[0].number;
		frame->cfa_offset = (int64_t)ops[0].number2;
		frame->has_cfa = true;
	}
	free(rules);
}

/* Where a register points, from the frame's end. */
static bool from_register(const struct frame *frame, int number, int64_t *at)
{
	if (!frame->has_cfa || frame->cfa_register != number)
		return false;
	*at = -frame->cfa_offset;
	return true;
}

static bool has_one_op(Dwarf_Attribute *attribute, Dwarf_Addr address, Dwarf_Op *op)
{
	Dwarf_Op *ops;
	size_t count;

	if (dwarf_getlocation_addr(attribute, address, &ops, &count, 1) != 1 || count != 1)
		return false;
	*op = ops[0];
	return true;
}

static bool read_base(struct frame *frame, Dwarf_Die *function)
{
	Dwarf_Attribute attribute;
	Dwarf_Op op;
	int64_t at = 0;

	if (!dwarf_attr_integrate(function, DW_AT_frame_base, &attribute) ||
	    !has_one_op(&attribute, frame->address, &op))
		return false;
	frame->base = 0;
	if (op.atom == DW_OP_call_frame_cfa)
		return true;
	if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31)
		frame->base = (int64_t)op.number;
	bool known = op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31
			     ? from_register(frame, op.atom - DW_OP_reg0, &at)
		     : op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31
			     ? from_register(frame, op.atom - DW_OP_breg0, &at)
			     : false;
	frame->base += at;
	return known;
}

/* --- locations --- */

static struct location location_of(Dwarf_Die *variable, const struct frame *frame)
{
	static const struct location nowhere = {NOWHERE, 0};
	Dwarf_Attribute attribute, value;
	Dwarf_Addr address;
	Dwarf_Op op;
	int64_t at;

	if (!dwarf_attr_integrate(variable, DW_AT_location, &attribute) ||
	    !has_one_op(&attribute, frame->address, &op))
		return nowhere;
	if (op.atom == DW_OP_fbreg)
		return frame->has_base
			       ? (struct location){IN_FRAME, frame->base + (int64_t)op.number}
			       : nowhere;
	if (op.atom == DW_OP_addr)
		return (struct location){AT_ADDRESS, (int64_t)op.number};
	if (op.atom == DW_OP_addrx || op.atom == DW_OP_GNU_addr_index)
		return dwarf_getlocation_attr(&attribute, &op, &value) == 0 &&
				       dwarf_formaddr(&value, &address) == 0
			       ? (struct location){AT_ADDRESS, (int64_t)address}
			       : nowhere;
	if (op.atom >= DW_OP_reg0 && op.atom <= DW_OP_reg31)
		return (struct location){IN_REGISTER, op.atom - DW_OP_reg0};
	if (op.atom >= DW_OP_breg0 && op.atom <= DW_OP_breg31 &&
	    from_register(frame, op.atom - DW_OP_breg0, &at))
		return (struct location){IN_FRAME, at + (int64_t)op.number};
	return nowhere;
}

/* --- names --- */

/* Steps from a pointer or a reference to what lies `before` bytes behind what it points to. */
static bool step_through(Dwarf_Die *type, uint64_t before, char name[UM_SOURCE_NAME_MAX])
{
	bool is_reference = um_source_type_is_reference(type);
	char member[UM_SOURCE_NAME_MAX] = "";
	uint64_t bytes;
	Dwarf_Die to;

	if (!um_source_type_of(type, &to) || !um_source_type_bytes(&to, &bytes) || bytes == 0)
		return false;
	uint64_t index = before / bytes;

	/* What lies behind an object is another's as a rule; pointers come in arrays. */
	if (index >= (!is_reference && um_source_type_is_pointer(&to) ? MAX_ELEMENTS : 1))
		return false;
	*type = to;
	if (!um_source_type_member(type, before % bytes, member))
		return false;
	/* An object's own members go without "this". */
	if (strcmp(name, "this") == 0 && index == 0 && *member == '.') {
		name[0] = '\0';
		return um_source_name_append(name, "%s", member + 1);
	}
	if (is_reference)
		return um_source_name_append(name, "%s", member);
	if (index == 0 && *member == '.')
		return um_source_name_append(name, "->%s", member + 1);
	return um_source_name_append(name, "[%" PRIu64 "]%s", index, member);
}

/* Whether it lies there, and then the place within it. */
static bool covers(const struct location *location, const struct um_source_place *place,
		   Dwarf_Die *type, uint64_t *within)
{
	uint64_t bytes;

	*within = 0;
	if (place->in_register)
		return location->where == IN_REGISTER && location->at == place->at;
	*within = (uint64_t)place->at - (uint64_t)location->at;
	return location->where == IN_FRAME && um_source_type_bytes(type, &bytes) && *within < bytes;
}

static char *name_place(Dwarf_Die *variable, const struct location *location,
			const struct um_source_place *place, bool *lies_there)
{
	char name[UM_SOURCE_NAME_MAX] = "";
	const char *word = dwarf_diename(variable);
	uint64_t within;
	Dwarf_Die type;

	if (!word || !um_source_type_of(variable, &type) ||
	    !um_source_name_append(name, "%s", word) || !covers(location, place, &type, &within))
		return NULL;
	*lies_there = true;
	if (!place->is_pointed_to)
		return um_source_type_member(&type, within, name) ? strdup(name) : NULL;
	if (!um_source_type_is_reference(&type) && !um_source_type_member(&type, within, name))
		return NULL;
	if (!um_source_type_is_pointer(&type) && !um_source_type_is_reference(&type))
		return NULL;
	return step_through(&type, place->before, name) ? strdup(name) : NULL;
}

/* --- variables of a function --- */

static char *search_scope(Dwarf_Die *scope, const struct frame *frame,
			  const struct um_source_place *place, bool *lies_there)
{
	Dwarf_Die child;
	char *name = NULL;
	size_t children = 0;

	if (dwarf_child(scope, &child) != 0)
		return NULL;
	do {
		int tag = dwarf_tag(&child);

		if (tag != DW_TAG_variable && tag != DW_TAG_formal_parameter)
			continue;
		struct location location = location_of(&child, frame);

		if (location.where == IN_FRAME || location.where == IN_REGISTER)
			name = name_place(&child, &location, place, lies_there);
	} while (!name && ++children < MAX_CHILDREN && dwarf_siblingof(&child, &child) == 0);
	return name;
}

struct um_source_scopes {
	struct frame frame;
	size_t count;
	Dwarf_Die scope[]; /* from the innermost block outwards */
};

static struct um_source_scopes *keep_scopes(const struct um_source_module *module,
					    Dwarf_Addr address, const Dwarf_Die *scopes,
					    size_t count)
{
	struct um_source_scopes *kept = malloc(sizeof(*kept) + count * sizeof(*scopes));

	if (!kept)
		return NULL;
	*kept = (struct um_source_scopes){.frame.address = address, .count = count};
	memcpy(kept->scope, scopes, count * sizeof(*scopes));
	read_cfa(&kept->frame, module->elf);
	for (size_t i = 0; i < count && !kept->frame.has_base; i++)
		if (dwarf_tag(&kept->scope[i]) == DW_TAG_subprogram)
			kept->frame.has_base = read_base(&kept->frame, &kept->scope[i]);
	return kept;
}

struct um_source_scopes *um_source_scopes_create(const struct um_source_module *module,
						 Dwarf_Addr address)
{
	const struct um_source_unit *found = um_source_module_unit(module, address);
	Dwarf_Die unit, *at = NULL, *scopes = NULL;
	struct um_source_scopes *kept = NULL;

	if (!found)
		return NULL;
	unit = found->code;
	if (dwarf_getscopes(&unit, address, &at) > 0) {
		int count = dwarf_getscopes_die(at, &scopes);

		if (count > 0)
			kept = keep_scopes(module, address, scopes, (size_t)count);
	}
	free(at);
	free(scopes);
	return kept;
}

void um_source_scopes_destroy(struct um_source_scopes *scopes)
{
	free(scopes);
}

char *um_source_variable(struct um_source_scopes *scopes, const struct um_source_place *place,
			 size_t *depth)
{
	size_t first = *depth;
	bool lies_there = false;

	*depth = 0;
	for (size_t i = 0; i < scopes->count; i++) {
		int tag = dwarf_tag(&scopes->scope[i]);
		char *name = *depth >= first ? search_scope(&scopes->scope[i], &scopes->frame,
							    place, &lies_there)
					     : NULL;

		if (name)
			return name;
		if (tag == DW_TAG_subprogram)
			break;
		*depth += tag == DW_TAG_inlined_subroutine;
	}
	if (!lies_there)
		*depth = UM_SOURCE_NOTHING;
	return NULL;
}
