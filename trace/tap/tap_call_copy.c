#include "tap_call.h"

/* hipMemcpyKind */
enum { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, BY_ADDRESS };

/* --- copies --- */

static void put_copy(struct um_tap_call *call, uint64_t target, uint64_t source, uint64_t bytes,
		     uint32_t kind, uint32_t correlation)
{
	struct um_record_op op = um_tap_op(call, UM_OP_COPY);

	if (target)
		um_tap_op_target(&op, target, bytes);
	if (source)
		um_tap_op_source(&op, source);
	op.bytes = bytes;
	op.value = kind;
	um_tap_put_op(&op, correlation);
}

void um_tap_copy(struct um_tap_call *call)
{
	const struct um_params_copy *params = call->params;

	put_copy(call, params->target, params->source, params->bytes, call->row->what,
		 call->correlation);
}

void um_tap_copy_peer(struct um_tap_call *call)
{
	const struct um_params_copy_peer *params = call->params;

	put_copy(call, params->target, params->source, params->bytes, call->row->what,
		 call->correlation);
}

static bool is_host(uint32_t type)
{
	return type == UM_CUDA_MEMORY_HOST;
}

static uint32_t kind_of(uint32_t target_type, uint32_t source_type)
{
	if (target_type == UM_CUDA_MEMORY_UNIFIED || source_type == UM_CUDA_MEMORY_UNIFIED)
		return BY_ADDRESS;
	if (is_host(target_type))
		return is_host(source_type) ? HOST_TO_HOST : DEVICE_TO_HOST;
	return is_host(source_type) ? HOST_TO_DEVICE : DEVICE_TO_DEVICE;
}

/* Of a box within rows and layers; 0: an array's, which has no address. */
static uint64_t corner(uint32_t type, uint64_t host, uint64_t device, uint64_t offset)
{
	if (type == UM_CUDA_MEMORY_ARRAY)
		return 0;
	return (is_host(type) ? host : device) + offset;
}

void um_tap_copy_2d(struct um_tap_call *call)
{
	const struct um_cuda_copy_2d *box = ((const struct um_params_copy_box *)call->params)->box;

	if (!box)
		return;
	put_copy(call,
		 corner(box->target_type, box->target_host, box->target_device,
			box->target_y * box->target_pitch + box->target_x),
		 corner(box->source_type, box->source_host, box->source_device,
			box->source_y * box->source_pitch + box->source_x),
		 box->width_bytes * box->height, kind_of(box->target_type, box->source_type),
		 call->correlation);
}

void um_tap_copy_3d(struct um_tap_call *call)
{
	const struct um_cuda_copy_3d *box = ((const struct um_params_copy_box *)call->params)->box;

	if (!box)
		return;
	uint64_t target_row = box->target_z * box->target_height + box->target_y;
	uint64_t source_row = box->source_z * box->source_height + box->source_y;

	put_copy(call,
		 corner(box->target_type, box->target_host, box->target_device,
			target_row * box->target_pitch + box->target_x),
		 corner(box->source_type, box->source_host, box->source_device,
			source_row * box->source_pitch + box->source_x),
		 box->width_bytes * box->height * box->depth,
		 kind_of(box->target_type, box->source_type), call->correlation);
}

/* The times of all are those of the first. Both forms begin alike. */
void um_tap_copy_batch(struct um_tap_call *call)
{
	const struct um_params_copy_batch *params = call->params;

	for (size_t i = 0; i < params->count; i++)
		put_copy(call, params->target[i], params->source[i], params->bytes[i],
			 call->row->what, i == 0 ? call->correlation : 0);
}

void um_tap_copy_3d_batch(struct um_tap_call *call)
{
	(void)call;
	um_tap_lost(UM_LOSS_UNKNOWN_RECORD, 1, "cuMemcpy3DBatchAsync() is not recorded");
}

/* --- memsets --- */

static void put_memset(struct um_tap_call *call, uint64_t target, uint64_t bytes, uint32_t value)
{
	struct um_record_op op = um_tap_op(call, UM_OP_MEMSET);

	um_tap_op_target(&op, target, bytes);
	op.value = value;
	um_tap_put_op(&op, call->correlation);
}

void um_tap_memset_8(struct um_tap_call *call)
{
	const struct um_params_memset_8 *params = call->params;

	put_memset(call, params->target, params->count, params->value);
}

void um_tap_memset_16(struct um_tap_call *call)
{
	const struct um_params_memset_16 *params = call->params;

	put_memset(call, params->target, params->count * sizeof(params->value), params->value);
}

void um_tap_memset_32(struct um_tap_call *call)
{
	const struct um_params_memset_32 *params = call->params;

	put_memset(call, params->target, params->count * sizeof(params->value), params->value);
}

/* From the first byte that is set to the last. */
static void put_rows(struct um_tap_call *call, uint64_t target, uint64_t pitch,
		     uint64_t width_bytes, uint64_t height, uint32_t value)
{
	uint64_t bytes = width_bytes && height ? (height - 1) * pitch + width_bytes : 0;

	put_memset(call, target, bytes, value);
}

void um_tap_memset_2d8(struct um_tap_call *call)
{
	const struct um_params_memset_2d8 *params = call->params;

	put_rows(call, params->target, params->pitch, params->width, params->height, params->value);
}

void um_tap_memset_2d16(struct um_tap_call *call)
{
	const struct um_params_memset_2d16 *params = call->params;

	put_rows(call, params->target, params->pitch, params->width * sizeof(params->value),
		 params->height, params->value);
}

void um_tap_memset_2d32(struct um_tap_call *call)
{
	const struct um_params_memset_2d32 *params = call->params;

	put_rows(call, params->target, params->pitch, params->width * sizeof(params->value),
		 params->height, params->value);
}
