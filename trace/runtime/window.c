#include "window.h"

#include <string.h>

struct um_window um_window;

void um_window_shape(uint32_t lanes)
{
	uint32_t tiles = (lanes + UM_WINDOW_TILE - 1) / UM_WINDOW_TILE;
	uint32_t rows = UM_WINDOW_ENTRIES / (tiles * UM_WINDOW_TILE);

	um_window.lanes = lanes;
	um_window.rows = rows < UM_WINDOW_ROWS_MAX ? rows : UM_WINDOW_ROWS_MAX;
	for (uint32_t i = 0; i < tiles * UM_WINDOW_TILE; i++)
		um_window.start[i] = UM_WINDOW_FIRST + i % UM_WINDOW_TILE +
				     i / UM_WINDOW_TILE * (um_window.rows + 1) * UM_WINDOW_TILE;
	um_window.lane = 0;
	um_window_clear();
}

void um_window_clear(void)
{
	uint32_t slots = (um_window.lanes + UM_WINDOW_TILE - 1) / UM_WINDOW_TILE * UM_WINDOW_TILE;

	memcpy(um_window.next, um_window.start, slots * sizeof(*um_window.next));
	um_window.cursor = um_window.next[um_window.lane];
	um_window.limit = um_window.cursor + um_window.rows * UM_WINDOW_TILE;
}
