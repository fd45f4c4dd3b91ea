/* What umsim replay simulates: each policy at each page size, its machine and its database. */
#include "replay.h"

#include "sim/machine/machine_file.h"
#include "trace/base/error.h"
#include "trace/base/units.h"

#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* The policy's file less its folder and .yaml. */
static char *name_of_policy(const char *path)
{
	char *name = strdup(path ? base_name(path) : "program");
	char *dot = name ? strrchr(name, '.') : NULL;

	if (dot && dot != name && (!strcmp(dot, ".yaml") || !strcmp(dot, ".yml")))
		*dot = '\0';
	return name;
}

/* "64KiB": no blank, as a file's name wants it. */
static void page_size_name(char *buffer, size_t capacity, uint64_t bytes)
{
	size_t kept = 0;

	um_format_bytes(buffer, capacity, bytes);
	for (size_t i = 0; buffer[i]; i++)
		if (buffer[i] != ' ')
			buffer[kept++] = buffer[i];
	buffer[kept] = '\0';
}

static char *name_output(const struct um_replay_arguments *arguments,
			 const struct um_replay *replay)
{
	static const char suffix[] = ".um.db";
	size_t length = strlen(arguments->trace);
	char page[40] = ".", *path;

	if (arguments->output)
		return strdup(arguments->output);
	if (length > strlen(suffix) && !strcmp(arguments->trace + length - strlen(suffix), suffix))
		length -= strlen(suffix);
	page_size_name(page + 1, sizeof(page) - 1, replay->page_bytes);
	if (asprintf(&path, "%.*s.%s%s%s", (int)length, arguments->trace, replay->policy_name,
		     arguments->page_count ? page : "", suffix) < 0)
		return NULL;
	return path;
}

static int take_machine(const void *row, void *context)
{
	const struct um_run_row *run = row;
	struct um_replay_run *replaying = context;
	int error;

	if (!run->machine_text)
		return 0;
	error = um_machine_parse(&replaying->replay->machine,
				 run->machine ? run->machine : "machine of the trace",
				 run->machine_text, strlen(run->machine_text));
	if (error && error != UM_ENOMEM)
		error = um_fail(UM_EFORMAT, "%s: its machine: %s", um_db_path(replaying->trace),
				um_error_message());
	return error;
}

static int find_machine(struct um_replay_run *run)
{
	struct um_replay *replay = run->replay;
	int error = 0;

	if (run->arguments->machine) {
		free(replay->policy->machine);
		replay->policy->machine = strdup(run->arguments->machine);
		error = replay->policy->machine ? 0 : um_fail(UM_ENOMEM, "no memory for a name");
	}
	if (error)
		return error;
	if (replay->policy->machine) {
		error = um_machine_load(&replay->machine, replay->policy->machine);
		/* A machine that is not there is a wrong command line, or a wrong policy. */
		return error == UM_ENOENT ? UM_EINVAL : error;
	}
	error = um_db_run(run->trace, take_machine, run);
	if (error || replay->machine)
		return error;
	return um_machine_load(&replay->machine, NULL);
}

/* The policy as it is stored names the machine that was used. */
static int name_machine(struct um_replay *replay)
{
	char *name =
		replay->policy->machine ? replay->policy->machine : strdup(replay->machine->name);

	replay->policy->machine = name;
	return name ? 0 : um_fail(UM_ENOMEM, "no memory for a name");
}

static int apply_options(struct um_replay_run *run, uint64_t page_bytes)
{
	const struct um_replay_arguments *arguments = run->arguments;
	struct um_policy *policy = run->replay->policy;
	int error = 0;

	if (arguments->driver)
		error = um_policy_set_driver(policy, arguments->driver);
	if (!error && page_bytes)
		error = um_policy_set_page_bytes(policy, page_bytes);
	if (arguments->memory_bytes)
		policy->memory_bytes = arguments->memory_bytes;
	return error;
}

static int prepare(struct um_replay_run *run, const char *policy_path, uint64_t page_bytes)
{
	struct um_replay *replay = run->replay;
	int error = policy_path ? um_policy_load(&replay->policy, policy_path)
				: um_policy_default(&replay->policy);

	if (!error)
		error = find_machine(run);
	if (!error)
		error = apply_options(run, page_bytes);
	if (!error)
		error = um_replay_settle(replay, run->trace, run->arguments->xnack);
	if (!error)
		error = name_machine(replay);
	if (error)
		return error;
	replay->driver = replay->policy->driver;
	replay->page_bytes = replay->policy->page_bytes ? replay->policy->page_bytes
							: replay->driver->default_page_bytes;
	replay->memory_bytes = replay->policy->memory_bytes ? replay->policy->memory_bytes
							    : replay->machine->memory_bytes;
	replay->trace_path = run->arguments->trace;
	replay->policy_name = name_of_policy(policy_path);
	if (!replay->policy_name)
		return um_fail(UM_ENOMEM, "no memory for a name");
	replay->output_path = name_output(run->arguments, replay);
	if (!replay->output_path ||
	    asprintf(&replay->partial_path, "%s.partial", replay->output_path) < 0)
		return um_fail(UM_ENOMEM, "no memory for a name");
	return 0;
}

void um_replay_release(struct um_replay *replay)
{
	um_ideal_spent_fini(&replay->spent);
	um_policy_destroy(replay->policy);
	um_machine_spec_destroy(replay->machine);
	free((char *)replay->policy_name);
	free(replay->xnack_source);
	free(replay->output_path);
	free(replay->partial_path);
}

static int check_combination(const struct um_replay_arguments *arguments)
{
	size_t all = (arguments->policy_count ? arguments->policy_count : 1) *
		     (arguments->page_count ? arguments->page_count : 1);

	if (!arguments->output || all == 1)
		return 0;
	return um_fail(UM_EINVAL, "-o names one database, and there are %zu simulations", all);
}

int um_replay_prepare_all(struct um_replay_run *run, struct um_replay *replays, size_t *count)
{
	const struct um_replay_arguments *arguments = run->arguments;
	size_t policies = arguments->policy_count ? arguments->policy_count : 1;
	size_t pages = arguments->page_count ? arguments->page_count : 1;
	int error = check_combination(arguments);

	for (size_t i = 0; i < policies * pages && !error; i++) {
		run->replay = &replays[i];
		*count = i + 1;
		error = prepare(run,
				arguments->policy_count ? arguments->policies[i / pages] : NULL,
				arguments->page_count ? arguments->page_bytes[i % pages] : 0);
		for (size_t other = 0; other < i && !error; other++)
			if (!strcmp(replays[other].output_path, replays[i].output_path))
				error = um_fail(UM_EINVAL, "two simulations would be written to %s",
						replays[i].output_path);
	}
	return error;
}
