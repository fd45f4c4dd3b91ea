/*
 * amdgpu_svm without XNACK: queues that stop when what they have mapped changes, and the work that
 * starts them again (R28).
 */
#include "svm.h"

#include "sim/probe/probe.h"

static int restore(void *context, uint64_t argument);

/* --- what waits for it --- */

static void append_invalid(struct svm *svm, struct svm_range *range)
{
	range->invalid = true;
	range->next = NULL;
	if (svm->last_invalid)
		svm->last_invalid->next = range;
	else
		svm->first_invalid = range;
	svm->last_invalid = range;
}

void um_svm_forget_invalid(struct svm *svm, struct svm_range *range)
{
	struct svm_range *before = NULL, *at = svm->first_invalid;

	if (!range->invalid)
		return;
	for (; at != range; at = at->next)
		before = at;
	if (before)
		before->next = range->next;
	else
		svm->first_invalid = range->next;
	if (svm->last_invalid == range)
		svm->last_invalid = before;
	range->invalid = false;
}

/* --- stopping --- */

int um_svm_stop_queues(struct svm *svm, struct svm_range *range, const struct um_why *why)
{
	svm->invalidations++;
	if (!range->invalid)
		append_invalid(svm, range);
	if (svm->stopped)
		return 0;
	svm->stopped = true;
	svm->stopped_at = um_machine_now(svm->machine);
	svm->stopped_why = *why;
	for (um_device_id device = 0; device < svm->devices; device++)
		um_machine_stop(svm->machine, device);
	return um_engine_schedule(svm->env->engine, svm->stopped_at + svm->costs.restore_delay_ns,
				  restore, svm, 0);
}

/* --- starting --- */

static void report_stop(const struct svm *svm, um_device_id device)
{
	struct um_driver_event_row row = {
		.op = svm->stopped_why.op ? svm->stopped_why.op : UM_NULL,
		.device = device,
		.kind = UM_EVENT_QUEUE_EVICTION,
		.reason = "svm",
		.allocation = UM_NULL,
		.first_page = UM_NULL,
		.pages = UM_NULL,
		.count = 1,
		.start_ns = (int64_t)svm->stopped_at,
		.end_ns = (int64_t)um_machine_now(svm->machine),
		.waited_ns = UM_NULL,
	};

	um_probe_driver_event(svm->env->probe, &row);
}

/* The queues go on, or are gone. */
static int end_stop(struct svm *svm)
{
	int error = 0;

	svm->stopped = false;
	for (um_device_id device = 0; device < svm->devices && !error; device++) {
		report_stop(svm, device);
		error = um_machine_resume(svm->machine, device);
	}
	return error;
}

/* The mappings are there; once more, if more became invalid meanwhile. */
static int resume(void *context, uint64_t argument)
{
	struct svm *svm = context;

	(void)argument;
	if (!svm->stopped)
		return 0; /* the program has ended */
	if (svm->invalidations != svm->restored_invalidations)
		return um_engine_schedule(svm->env->engine,
					  um_machine_now(svm->machine) +
						  svm->costs.restore_delay_ns,
					  restore, svm, 0);
	return end_stop(svm);
}

static int restore(void *context, uint64_t argument)
{
	struct svm *svm = context;
	um_ns at = um_machine_now(svm->machine);
	int error = 0;

	(void)argument;
	if (!svm->stopped)
		return 0; /* the program has ended */
	if (svm->busy_until > at)
		return um_engine_schedule(svm->env->engine, svm->busy_until, restore, svm, 0);
	svm->restored_invalidations = svm->invalidations;
	while (svm->first_invalid && !error) {
		struct svm_range *range = svm->first_invalid;
		struct um_page_range pages = svm_pages_of(range);

		um_svm_forget_invalid(svm, range);
		error = um_svm_validate(svm, range, &pages, um_svm_map_targets(svm, range), false,
					&svm->stopped_why, at, &at);
	}
	svm->busy_until = at;
	return error ? error : um_engine_schedule(svm->env->engine, at, resume, svm, 0);
}

int um_svm_on_exit(struct um_driver *driver)
{
	struct svm *svm = svm_of(driver);

	return svm->stopped ? end_stop(svm) : 0;
}
