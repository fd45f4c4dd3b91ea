#include "spool_variable.h"

#include <limits.h>
#include <string.h>
#include <unwind.h>

#define FRAMES_SEARCHED	 4u	     /* innermost ones, for pointers */
#define WORDS_SEARCHED	 256u	     /* of each, from its end */
#define OBJECT_MAX_BYTES (64u << 10) /* that the variable may be a member of */

/* Callee-saved ones, by their numbers in DWARF (x86-64 psABI, figure 3.36): rbx, rbp, r12 to r15. */
static const unsigned char kept_registers[] = {3, 6, 12, 13, 14, 15};

/* Of frame i: x86-64. */
static uintptr_t frame_end(const struct um_stack *stack, size_t i)
{
	return stack->slot[i + 1] + sizeof(uintptr_t);
}

bool um_variable_in_frame(struct um_variable *variable, const struct um_stack *stack, size_t hidden,
			  const void *out_of)
{
	uintptr_t out = (uintptr_t)out_of;

	*variable = (struct um_variable){.stack = stack};
	for (size_t i = hidden; i + 1 < stack->frames && !variable->in_frame; i++)
		if (out > stack->slot[i] && out < stack->slot[i + 1]) {
			variable->in_frame = true;
			variable->frame = i;
			variable->offset = (int64_t)(out - frame_end(stack, i));
		}
	return variable->in_frame;
}

/* --- pointers --- */

struct search {
	struct um_variable *variable;
	uintptr_t out;
	size_t hidden;
	size_t frame; /* that comes next; SIZE_MAX: none of the program's came yet */
};

static bool is_searched(const struct search *search, size_t frame)
{
	return frame < search->hidden + FRAMES_SEARCHED &&
	       frame + 1 < search->variable->stack->frames;
}

static void add_pointer(struct search *search, size_t frame, uintptr_t pointer,
			unsigned at_register, int64_t offset)
{
	struct um_variable *variable = search->variable;

	if (search->out - pointer >= OBJECT_MAX_BYTES || pointer == 0 ||
	    variable->pointers == UM_VARIABLE_POINTERS)
		return;
	variable->pointer[variable->pointers++] = (struct um_variable_pointer){
		.site = (uint32_t)frame,
		.at_register = (uint16_t)at_register,
		.offset = offset,
		.before = search->out - pointer,
	};
}

static void search_stack(struct search *search)
{
	const struct um_stack *stack = search->variable->stack;

	for (size_t i = search->hidden; is_searched(search, i); i++) {
		uintptr_t end = stack->slot[i + 1], start = stack->slot[i] + sizeof(uintptr_t);

		if (end - start > WORDS_SEARCHED * sizeof(uintptr_t))
			start = end - WORDS_SEARCHED * sizeof(uintptr_t);
		for (uintptr_t at = start; at < end; at += sizeof(uintptr_t)) {
			uintptr_t word;

			memcpy(&word, (const void *)at, sizeof(word));
			add_pointer(search, i, word, 0, (int64_t)(at - frame_end(stack, i)));
		}
	}
}

static _Unwind_Reason_Code search_registers(struct _Unwind_Context *context, void *of)
{
	struct search *search = of;
	uintptr_t slot = _Unwind_GetCFA(context) - sizeof(uintptr_t);

	if (search->frame == SIZE_MAX && slot == search->variable->stack->slot[search->hidden])
		search->frame = search->hidden;
	if (search->frame == SIZE_MAX)
		return _URC_NO_REASON;
	if (!is_searched(search, search->frame))
		return _URC_END_OF_STACK;
	for (size_t i = 0; i < sizeof(kept_registers); i++)
		add_pointer(search, search->frame, _Unwind_GetGR(context, kept_registers[i]), 1,
			    kept_registers[i]);
	search->frame++;
	return _URC_NO_REASON;
}

void um_variable_search(struct um_variable *variable, const struct um_stack *stack, size_t hidden,
			const void *out)
{
	struct search search = {variable, (uintptr_t)out, hidden, SIZE_MAX};

	*variable = (struct um_variable){.stack = stack};
	if (hidden >= stack->frames)
		return;
	search_stack(&search);
	_Unwind_Backtrace(search_registers, &search);
}

/* --- the record --- */

/* Those of one frame follow one another, once for the stack and once for the registers. */
static void tell_sites(struct um_record_variable *record, const struct um_variable *variable,
		       uint32_t (*site_of)(const struct um_stack *, size_t frame))
{
	for (uint32_t i = 0; i < record->pointers; i++) {
		bool again = i > 0 && variable->pointer[i - 1].site == variable->pointer[i].site;

		record->pointer[i].site =
			again ? record->pointer[i - 1].site
			      : site_of(variable->stack, variable->pointer[i].site);
	}
}

const struct um_record_variable *
um_variable_record(const struct um_variable *variable, uint32_t allocation,
		   uint32_t (*site_of)(const struct um_stack *, size_t frame), const char *module,
		   uint64_t module_offset)
{
	static _Alignas(8) char buffer[sizeof(struct um_record_variable) +
				       UM_VARIABLE_POINTERS * sizeof(struct um_variable_pointer) +
				       PATH_MAX + 8];
	struct um_record_variable *record = (struct um_record_variable *)buffer;
	size_t module_bytes = strnlen(module, PATH_MAX - 1);

	*record = (struct um_record_variable){
		.allocation = allocation,
		.offset = variable->in_frame ? variable->offset
			  : module_bytes     ? (int64_t)module_offset
					     : 0,
		.pointers = variable->in_frame || module_bytes ? 0 : variable->pointers,
	};
	memcpy(record->pointer, variable->pointer, record->pointers * sizeof(*record->pointer));
	if (variable->in_frame)
		record->site = site_of(variable->stack, variable->frame);
	tell_sites(record, variable, site_of);
	char *path = (char *)(record->pointer + record->pointers);

	memcpy(path, module, module_bytes);
	memset(path + module_bytes, 0, 8); /* the terminator, and padding to 8 */
	record->header.bytes = (uint32_t)(path + module_bytes + 1 - buffer + 7) & ~7u;
	record->header.kind = UM_RECORD_VARIABLE;
	return record;
}
