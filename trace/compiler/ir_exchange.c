/*
 * Code of one wave hands values from lane to lane through LDS without a barrier, since hardware
 * runs its lanes in step: s[t] = x; y = s[t ^ 1]. Here lanes run one after another. So where a lane
 * may read what another lane stored since the wave last met, or store what another has yet to read,
 * the wave meets (um_wave_sync()) before it does.
 *
 * A store and a load without a meeting between them, on some path or in two arms of a branch, of
 * which hardware runs the first first, are such a pair unless
 *   - they are in different variables, or in parts of one that constants tell apart;
 *   - each lane has its own cell: the addresses are the same sum of the same values, or differ by
 *     less than every step that these values make (the members of s[t]).
 * Two stores are no pair, nor two atomics. What is reached through a pointer of unknown origin is not looked at,
 * volatile accesses meet in any case (ir_lockstep.c).
 */
#include "ir_device.h"

#include "ir_linear.h"
#include "ir_names.h"

#include <stdlib.h>
#include <string.h>

/* More accesses than any hand-written kernel has; a machine-made one gets no meetings. */
enum { ACCESSES_MAX = 8192 };

struct access {
	LLVMValueRef instruction;
	struct um_ir_linear address;
	int64_t bytes;
	bool reads, writes; /* an atomic does both */
	unsigned block;
	unsigned met; /* the last meeting before it in its block; 0: those of the block's start */
};

/*
 * Sets of accesses that were made since the wave met: bits, `words` for each block. Blocks are
 * numbered in the order of um_ir_order(), meetings from 1, and 0 is the start of the function.
 */
struct exchange {
	LLVMModuleRef module;
	LLVMTargetDataRef layout;
	struct access *accesses;
	unsigned count, words, block_count;
	LLVMBasicBlockRef *blocks;
	uint64_t *open_at_end; /* of block b: [b * words] */
	uint64_t *open;	       /* while a block is read */
	unsigned meetings, met_words;
	uint64_t *met_at_start,
		*met_at_end; /* of block b, [b * met_words]: which may be the last */
	unsigned next;	     /* access of the block that is read */
	bool place;	     /* meetings, where they are needed */
};

static LLVMValueRef pointer_of(LLVMValueRef i)
{
	switch (LLVMGetInstructionOpcode(i)) {
	case LLVMLoad:
	case LLVMAtomicRMW:
	case LLVMAtomicCmpXchg:
		return LLVMGetOperand(i, 0);
	case LLVMStore:
		return LLVMGetOperand(i, 1);
	default:
		return NULL;
	}
}

static LLVMTypeRef type_of(LLVMValueRef i)
{
	return LLVMTypeOf(LLVMIsAStoreInst(i) ? LLVMGetOperand(i, 0) : i);
}

static bool make_access(struct access *out, LLVMValueRef i, LLVMTargetDataRef layout)
{
	LLVMValueRef pointer = pointer_of(i);

	if (!pointer)
		return false;
	*out = (struct access){
		.instruction = i,
		.address = um_ir_linear(pointer, layout),
		.reads = !LLVMIsAStoreInst(i),
		.writes = !LLVMIsALoadInst(i),
	};
	if (!um_ir_is_lds(out->address.base))
		return false;
	out->bytes = (int64_t)LLVMABISizeOfType(layout, type_of(i));
	return true;
}

static int64_t magnitude(int64_t n)
{
	return n < 0 ? -n : n;
}

/* Could one lane's first and another's second access be to one cell? */
static bool may_meet(const struct access *first, const struct access *second)
{
	const struct um_ir_linear *a = &first->address, *b = &second->address;
	int64_t apart = b->offset_bytes - a->offset_bytes, reach;

	if (a->base != b->base)
		return false;
	if (!um_ir_linear_same_terms(a, b))
		return true;
	reach = apart < 0 ? -apart + first->bytes : apart + second->bytes;
	if (!a->count)
		return apart < 0 ? -apart < second->bytes : apart < first->bytes;
	for (unsigned i = 0; i < a->count && apart; i++)
		if (reach > magnitude(a->terms[i].scale_bytes))
			return true;
	return false;
}

