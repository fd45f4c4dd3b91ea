/* Operations of a whole group and of a whole (cooperative) grid. */
#include "device_library.h"

int __ockl_wgred_add_i32(int value);
int __ockl_wgred_and_i32(int value);
int __ockl_wgred_or_i32(int value);
int __ockl_grid_is_valid(void);
void __ockl_grid_sync(void);
unsigned __ockl_multi_grid_num_grids(void);
unsigned __ockl_multi_grid_grid_rank(void);
unsigned __ockl_multi_grid_size(void);
unsigned __ockl_multi_grid_thread_rank(void);
int __ockl_multi_grid_is_valid(void);
void __ockl_multi_grid_sync(void);
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

static unsigned groups_of(const struct um_lane *self)
{
	return self->grid[0] * self->grid[1] * self->grid[2];
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
	if (is_first_lane(self) && ++arrived == groups_of(self)) {
		arrived = 0;
		round++;
	}
	while (round == mine)
		um_yield();
	um_barrier();
}

/*
 * Launches over several devices at once do not exist here: a grid is the only one. The functions of
 * cooperative_groups::thread_group mention all of these.
 */
unsigned __ockl_multi_grid_num_grids(void)
{
	return 1;
}

unsigned __ockl_multi_grid_grid_rank(void)
{
	return 0;
}

static unsigned lanes_of(const struct um_lane *self)
{
	return self->block[0] * self->block[1] * self->block[2];
}

unsigned __ockl_multi_grid_size(void)
{
	return groups_of(um_self()) * lanes_of(um_self());
}

unsigned __ockl_multi_grid_thread_rank(void)
{
	const struct um_lane *self = um_self();
	unsigned group =
		(self->group[2] * self->grid[1] + self->group[1]) * self->grid[0] + self->group[0];
	unsigned thread = (self->thread[2] * self->block[1] + self->thread[1]) * self->block[0] +
			  self->thread[0];

	return group * lanes_of(self) + thread;
}

int __ockl_multi_grid_is_valid(void)
{
	return 0;
}

void __ockl_multi_grid_sync(void)
{
	__ockl_grid_sync();
}

/* Dynamic LDS does not follow the static variables here, so that its offset says nothing. */
unsigned um_static_lds_bytes(void)
{
	return 0;
}
