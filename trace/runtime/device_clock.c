#include "device_clock.h"

#include <time.h>

static uint64_t host_ns; /* when the host goes on */

/* NULL: wall time. */
static const struct um_spool_config *machine(void)
{
	const struct um_spool_config *config = um_tracer_config();

	return config && config->memory_bytes_per_s && !config->wall ? config : NULL;
}

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static uint64_t duration_ns(uint64_t bytes, uint64_t bytes_per_s)
{
	return bytes_per_s ? (uint64_t)((double)bytes * 1e9 / (double)bytes_per_s) : 0;
}

/* --- who waits for whom --- */

static bool waits_for_null(const struct um_stream *stream)
{
	return !(stream->flags & hipStreamNonBlocking);
}

struct latest {
	int device;
	uint64_t ns;
};

static void add_blocking(struct um_stream *stream, void *context)
{
	struct latest *latest = context;

	if (stream->device == latest->device && waits_for_null(stream))
		latest->ns = later(latest->ns, stream->busy_until_ns);
}

static void add_any(struct um_stream *stream, void *context)
{
	struct latest *latest = context;

	if (stream->device == latest->device)
		latest->ns = later(latest->ns, stream->busy_until_ns);
}

/* When work that is asked for now can start. */
static uint64_t start_ns(const struct um_stream *stream)
{
	struct latest latest = {stream->device, later(host_ns, stream->busy_until_ns)};

	if (!stream->id)
		um_stream_each(add_blocking, &latest);
	else if (waits_for_null(stream))
		latest.ns = later(latest.ns, um_stream_null(stream->device)->busy_until_ns);
	return latest.ns;
}

static void run(struct um_stream *stream, uint64_t takes_ns)
{
	stream->busy_until_ns = start_ns(stream) + takes_ns;
}

/* --- work --- */

void um_clock_launch(struct um_stream *stream, uint64_t lines)
{
	const struct um_spool_config *m = machine();

	if (m)
		run(stream,
		    m->launch_ns + duration_ns(lines * UM_LINE_BYTES, m->memory_bytes_per_s));
}

void um_clock_fill(struct um_stream *stream, uint64_t bytes)
{
	const struct um_spool_config *m = machine();

	if (m)
		run(stream, m->launch_ns + duration_ns(bytes, m->memory_bytes_per_s));
}

/* Managed memory counts as the device's, as it does in the estimate of kernels. */
static bool is_host(const void *address)
{
	const struct um_allocation *allocation = um_memory_find(address);

	if (!allocation)
		return !um_module_holds(address);
	return allocation->kind != UM_ALLOCATION_DEVICE &&
	       allocation->kind != UM_ALLOCATION_MANAGED;
}

static uint64_t copy_ns(const struct um_spool_config *m, const void *to, const void *from,
			uint64_t bytes)
{
	bool to_host = is_host(to), from_host = is_host(from);

	if (to_host && from_host)
		return 0;
	if (from_host)
		return m->link_latency_ns + duration_ns(bytes, m->to_device_bytes_per_s);
	if (to_host)
		return m->link_latency_ns + duration_ns(bytes, m->to_host_bytes_per_s);
	return m->launch_ns + duration_ns(2 * bytes, m->memory_bytes_per_s);
}

void um_clock_copy(struct um_stream *stream, const void *to, const void *from, uint64_t bytes,
		   bool waits)
{
	const struct um_spool_config *m = machine();

	if (!m)
		return;
	run(stream, copy_ns(m, to, from, bytes));
	if (waits)
		um_clock_wait(stream);
}

/* --- waiting --- */

void um_clock_wait_until(uint64_t ns)
{
	if (machine())
		host_ns = later(host_ns, ns);
}

void um_clock_wait(const struct um_stream *stream)
{
	if (machine())
		host_ns = start_ns(stream);
}

void um_clock_wait_device(int device)
{
	struct latest latest = {device, later(host_ns, um_stream_null(device)->busy_until_ns)};

	if (!machine())
		return;
	um_stream_each(add_any, &latest);
	host_ns = latest.ns;
}

void um_clock_stream_waits(struct um_stream *stream, uint64_t ns)
{
	if (machine())
		stream->busy_until_ns = later(stream->busy_until_ns, ns);
}

static uint64_t wall_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t um_clock_now(const struct um_stream *stream)
{
	return machine() ? start_ns(stream) : wall_ns();
}
