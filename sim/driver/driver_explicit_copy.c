/*
 * explicit_copy: the same program with hipMalloc and hipMemcpy instead of managed memory. It is no driver: it
 * makes the least copies that the program's own accesses and synchronisation require, as its trace has them,
 * so that managed memory and copies are compared on one trace.
 *
 * Rules
 * C1 Each managed allocation has a buffer on the host and, from the first launch or memset of a device that
 *    accesses it until it is freed, a buffer of its whole size on that device, in whole pages. Memory that was
 *    not allocated by HIP (umtrace --pageable) is treated likewise. Where the buffers of all do not fit the
 *    simulation ends (UM_ELIMIT): such a program would have to work on its data in parts, and how it would is
 *    not in the trace.
 * C2 Before a launch or memset the pages that it reads, or writes in part, are copied to its device from where
 *    they were last written, if they have data and the device has them no longer or not yet. Before the host
 *    accesses a page it is copied back likewise. A page that is only read stays valid where it was, so that
 *    what nobody wrote is copied once.
 * C3 What a launch or memset only writes, every line of a page, needs no copy. [assumed] A line that was written
 *    at all was written whole: the trace has lines of 64 bytes. Of the host's accesses lines are seldom known:
 *    they need the page's data, also where they may have overwritten it.
 * C4 Copies are of ranges: neighbouring pages from one place go in one hipMemcpy. A gap of pages that could be
 *    copied as well (they have data at the source, and the target's copy is older) is copied along where its
 *    bytes take less time than another transfer's latency.
 * C5 Copies to a device are on the stream of the launch that needs them, when it is that one's turn, and the
 *    launch comes behind them: they overlap with what other streams do, as they would with hipMemcpyAsync.
 *    Copies back are made when the host is about to access the pages, and it waits (hipMemcpy). Nothing is
 *    copied in advance: a program that does so hides more of its copies than this one.
 * C6 From one device to another a page goes through the host, whose copy is valid then too.
 * C7 host_memory: pinned. The copy engine reads and writes the host's buffer: the link's latency and bandwidth.
 *    host_memory: pageable. The runtime has the host copy through a pinned buffer of `staging_buffer` bytes, a
 *    piece at a time, and the copy engine takes one piece while the host works on the next (HIP's
 *    staging_buffer.h: "to provide better performance by overlapping"; CUDA's "API synchronization
 *    behavior": pageable memory is staged). The host, one thread, does nothing else meanwhile: also before a
 *    launch it waits for the copies, which wait for the stream ("a stream sync is performed before").
 * C8 Two that use a page at the same time, one of them writing (a kernel and the host, kernels of two devices:
 *    false sharing), can do so in managed memory only. Here such pages are copied to whoever accesses them
 *    next, one after the other, which is said.
 * C9 There is no managed memory: advice and prefetches do nothing. hipMalloc'ed, pinned and registered memory
 *    and the program's own copies are as they were.
 */
#include "driver_list.h"
#include "explicit_copy.h"
#include "out_of_memory.h"

#include "trace/base/error.h"
#include "trace/base/units.h"
#include "trace/spool/spool_record.h"

#include <stdlib.h>
#include <string.h>

enum explicit_param { PARAM_HOST_MEMORY, PARAM_STAGING_TIME, PARAM_STAGING_BUFFER };
enum host_memory { HOST_MEMORY_PINNED, HOST_MEMORY_PAGEABLE };
static const char *const host_memories[] = {"pinned", "pageable", NULL};
static const struct um_param explicit_params[] = {
	[PARAM_HOST_MEMORY] =
		{.name = "host_memory",
		 .type = UM_PARAM_CHOICE,
		 .choices = host_memories,
		 .default_text = "pinned",
		 .help = "what the host's buffers are: hipHostMalloc'ed, or malloc'ed, "
			 "which is copied through a pinned buffer"},
	[PARAM_STAGING_TIME] =
		{.name = "staging_time",
		 .type = UM_PARAM_DURATION,
		 .minimum = 0,
		 .maximum = 1e9,
		 .default_text = "100us",
		 .help = "pageable: what the host takes to copy 1 MiB into or out of "
			 "the pinned buffer (default: assumed, one thread's memcpy "
			 "at 10.5 GB/s; not measured by us)"},
	[PARAM_STAGING_BUFFER] = {.name = "staging_buffer",
				  .type = UM_PARAM_BYTES,
				  .minimum = 4096,
				  .maximum = 1 << 30,
				  .default_text = "1MiB",
				  .help = "pageable: bytes that are staged at a time (default: "
					  "GPU_STAGING_BUFFER_SIZE of ROCm's clr, "
					  "rocclr/utils/flags.hpp)"},
	{.name = NULL},
};

