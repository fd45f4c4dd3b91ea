#include "source_type.h"

#include <dwarf.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Debug information comes from anyone: types may go round, members may never end. */
#define MAX_STEPS    64
#define MAX_CHILDREN 65536
#define MAX_RANK     4

bool um_source_name_append(char name[UM_SOURCE_NAME_MAX], const char *format, ...)
{
	size_t used = strlen(name);
	va_list args;

	va_start(args, format);
	int wrote = vsnprintf(name + used, UM_SOURCE_NAME_MAX - used, format, args);
	va_end(args);
	return wrote >= 0 && (size_t)wrote < UM_SOURCE_NAME_MAX - used;
}

/* --- one type --- */

static bool is_transparent(int tag)
{
	return tag == DW_TAG_typedef || tag == DW_TAG_const_type || tag == DW_TAG_volatile_type ||
	       tag == DW_TAG_restrict_type || tag == DW_TAG_atomic_type ||
	       tag == DW_TAG_template_alias;
}

bool um_source_type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute attribute;
	Dwarf_Die at = *die;

	for (size_t step = 0; step < MAX_STEPS; step++) {
		if (!dwarf_attr_integrate(&at, DW_AT_type, &attribute) ||
		    !dwarf_formref_die(&attribute, type))
			return false;
		if (!is_transparent(dwarf_tag(type)))
			return true;
		at = *type;
	}
	return false;
}

static bool constant(Dwarf_Die *die, unsigned name, Dwarf_Word *value)
{
	Dwarf_Attribute attribute;

	return dwarf_attr_integrate(die, name, &attribute) &&
	       dwarf_formudata(&attribute, value) == 0;
}

/* How many elements each dimension has; 0 dimensions: not known. */
static size_t read_rank(Dwarf_Die *array, uint64_t count[MAX_RANK])
{
	Dwarf_Die child;
	size_t rank = 0;

	if (dwarf_child(array, &child) != 0)
		return 0;
	do {
		Dwarf_Word value;

		if (dwarf_tag(&child) != DW_TAG_subrange_type)
			continue;
		if (constant(&child, DW_AT_count, &value))
			count[rank++] = value;
		else if (constant(&child, DW_AT_upper_bound, &value) && value < UINT32_MAX)
			count[rank++] = value + 1;
		else
			return 0;
	} while (rank < MAX_RANK && dwarf_siblingof(&child, &child) == 0);
	return rank;
}

static bool array_bytes(Dwarf_Die *array, uint64_t element_bytes, uint64_t *bytes)
{
	uint64_t count[MAX_RANK];
	size_t rank = read_rank(array, count);

	*bytes = element_bytes;
	for (size_t i = 0; i < rank; i++)
		if (__builtin_mul_overflow(*bytes, count[i], bytes))
			return false;
	return rank > 0;
}

bool um_source_type_bytes(Dwarf_Die *type, uint64_t *bytes)
{
	Dwarf_Word value;
	Dwarf_Die element;

	if (constant(type, DW_AT_byte_size, &value)) {
		*bytes = value;
		return true;
	}
	if (um_source_type_is_pointer(type) || um_source_type_is_reference(type)) {
		*bytes = sizeof(uint64_t);
		return true;
	}
	/* An array of arrays has several dimensions, so that this goes no further. */
	return dwarf_tag(type) == DW_TAG_array_type && um_source_type_of(type, &element) &&
	       dwarf_tag(&element) != DW_TAG_array_type && um_source_type_bytes(&element, &value) &&
	       array_bytes(type, value, bytes);
}

bool um_source_type_is_pointer(Dwarf_Die *type)
{
	return dwarf_tag(type) == DW_TAG_pointer_type;
}

bool um_source_type_is_reference(Dwarf_Die *type)
{
	int tag = dwarf_tag(type);

	return tag == DW_TAG_reference_type || tag == DW_TAG_rvalue_reference_type;
}

