/* Whether devices retry faults in a simulation, and who decided that. */
#include "replay.h"

#include "sim/policy/policy_overlay.h"
#include "trace/base/error.h"
#include "trace/db/xnack_text.h"

#include <stdlib.h>
#include <string.h>

struct traced {
	const struct um_machine_spec *machine; /* that is simulated */
	enum um_xnack xnack;
	char source[160];
};

static int take_xnack(const void *row, void *context)
{
	const struct um_run_row *run = row;
	struct traced *traced = context;

	traced->xnack = um_policy_traced_xnack(run, traced->machine);
	if (run->xnack_source)
		snprintf(traced->source, sizeof(traced->source), "as traced: %s",
			 run->xnack_source);
	return 0;
}

static const char *source_text(const struct um_replay *replay, const struct traced *traced)
{
	switch (replay->policy->xnack_source) {
	case UM_XNACK_BY_OPTION:
		return replay->policy->xnack == UM_XNACK_ON ? "--xnack on" : "--xnack off";
	case UM_XNACK_BY_POLICY:
		return "the policy";
	case UM_XNACK_BY_TRACE:
		return traced->source;
	case UM_XNACK_BY_MACHINE:
		break;
	}
	return um_xnack_default_source(replay->machine);
}

int um_replay_settle(struct um_replay *replay, struct um_db *trace, enum um_xnack option)
{
	struct traced traced = {
		.machine = replay->machine, .xnack = UM_XNACK_UNKNOWN, .source = "as traced"};
	int error = um_db_run(trace, take_xnack, &traced);

	replay->policy->xnack_asked = option;
	if (!error)
		error = um_policy_settle(replay->policy, replay->machine, traced.xnack);
	if (error || replay->machine->xnack == UM_XNACK_ALWAYS)
		return error;
	replay->xnack = um_xnack_word(replay->policy->xnack);
	replay->xnack_source = strdup(source_text(replay, &traced));
	return replay->xnack_source ? 0 : um_fail(UM_ENOMEM, "no memory for a name");
}

static bool xnack_text(char *buffer, size_t capacity, const struct um_replay *replay)
{
	const struct um_driver_ops *driver = replay->driver;
	const struct um_xnack_facts facts = {
		.xnack = replay->xnack,
		.source = replay->xnack_source,
		.driver = driver->name,
		.is_modelled =
			um_param_find(replay->policy->params, driver->params, "xnack") != NULL,
		.shares_memory = replay->machine->apu,
	};

	if (replay->xnack)
		um_xnack_text(buffer, capacity, &facts);
	else
		snprintf(buffer, capacity, "%s has no XNACK switch", replay->machine->name);
	return true;
}

static void print_line(void *context, const char *line)
{
	um_text_print_wrapped(context, line, 0, 2);
}

void um_replay_print_xnack(FILE *out, const struct um_replay *replays, size_t count)
{
	bool is_any = false;

	for (size_t i = 0; i < count; i++)
		is_any = is_any || replays[i].xnack;
	if (!is_any)
		return;
	um_replay_each_text(replays, count, xnack_text, print_line, out);
	fputc('\n', out);
}
