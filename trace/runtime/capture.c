#include "capture.h"

#include <stdlib.h>
#include <string.h>

struct um_capture {
	struct um_capture *next;
	uint64_t number; /* from 1 */
	hipStreamCaptureMode mode;
	const struct um_thread *thread; /* that began it */
	struct um_stream *origin;
	struct um_graph *graph;
	bool invalid;
};

static struct um_capture *all;
static uint64_t last_number;

/* --- tips --- */

void um_tips_clear(struct um_tips *tips)
{
	free(tips->node);
	*tips = (struct um_tips){0};
}

static hipError_t tips_set(struct um_tips *tips, struct um_capture *capture,
			   struct um_node *const *node, size_t count)
{
	struct um_node **copy = calloc(count + 1, sizeof(struct um_node *));

	if (!copy)
		return hipErrorOutOfMemory;
	if (count)
		memcpy(copy, node, count * sizeof(struct um_node *));
	free(tips->node);
	*tips = (struct um_tips){capture, capture->number, copy, count};
	return hipSuccess;
}

static bool tips_hold(const struct um_tips *tips, const struct um_node *node)
{
	for (size_t i = 0; i < tips->count; i++)
		if (tips->node[i] == node)
			return true;
	return false;
}

static hipError_t tips_add(struct um_tips *tips, struct um_node *node)
{
	if (tips_hold(tips, node))
		return hipSuccess;
	struct um_node **grown = realloc(tips->node, (tips->count + 1) * sizeof(struct um_node *));

	if (!grown)
		return hipErrorOutOfMemory;
	tips->node = grown;
	tips->node[tips->count++] = node;
	return hipSuccess;
}

/* --- what is forbidden --- */

static hipError_t spoil(struct um_capture *capture, hipError_t error)
{
	capture->invalid = true;
	return error;
}

/* The null stream would wait for streams without hipStreamNonBlocking. */
static hipError_t check_null_stream(void)
{
	for (struct um_capture *capture = all; capture; capture = capture->next)
		if (!(capture->origin->flags & hipStreamNonBlocking))
			return spoil(capture, hipErrorStreamCaptureImplicit);
	return hipSuccess;
}

hipError_t um_capture_asks(bool *captures, hipStream_t handle, bool may)
{
	const struct um_stream *stream = um_stream_get(handle);

	*captures = false;
	if (!stream)
		return hipErrorInvalidHandle;
	if (!stream->id)
		return check_null_stream();
	if (!stream->tips)
		return hipSuccess;
	struct um_capture *capture = stream->tips->capture;

	if (capture->invalid)
		return hipErrorStreamCaptureInvalidated;
	if (!may)
		return spoil(capture, hipErrorStreamCaptureUnsupported);
	*captures = true;
	return hipSuccess;
}

hipError_t um_capture_refuses(hipStream_t stream)
{
	bool captures;

	return um_capture_asks(&captures, stream, false);
}

static bool forbids(const struct um_capture *capture)
{
	if (capture->mode == hipStreamCaptureModeRelaxed ||
	    um_thread.capture_mode == hipStreamCaptureModeRelaxed)
		return false;
	if (capture->thread == &um_thread)
		return true;
	return capture->mode == hipStreamCaptureModeGlobal &&
	       um_thread.capture_mode == hipStreamCaptureModeGlobal;
}

hipError_t um_capture_forbids(void)
{
	for (struct um_capture *capture = all; capture; capture = capture->next)
		if (forbids(capture))
			return spoil(capture, hipErrorStreamCaptureUnsupported);
	return hipSuccess;
}

hipError_t um_capture_event(const struct um_tips *tips)
{
	if (!tips->capture)
		return hipSuccess;
	for (struct um_capture *capture = all; capture; capture = capture->next)
		if (capture->number == tips->number)
			return spoil(capture, hipErrorCapturedEvent);
	return hipErrorCapturedEvent;
}

/* --- work becomes nodes --- */