static bool is_meeting(LLVMValueRef i)
{
	const char *callee = um_ir_callee(i);

	return !strcmp(callee, "um_barrier") || um_ir_starts_with(callee, "um_wave_");
}

/* Does one read what the other writes? Atomics are in no order. */
static bool are_pair(const struct access *a, const struct access *b)
{
	if (a->reads && a->writes && b->reads && b->writes)
		return false;
	return (a->writes && b->reads) || (a->reads && b->writes);
}

static bool needs_meeting(const struct exchange *x, const struct access *access)
{
	for (unsigned n = 0; n < x->count; n++) {
		const struct access *before = &x->accesses[n];

		if (!(x->open[n / 64] >> n % 64 & 1))
			continue;
		if (are_pair(before, access) && may_meet(before, access))
			return true;
	}
	return false;
}

static void read_access(struct exchange *x)
{
	unsigned n = x->next++;

	if (x->place && needs_meeting(x, &x->accesses[n])) {
		um_ir_wait_before(x->module, x->accesses[n].instruction);
		memset(x->open, 0, x->words * sizeof *x->open);
	}
	x->open[n / 64] |= UINT64_C(1) << n % 64;
}

/* What is open at the end of the block, from x->open at its start. */
static void read_block(struct exchange *x, LLVMBasicBlockRef block)
{
	UM_IR_FOR_EACH_INSTRUCTION(i, block)
	{
		if (x->next < x->count && x->accesses[x->next].instruction == i)
			read_access(x);
		else if (is_meeting(i))
			memset(x->open, 0, x->words * sizeof *x->open);
	}
}

static bool share(const uint64_t *a, const uint64_t *b, unsigned words)
{
	for (unsigned w = 0; w < words; w++)
		if (a[w] & b[w])
			return true;
	return false;
}

/* Was the access made by other lanes since the wave met, in an arm that this block is not in? */
static bool is_beside(const struct exchange *x, const struct access *a, unsigned b)
{
	const uint64_t *here = &x->met_at_start[b * x->met_words];

	if (a->block >= b)
		return false;
	if (a->met)
		return here[a->met / 64] >> a->met % 64 & 1;
	return share(here, &x->met_at_start[a->block * x->met_words], x->met_words);
}

static unsigned number_of(const struct exchange *x, LLVMBasicBlockRef block)
{
	unsigned b = 0;

	while (x->blocks[b] != block)
		b++;
	return b;
}

/* Adds what `at_end` has of the blocks before block b. */
static void join(const struct exchange *x, unsigned b, uint64_t *to, const uint64_t *at_end,
		 unsigned words)
{
	for (LLVMUseRef use = LLVMGetFirstUse(LLVMBasicBlockAsValue(x->blocks[b])); use;
	     use = LLVMGetNextUse(use)) {
		LLVMValueRef user = LLVMGetUser(use);
		unsigned from;

		if (!LLVMIsAInstruction(user) || !LLVMIsATerminatorInst(user))
			continue;
		from = number_of(x, LLVMGetInstructionParent(user));
		for (unsigned w = 0; w < words; w++)
			to[w] |= at_end[from * words + w];
	}
}

static void open_at_start(struct exchange *x, unsigned b)
{
	memset(x->open, 0, x->words * sizeof *x->open);
	join(x, b, x->open, x->open_at_end, x->words);
	for (unsigned n = 0; n < x->count && x->place; n++)
		if (is_beside(x, &x->accesses[n], b))
			x->open[n / 64] |= UINT64_C(1) << n % 64;
}

/* The last meeting of the block; 0: none. Notes it for the block's accesses. */
static unsigned number_meetings(struct exchange *x, unsigned b, unsigned *next)
{
	unsigned last = 0;

	UM_IR_FOR_EACH_INSTRUCTION(i, x->blocks[b])
	{
		if (*next < x->count && x->accesses[*next].instruction == i) {
			x->accesses[*next].block = b;
			x->accesses[(*next)++].met = last;
		} else if (is_meeting(i)) {
			last = ++x->meetings;
		}
	}
	return last;
}