bool um_source_type_holds_address(Dwarf_Die *type)
{
	uint64_t bytes;

	return um_source_type_is_pointer(type) ||
	       (dwarf_tag(type) == DW_TAG_base_type && um_source_type_bytes(type, &bytes) &&
		bytes == sizeof(uint64_t));
}

/* --- members --- */

static bool is_class(int tag)
{
	return tag == DW_TAG_structure_type || tag == DW_TAG_class_type || tag == DW_TAG_union_type;
}

/* Whether a member or base class covers `at`: from where on, and how large it is. */
static bool covers(Dwarf_Die *type, Dwarf_Die *member, uint64_t at, uint64_t *start,
		   uint64_t *bytes)
{
	Dwarf_Word value = 0;
	Dwarf_Die member_type;

	if (dwarf_tag(member) != DW_TAG_member && dwarf_tag(member) != DW_TAG_inheritance)
		return false;
	/* Of a union, or static: those have no place. */
	if (!constant(member, DW_AT_data_member_location, &value) &&
	    dwarf_tag(type) != DW_TAG_union_type)
		return false;
	*start = value;
	return um_source_type_of(member, &member_type) &&
	       um_source_type_bytes(&member_type, bytes) && at >= value && at - value < *bytes;
}

/*
 * The member or base class that covers `*at`, which then counts from its start; of several the
 * largest, since a base class without members lies where the first member does.
 */
static bool covering_member(Dwarf_Die *type, uint64_t *at, Dwarf_Die *found)
{
	size_t children = 0;
	uint64_t start, bytes, found_start = 0, found_bytes = 0;
	Dwarf_Die member;

	if (dwarf_child(type, &member) != 0)
		return false;
	do {
		if (!covers(type, &member, *at, &start, &bytes) || bytes <= found_bytes)
			continue;
		*found = member;
		found_start = start;
		found_bytes = bytes;
	} while (++children < MAX_CHILDREN && dwarf_siblingof(&member, &member) == 0);
	*at -= found_start;
	return found_bytes > 0;
}

static bool is_implementation(const char *name)
{
	return name[0] == '_' && (name[1] == '_' || (name[1] >= 'A' && name[1] <= 'Z'));
}

static bool step_into_class(Dwarf_Die *type, uint64_t *at, char name[UM_SOURCE_NAME_MAX])
{
	Dwarf_Die member;

	if (!covering_member(type, at, &member))
		return false;
	const char *word = dwarf_tag(&member) == DW_TAG_member ? dwarf_diename(&member) : NULL;

	if (word && !is_implementation(word) && !um_source_name_append(name, ".%s", word))
		return false;
	return um_source_type_of(&member, type);
}

static bool step_into_array(Dwarf_Die *type, uint64_t *at, char name[UM_SOURCE_NAME_MAX])
{
	uint64_t count[MAX_RANK], bytes, index;
	size_t rank = read_rank(type, count);
	Dwarf_Die element;

	if (!rank || !um_source_type_of(type, &element) ||
	    !um_source_type_bytes(&element, &bytes) || bytes == 0)
		return false;
	index = *at / bytes;
	*at %= bytes;
	for (size_t i = 0; i < rank; i++) {
		uint64_t stride = 1;

		for (size_t inner = i + 1; inner < rank; inner++)
			if (__builtin_mul_overflow(stride, count[inner], &stride))
				return false;
		if (stride == 0 || !um_source_name_append(name, "[%" PRIu64 "]", index / stride))
			return false;
		index %= stride;
	}
	*type = element;
	return true;
}

bool um_source_type_member(Dwarf_Die *type, uint64_t at, char name[UM_SOURCE_NAME_MAX])
{
	for (size_t step = 0; step < MAX_STEPS; step++) {
		int tag = dwarf_tag(type);

		if (at == 0 && um_source_type_holds_address(type))
			return true;
		if (is_class(tag) ? !step_into_class(type, &at, name)
				  : tag != DW_TAG_array_type || !step_into_array(type, &at, name))
			return false;
	}
	return false;
}
