#include "render_ops.h"

#include "trace/base/error.h"
#include "trace/base/kernel_name.h"
#include "trace/base/text_table.h"
#include "trace/base/units.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* From the trace: what would begin a line is none of ours. */
static void put_text(FILE *out, const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		fputc((unsigned char)text[i] < ' ' ? '?' : text[i], out);
}

/* --- arguments --- */

static void put_bytes(FILE *out, int64_t bytes)
{
	char text[32];

	if (bytes == UM_NULL || bytes < 0)
		fputc('?', out);
	else
		fputs(um_format_bytes(text, sizeof(text), (uint64_t)bytes), out);
}

static void put_place(FILE *out, int64_t device)
{
	if (device < 0)
		fputs(device == -1 ? "host" : "?", out);
	else
		fprintf(out, "gpu%" PRId64, device);
}

static void put_allocation(FILE *out, int64_t allocation, const char *name)
{
	if (allocation == UM_NULL) {
		fputs("other memory", out);
		return;
	}
	fprintf(out, "#%" PRId64 "%s", allocation, name ? " " : "");
	if (name)
		put_text(out, name, strlen(name));
}

static void put_range(FILE *out, const struct um_op_view *view)
{
	put_allocation(out, view->op.allocation, view->allocation_name);
	fputs(" [", out);
	put_bytes(out, view->op.offset_bytes);
	fputs(" + ", out);
	put_bytes(out, view->op.bytes);
	fputc(']', out);
}

static void put_alloc(FILE *out, const struct um_op_view *view)
{
	if (view->allocation_kind) {
		put_text(out, view->allocation_kind, strlen(view->allocation_kind));
		fputc(' ', out);
	}
	put_bytes(out, view->op.bytes);
	fputs(" -> ", out);
	if (view->op.allocation == UM_NULL)
		fputs("nothing", out);
	else
		put_allocation(out, view->op.allocation, view->allocation_name);
}

static void put_free(FILE *out, const struct um_op_view *view)
{
	put_allocation(out, view->op.allocation, view->allocation_name);
}

static void put_advise(FILE *out, const struct um_op_view *view)
{
	const char *advice = view->op.advice ? view->op.advice : "?";

	put_range(out, view);
	fputc(' ', out);
	put_text(out, advice, strlen(advice));
	fputc(' ', out);
	put_place(out, view->op.device);
}

static void put_prefetch(FILE *out, const struct um_op_view *view)
{
	put_range(out, view);
	fputs(" to ", out);
	put_place(out, view->op.device);
}

static void put_copy(FILE *out, const struct um_op_view *view)
{
	put_range(out, view);
	fputs(" from ", out);
	put_allocation(out, view->op.source_allocation, view->source_name);
	if (view->op.source_allocation != UM_NULL && view->op.source_offset_bytes != UM_NULL) {
		fputs(" + ", out);
		put_bytes(out, view->op.source_offset_bytes);
	}
}

static void put_memset(FILE *out, const struct um_op_view *view)
{
	put_range(out, view);
	if (view->op.value != UM_NULL)
		fprintf(out, " with 0x%" PRIx64, (uint64_t)view->op.value);
}

static void put_launch(FILE *out, const struct um_op_view *view)
{
	const char *kernel = view->kernel ? view->kernel : "?";
	struct um_kernel_name name = um_kernel_name(kernel);

	if (name.length)
		put_text(out, name.start, name.length);
	else
		put_text(out, kernel, strlen(kernel));
	fputs(" <<<(", out);
	for (int i = 0; i < 3; i++)
		fprintf(out, "%s%" PRId64, i ? ", " : "", view->grid[i]);
	fputs("), (", out);
	for (int i = 0; i < 3; i++)
		fprintf(out, "%s%" PRId64, i ? ", " : "", view->block[i]);
	fputc(')', out);
	if (view->lds_bytes != UM_NULL && view->lds_bytes != 0) {
		fputs(", ", out);
		put_bytes(out, view->lds_bytes);
	}
	fputs(">>>", out);
}

