#include "model.h"

#include "sim/simulate.h"
#include "trace/base/error.h"
#include "trace/base/units.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The tables that the model writes, of which each has a row in `origin`. */
static const char *const modelled[] = {"fault",		"migration",	"mapping",
				       "remote_access", "driver_event", "copy_traffic",
				       "peer_traffic"}; /* the last of several devices only */

#define MODELLED (sizeof(modelled) / sizeof(*modelled))

static int choose_driver(struct um_model *model, const struct um_trace_options *options)
{
	int error = um_policy_default(&model->policy);

	if (!error && options->driver)
		error = um_policy_set_driver(model->policy, options->driver);
	if (!error && options->page_bytes)
		error = um_policy_set_page_bytes(model->policy, options->page_bytes);
	if (!error)
		error = um_policy_settle(model->policy, model->machine, UM_XNACK_UNKNOWN);
	if (error)
		return error;
	model->driver = model->policy->driver;
	model->policy->memory_bytes = options->memory_bytes;
	model->page_bytes = model->policy->page_bytes ? model->policy->page_bytes
						      : model->driver->default_page_bytes;
	return 0;
}

static int check_xnack(const struct um_model *model)
{
	const struct um_machine_spec *machine = model->machine;

	if (model->xnack == UM_XNACK_ON && machine->xnack == UM_XNACK_NEVER)
		return um_fail(UM_EINVAL, "--xnack on: %s (%s) cannot retry an access that faulted",
			       machine->name, machine->arch);
	if (model->xnack == UM_XNACK_OFF && machine->xnack == UM_XNACK_ALWAYS)
		return um_fail(UM_EINVAL, "--xnack off: %s (%s) has no such switch", machine->name,
			       machine->arch);
	return 0;
}

int um_model_init(struct um_model *model, const struct um_trace_options *options)
{
	*model = (struct um_model){.xnack = options->xnack};
	int error = um_machine_load(&model->machine, options->machine);
	if (!error)
		error = check_xnack(model);
	if (!error)
		error = choose_driver(model, options);
	if (!error)
		model->memory_bytes = options->memory_bytes ? options->memory_bytes
							    : model->machine->memory_bytes;
	return error ? error : um_machine_check_memory(model->machine, model->memory_bytes);
}

void um_model_fini(struct um_model *model)
{
	um_policy_destroy(model->policy);
	um_machine_spec_destroy(model->machine);
}

int um_model_set_environment(const struct um_model *model)
{
	const char *value = model->xnack == UM_XNACK_ON ? "1" : "0";

	if (model->xnack == UM_XNACK_UNKNOWN || model->machine->xnack != UM_XNACK_PROCESS)
		return 0;
	return setenv("HSA_XNACK", value, 1) ? um_fail(UM_ENOMEM, "out of memory") : 0;
}

void um_model_spool_config(const struct um_model *model, struct um_spool_config *config)
{
	const struct um_machine_spec *machine = model->machine;
	bool chooses = machine->xnack == UM_XNACK_PROCESS;
	bool is_booted_on = machine->xnack == UM_XNACK_BOOT && model->xnack == UM_XNACK_ON;

	config->xnack = is_booted_on || machine->xnack == UM_XNACK_ALWAYS;
	config->xnack_may = (chooses ? UM_XNACK_MAY_TURN_ON : 0) |
			    (chooses || is_booted_on ? UM_XNACK_MAY_TURN_OFF : 0);
	config->host_access = machine->link.coherent || machine->apu;
	config->devices = machine->devices;
	config->compute_units = machine->compute_units;
	config->clock_khz = machine->clock_khz;
	config->memory_clock_khz = machine->memory_clock_khz;
	config->memory_bus_bits = machine->memory_bus_bits;
	config->l2_bytes = machine->l2_bytes;
	config->memory_bytes = model->memory_bytes;
	config->memory_bytes_per_s = (uint64_t)machine->memory_bytes_per_s;
	config->to_device_bytes_per_s = (uint64_t)machine->link.to_device_bytes_per_s;
	config->to_host_bytes_per_s = (uint64_t)machine->link.to_host_bytes_per_s;
	config->link_latency_ns = (uint64_t)machine->link.to_device_latency_ns;
	config->launch_ns = (uint64_t)machine->launch_ns;
	snprintf(config->device_name, sizeof(config->device_name), "%s", machine->device_name);
	snprintf(config->device_arch, sizeof(config->device_arch), "%s", machine->arch);
}

