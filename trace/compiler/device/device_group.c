/* Operations of a whole group and of a whole (cooperative) grid. */
#include "device_library.h"

int __ockl_wgred_add_i32(int value);
int __ockl_wgred_and_i32(int value);
int __ockl_wgred_or_i32(int value);
int __ockl_grid_is_valid(void);
void __ockl_grid_sync(void);
unsigned um_static_lds_bytes(void);

/* One for each group, as every variable of this section is. */
static int reduction __attribute__((section("um_lds")));

enum operation { ADD, AND, OR };

static int reduce(int value, enum operation operation)
{
	int result;

	um_barrier();
	reduction = operation == AND;
	um_barrier();
	if (operation == ADD)
		reduction += value;
	else if (operation == AND)
		reduction &= value != 0;
	else
		reduction |= value != 0;
	um_barrier();
	result = reduction;
	um_barrier();
	return result;
}

int __ockl_wgred_add_i32(int value)
{
	return reduce(value, ADD);
}

int __ockl_wgred_and_i32(int value)
{
	return reduce(value, AND);
}

int __ockl_wgred_or_i32(int value)
{
	return reduce(value, OR);
}

int __ockl_grid_is_valid(void)
{
	return 1;
}

static int is_first_lane(const struct um_lane *self)
{
	return !(self->thread[0] | self->thread[1] | self->thread[2]);
}

void __ockl_grid_sync(void)
{
	static volatile unsigned arrived, round;
	const struct um_lane *self = um_self();
	unsigned mine = round;

	um_barrier();
	if (is_first_lane(self) && ++arrived == self->grid[0] * self->grid[1] * self->grid[2]) {
		arrived = 0;
		round++;
	}
	while (round == mine)
		um_yield();
	um_barrier();
}

/* Dynamic LDS does not follow the static variables here, so that its offset says nothing. */
unsigned um_static_lds_bytes(void)
{
	return 0;
}
