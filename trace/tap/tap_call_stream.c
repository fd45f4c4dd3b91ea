/* Who waits for what. */
#include "tap_call.h"

static void put_wait(struct um_tap_call *call, enum um_op_kind kind, void *event)
{
	struct um_record_op op = um_tap_op(call, kind);

	op.event = um_tap_event(event);
	call->begun = um_tap_put_op(&op, 0);
}

void um_tap_sync_device(struct um_tap_call *call)
{
	put_wait(call, UM_OP_SYNC_DEVICE, NULL);
}

void um_tap_sync_stream(struct um_tap_call *call)
{
	put_wait(call, UM_OP_SYNC_STREAM, NULL);
}

void um_tap_event_sync(struct um_tap_call *call)
{
	put_wait(call, UM_OP_EVENT_SYNC, ((const struct um_params_event *)call->params)->event);
}

void um_tap_event_record(struct um_tap_call *call)
{
	put_wait(call, UM_OP_EVENT_RECORD,
		 ((const struct um_params_event_record *)call->params)->event);
}

void um_tap_stream_wait(struct um_tap_call *call)
{
	put_wait(call, UM_OP_STREAM_WAIT,
		 ((const struct um_params_stream_wait *)call->params)->event);
}

void um_tap_event_destroy(struct um_tap_call *call)
{
	if (call->result == 0)
		um_tap_forget_event(((const struct um_params_event *)call->params)->event);
}

static bool is_non_blocking(const struct um_tap_call *call)
{
	const struct um_params_stream_create *params = call->params;
	const struct um_params_green_stream_create *green = call->params;

	return (call->row->what ? green->flags : params->flags) & UM_CUDA_STREAM_NON_BLOCKING;
}

/* what: of a green context */
void um_tap_stream_create(struct um_tap_call *call)
{
	const struct um_params_stream_create *params = call->params;

	if (call->result == 0 && params->stream) {
		um_tap_forget_stream(*params->stream); /* of another that went unnoticed */
		call->stream = *params->stream;
	}
	struct um_record_op op = um_tap_op(call, UM_OP_STREAM_CREATE);

	if (is_non_blocking(call))
		op.flags |= UM_OP_NON_BLOCKING;
	um_tap_put_op(&op, 0);
}

void um_tap_stream_destroy(struct um_tap_call *call)
{
	call->stream = ((const struct um_params_stream *)call->params)->stream;
	struct um_record_op op = um_tap_op(call, UM_OP_STREAM_DESTROY);

	if (call->result == 0)
		um_tap_forget_stream(call->stream);
	um_tap_put_op(&op, 0);
}

/* It is umtrace that leaves out what is not selected. */
void um_tap_profiler(struct um_tap_call *call)
{
	struct um_record_op op =
		um_tap_op(call, call->row->what ? UM_OP_PROFILER_START : UM_OP_PROFILER_STOP);

	um_tap_put_op(&op, 0);
}