static void explicit_destroy(struct um_driver *driver)
{
	if (!driver)
		return;
	free(explicit_copy_of(driver)->buffers);
	free(driver);
}

static int explicit_create(struct um_driver **out, const struct um_driver_env *env)
{
	struct explicit_copy *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return um_fail(UM_ENOMEM, "no memory for the driver");
	copy->base.ops = &um_driver_explicit_copy;
	copy->env = env;
	copy->machine = env->machine;
	copy->devices = (um_device_id)um_machine_spec(env->machine)->devices;
	copy->pageable = env->params[PARAM_HOST_MEMORY].integer == HOST_MEMORY_PAGEABLE;
	copy->staging_ns = env->params[PARAM_STAGING_TIME].integer;
	copy->staging_bytes = env->params[PARAM_STAGING_BUFFER].integer;
	*out = &copy->base;
	return 0;
}

static enum um_home explicit_home(struct um_driver *driver, const struct um_alloc *alloc)
{
	(void)driver;
	(void)alloc; /* managed or pageable */
	return UM_HOME_MANAGED;
}

static int explicit_on_alloc(struct um_driver *driver, const struct um_alloc *alloc, um_ns *done_at)
{
	struct explicit_copy *copy = explicit_copy_of(driver);
	size_t slots = copy->buffer_slots ? copy->buffer_slots : 64;
	uint16_t *grown;

	(void)done_at;
	while (slots <= alloc->allocation)
		slots *= 2;
	if (slots == copy->buffer_slots)
		return 0;
	grown = realloc(copy->buffers, slots * sizeof(*grown));
	if (!grown)
		return um_fail(UM_ENOMEM, "no memory for %zu allocations", slots);
	memset(grown + copy->buffer_slots, 0, (slots - copy->buffer_slots) * sizeof(*grown));
	copy->buffers = grown;
	copy->buffer_slots = slots;
	return 0;
}

static int explicit_on_free(struct um_driver *driver, um_alloc_id id, um_ns *done_at)
{
	struct explicit_copy *copy = explicit_copy_of(driver);

	(void)done_at;
	if (id < copy->buffer_slots)
		copy->buffers[id] = 0;
	return 0;
}

static int explicit_on_pressure(struct um_driver *driver, const struct um_pressure *pressure,
				um_ns *done_at)
{
	const struct um_machine *machine = explicit_copy_of(driver)->machine;

	(void)done_at; /* nothing leaves */
	return um_refuse_device_allocation(machine, pressure->device, pressure->bytes,
					   um_machine_memory_free(machine, pressure->device));
}

static int explicit_on_accesses(struct um_driver *driver, const struct um_accesses *accesses,
				um_ns *done_at)
{
	return um_explicit_copy_provide(explicit_copy_of(driver), accesses, *done_at, done_at);
}

static bool explicit_accesses_wait(const struct um_driver *driver)
{
	return ((const struct explicit_copy *)driver)->pageable;
}

const struct um_driver_ops um_driver_explicit_copy = {
	.name = "explicit_copy",
	.summary = "no driver: the program with hipMalloc and the least hipMemcpy that it needs",
	.validated = "copies derived from accesses: not checked on hardware",
	.params = explicit_params,
	.default_page_bytes = 4096,
	.without_managed_memory = true,
	.create = explicit_create,
	.home = explicit_home,
	.on_alloc = explicit_on_alloc,
	.on_free = explicit_on_free,
	.on_pressure = explicit_on_pressure,
	.on_accesses = explicit_on_accesses,
	.accesses_wait = explicit_accesses_wait,
	.on_faults = um_explicit_copy_on_faults,
	.destroy = explicit_destroy,
};