static void put_device(FILE *out, const struct um_op_view *view)
{
	put_place(out, view->op.device);
}

static void put_event(FILE *out, const struct um_op_view *view)
{
	if (view->op.event != UM_NULL)
		fprintf(out, "event %" PRId64, view->op.event);
}

static void put_stream(FILE *out, const struct um_op_view *view)
{
	fprintf(out, "stream %" PRId64 "%s", view->op.stream == UM_NULL ? 0 : view->op.stream,
		view->op.flags & 2 ? " non-blocking" : "");
}

static void put_attach(FILE *out, const struct um_op_view *view)
{
	put_range(out, view);
	if (view->op.value != UM_NULL)
		fprintf(out, " flags %" PRId64, view->op.value);
}

static void put_name(FILE *out, const struct um_op_view *view)
{
	if (view->part) {
		put_text(out, view->part, strlen(view->part));
		fputs(": ", out);
	}
	put_range(out, view);
}

static void put_range_name(FILE *out, const struct um_op_view *view)
{
	const char *name = view->range ? view->range : "?";

	put_text(out, name, strlen(name));
}

static const struct {
	const char *kind;
	void (*put)(FILE *, const struct um_op_view *);
	bool has_stream; /* among them */
} arguments[] = {
	{"alloc", put_alloc, false},	     {"free", put_free, false},
	{"advise", put_advise, false},	     {"prefetch", put_prefetch, false},
	{"copy", put_copy, false},	     {"memset", put_memset, false},
	{"launch", put_launch, false},	     {"sync_device", put_device, false},
	{"sync_stream", put_stream, true},   {"event_record", put_event, false},
	{"event_sync", put_event, false},    {"stream_wait", put_event, false},
	{"event_query", put_event, false},   {"stream_query", put_stream, true},
	{"stream_create", put_stream, true}, {"stream_destroy", put_stream, true},
	{"attach", put_attach, false},	     {"range", put_range_name, false},
	{"name", put_name, false},	     {"name_end", put_name, false},
};

static void put_arguments(FILE *out, const struct um_op_view *view)
{
	bool has_stream = view->op.stream == UM_NULL || view->op.stream == 0;

	for (size_t i = 0; i < sizeof(arguments) / sizeof(*arguments); i++)
		if (strcmp(view->op.kind, arguments[i].kind) == 0) {
			arguments[i].put(out, view);
			has_stream |= arguments[i].has_stream;
		}
	if (!has_stream)
		fprintf(out, ", stream %" PRId64, view->op.stream);
	if (view->op.thread != UM_NULL && view->op.thread != 1)
		fprintf(out, ", thread %" PRId64, view->op.thread);
	if (view->op.flags & 8)
		fputs(", not recorded", out);
	else if (view->op.flags & 4)
		fputs(", untraced", out);
}

/* --- results --- */

/* Of hipError_t, HIP 5.2's hip_runtime_api.h; CUDA's driver has the same numbers for the same. */
static const struct {
	int64_t result;
	const char *name;
} results[] = {
	{0, "ok"},
	{1, "hipErrorInvalidValue"},
	{2, "hipErrorOutOfMemory"},
	{3, "hipErrorNotInitialized"},
	{4, "hipErrorDeinitialized"},
	{9, "hipErrorInvalidConfiguration"},
	{13, "hipErrorInvalidSymbol"},
	{17, "hipErrorInvalidDevicePointer"},
	{21, "hipErrorInvalidMemcpyDirection"},
	{35, "hipErrorInsufficientDriver"},
	{52, "hipErrorMissingConfiguration"},
	{98, "hipErrorInvalidDeviceFunction"},
	{100, "hipErrorNoDevice"},
	{101, "hipErrorInvalidDevice"},
	{200, "hipErrorInvalidImage"},
	{201, "hipErrorInvalidContext"},
	{209, "hipErrorNoBinaryForGpu"},
	{400, "hipErrorInvalidHandle"},
	{500, "hipErrorNotFound"},
	{600, "hipErrorNotReady"},
	{700, "hipErrorIllegalAddress"},
	{701, "hipErrorLaunchOutOfResources"},
	{702, "hipErrorLaunchTimeOut"},
	{712, "hipErrorHostMemoryAlreadyRegistered"},
	{713, "hipErrorHostMemoryNotRegistered"},
	{719, "hipErrorLaunchFailure"},
	{720, "hipErrorCooperativeLaunchTooLarge"},
	{801, "hipErrorNotSupported"},
	{900, "hipErrorStreamCaptureUnsupported"},
	{999, "hipErrorUnknown"},
};

