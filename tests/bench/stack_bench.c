/*
 * What the stack of a call costs it, at a depth as programs have it: where the stack was met before, and
 * where it is walked for the first time. The floor is the same call with its return address alone.
 */
#include "bench_clock.h"
#include "trace/spool/spool_site.h"
#include "trace/spool/spool_stack.h"

#include <inttypes.h>
#include <stdio.h>

#define CALLS	 1000000u
#define WALKS	 20000u
#define LIMIT_NS 3000.0 /* more than without, that a call may cost */

static struct um_stack stack;
static uint32_t last_site;
static struct um_site_table sites;
static struct um_stack_table stacks;

static uint32_t intern(void)
{
	uint32_t site = 0;
	bool is_new;

	for (size_t i = stack.frames; i-- > 0;)
		site = um_site_intern(&sites, site, (const void *)stack.address_in[i], &is_new);
	return site;
}

static __attribute__((noinline)) void address_alone(void)
{
	bool is_new;

	last_site = um_site_intern(&sites, 0, __builtin_return_address(0), &is_new);
}

static __attribute__((noinline)) void whole_stack(void)
{
	uintptr_t slot = UM_STACK_OWN_SLOT;

	last_site = um_stack_find(&stacks, &stack, slot);
	if (last_site)
		return;
	um_stack_walk(&stack, slot, NULL);
	last_site = intern();
	um_stack_keep(&stacks, &stack, last_site);
}

static __attribute__((noinline)) void walked_stack(void)
{
	um_stack_walk(&stack, UM_STACK_OWN_SLOT, NULL);
	last_site = intern();
}

/* Not a loop, and no call that another replaces. */
static __attribute__((noinline)) void descend(int depth, void (*call)(void))
{
	if (depth == 0)
		call();
	else
		descend(depth - 1, call);
	__asm__ volatile("");
}

static double measure(int depth, void (*call)(void), unsigned calls)
{
	double start_s = bench_clock_s(CLOCK_PROCESS_CPUTIME_ID);

	for (unsigned i = 0; i < calls; i++)
		descend(depth, call);
	return (bench_clock_s(CLOCK_PROCESS_CPUTIME_ID) - start_s) * 1e9 / calls;
}

static bool report(int depth)
{
	double alone = measure(depth, address_alone, CALLS);
	double known = measure(depth, whole_stack, CALLS);
	uint32_t before = last_site;
	double walked = measure(depth, walked_stack, WALKS);

	printf("%6d %12.0f %12.0f %12.0f %11.1fx %14.0f\n", depth, alone, known, known - alone,
	       known / alone, walked);
	/* However often it was walked: a site a frame. */
	return last_site - before <= (uint32_t)depth + 4 && known - alone < LIMIT_NS;
}

int main(void)
{
	bool good = true;

	printf("%6s %12s %12s %12s %12s %14s  ns a call\n", "depth", "address", "whole stack",
	       "more", "ratio", "first time");
	for (int depth = 2; depth <= 32; depth *= 2)
		good &= report(depth);
	printf("%s: %.0f ns more at most\n", good ? "within the limit" : "over the limit",
	       LIMIT_NS);
	return !good;
}