void um_model_describe_machine(const struct um_model *model, struct um_run_row *run)
{
	run->machine = model->machine->name;
	run->machine_text = model->machine->text;
	run->memory_bytes = (int64_t)model->memory_bytes;
	if (model->machine->xnack == UM_XNACK_ALWAYS)
		return;
	run->xnack = model->xnack == UM_XNACK_ON ? "on" : "off";
	run->xnack_source = model->xnack == UM_XNACK_UNKNOWN
				    ? um_xnack_default_source(model->machine)
			    : model->xnack == UM_XNACK_ON ? "--xnack on"
							  : "--xnack off";
}

/* --- devices --- */

struct devices {
	struct um_device_row row[UM_DEVICES_MAX];
	char *texts[2 * UM_DEVICES_MAX];
	size_t count, text_count;
};

static const char *keep(struct devices *devices, const char *text)
{
	return text ? devices->texts[devices->text_count++] = strdup(text) : NULL;
}

static int keep_device(const void *row, void *context)
{
	struct devices *devices = context;

	if (devices->count == UM_DEVICES_MAX)
		return UM_ESTOPPED;
	struct um_device_row *device = &devices->row[devices->count++];
	*device = *(const struct um_device_row *)row;
	device->name = keep(devices, device->name);
	device->arch = keep(devices, device->arch);
	return 0;
}

int um_model_complete_devices(const struct um_model *model, struct um_db *db)
{
	const struct um_link_spec *link = &model->machine->link;
	struct devices devices = {0};
	int error = um_db_each(db, &um_table_device, NULL, 0, keep_device, &devices);

	for (size_t i = 0; i < devices.count && (!error || error == UM_ESTOPPED); i++) {
		struct um_device_row *device = &devices.row[i];

		device->link = link->name;
		device->link_to_device_bytes_per_s = link->to_device_bytes_per_s;
		device->link_to_host_bytes_per_s = link->to_host_bytes_per_s;
		error = um_db_replace(db, &um_table_device, device);
	}
	for (size_t i = 0; i < devices.text_count; i++)
		free(devices.texts[i]);
	return error == UM_ESTOPPED ? 0 : error;
}

/* --- what it is --- */

static char *parameters_text(const struct um_model *model)
{
	const struct um_param *params = model->driver->params;
	const struct um_param_value *values = model->policy->params;
	json_t *all = json_object();
	char text[64];

	for (size_t i = 0; params && values && params[i].name; i++)
		json_object_set_new(all, params[i].name,
				    json_string(um_param_text(text, sizeof(text), &values[i])));
	char *out = json_dumps(all, JSON_COMPACT);
	json_decref(all);
	return out;
}

static int write_origins(const struct um_model *model, struct um_db *db)
{
	char detail[256], page[32];
	int error = 0;

	snprintf(detail, sizeof(detail),
		 "driver model %s (%s), %s pages, on %s; "
		 "merged by page: a row's times span those of others",
		 model->driver->name, model->driver->validated,
		 um_format_bytes(page, sizeof(page), model->page_bytes), model->machine->name);
	for (size_t i = 0; i < MODELLED - (model->machine->devices == 1) && !error; i++)
		error = um_db_replace(
			db, &um_table_origin,
			&(struct um_origin_row){modelled[i], "modelled", "simulated", detail});
	return error;
}

