#include "tracer_site.h"

#include "tracer.h"

#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <string.h>
#include <unwind.h>

/* The stack that was asked for last; under the lock, like the tables that it is kept in. */
static struct um_stack stack;
static bool is_busy;

static const struct link_map *module_of(const void *address)
{
	struct dl_find_object found;

	return _dl_find_object((void *)(uintptr_t)address, &found) ? NULL : found.dlfo_link_map;
}

/* --- sites --- */

const struct um_record_site *um_site_describe(uint32_t site, uint32_t parent,
					      const void *return_address)
{
	static char path[PATH_MAX];
	/* The call is before the address that it returns to, which may be another function's. */
	const struct link_map *map = module_of((const char *)return_address - 1);

	path[0] = '\0';
	if (map)
		um_site_module_path(path, map->l_name);
	return um_site_record(site, parent, (uintptr_t)return_address - (map ? map->l_addr : 0),
			      path, "");
}

/* The site of the frame `first`, 0 being the innermost: from main() inwards. */
static uint32_t put_stack(size_t first)
{
	uint32_t site = 0;

	for (size_t i = stack.frames; i-- > first;) {
		const void *address = (const void *)stack.address_in[i];
		uint32_t parent = site;
		bool is_new = false;

		site = um_site_intern(parent, address, &is_new);
		if (!site)
			return 0;
		if (is_new)
			um_tracer_put(&um_site_describe(site, parent, address)->header);
	}
	return site;
}

static uint32_t find_or_walk(uintptr_t slot)
{
	if (um_stack_find(&stack, slot))
		return stack.known_site;
	um_stack_walk(&stack, slot, NULL);
	uint32_t site = put_stack(0);

	um_stack_keep(&stack, site);
	return site;
}

uint32_t um_tracer_site(uintptr_t slot)
{
	uint32_t site = 0;

	if (!um_tracer_on() || is_busy)
		return 0;
	is_busy = true;
	site = find_or_walk(slot);
	is_busy = false;
	return site;
}

/* --- variables --- */

#define FRAMES_SEARCHED	 4u	     /* innermost ones, for pointers */
#define WORDS_SEARCHED	 256u	     /* of each, from its end */
#define OBJECT_MAX_BYTES (64u << 10) /* that the variable may be a member of */

/* Callee-saved ones, by their numbers in DWARF (x86-64 psABI, figure 3.36): rbx, rbp, r12 to r15. */
static const unsigned char kept_registers[] = {3, 6, 12, 13, 14, 15};

struct search {
	struct um_record_variable *record;
	uintptr_t out, first_slot;
	size_t frame; /* that comes next; SIZE_MAX: none of the program's came yet */
	uint32_t site[FRAMES_SEARCHED]; /* 0: not asked for yet */
};

/* Of frame i: x86-64. */
static uintptr_t frame_end(size_t i)
{
	return stack.slot[i + 1] + sizeof(uintptr_t);
}

static void add_pointer(struct search *search, size_t frame, uintptr_t pointer,
			unsigned at_register, int64_t offset)
{
	struct um_record_variable *record = search->record;

	if (search->out - pointer >= OBJECT_MAX_BYTES || pointer == 0 ||
	    record->pointers == UM_VARIABLE_POINTERS)
		return;
	if (!search->site[frame])
		search->site[frame] = put_stack(frame);
	record->pointer[record->pointers++] = (struct um_variable_pointer){
		.site = search->site[frame],
		.at_register = (uint16_t)at_register,
		.offset = offset,
		.before = search->out - pointer,
	};
}

static void search_stack(struct search *search)
{
	for (size_t i = 0; i < FRAMES_SEARCHED && i + 1 < stack.frames; i++) {
		uintptr_t end = stack.slot[i + 1], start = stack.slot[i] + sizeof(uintptr_t);

		if (end - start > WORDS_SEARCHED * sizeof(uintptr_t))
			start = end - WORDS_SEARCHED * sizeof(uintptr_t);
		for (uintptr_t at = start; at < end; at += sizeof(uintptr_t)) {
			uintptr_t word;

			memcpy(&word, (const void *)at, sizeof(word));
			add_pointer(search, i, word, 0, (int64_t)(at - frame_end(i)));
		}
	}
}

static _Unwind_Reason_Code search_registers(struct _Unwind_Context *context, void *of)
{
	struct search *search = of;

	if (search->frame == SIZE_MAX &&
	    _Unwind_GetCFA(context) - sizeof(uintptr_t) == search->first_slot)
		search->frame = 0;
	if (search->frame == SIZE_MAX)
		return _URC_NO_REASON;
	if (search->frame == FRAMES_SEARCHED || search->frame + 1 >= stack.frames)
		return _URC_END_OF_STACK;
	for (size_t i = 0; i < sizeof(kept_registers); i++)
		add_pointer(search, search->frame, _Unwind_GetGR(context, kept_registers[i]), 1,
			    kept_registers[i]);
	search->frame++;
	return _URC_NO_REASON;
}

/* False: it lies in no frame whose end is known. */
static bool find_frame(struct um_record_variable *record, uintptr_t out)
{
	for (size_t i = 0; i + 1 < stack.frames; i++)
		if (out > stack.slot[i] && out < stack.slot[i + 1]) {
			record->site = put_stack(i);
			record->offset = (int64_t)(out - frame_end(i));
			return true;
		}
	return false;
}

static void find_variable(struct um_record_variable *record, char path[PATH_MAX], uintptr_t slot,
			  const void *out)
{
	const struct link_map *map;

	find_or_walk(slot);
	if (find_frame(record, (uintptr_t)out))
		return;
	map = module_of(out);
	if (map) {
		record->offset = (int64_t)((uintptr_t)out - map->l_addr);
		um_site_module_path(path, map->l_name);
		return;
	}
	struct search search = {record, (uintptr_t)out, slot, SIZE_MAX, {0}};

	search_stack(&search);
	_Unwind_Backtrace(search_registers, &search);
}

void um_tracer_variable(uint32_t allocation, uintptr_t slot, const void *out)
{
	static _Alignas(8) char buffer[sizeof(struct um_record_variable) +
				       UM_VARIABLE_POINTERS * sizeof(struct um_variable_pointer) +
				       PATH_MAX + 8];
	static char path[PATH_MAX];
	struct um_record_variable *record = (struct um_record_variable *)buffer;

	if (!um_tracer_on() || is_busy || !slot)
		return;
	is_busy = true;
	*record = (struct um_record_variable){.allocation = allocation};
	path[0] = '\0';
	find_variable(record, path, slot, out);
	char *module = (char *)(record->pointer + record->pointers);
	size_t bytes = strnlen(path, PATH_MAX - 1);

	memcpy(module, path, bytes);
	memset(module + bytes, 0, 8); /* the terminator, and padding to 8 */
	bytes += (size_t)(module - buffer) + 1;
	record->header.bytes = (uint32_t)(bytes + 7) & ~7u;
	record->header.kind = UM_RECORD_VARIABLE;
	um_tracer_put(&record->header);
	is_busy = false;
}
