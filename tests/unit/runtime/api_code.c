/*
 * A code object as umhipcc makes them (device_abi.h), written by hand in C: kernels under their two
 * names, variables, LDS.
 */
#include "trace/compiler/device/device_abi.h"

#define EXPORT __attribute__((visibility("default")))
/* Linkers make __start_ and __stop_ of a section only where something refers to them. */
#define LDS __attribute__((section("um_lds"), used)) /* used: clang shrinks it to what is */

EXPORT int counter = 5;
EXPORT float factors[4] = {1, 2, 3, 4};
EXPORT int *managed_number; /* the runtime points it at the memory of the variable */
static LDS char lds[256];
extern EXPORT char __start_um_lds[], __stop_um_lds[];
EXPORT char *const lds_bounds[] = {__start_um_lds, __stop_um_lds};

/* data[i] *= factors[1], for every lane i < count */
static void scale(void **args, int hooked)
{
	float *data = *(float **)args[0];
	unsigned count = *(unsigned *)args[1];
	const struct um_lane *self = um_self();
	unsigned i = self->group[0] * self->block[0] + self->thread[0];

	if (i >= count)
		return;
	if (hooked) {
		um_access(&data[i], UM_ACCESS(4, UM_ACCESS_READ, 0));
		um_access(&data[i], UM_ACCESS(4, UM_ACCESS_WRITE, 1));
	}
	data[i] *= factors[1];
}

EXPORT const unsigned scale_arguments[] __asm__("um_arguments._Z5scalePfj") = {0, 8, 12, 8, 4};
EXPORT void hooked_scale(void **args) __asm__("um_hooked._Z5scalePfj");
EXPORT void plain_scale(void **args) __asm__("um_plain._Z5scalePfj");
EXPORT void hooked_count(void **args) __asm__("um_hooked._Z5countv");
EXPORT void plain_count(void **args) __asm__("um_plain._Z5countv");
EXPORT void plain_fail(void **args) __asm__("um_plain._Z4failv");

void hooked_scale(void **args)
{
	scale(args, 1);
}

void plain_scale(void **args)
{
	scale(args, 0);
}

/* Every lane counts, in two variables. */
void hooked_count(void **args)
{
	plain_count(args);
}

void plain_count(void **args)
{
	(void)args;
	lds[0]++;
	counter++;
	if (managed_number)
		++*managed_number;
}

void plain_fail(void **args)
{
	(void)args;
	um_fault(719, "as asked for"); /* hipErrorLaunchFailure */
}
