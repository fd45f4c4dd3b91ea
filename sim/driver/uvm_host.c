/* nvidia_uvm: faults of the host, a page each, one after another (R19). */
#include "uvm.h"

#include "sim/probe/probe.h"

static struct um_fault_buffer *host_buffer(const struct uvm *uvm)
{
	return um_fault_buffer_of(uvm->env->faults, UM_HOST);
}

static int host_done(void *context, uint64_t argument);
static int serve(struct uvm *uvm, const struct um_fault *fault);

static void report_nap(const struct uvm *uvm, const struct um_fault *fault, um_ns from, um_ns to)
{
	struct um_driver_event_row row = {
		.op = fault->op ? fault->op : UM_NULL,
		.device = UM_HOST,
		.kind = UM_EVENT_WORD_THROTTLING,
		.allocation = fault->allocation,
		.first_page = fault->page,
		.pages = 1,
		.count = 1,
		.start_ns = (int64_t)from,
		.end_ns = (int64_t)to,
	};

	um_probe_driver_event(uvm->env->probe, &row);
}

static int wake_up(void *context, uint64_t argument)
{
	struct uvm *uvm = context;
	struct um_fault fault = uvm->server[uvm_place_of(UM_HOST)].throttled;

	(void)argument;
	return serve(uvm, &fault);
}

/* The thread sleeps in the fault handler, and looks again (R31). */
static int sleep_until(struct uvm *uvm, const struct um_fault *fault, um_ns until)
{
	um_ns now = um_machine_now(uvm->machine);

	until = uvm_later(until, now + 1);
	report_nap(uvm, fault, now, until);
	uvm->server[uvm_place_of(UM_HOST)].throttled = *fault;
	return um_engine_schedule(uvm->env->engine, until, wake_up, uvm, 0);
}

/* Accesses to the block try again when it has been served. */
struct wake {
	struct uvm *uvm;
	um_ns at;
};

static int wake_piece(void *context, const struct um_page_range *range, uint32_t index)
{
	const struct wake *wake = context;

	(void)index;
	return um_fault_buffer_done(host_buffer(wake->uvm), range, wake->at);
}

/* One page; the service's `at` and `end` come in as when it may begin. */
static int serve_page(struct uvm_service *service, struct uvm *uvm, struct uvm_block *block,
		      uint32_t page, const struct um_fault *fault)
{
	um_ns at = service->at + uvm->costs.host_fault_ns;
	bool writes = um_fault_writes(fault);
	int error = 0;

	um_uvm_service_init(service, uvm, block, UM_HOST);
	service->op = fault->op;
	service->batch = uvm->server[uvm_place_of(UM_HOST)].served;
	service->at = service->end = at;
	if (!um_uvm_is_authorized(block->window, UM_HOST, page, writes))
		error = um_uvm_service_add(service, page, writes);
	if (error || service->nap_end != UM_NEVER)
		return error;
	service->at += service->fault_pages * uvm->costs.page_ns;
	service->end = service->at;
	error = um_uvm_service_run(service);
	if (!error && service->end > service->at) /* something was sent */
		service->end += um_machine_spec(uvm->machine)->tracing.cpu_fault_record_ns;
	return error;
}

/* Its accesses go on when that was served. */
static int note_served(const struct uvm_service *service, const struct um_fault *fault)
{
	struct uvm *uvm = service->uvm;
	struct uvm_window *window = service->block->window;

	window->served = UM_HOST;
	window->served_until = service->end;
	um_fault_buffer_report(host_buffer(uvm), fault, 1, service->batch, service->end);
	return um_uvm_for_each_owner(window, service->block->pages, wake_piece,
				     &(struct wake){uvm, service->end});
}

/* The first of them, if none is. */
static uint32_t first_missing(const struct uvm_window *window, struct uvm_region pages,
			      const struct um_fault *fault)
{
	for (uint32_t page = pages.first; page < pages.end; page++)
		if (!um_uvm_is_authorized(window, UM_HOST, page, um_fault_writes(fault)))
			return page;
	return pages.first;
}

/* Of a page that lies on two, both, one after the other: an access needs both. */
static int serve(struct uvm *uvm, const struct um_fault *fault)
{
	struct uvm_region pages;
	struct uvm_window *window = um_uvm_pages_of_fault(uvm, fault, &pages);
	um_ns now = um_machine_now(uvm->machine);
	struct uvm_service service = {.at = now, .end = now, .nap_end = UM_NEVER};
	int error = 0;

	um_uvm_thrash_unpin_due(uvm);
	if (uvm_is_held(window, UM_HOST, now)) {
		uvm->server[uvm_place_of(UM_HOST)].throttled = *fault;
		return um_engine_schedule(uvm->env->engine, window->served_until + 1, wake_up, uvm,
					  0);
	}
	for (uint32_t page = first_missing(window, pages, fault); page < pages.end && !error;
	     page++) {
		if (page > pages.first &&
		    um_uvm_is_authorized(window, UM_HOST, page, um_fault_writes(fault)))
			continue;
		service.at = service.end;
		error = serve_page(&service, uvm, um_uvm_block_at(window, page), page, fault);
		if (!error && service.nap_end != UM_NEVER)
			return sleep_until(uvm, fault, service.nap_end);
		if (!error)
			error = note_served(&service, fault);
	}
	return error ? error : um_engine_schedule(uvm->env->engine, service.end, host_done, uvm, 0);
}

static int serve_next(struct uvm *uvm)
{
	struct uvm_server *server = &uvm->server[uvm_place_of(UM_HOST)];
	struct um_fault fault;

	server->busy = um_fault_buffer_take(host_buffer(uvm), &fault, 1);
	if (!server->busy)
		return 0;
	server->served++;
	return serve(uvm, &fault);
}

static int host_done(void *context, uint64_t argument)
{
	(void)argument;
	return serve_next(context);
}

int um_uvm_on_host_faults(struct uvm *uvm)
{
	return uvm->server[uvm_place_of(UM_HOST)].busy ? 0 : serve_next(uvm);
}
