#include "closing.h"

#include "trace/base/units.h"
#include "trace/db/xnack_text.h"

#include <string.h>

#define LOSSES_SHOWN 8

struct way {
	const char *name;
	uint64_t bytes;
	const uint64_t *migrated; /* by cause */
	uint64_t remote, copied;
};

static uint64_t part_of(const struct way *way, int cause)
{
	switch (cause) {
	case UM_TRAFFIC_UNKNOWN:
		return 0; /* a model knows its causes */
	case UM_TRAFFIC_REMOTE_ACCESS:
		return way->remote;
	case UM_TRAFFIC_COPY:
		return way->copied;
	default:
		return way->migrated[cause];
	}
}

static void print_way(FILE *out, const struct way *way)
{
	char text[32];
	const char *before = ": ";

	fprintf(out, "  %-12s%s", way->name, um_format_bytes(text, sizeof(text), way->bytes));
	for (const struct um_word *cause = um_traffic_words; cause->word; cause++) {
		uint64_t bytes = part_of(way, cause->code);

		if (bytes == 0)
			continue;
		fprintf(out, "%s%s %s", before, cause->label,
			um_format_bytes(text, sizeof(text), bytes));
		before = "; ";
	}
	fputc('\n', out);
}

static void print_traffic(FILE *out, const struct um_totals *totals)
{
	const struct way to_device = {"to device", totals->bytes_to_device,
				      totals->migrated_to_device, totals->remote_to_device,
				      totals->copied_to_device};
	const struct way to_host = {"to host", totals->bytes_to_host, totals->migrated_to_host,
				    totals->remote_to_host, totals->copied_to_host};

	print_way(out, &to_device);
	print_way(out, &to_host);
}

static void print_model(FILE *out, const struct um_model *model)
{
	char page[32], device[32], host[32];

	fprintf(out, "umtrace: by the driver model %s, %s pages, on %s (%s):\n",
		model->driver->name, um_format_bytes(page, sizeof(page), model->page_bytes),
		model->machine->name, model->driver->validated);
	fprintf(out, "  %-12s%s of the device, %s of the host\n", "page faults",
		um_format_count(device, sizeof(device), model->totals.device_faults),
		um_format_count(host, sizeof(host), model->totals.host_faults));
	print_traffic(out, &model->totals);
}

struct losses {
	FILE *out;
	size_t shown, left;
};

static int print_loss(const void *row, void *context)
{
	const struct um_loss_row *loss = row;
	struct losses *losses = context;
	char count[32];

	if (losses->shown == LOSSES_SHOWN) {
		losses->left++;
		return 0;
	}
	losses->shown++;
	fprintf(losses->out, "umtrace: not recorded: %s, %s%s%s\n", loss->kind,
		um_format_count(count, sizeof(count), (uint64_t)loss->count),
		loss->detail ? ": " : "", loss->detail ? loss->detail : "");
	return 0;
}

static void print_losses(FILE *out, struct um_db *db)
{
	struct losses losses = {.out = out};

	um_db_each(db, &um_table_loss, NULL, 0, print_loss, &losses);
	if (losses.left)
		fprintf(out, "umtrace: and %zu more in table 'loss'\n", losses.left);
}

static void print_head(FILE *out, const struct um_closing *closing)
{
	char duration[32], launches[32], managed[32];

	fprintf(out, "umtrace: %s: %s, %s kernel launch%s, %s of managed memory\n", closing->path,
		um_format_duration(duration, sizeof(duration), closing->duration_ns),
		um_format_count(launches, sizeof(launches), closing->totals->launches),
		closing->totals->launches == 1 ? "" : "es",
		um_format_bytes(managed, sizeof(managed), closing->totals->managed_bytes));
}

static void print_xnack(FILE *out, const struct um_closing *closing)
{
	const struct um_model *model = closing->model;
	const struct um_xnack_facts facts = {
		.xnack = closing->run->xnack,
		.source = closing->run->xnack_source,
		.driver = model->ran ? model->driver->name : NULL,
		.is_modelled = um_param_find(model->policy->params, model->driver->params,
					     "xnack") != NULL,
		.shares_memory = model->machine->apu,
	};
	char text[512];

	if (*um_xnack_text(text, sizeof(text), &facts))
		fprintf(out, "umtrace: %s\n", text);
}

/* The emulation runs what hardware would not. */
static void print_pageable(FILE *out, const struct um_closing *closing)
{
	int64_t pageable = 0;

	um_db_integer(closing->db,
		      "SELECT EXISTS (SELECT 1 FROM allocation WHERE kind = 'pageable') AND "
		      "?1 IS NOT NULL",
		      1, &pageable);
	if (pageable && closing->run->xnack && !strcmp(closing->run->xnack, "off"))
		fprintf(out,
			"umtrace: kernels used memory that HIP did not allocate: on the GPU that "
			"takes XNACK (--xnack on)\n");
}

static void print_nothing(FILE *out, const struct um_closing *closing)
{
	if (closing->is_static)
		fprintf(out,
			"umtrace: %s is statically linked, so the HIP runtime could not be put "
			"into it: %s is empty\n",
			closing->program, closing->path);
	else
		fprintf(out, "umtrace: %s made no HIP call%s: %s is empty\n", closing->program,
			closing->attached ? " that did anything" : "", closing->path);
}

void um_closing_print(FILE *out, const struct um_closing *closing)
{
	if (closing->totals->ops == 0) {
		print_nothing(out, closing);
		print_losses(out, closing->db);
		return;
	}
	print_xnack(out, closing);
	print_head(out, closing);
	if (closing->model->ran)
		print_model(out, closing->model);
	print_pageable(out, closing);
	print_losses(out, closing->db);
	fprintf(out, "umtrace: next: umanalyze summary %s\n", closing->path);
	fprintf(out, "     or: umsim replay %s -P policy.yaml\n", closing->path);
}
