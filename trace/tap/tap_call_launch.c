#include "tap_call.h"

#include <string.h>

#define NAME_MAX_BYTES 8192u /* mangled names of templates are long; a longer one is cut */

struct shape {
	uint32_t grid[3], block[3];
	uint32_t shared_bytes;
};

static void put_kernel(uint32_t op, const struct shape *shape, const char *name)
{
	size_t name_bytes = strnlen(name, NAME_MAX_BYTES - 1);
	size_t bytes = (sizeof(struct um_record_kernel) + name_bytes + 2 + 7) & ~(size_t)7;
	struct um_record_kernel *record = um_tap_reserve(bytes);

	if (!record)
		return;
	memset(record, 0, sizeof(*record));
	record->header = (struct um_record){(uint32_t)bytes, UM_RECORD_KERNEL, 0};
	record->op = op;
	memcpy(record->grid, shape->grid, sizeof(record->grid));
	memcpy(record->block, shape->block, sizeof(record->block));
	record->lds_bytes = shape->shared_bytes;
	memcpy(record->name, name, name_bytes);
	memset(record->name + name_bytes, 0, bytes - sizeof(*record) - name_bytes);
	um_tap_commit();
}

static void launch(struct um_tap_call *call, void *stream, const struct shape *shape,
		   const char *name)
{
	call->stream = stream;
	struct um_record_op op = um_tap_op(call, UM_OP_LAUNCH);

	if (um_tap_put_op(&op, call->correlation))
		put_kernel(op.op, shape, name ? name : "");
}

void um_tap_launch(struct um_tap_call *call)
{
	const struct um_params_launch *params = call->params;
	struct shape shape = {
		.grid = {params->grid[0], params->grid[1], params->grid[2]},
		.block = {params->block[0], params->block[1], params->block[2]},
		.shared_bytes = params->shared_bytes,
	};

	launch(call, params->stream, &shape, call->symbol);
}

void um_tap_launch_ex(struct um_tap_call *call)
{
	const struct um_cuda_launch_config *config =
		((const struct um_params_launch_ex *)call->params)->config;
	struct shape shape = {
		.grid = {config->grid[0], config->grid[1], config->grid[2]},
		.block = {config->block[0], config->block[1], config->block[2]},
		.shared_bytes = config->shared_bytes,
	};

	launch(call, config->stream, &shape, call->symbol);
}

void um_tap_launch_multi(struct um_tap_call *call)
{
	const struct um_params_launch_multi *params = call->params;

	for (uint32_t i = 0; i < params->count; i++) {
		const struct um_cuda_launch_one *one = params->launch + i;
		struct shape shape = {
			.grid = {one->grid[0], one->grid[1], one->grid[2]},
			.block = {one->block[0], one->block[1], one->block[2]},
			.shared_bytes = one->shared_bytes,
		};

		launch(call, one->stream, &shape, call->symbol);
		call->correlation = 0; /* all times are those of the first */
	}
}

/* The launches of before CUDA 4: the block was set by other calls. */
static void launch_old(struct um_tap_call *call, uint32_t width, uint32_t height, void *stream)
{
	struct shape shape = {.grid = {width, height, 1}};

	launch(call, stream, &shape, call->symbol);
}

void um_tap_launch_one(struct um_tap_call *call)
{
	launch_old(call, 1, 1, NULL);
}

void um_tap_launch_grid(struct um_tap_call *call)
{
	const struct um_params_launch_grid *params = call->params;

	launch_old(call, (uint32_t)params->width, (uint32_t)params->height, call->stream);
}

/* What a graph holds is not told; the device's times of all of it are. */
void um_tap_graph_launch(struct um_tap_call *call)
{
	static const struct shape none;

	launch(call, call->stream, &none, "cuGraphLaunch");
}
