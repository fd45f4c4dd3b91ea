/*
 * Stream capture: work that is asked for on a capturing stream becomes nodes of a graph. A stream
 * captures from hipStreamBeginCapture() on, others join where they wait for an event that was
 * recorded in it. What HIP's documentation forbids meanwhile makes the capture invalid: it fails at
 * its end.
 */
#ifndef UM_CAPTURE_H
#define UM_CAPTURE_H

#include "api.h"
#include "graph.h"

struct um_capture;

/* The nodes that what comes next on a stream waits for, or that an event stands for. */
struct um_tips {
	struct um_capture *capture; /* NULL: not captured */
	uint64_t number;	    /* of the capture; a later one may lie at the same address */
	struct um_node **node;	    /* owned */
	size_t count;
};
void um_tips_clear(struct um_tips *);

/*
 * Before work on a stream: *captures tells whether it is to be captured, with `may` false never
 * (hipErrorStreamCaptureUnsupported, and the capture is invalid). hipErrorStreamCaptureImplicit: it
 * is the null stream's, which would wait for a stream that captures.
 */
hipError_t um_capture_asks(bool *captures, hipStream_t, bool may);
/* For work that cannot be captured. */
hipError_t um_capture_refuses(hipStream_t);
/*
 * For calls that may not be made by this thread while it, or another one in global mode, captures
 * ("potentially unsafe"): hipErrorStreamCaptureUnsupported, and the capture is invalid.
 */
hipError_t um_capture_forbids(void);

hipError_t um_capture_launch(const struct um_launch_request *);
hipError_t um_capture_copy(const struct um_copy *);
hipError_t um_capture_fill(const struct um_fill *);
hipError_t um_capture_host(hipStream_t, const hipHostNodeParams *);
hipError_t um_capture_graph(hipStream_t, const struct um_graph *);
/* hipEventRecord(): what the event stands for from here on. */
hipError_t um_capture_record(struct um_tips *, hipStream_t);
/* hipStreamWaitEvent() on an event that was recorded in a capture, or on a stream that captures. */
hipError_t um_capture_wait(hipStream_t, const struct um_tips *);
/* A captured event cannot be waited for by the host: hipErrorCapturedEvent. */
hipError_t um_capture_event(const struct um_tips *);
/* A stream goes away. */
void um_capture_forget(struct um_stream *);

#endif