static hipError_t add(struct um_node **out, struct um_stream *stream, hipGraphNodeType type)
{
	struct um_tips *tips = stream->tips;

	return um_node_add(out, tips->capture->graph, type, tips->node, tips->count);
}

/* A node that got its content is what comes next waits for; one that did not is none. */
static hipError_t settle(struct um_stream *stream, struct um_node *node, hipError_t error)
{
	struct um_capture *capture = stream->tips->capture;

	if (!error)
		return tips_set(stream->tips, capture, &node, 1);
	um_node_remove(node);
	return spoil(capture, error);
}

hipError_t um_capture_launch(const struct um_launch_request *request)
{
	struct um_stream *stream = um_stream_get(request->stream);
	struct um_node *node;
	hipError_t error = add(&node, stream, hipGraphNodeTypeKernel);

	return error ? error
		     : settle(stream, node, um_node_set_launch(node, request, request->function));
}

hipError_t um_capture_copy(const struct um_copy *copy)
{
	struct um_stream *stream = um_stream_get(copy->stream);
	struct um_node *node;
	hipError_t error = add(&node, stream, hipGraphNodeTypeMemcpy);

	if (error)
		return error;
	node->copy.copy = *copy;
	um_copy_params(&node->copy.params, copy);
	return settle(stream, node, um_copy_check(copy));
}

hipError_t um_capture_fill(const struct um_fill *fill)
{
	struct um_stream *stream = um_stream_get(fill->stream);
	struct um_node *node;
	hipError_t error = add(&node, stream, hipGraphNodeTypeMemset);

	if (error)
		return error;
	node->fill.fill = *fill;
	um_fill_params(&node->fill.params, fill);
	return settle(stream, node, um_fill_check(fill));
}

hipError_t um_capture_host(hipStream_t handle, const hipHostNodeParams *params)
{
	struct um_stream *stream = um_stream_get(handle);
	struct um_node *node;
	hipError_t error = add(&node, stream, hipGraphNodeTypeHost);

	return error ? error : settle(stream, node, um_node_set_host(node, params));
}

hipError_t um_capture_graph(hipStream_t handle, const struct um_graph *graph)
{
	struct um_stream *stream = um_stream_get(handle);
	struct um_node *node;
	hipError_t error = add(&node, stream, hipGraphNodeTypeGraph);

	return error ? error : settle(stream, node, um_node_set_child(node, graph));
}

/* --- events --- */

hipError_t um_capture_record(struct um_tips *out, hipStream_t handle)
{
	const struct um_tips *tips = um_stream_get(handle)->tips;

	return tips_set(out, tips->capture, tips->node, tips->count);
}

static struct um_capture *find(uint64_t number)
{
	struct um_capture *capture = all;

	while (capture && capture->number != number)
		capture = capture->next;
	return capture;
}

static hipError_t join(struct um_stream *stream, const struct um_tips *event)
{
	if (!stream->id) /* the null stream captures nothing */
		return spoil(event->capture, hipErrorStreamCaptureImplicit);
	stream->tips = calloc(1, sizeof(*stream->tips));
	if (!stream->tips)
		return hipErrorOutOfMemory;
	return tips_set(stream->tips, event->capture, event->node, event->count);
}

hipError_t um_capture_wait(hipStream_t handle, const struct um_tips *event)
{
	struct um_stream *stream = um_stream_get(handle);
	struct um_tips *tips = stream->tips;
	hipError_t error = hipSuccess;

	if (!event->capture)
		return spoil(tips->capture, hipErrorStreamCaptureIsolation);
	if (!find(event->number))
		return hipErrorCapturedEvent; /* of a capture that has ended */
	if (event->capture->invalid)
		return hipErrorStreamCaptureInvalidated;
	if (!tips)
		return join(stream, event);
	if (tips->number != event->number)
		return spoil(tips->capture, hipErrorStreamCaptureMerge);
	for (size_t i = 0; i < event->count && !error; i++)
		error = tips_add(tips, event->node[i]);
	return error;
}

/* --- their life --- */

