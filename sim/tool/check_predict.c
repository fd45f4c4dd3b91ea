/* The predicted side: a replay whose rows are counted as they come, and kept nowhere. */
#include "check_command.h"
#include "replay.h"

#include "sim/machine/machine_file.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

/* The probe's observers cannot fail: the first error waits until it is asked for. */
struct counting {
	struct um_check_side *side;
	int error;
	char message[512];
};

static void keep_error(struct counting *counting, int error)
{
	if (!error || counting->error)
		return;
	counting->error = error;
	snprintf(counting->message, sizeof(counting->message), "%s", um_error_message());
}

#define COUNT(name, row_type)                                                                      \
	static void count_##name(void *context, const struct row_type *row)                        \
	{                                                                                          \
		struct counting *counting = context;                                               \
		keep_error(counting, um_check_add_##name(counting->side, row));                    \
	}
COUNT(op, um_op_row)
COUNT(fault, um_fault_row)
COUNT(migration, um_migration_row)
COUNT(mapping, um_mapping_row)
COUNT(remote_access, um_remote_access_row)
COUNT(copy, um_copy_traffic_row)

static int finish(void *context)
{
	struct counting *counting = context;

	return counting->error ? um_fail(counting->error, "%s", counting->message) : 0;
}

static int count_all(struct um_check_side *side, const struct um_simulation *simulation)
{
	struct counting counting = {.side = side};
	const struct um_observer observer = {
		.context = &counting,
		.op = count_op,
		.fault = count_fault,
		.migration = count_migration,
		.mapping = count_mapping,
		.remote_access = count_remote_access,
		.copy_traffic = count_copy,
		.finish = finish,
	};
	int error = um_probe_add(simulation->probe, &observer);

	if (!error)
		error = um_simulate(simulation);
	if (!error)
		error = um_probe_finish(simulation->probe);
	return error;
}

static int simulate(struct um_check_side *side, const struct um_replay *replay, struct um_db *trace,
		    bool traced)
{
	struct um_simulation simulation = {
		.trace = trace,
		.policy = replay->policy,
		.machine = replay->machine,
		.traced = traced,
		.host_time = true,
	};
	int error = um_probe_create(&simulation.probe);

	if (error)
		return error;
	error = count_all(side, &simulation);
	um_probe_destroy(simulation.probe);
	return error;
}

/* --- what it takes --- */

static int take_role(const void *row, void *context)
{
	const struct um_run_row *run = row;

	if (strcmp(run->role, "trace") == 0)
		return 0;
	return um_fail(
		UM_EINVAL,
		"%s is a simulation; what is checked is a trace with accesses, which is replayed",
		(const char *)context);
}

/* A kind of record without a row in table origin is as good as absent. */
static int check_accesses(struct um_db *trace)
{
	int64_t present = 0;
	int error = um_db_run(trace, take_role, (void *)um_db_path(trace));

	if (!error)
		error = um_db_integer(
			trace,
			"SELECT COUNT(*) FROM origin WHERE record = 'page_access' AND "
			"origin <> 'absent'",
			0, &present);
	if (!error && !present)
		error = um_fail(
			UM_EINVAL,
			"%s has no accesses: a GPU does not tell what its kernels touch; give the trace "
			"of the same program without a GPU",
			um_db_path(trace));
	return error;
}

/* --- the machine and the policy --- */

static int settle(struct um_replay *replay, const struct um_check_arguments *arguments,
		  struct um_db *trace, const struct um_check_card *measured)
{
	char *machine = NULL;
	int error = arguments->policy ? um_policy_load(&replay->policy, arguments->policy)
				      : um_policy_default(&replay->policy);

	if (error)
		return error;
	if (!arguments->machine && !replay->policy->machine)
		error = um_check_machine_of(&machine, measured->name);
	if (!error)
		error = um_machine_load(&replay->machine, arguments->machine ? arguments->machine
							  : machine	     ? machine
								    : replay->policy->machine);
	free(machine);
	if (error)
		return error == UM_ENOENT ? UM_EINVAL : error;
	error = um_replay_settle(replay, trace, UM_XNACK_UNKNOWN);
	if (!error)
		error = um_replay_settle_memory(replay, trace, NULL);
	return error ? error : um_policy_check_devices(replay->policy, replay->machine);
}

/* Whether it advises, prefetches, or drops what the program asked for. */
static bool changes_advice(const struct um_policy *policy)
{
	return policy->rule_count || !policy->keep_program_advice ||
	       !policy->keep_program_prefetch || policy->without_count;
}

static int describe(struct um_check_model *model, const struct um_replay *replay)
{
	const char *path = replay->policy->path;

	*model = (struct um_check_model){
		.machine = strdup(replay->machine->name),
		.driver = strdup(replay->policy->driver->name),
		.policy = path && strcmp(path, "-") != 0 ? strdup(path) : NULL,
		.validated = replay->policy->driver->validated,
	};
	return model->machine && model->driver ? 0 : um_fail(UM_ENOMEM, "no memory for a name");
}

void um_check_model_free(struct um_check_model *model)
{
	free(model->machine);
	free(model->driver);
	free(model->policy);
	for (size_t i = 0; i < model->warning_count; i++)
		free(model->warnings[i]);
	*model = (struct um_check_model){0};
}

static int predict(struct um_check_side *side, struct um_check_model *model,
		   const struct um_check_arguments *arguments, struct um_db *trace,
		   const struct um_check_card *measured, bool traced)
{
	struct um_replay replay = {0};
	int error = settle(&replay, arguments, trace, measured);

	if (!error)
		error = um_check_side_program(side, trace);
	if (!error)
		error = simulate(side, &replay, trace, traced);
	side->has_policy = replay.policy && changes_advice(replay.policy);
	if (!error && model)
		error = describe(model, &replay);
	if (!error && model)
		error = um_check_warn(model, &replay, &side->card, measured);
	um_check_side_complete(side);
	um_replay_release(&replay);
	return error;
}

int um_check_predict(struct um_check_side *side, struct um_check_model *model,
		     const struct um_check_arguments *arguments, const char *trace_path,
		     const struct um_check_card *measured, bool traced)
{
	struct um_db *trace;
	int error = um_db_open(&trace, trace_path);

	if (error)
		return error;
	error = check_accesses(trace);
	if (!error)
		error = predict(side, model, arguments, trace, measured, traced);
	um_db_close(trace);
	return error;
}