static bool spread_meetings(struct exchange *x, const unsigned *last)
{
	bool changed = false;

	for (unsigned b = 0; b < x->block_count; b++) {
		uint64_t *start = &x->met_at_start[b * x->met_words];
		uint64_t *end = &x->met_at_end[b * x->met_words];

		join(x, b, start, x->met_at_end, x->met_words);
		for (unsigned w = 0; w < x->met_words && !last[b]; w++) {
			changed |= (start[w] & ~end[w]) != 0;
			end[w] |= start[w];
		}
	}
	return changed;
}

/* Which meetings may be a block's last ones. */
static bool find_meetings(struct exchange *x)
{
	unsigned *last = calloc(x->block_count, sizeof *last), next = 0;

	for (unsigned b = 0; b < x->block_count && last; b++)
		last[b] = number_meetings(x, b, &next);
	x->met_words = x->meetings / 64 + 1;
	x->met_at_start = calloc((size_t)x->block_count * x->met_words, sizeof *x->met_at_start);
	x->met_at_end = calloc((size_t)x->block_count * x->met_words, sizeof *x->met_at_end);
	if (!last || !x->met_at_start || !x->met_at_end) {
		free(last);
		return false;
	}
	x->met_at_start[0] = 1;
	for (unsigned b = 0; b < x->block_count; b++)
		if (last[b])
			x->met_at_end[b * x->met_words + last[b] / 64] |= UINT64_C(1)
									  << last[b] % 64;
	while (spread_meetings(x, last))
		continue;
	free(last);
	return true;
}

/* Over all blocks. True where what is open at the end of one has changed. */
static bool read_blocks(struct exchange *x)
{
	bool changed = false;

	x->next = 0;
	for (unsigned b = 0; b < x->block_count; b++) {
		uint64_t *end = &x->open_at_end[b * x->words];

		open_at_start(x, b);
		read_block(x, x->blocks[b]);
		changed |= memcmp(end, x->open, x->words * sizeof *end) != 0;
		if (!x->place)
			memcpy(end, x->open, x->words * sizeof *end);
	}
	return changed;
}

static bool find_accesses(struct exchange *x, LLVMValueRef function)
{
	unsigned room = 0;
	struct access access;
	bool reads = false, writes = false;

	UM_IR_FOR_EACH_BLOCK(b, function)
	UM_IR_FOR_EACH_INSTRUCTION(i, b)
	room += make_access(&access, i, x->layout);
	x->accesses = room && room <= ACCESSES_MAX ? calloc(room, sizeof *x->accesses) : NULL;
	if (!x->accesses)
		return false;
	UM_IR_FOR_EACH_BLOCK(b, function)
	UM_IR_FOR_EACH_INSTRUCTION(i, b)
	if (make_access(&access, i, x->layout)) {
		reads |= access.reads;
		writes |= access.writes;
		x->accesses[x->count++] = access;
	}
	return reads && writes;
}

static bool make_sets(struct exchange *x, LLVMValueRef function)
{
	x->words = (x->count + 63) / 64;
	x->block_count = LLVMCountBasicBlocks(function);
	x->blocks = calloc(x->block_count, sizeof(LLVMBasicBlockRef));
	x->open_at_end = calloc((size_t)x->block_count * x->words, sizeof *x->open_at_end);
	x->open = calloc(x->words, sizeof *x->open);
	if (!x->blocks || !x->open_at_end || !x->open)
		return false;
	LLVMGetBasicBlocks(function, x->blocks);
	return true;
}

static void meet(LLVMModuleRef module, LLVMValueRef function)
{
	struct exchange x = {.module = module, .layout = LLVMGetModuleDataLayout(module)};

	if (find_accesses(&x, function) && make_sets(&x, function) && find_meetings(&x)) {
		while (read_blocks(&x))
			continue;
		x.place = true;
		read_blocks(&x);
	}
	free(x.accesses);
	free(x.blocks);
	free(x.open_at_end);
	free(x.open);
	free(x.met_at_start);
	free(x.met_at_end);
}

void um_ir_exchange(LLVMModuleRef module)
{
	UM_IR_FOR_EACH_FUNCTION(f, module)
	if (!LLVMIsDeclaration(f))
		meet(module, f);
}