static void leave(struct um_stream *stream)
{
	um_tips_clear(stream->tips);
	free(stream->tips);
	stream->tips = NULL;
}

static void leave_if_of(struct um_stream *stream, void *capture)
{
	if (stream->tips && stream->tips->capture == capture)
		leave(stream);
}

static void capture_free(struct um_capture *capture)
{
	struct um_capture **link = &all;

	um_stream_each(leave_if_of, capture);
	while (*link != capture)
		link = &(*link)->next;
	*link = capture->next;
	free(capture);
}

void um_capture_forget(struct um_stream *stream)
{
	if (!stream->tips)
		return;
	struct um_capture *capture = stream->tips->capture;

	leave(stream);
	capture->invalid = true;
	if (capture->origin != stream)
		return;
	um_graph_free(capture->graph); /* nobody can end it any more */
	capture_free(capture);
}

static struct um_capture *capture_new(struct um_stream *stream, hipStreamCaptureMode mode)
{
	struct um_capture *capture = calloc(1, sizeof(*capture));

	if (!capture)
		return NULL;
	capture->graph = um_graph_new(false);
	stream->tips = calloc(1, sizeof(*stream->tips));
	capture->number = ++last_number;
	if (!capture->graph || !stream->tips || tips_set(stream->tips, capture, NULL, 0)) {
		um_graph_free(capture->graph);
		free(stream->tips);
		stream->tips = NULL;
		free(capture);
		return NULL;
	}
	capture->mode = mode;
	capture->thread = &um_thread;
	capture->origin = stream;
	capture->next = all;
	all = capture;
	return capture;
}

static hipError_t begin(hipStream_t handle, hipStreamCaptureMode mode)
{
	struct um_stream *stream = um_stream_get(handle);

	if ((unsigned)mode > hipStreamCaptureModeRelaxed)
		return hipErrorInvalidValue;
	if (!stream)
		return hipErrorInvalidHandle;
	if (!stream->id) /* "must not be the null stream" */
		return hipErrorStreamCaptureUnsupported;
	if (stream->tips)
		return hipErrorIllegalState;
	return capture_new(stream, mode) ? hipSuccess : hipErrorOutOfMemory;
}

hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode)
{
	UM_ENTER();
	return um_leave(begin(stream, mode));
}

static bool somebody_waits_for(const struct um_graph *graph, const struct um_node *node)
{
	for (const struct um_node *n = graph->first; n; n = n->next)
		if (um_node_waits_for(n, node))
			return true;
	return false;
}

/* The origin waits for every stream that joined, so that every last node is one of its tips. */
static bool is_joined(const struct um_capture *capture)
{
	for (const struct um_node *node = capture->graph->first; node; node = node->next)
		if (!somebody_waits_for(capture->graph, node) &&
		    !tips_hold(capture->origin->tips, node))
			return false;
	return true;
}

static hipError_t end(struct um_graph **out, hipStream_t handle)
{
	const struct um_stream *stream = um_stream_get(handle);

	if (!stream)
		return hipErrorInvalidHandle;
	if (!stream->tips)
		return hipErrorIllegalState;
	struct um_capture *capture = stream->tips->capture;
	hipError_t error = hipSuccess;

	if (capture->origin != stream)
		return spoil(capture, hipErrorStreamCaptureUnmatched);
	if (capture->thread != &um_thread && capture->mode != hipStreamCaptureModeRelaxed)
		return hipErrorStreamCaptureWrongThread;
	if (capture->invalid)
		error = hipErrorStreamCaptureInvalidated;
	else if (!is_joined(capture))
		error = hipErrorStreamCaptureUnjoined;
	*out = error ? NULL : capture->graph;
	if (error)
		um_graph_free(capture->graph);
	capture_free(capture);
	return error;
}

static hipError_t end_capture(hipStream_t stream, hipGraph_t *out)
{
	struct um_graph *graph = NULL;

	if (!out)
		return hipErrorInvalidValue;
	hipError_t error = end(&graph, stream);

	*out = (hipGraph_t)graph;
	return error;
}

hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t *graph)
{
	UM_ENTER();
	return um_leave(end_capture(stream, graph));
}

/* --- what programs ask --- */

struct info {
	hipStreamCaptureStatus *status;
	unsigned long long *number;
	hipGraph_t *graph;
	const hipGraphNode_t **tips;
	size_t *tip_count;
};

static void tell(const struct info *info, const struct um_tips *tips)
{
	if (info->number)
		*info->number = tips->number;
	if (info->graph)
		*info->graph = (hipGraph_t)tips->capture->graph;
	if (info->tips)
		*info->tips = (const hipGraphNode_t *)tips->node;
	if (info->tip_count)
		*info->tip_count = tips->count;
}

static hipError_t get_info(hipStream_t handle, const struct info *info)
{
	const struct um_stream *stream = um_stream_get(handle);

	if (!info->status)
		return hipErrorInvalidValue;
	if (!stream)
		return hipErrorInvalidHandle;
	*info->status = hipStreamCaptureStatusNone;
	if (!stream->id)
		return check_null_stream();
	if (!stream->tips)
		return hipSuccess;
	*info->status = stream->tips->capture->invalid ? hipStreamCaptureStatusInvalidated
						       : hipStreamCaptureStatusActive;
	if (*info->status == hipStreamCaptureStatusActive)
		tell(info, stream->tips);
	return hipSuccess;
}

hipError_t hipStreamIsCapturing(hipStream_t stream, hipStreamCaptureStatus *status)
{
	struct info info = {.status = status};

	UM_ENTER();
	return um_leave(get_info(stream, &info));
}

hipError_t hipStreamGetCaptureInfo(hipStream_t stream, hipStreamCaptureStatus *status,
				   unsigned long long *number)
{
	struct info info = {.status = status, .number = number};

	UM_ENTER();
	return um_leave(get_info(stream, &info));
}

hipError_t hipStreamGetCaptureInfo_v2(hipStream_t stream, hipStreamCaptureStatus *status,
				      unsigned long long *number, hipGraph_t *graph,
				      const hipGraphNode_t **tips, size_t *tip_count)
{
	struct info info = {status, number, graph, tips, tip_count};

	UM_ENTER();
	return um_leave(get_info(stream, &info));
}

static hipError_t update(hipStream_t handle, hipGraphNode_t *node, size_t count, unsigned flags)
{
	const struct um_stream *stream = um_stream_get(handle);
	hipError_t error = hipSuccess;

	if (!stream)
		return hipErrorInvalidHandle;
	if (flags > hipStreamSetCaptureDependencies || (count && !node))
		return hipErrorInvalidValue;
	if (!stream->tips || stream->tips->capture->invalid)
		return hipErrorIllegalState;
	for (size_t i = 0; i < count; i++) {
		const struct um_node *known = um_node_find(node[i]);

		if (!known || known->graph != stream->tips->capture->graph)
			return hipErrorInvalidValue;
	}
	if (flags == hipStreamSetCaptureDependencies)
		return tips_set(stream->tips, stream->tips->capture, (struct um_node **)node,
				count);
	for (size_t i = 0; i < count && !error; i++)
		error = tips_add(stream->tips, (struct um_node *)node[i]);
	return error;
}

hipError_t hipStreamUpdateCaptureDependencies(hipStream_t stream, hipGraphNode_t *node,
					      size_t count, unsigned flags)
{
	UM_ENTER();
	return um_leave(update(stream, node, count, flags));
}

static hipError_t exchange_mode(hipStreamCaptureMode *mode)
{
	hipStreamCaptureMode before = um_thread.capture_mode;

	if (!mode || (unsigned)*mode > hipStreamCaptureModeRelaxed)
		return hipErrorInvalidValue;
	um_thread.capture_mode = *mode;
	*mode = before;
	return hipSuccess;
}

hipError_t hipThreadExchangeStreamCaptureMode(hipStreamCaptureMode *mode)
{
	UM_ENTER();
	return um_leave(exchange_mode(mode));
}