static void put_result(FILE *out, const struct um_op_view *view)
{
	if (view->op.result == UM_NULL) {
		/* Some formats that are imported tell when a call returned, and not what. */
		if (view->op.end_ns == UM_NULL && strcmp(view->op.kind, "range") != 0 &&
		    strcmp(view->op.kind, "host") != 0)
			fputs(" = never returned", out);
		return;
	}
	for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++)
		if (results[i].result == view->op.result) {
			fprintf(out, " = %s", results[i].name);
			return;
		}
	fprintf(out, " = %" PRId64, view->op.result);
}

static void put_times(FILE *out, const struct um_op_view *view, int64_t start_ns)
{
	char text[32];
	int64_t since, took;

	if (view->op.start_ns == UM_NULL)
		return;
	if (start_ns != UM_NULL && !__builtin_sub_overflow(view->op.start_ns, start_ns, &since) &&
	    since >= 0)
		fprintf(out, ", at %s", um_format_duration(text, sizeof(text), (uint64_t)since));
	if (view->op.end_ns != UM_NULL &&
	    !__builtin_sub_overflow(view->op.end_ns, view->op.start_ns, &took) && took >= 0)
		fprintf(out, ", took %s", um_format_duration(text, sizeof(text), (uint64_t)took));
}

/* --- where --- */

static int put_frame(FILE *out, const struct um_stack_frame *frame, const char *before)
{
	char *text = um_stack_frame_text(frame);

	if (!text)
		return um_fail(UM_ENOMEM, "out of memory");
	fputs(before, out);
	put_text(out, text, strlen(text));
	if (frame->file && frame->function) {
		fputs(" in ", out);
		put_text(out, frame->function, strlen(frame->function));
	}
	free(text);
	return 0;
}

static int put_stack(FILE *out, const struct um_op_view *view)
{
	int error = 0;

	for (size_t i = 0; i < view->frame_count && !error; i++)
		error = put_frame(out, view->frames[i],
				  view->frames[i] == view->user ? "\n      > " : "\n        ");
	return error;
}

static int put_op(FILE *out, const struct um_op_view *view, const struct um_ops_output *output)
{
	fprintf(out, "%6" PRId64 " ", view->op.op);
	put_text(out, view->op.kind, strlen(view->op.kind));
	fputc(' ', out);
	put_arguments(out, view);
	put_result(out, view);
	put_times(out, view, output->start_ns);
	if (output->stacks)
		return put_stack(out, view);
	return view->user ? put_frame(out, view->user, ", ") : 0;
}

static void print_lines(FILE *out, char *text)
{
	for (char *line; (line = strsep(&text, "\n"));) {
		um_text_print(out, line);
		fputc('\n', out);
	}
}

int um_render_op_text(const struct um_op_view *view, void *context)
{
	struct um_ops_output *output = context;
	char *text = NULL;
	size_t bytes;
	FILE *line = open_memstream(&text, &bytes);

	if (!line)
		return um_fail(UM_ENOMEM, "out of memory");
	int error = put_op(line, view, output);

	if (fclose(line) != 0 && !error)
		error = um_fail(UM_ENOMEM, "out of memory");
	if (!error) {
		print_lines(output->file, text);
		output->count++;
		if (ferror(output->file))
			error = um_fail_errno(UM_EIO, "writing");
	}
	free(text);
	return error;
}
