#include "tap_call.h"

static void launch(struct um_tap_call *call, void *stream, const struct um_tap_kernel *kernel)
{
	call->stream = stream;
	struct um_record_op op = um_tap_op(call, UM_OP_LAUNCH);

	if (um_tap_put_op(&op, call->correlation))
		um_tap_put_kernel(op.op, kernel);
}

static const char *name_of(const struct um_tap_call *call)
{
	return call->symbol ? call->symbol : "";
}

void um_tap_launch(struct um_tap_call *call)
{
	const struct um_params_launch *params = call->params;
	struct um_tap_kernel kernel = {
		.grid = {params->grid[0], params->grid[1], params->grid[2]},
		.block = {params->block[0], params->block[1], params->block[2]},
		.dynamic_shared_bytes = params->shared_bytes,
		.name = name_of(call),
	};

	launch(call, params->stream, &kernel);
}

void um_tap_launch_ex(struct um_tap_call *call)
{
	const struct um_cuda_launch_config *config =
		((const struct um_params_launch_ex *)call->params)->config;
	struct um_tap_kernel kernel = {
		.grid = {config->grid[0], config->grid[1], config->grid[2]},
		.block = {config->block[0], config->block[1], config->block[2]},
		.dynamic_shared_bytes = config->shared_bytes,
		.name = name_of(call),
	};

	launch(call, config->stream, &kernel);
}

void um_tap_launch_multi(struct um_tap_call *call)
{
	const struct um_params_launch_multi *params = call->params;

	for (uint32_t i = 0; i < params->count; i++) {
		const struct um_cuda_launch_one *one = params->launch + i;
		struct um_tap_kernel kernel = {
			.grid = {one->grid[0], one->grid[1], one->grid[2]},
			.block = {one->block[0], one->block[1], one->block[2]},
			.dynamic_shared_bytes = one->shared_bytes,
			.name = name_of(call),
		};

		launch(call, one->stream, &kernel);
		call->correlation = 0; /* all times are those of the first */
	}
}

/* The launches of before CUDA 4: the block was set by other calls. */
static void launch_old(struct um_tap_call *call, uint32_t width, uint32_t height, void *stream)
{
	struct um_tap_kernel kernel = {.grid = {width, height, 1}, .name = name_of(call)};

	launch(call, stream, &kernel);
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
	static const struct um_tap_kernel graph = {.name = "cuGraphLaunch"};

	launch(call, call->stream, &graph);
}
