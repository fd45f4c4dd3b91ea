/*
 * Accesses that find no copy although all that was known of was copied (C8): a page that the host and a kernel,
 * or kernels of two devices, use at the same time; and the targets of the program's own copies that nobody has
 * touched. One after the other, the oldest of all first, so that each gets to its access.
 */
#include "explicit_copy.h"

#include "trace/spool/spool_record.h"

static struct um_fault_buffer *first_buffer(const struct explicit_copy *copy)
{
	struct um_fault_buffer *first = NULL;
	uint64_t number = UINT64_MAX;

	for (um_device_id i = UM_HOST; i < copy->devices; i++) {
		struct um_fault_buffer *buffer = um_fault_buffer_of(copy->env->faults, i);
		const struct um_fault *oldest = um_fault_buffer_oldest(buffer);

		if (oldest && oldest->number < number) {
			number = oldest->number;
			first = buffer;
		}
	}
	return first;
}

static bool has_data(const struct explicit_copy *copy, const struct um_fault *fault)
{
	enum um_mapping_state map;
	uint32_t place;

	um_machine_run_end(copy->machine, fault->allocation, fault->page, fault->page + 1,
			   fault->device, &place, &map);
	return place & UM_PAGE_POPULATED;
}

static int serve(struct explicit_copy *copy, struct um_fault_buffer *buffer)
{
	const struct um_fault fault = *um_fault_buffer_oldest(buffer);
	struct um_page_range range = {fault.allocation, fault.page, 1};
	const struct um_page_access_row row = {
		.op = fault.op,
		.allocation = fault.allocation,
		.first_page = fault.page,
		.pages = 1,
		.touch = UM_TOUCH_READ | (um_fault_writes(&fault) ? UM_TOUCH_WRITTEN : 0),
	};
	const struct um_accesses accesses = {fault.device, fault.op, &row, 1};
	um_ns now = um_machine_now(copy->machine), end = now;
	int error;

	if (has_data(copy, &fault))
		copy->env->ignored(copy->env->ignored_context, "sharing",
				   "two that use a page at the same time cannot without managed "
				   "memory: here it is copied to and fro");
	error = um_explicit_copy_provide(copy, &accesses, now, &end);
	copy->busy_until = end;
	return error ? error : um_fault_buffer_done(buffer, &range, end);
}

static int serve_waiting(void *context, uint64_t argument);

static int serve_later(struct explicit_copy *copy)
{
	copy->service_is_due = true;
	return um_engine_schedule(copy->env->engine, copy->busy_until, serve_waiting, copy, 0);
}

static int serve_first(struct explicit_copy *copy)
{
	struct um_fault_buffer *buffer = first_buffer(copy);
	int error;

	if (copy->busy_until < um_machine_now(copy->machine))
		copy->busy_until = um_machine_now(copy->machine);
	error = buffer ? serve(copy, buffer) : 0;
	return error || !first_buffer(copy) ? error : serve_later(copy);
}

static int serve_waiting(void *context, uint64_t argument)
{
	struct explicit_copy *copy = context;

	(void)argument;
	copy->service_is_due = false;
	return serve_first(copy);
}

int um_explicit_copy_on_faults(struct um_driver *driver, struct um_fault_buffer *faults)
{
	struct explicit_copy *copy = explicit_copy_of(driver);

	(void)faults; /* the oldest of all comes first */
	if (copy->service_is_due)
		return 0;
	return copy->busy_until > um_machine_now(copy->machine) ? serve_later(copy)
								: serve_first(copy);
}
