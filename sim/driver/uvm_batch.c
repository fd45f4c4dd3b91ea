/* nvidia_uvm: faults of devices, in batches (R3 to R6). */
#include "uvm.h"

#include <assert.h>
#include <stdlib.h>

static struct um_fault_buffer *buffer_of(const struct uvm *uvm, um_device_id device)
{
	return um_fault_buffer_of(uvm->env->faults, device);
}

/* --- one batch --- */

struct batch {
	struct uvm *uvm;
	um_device_id device;
	struct uvm_entry *entries;
	size_t count;
	size_t pages; /* different ones */
	size_t served_pages;
	um_ns at, end;
	um_ns nap_end; /* the earliest of those that were throttled */
};

/* By address, then writes first, then as they came (R4). */
static int compare_entries(const void *left, const void *right)
{
	const struct uvm_entry *a = left, *b = right;

	if (a->window->number != b->window->number)
		return a->window->number < b->window->number ? -1 : 1;
	if (a->page != b->page)
		return a->page < b->page ? -1 : 1;
	if (a->writes != b->writes)
		return a->writes ? -1 : 1;
	return a->fault->number < b->fault->number ? -1 : a->fault->number > b->fault->number;
}

static bool is_same_page(const struct uvm_entry *a, const struct uvm_entry *b)
{
	return a->window == b->window && a->page == b->page;
}

static void put_entry(struct batch *batch, const struct um_fault *fault, struct uvm_window *window,
		      uint32_t page)
{
	struct uvm_block *block = um_uvm_block_at(window, page);

	batch->entries[batch->count++] =
		(struct uvm_entry){.window = window,
				   .page = uvm_unit_at(batch->uvm, block, page).first,
				   .writes = um_fault_writes(fault),
				   .fault = fault};
}

/* Of a page that lies on two, an entry for each of those that faults. */
static void find_entry(struct batch *batch, const struct um_fault *fault)
{
	struct uvm_region pages;
	struct uvm_window *window = um_uvm_pages_of_fault(batch->uvm, fault, &pages);
	size_t before = batch->count;

	for (uint32_t page = pages.first; page < pages.end; page++)
		if (!um_uvm_is_authorized(window, batch->device, page, um_fault_writes(fault)))
			put_entry(batch, fault, window, page);
	if (batch->count == before) /* it came late */
		put_entry(batch, fault, window, pages.first);
}

static void find_entries(struct batch *batch, size_t faults)
{
	for (size_t i = 0; i < faults; i++)
		find_entry(batch, &batch->uvm->entries[i]);
	qsort(batch->entries, batch->count, sizeof(*batch->entries), compare_entries);
}

static int add_entry(struct batch *batch, struct uvm_service *service,
		     const struct uvm_entry *entry)
{
	batch->pages++;
	service->op = entry->fault->op;
	if (um_uvm_is_authorized(entry->window, batch->device, entry->page, entry->writes))
		return 0;
	return um_uvm_service_add(service, entry->page, entry->writes);
}

/* The first entry behind `first` that is of another block. */
static size_t end_of_block(const struct batch *batch, size_t first, const struct uvm_block *block)
{
	size_t i = first;

	while (i < batch->count && batch->entries[i].window == block->window &&
	       batch->entries[i].page < block->pages.end)
		i++;
	return i;
}

/* Another processor's accesses to it come first: these faults come again with the replay (A11). */
static void leave_block(struct batch *batch, size_t first, size_t end)
{
	um_ns until = batch->entries[first].window->served_until;

	for (size_t i = first; i < end; i++)
		batch->pages +=
			i == first || !is_same_page(&batch->entries[i], &batch->entries[i - 1]);
	batch->nap_end = until < batch->nap_end ? until : batch->nap_end;
}

