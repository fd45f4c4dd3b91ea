/*
 * Names of allocations: the variable that the program keeps the address in, by the debug information
 * of the frame that it lies in.
 */
#include "ingest_private.h"
#include "source_lines.h"
#include "source_variable.h"

#include "trace/base/error.h"
#include "trace/db/stacks.h"

#include <stdlib.h>
#include <string.h>

static const char set_name[] = "UPDATE allocation SET name = ? WHERE allocation = ?";

/* malloc'ed; NULL: none. `*frame` is the site of the frame whose it is. */
static char *name_in_frame(const struct um_ingest *ingest, uint32_t site,
			   const struct um_source_place *place, size_t *depth)
{
	const struct um_known_site *known = um_ingest_known_site(ingest, site);

	/* HIP's headers have variables too. */
	return known && known->module && known->user == site
		       ? um_source_lines_variable(ingest->lines, known->module, known->offset,
						  place, depth)
		       : NULL;
}

static char *find_name(const struct um_ingest *ingest, const struct um_record_variable *variable,
		       const char *module, uint32_t *frame, size_t *depth)
{
	char *name = NULL;

	*frame = variable->site;
	if (variable->site)
		return name_in_frame(ingest, variable->site,
				     &(struct um_source_place){.at = variable->offset}, depth);
	if (*module)
		return um_source_lines_global(ingest->lines, module, (uint64_t)variable->offset);
	for (size_t i = 0; i < variable->pointers && !name; i++) {
		const struct um_variable_pointer *pointer = &variable->pointer[i];

		*frame = pointer->site;
		name = name_in_frame(ingest, pointer->site,
				     &(struct um_source_place){.in_register = pointer->at_register,
							       .at = pointer->offset,
							       .is_pointed_to = true,
							       .before = pointer->before},
				     depth);
	}
	return name;
}

/* Of the frames of the stack that ends in `site`; false: it is none of them. */
static bool place_in_stack(const struct um_ingest *ingest, uint32_t site, uint32_t frame,
			   size_t depth, uint32_t *place)
{
	uint64_t before = 0;

	while (site && site != frame) {
		const struct um_known_site *known = um_ingest_known_site(ingest, site);

		before += known ? known->frames : 0;
		site = known ? known->parent : 0;
	}
	*place = (uint32_t)(before + depth);
	return site != 0;
}

static int remember(struct um_ingest *ingest, uint32_t allocation, uint32_t frame, size_t depth)
{
	struct um_named_variable added = {.allocation = allocation};
	size_t capacity = ingest->variable_capacity;

	added.site = ingest->allocation_site;
	if (!place_in_stack(ingest, added.site, frame, depth, &added.depth))
		return 0;
	if (ingest->variable_count == capacity) {
		capacity = capacity ? 2 * capacity : 256;
		void *grown = reallocarray(ingest->variables, capacity, sizeof(*ingest->variables));

		if (!grown)
			return um_fail(UM_ENOMEM, "out of memory for %zu names", capacity);
		ingest->variables = grown;
		ingest->variable_capacity = capacity;
	}
	ingest->variables[ingest->variable_count++] = added;
	return 0;
}

int um_ingest_variable(struct um_ingest *ingest, const void *record, const char *end)
{
	const struct um_record_variable *variable = record;
	const char *at;
	char module[UM_INGEST_TEXT], clean[UM_INGEST_TEXT];
	size_t depth = 0;
	uint32_t frame;

	if (variable->allocation == 0 || variable->allocation != ingest->allocation ||
	    variable->pointers > UM_VARIABLE_POINTERS ||
	    (size_t)(end - (const char *)record) <
		    sizeof(*variable) + variable->pointers * sizeof(*variable->pointer))
		return UM_RECORD_INVALID;
	at = (const char *)(variable->pointer + variable->pointers);
	if (!um_ingest_text(&at, end, module))
		return UM_RECORD_INVALID;
	char *name = find_name(ingest, variable, module, &frame, &depth);

	if (!name)
		return 0;
	um_ingest_field(name, strlen(name), clean);
	free(name);
	int error = um_db_update_text(ingest->db, set_name, clean, variable->allocation);
	return error || frame == 0 ? error : remember(ingest, variable->allocation, frame, depth);
}

/*
 * A wrapper's variable has the same name for all that call it, who then know theirs by the line alone.
 */
int um_ingest_variables_end(struct um_ingest *ingest)
{
	struct um_stacks *stacks = NULL;
	int error = ingest->variable_count ? um_stacks_load(&stacks, ingest->db, NULL) : 0;

	for (size_t i = 0; i < ingest->variable_count && !error; i++) {
		const struct um_named_variable *variable = &ingest->variables[i];
		const struct um_known_allocation *known =
			um_ingest_known(ingest, variable->allocation);
		size_t user;

		if (!(known && known->named) &&
		    um_stacks_user(stacks, variable->site, "alloc", &user) &&
		    user > variable->depth)
			error = um_db_update_text(ingest->db, set_name, NULL, variable->allocation);
	}
	um_stacks_destroy(stacks);
	return error;
}
