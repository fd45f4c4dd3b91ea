#include "import_smi.h"

#include <string.h>

static int64_t device_of(uint32_t place)
{
	return (int64_t)place - 1;
}

/* A half that never came leaves its time unknown; a row has to have a start. */
static int64_t start_of(const struct um_smi_span *span)
{
	return span->start_ns == UM_SMI_NOT_TOLD ? span->end_ns : span->start_ns;
}

static int64_t end_of(const struct um_smi_span *span)
{
	bool is_whole = span->start_ns != UM_SMI_NOT_TOLD && span->end_ns >= span->start_ns;

	return is_whole ? span->end_ns : UM_NULL;
}

static int put_migration(const struct um_import_events *events, const struct um_smi_span *span)
{
	static const enum um_cause causes[] = {
		[UM_SMI_MIGRATE_PREFETCH] = UM_CAUSE_PREFETCH,
		[UM_SMI_MIGRATE_GPU_FAULT] = UM_CAUSE_DEVICE_FAULT,
		[UM_SMI_MIGRATE_CPU_FAULT] = UM_CAUSE_HOST_FAULT,
		[UM_SMI_MIGRATE_EVICTION] = UM_CAUSE_EVICTION,
	};
	const struct um_smi_event *event = &span->event;
	bool known =
		event->trigger >= 0 && (size_t)event->trigger < sizeof(causes) / sizeof(*causes);
	struct um_migration_row row = um_import_migration();

	row.pages = (int64_t)event->pages;
	row.address = (int64_t)event->address;
	/* One that failed moved nothing that anyone knows of. */
	row.bytes = span->error != 0 && span->error != UM_SMI_ERROR_NOT_TOLD
			    ? 0
			    : row.pages * UM_PAGE_BYTES;
	row.source = device_of(event->from);
	row.destination = device_of(event->to);
	row.cause = known ? um_word(um_cause_words, (int)causes[event->trigger]) : NULL;
	row.transfers = 1;
	row.start_ns = start_of(span);
	row.end_ns = end_of(span);
	return events->migration(events->context, &row);
}

static int put_fault(const struct um_import_events *events, const struct um_smi_span *span)
{
	struct um_fault_row row = um_import_fault();
	char letter = span->event.id == UM_SMI_FAULT_START ? span->event.letter : 0;

	row.device = device_of(span->event.gpu);
	row.address = (int64_t)span->event.address;
	row.faults = 1;
	row.access =
		letter ? um_word(um_access_words, letter == 'W' ? UM_FAULT_WRITE : UM_FAULT_READ)
		       : NULL;
	row.start_ns = start_of(span);
	row.end_ns = end_of(span);
	return events->fault(events->context, &row);
}

static int put_stop(const struct um_import_events *events, const struct um_smi_span *span)
{
	/* As run.driver_event of the model has them (driver_amdgpu_svm). */
	static const char *const reasons[] = {"svm",	 "userptr",	    "ttm",
					      "suspend", "criu_checkpoint", "criu_restore"};
	struct um_driver_event_row row = um_import_event();
	bool known = span->event.trigger >= 0 &&
		     (size_t)span->event.trigger < sizeof(reasons) / sizeof(*reasons);

	row.device = device_of(span->event.gpu);
	row.kind = UM_EVENT_QUEUE_EVICTION;
	row.reason = known ? reasons[span->event.trigger] : NULL;
	row.start_ns = start_of(span);
	row.end_ns = end_of(span);
	return events->event(events->context, &row);
}

static int put_unmapping(const struct um_import_events *events, const struct um_smi_span *span)
{
	struct um_mapping_row row = um_import_mapping();

	row.device = device_of(span->event.gpu);
	row.address = (int64_t)span->event.address;
	row.pages = (int64_t)span->event.pages;
	row.change = um_word(um_change_words, UM_CHANGE_UNMAPPED);
	row.at_ns = span->start_ns;
	return events->mapping(events->context, &row);
}

static void take(void *context, const struct um_smi_span *span)
{
	static int (*const puts[])(const struct um_import_events *, const struct um_smi_span *) = {
		[UM_SMI_MIGRATION] = put_migration,
		[UM_SMI_FAULT] = put_fault,
		[UM_SMI_STOP] = put_stop,
		[UM_SMI_UNMAPPING] = put_unmapping,
	};
	struct um_import_smi *smi = context;

	if (!smi->error)
		smi->error = puts[span->kind](smi->events, span);
}

void um_import_smi_init(struct um_import_smi *smi, const struct um_import_events *events)
{
	smi->events = events;
	smi->error = 0;
	um_smi_pairs_init(&smi->pairs, take, smi);
}

int um_import_smi_put(struct um_import_smi *smi, const struct um_smi_event *event)
{
	um_smi_pairs_put(&smi->pairs, event);
	return smi->error;
}

int um_import_smi_end(struct um_import_smi *smi)
{
	um_smi_pairs_end(&smi->pairs);
	const struct um_loss_row row = {
		.op = UM_NULL,
		.device = UM_NULL,
		.kind = "dropped",
		.count = (int64_t)(smi->pairs.no_end + smi->pairs.no_start),
		.start_ns = UM_NULL,
		.end_ns = UM_NULL,
		.detail =
			"beginnings without an end and ends without a beginning: the kernel's queue of "
			"events was full, or a fault could not be served",
	};

	if (!smi->error && row.count)
		smi->error = smi->events->loss(smi->events->context, &row);
	return smi->error;
}