/* The entries of one block, from `first` on; *next: the first of another. */
static int serve_block(struct batch *batch, size_t first, size_t *next)
{
	const struct uvm_entry *entries = batch->entries;
	const struct uvm_costs *costs = &batch->uvm->costs;
	const struct um_tracing_spec *tracing = &um_machine_spec(batch->uvm->machine)->tracing;
	struct uvm_block *block = um_uvm_block_at(entries[first].window, entries[first].page);
	struct uvm_service service;
	int error = 0;

	*next = end_of_block(batch, first, block);
	if (uvm_is_held(block->window, batch->device, um_machine_now(batch->uvm->machine))) {
		leave_block(batch, first, *next);
		return 0;
	}
	um_uvm_service_init(&service, batch->uvm, block, batch->device);
	service.batch = batch->uvm->server[uvm_place_of(batch->device)].served;
	batch->at += costs->block_ns;
	service.at = batch->at;
	for (size_t i = first; i < *next && !error; i++)
		if (i == first || !is_same_page(&entries[i], &entries[i - 1]))
			error = add_entry(batch, &service, &entries[i]);
	service.at += service.fault_pages * (costs->page_ns + tracing->fault_record_ns);
	if (!error)
		error = um_uvm_service_run(&service);
	batch->served_pages += service.fault_pages;
	batch->nap_end = service.nap_end < batch->nap_end ? service.nap_end : batch->nap_end;
	batch->at = uvm_later(service.at, service.end); /* it waits for the copies (A1) */
	batch->end = uvm_later(batch->end, batch->at);
	return error;
}

static int serve_blocks(struct batch *batch)
{
	size_t i = 0;
	int error = 0;

	while (i < batch->count && !error)
		error = serve_block(batch, i, &i);
	batch->end = uvm_later(batch->end, batch->at);
	return error;
}

/* What was served is not taken away before the replay (A11). */
static void hold_windows(const struct batch *batch)
{
	um_ns now = um_machine_now(batch->uvm->machine);

	for (size_t i = 0; i < batch->count; i++) {
		struct uvm_window *window = batch->entries[i].window;

		if (uvm_is_held(window, batch->device, now))
			continue;
		window->served = batch->device;
		window->served_until = batch->end;
	}
}

/* A row for each page, with all of its entries. */
static void report(const struct batch *batch)
{
	uint64_t number = batch->uvm->server[uvm_place_of(batch->device)].served;
	size_t i = 0;

	while (i < batch->count) {
		const struct uvm_entry *first = &batch->entries[i];
		uint64_t same = 0;

		for (; i < batch->count && is_same_page(&batch->entries[i], first); i++)
			same++;
		um_fault_buffer_report(buffer_of(batch->uvm, batch->device), first->fault, same,
				       number, batch->end);
	}
}

/* --- one after another --- */

static int batch_done(void *context, uint64_t argument);
static int fetch_after(struct uvm *uvm, um_device_id device, um_ns delay_ns);

/* A timer's argument: the device, and which of its timers is meant. */
#define DEVICE_BITS 5
_Static_assert(UM_DEVICES_MAX <= 1 << DEVICE_BITS, "a device fits into a timer's argument");

static int set_timer(struct uvm *uvm, um_device_id device, um_ns at, um_event_fn call)
{
	uint64_t generation = ++uvm->server[uvm_place_of(device)].generation;

	return um_engine_schedule(uvm->env->engine, at, call, uvm,
				  generation << DEVICE_BITS | (uint64_t)device);
}

/* Whose timer it is; NULL: another took its place. */
static struct uvm_server *server_of_timer(struct uvm *uvm, uint64_t argument, um_device_id *device)
{
	struct uvm_server *server;

	*device = (um_device_id)(argument & ((1u << DEVICE_BITS) - 1));
	server = &uvm->server[uvm_place_of(*device)];
	return server->generation == argument >> DEVICE_BITS ? server : NULL;
}

/* Entries that came late: who raised them has gone on, and its memory was freed since. */
static size_t drop_entries_of_freed_memory(const struct uvm *uvm, size_t count)
{
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (um_uvm_find(uvm, uvm->entries[i].allocation))
			uvm->entries[kept++] = uvm->entries[i];
	return kept;
}

/* Returns how many faults. */
static size_t take_from_buffer(struct uvm *uvm, um_device_id device)
{
	struct um_fault_buffer *buffer = buffer_of(uvm, device);
	struct uvm_server *server = &uvm->server[uvm_place_of(device)];

	size_t count = um_fault_buffer_take(buffer, uvm->entries, uvm->batch_entries);

	server->beyond = um_fault_buffer_waiting(buffer);
	server->served++;
	return drop_entries_of_freed_memory(uvm, count);
}