static int write_run(const struct um_model *model, struct um_db *db, const struct um_run_row *run)
{
	struct um_run_row row = *run;
	char *parameters = parameters_text(model);
	int error = um_db_exec(db, "DELETE FROM run");

	row.driver = model->driver->name;
	row.driver_parameters = parameters;
	row.page_bytes = (int64_t)model->page_bytes;
	if (!error)
		error = um_db_insert(db, &um_table_run, &row);
	free(parameters);
	return error;
}

/* --- running it --- */

struct ignored {
	struct um_db *db;
	int error;
};

static void note_ignored(void *context, const char *what, const char *why)
{
	struct ignored *ignored = context;
	char detail[512];
	const struct um_loss_row row = {
		.op = UM_NULL,
		.device = UM_NULL,
		.kind = "not_modelled",
		.count = 1,
		.start_ns = UM_NULL,
		.end_ns = UM_NULL,
		.detail = detail,
	};

	snprintf(detail, sizeof(detail), "%s: %s", what, why);
	if (!ignored->error)
		ignored->error = um_db_insert(ignored->db, &um_table_loss, &row);
}

static int simulate(struct um_model *model, struct um_db *db, struct um_probe *probe,
		    void (*progress)(void *, uint64_t, uint64_t), void *context)
{
	struct um_observer totals = um_probe_totals(&model->totals), rows;
	struct ignored ignored = {.db = db};
	const struct um_simulation simulation = {
		.trace = db,
		.policy = model->policy,
		.machine = model->machine,
		.probe = probe,
		.progress = progress,
		.progress_context = context,
		.ignored = note_ignored,
		.ignored_context = &ignored,
	};
	int error = um_probe_add(probe, &totals);

	if (!error)
		error = um_probe_db(&rows, db, UM_PROBE_MERGE);
	if (!error)
		error = um_probe_add(probe, &rows);
	if (!error)
		error = um_simulate(&simulation);
	return error ? error : ignored.error;
}

static int add_rows(struct um_model *model, struct um_db *db,
		    void (*progress)(void *, uint64_t, uint64_t), void *context)
{
	struct um_probe *probe;
	char message[1024];
	int error = um_probe_create(&probe);

	if (error)
		return error;
	error = simulate(model, db, probe, progress, context);
	snprintf(message, sizeof(message), "%s", um_error_message());
	int finish_error = um_probe_finish(probe);
	um_probe_destroy(probe);
	return error ? um_fail(error, "%s", message) : finish_error;
}

static void take_rows_back(struct um_db *db)
{
	char message[1024], sql[64];

	snprintf(message, sizeof(message), "%s", um_error_message());
	um_db_begin(db);
	for (size_t i = 0; i < MODELLED; i++) {
		snprintf(sql, sizeof(sql), "DELETE FROM %s", modelled[i]);
		um_db_exec(db, sql);
	}
	um_db_exec(db, "DELETE FROM loss WHERE kind = 'not_modelled'");
	um_db_commit(db);
	um_fail(0, "%s", message);
}

/* As the program had it. */
static int settle_xnack(struct um_model *model, const struct um_run_row *run)
{
	enum um_xnack traced = UM_XNACK_UNKNOWN;

	if (run->xnack)
		traced = strcmp(run->xnack, "on") == 0 ? UM_XNACK_ON : UM_XNACK_OFF;
	return um_policy_settle(model->policy, model->machine, traced);
}

int um_model_run(struct um_model *model, struct um_db *db, const struct um_run_row *run,
		 void (*progress)(void *context, uint64_t done, uint64_t all), void *context)
{
	int error = settle_xnack(model, run);

	if (!error)
		error = add_rows(model, db, progress, context);
	if (!error)
		error = um_db_begin(db);
	if (!error)
		error = write_origins(model, db);
	if (!error)
		error = write_run(model, db, run);
	if (!error)
		error = um_db_commit(db);
	if (error)
		take_rows_back(db);
	model->ran = error == 0;
	return error;
}