static int serve_batch(struct uvm *uvm, um_device_id device)
{
	struct uvm_server *server = &uvm->server[uvm_place_of(device)];
	struct batch batch = {.uvm = uvm,
			      .device = device,
			      .entries = uvm->sorted,
			      .at = uvm_later(um_machine_now(uvm->machine), server->busy_until) +
				    uvm->costs.batch_ns,
			      .nap_end = UM_NEVER};
	int error;

	um_uvm_thrash_unpin_due(uvm);
	find_entries(&batch, take_from_buffer(uvm, device));
	error = serve_blocks(&batch);
	if (error)
		return error;
	report(&batch);
	server->busy_until = batch.end;
	server->discards_all = (batch.count - batch.pages) * 2 > batch.count;
	server->napping = !batch.served_pages && batch.nap_end != UM_NEVER;
	if (server->napping) /* one that ends now still holds another back */
		batch.end = uvm_later(uvm_later(batch.end, batch.nap_end),
				      um_machine_now(uvm->machine) + 1);
	else
		hold_windows(&batch);
	return set_timer(uvm, device, batch.end, batch_done);
}

/* Entries that were there when the batch was fetched, but did not fit into it (R6). */
static void discard(struct uvm *uvm, um_device_id device)
{
	struct um_fault_buffer *buffer = buffer_of(uvm, device);
	struct uvm_server *server = &uvm->server[uvm_place_of(device)];

	if (server->discards_all)
		um_fault_buffer_flush(buffer);
	while (server->beyond) {
		size_t most =
			server->beyond < uvm->batch_entries ? server->beyond : uvm->batch_entries;

		server->beyond -= most;
		um_fault_buffer_take(buffer, uvm->entries, most);
	}
}

static int batch_done(void *context, uint64_t argument)
{
	struct uvm *uvm = context;
	um_device_id device;
	struct uvm_server *server = server_of_timer(uvm, argument, &device);
	int error;

	if (!server)
		return 0;
	server->napping = false;
	discard(uvm, device);
	error = um_fault_buffer_replay(buffer_of(uvm, device), um_machine_now(uvm->machine));
	return error ? error : fetch_after(uvm, device, uvm->costs.fetch_ns);
}

static int fetch(void *context, uint64_t argument)
{
	struct uvm *uvm = context;
	um_device_id device;
	struct uvm_server *server = server_of_timer(uvm, argument, &device);
	int error;

	if (!server)
		return 0;
	error = um_fault_buffer_receive(buffer_of(uvm, device));
	if (error)
		return error;
	server->busy = um_fault_buffer_waiting(buffer_of(uvm, device)) > 0;
	server->idle_since = um_machine_now(uvm->machine);
	return server->busy ? serve_batch(uvm, device) : 0;
}

static int fetch_after_this(void *context, uint64_t argument)
{
	struct uvm *uvm = context;
	um_device_id device;

	return server_of_timer(uvm, argument, &device)
		       ? set_timer(uvm, device, um_machine_now(uvm->machine), fetch)
		       : 0;
}

/* When all that happens at that instant, and what follows from that at once, has happened. */
static int fetch_after(struct uvm *uvm, um_device_id device, um_ns delay_ns)
{
	uvm->server[uvm_place_of(device)].busy = true;
	return set_timer(uvm, device, um_machine_now(uvm->machine) + delay_ns, fetch_after_this);
}

/* From an interrupt until the driver looks: it sleeps deeper the longer it has been idle. */
static um_ns interrupt_delay(const struct uvm *uvm, const struct uvm_server *server)
{
	const struct uvm_costs *costs = &uvm->costs;
	um_ns idle = um_machine_now(uvm->machine) - server->idle_since;
	bool sleeps = !server->napping && (!server->served || idle >= costs->wake_after_ns);

	return costs->interrupt_ns + (sleeps ? costs->wake_ns : 0);
}

int um_uvm_on_device_faults(struct uvm *uvm, um_device_id device)
{
	struct uvm_server *server = &uvm->server[uvm_place_of(device)];
	um_ns delay = interrupt_delay(uvm, server);

	if (server->busy && !server->napping)
		return 0;
	if (server->napping) {
		if (um_fault_buffer_waiting(buffer_of(uvm, device)) <= server->beyond)
			return 0; /* nothing new */
		/* What was left out comes back with the next replay. */
		server->napping = server->discards_all = false;
		discard(uvm, device);
	}
	return fetch_after(uvm, device, delay);
}

int um_uvm_on_faults(struct um_driver *driver, struct um_fault_buffer *faults)
{
	struct uvm *uvm = uvm_of(driver);
	um_device_id device = um_fault_buffer_oldest(faults)->device;

	return device == UM_HOST ? um_uvm_on_host_faults(uvm)
				 : um_uvm_on_device_faults(uvm, device);
}
