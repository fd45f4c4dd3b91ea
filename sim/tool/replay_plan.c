/* What umsim replay simulates: each policy at each page size and memory, its machine and its database. */
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

/* ".memory-0.8x", ".memory-16GiB": as it was asked for, without blanks. */
static void memory_name(char *buffer, size_t capacity, const struct um_replay_memory *memory)
{
	size_t used = 0;

	*buffer = '\0';
	if (!memory)
		return;
	used = (size_t)snprintf(buffer, capacity, ".memory-");
	for (const char *at = memory->text; *at && used + 1 < capacity; at++)
		if (*at != ' ')
			buffer[used++] = *at;
	buffer[used] = '\0';
}

static char *name_output(const struct um_replay_arguments *arguments,
			 const struct um_replay *replay, const struct um_replay_memory *memory)
{
	static const char suffix[] = ".um.db";
	size_t length = strlen(arguments->trace);
	char page[40] = ".", with_memory[64], *path;

	if (arguments->output)
		return strdup(arguments->output);
	if (length > strlen(suffix) && !strcmp(arguments->trace + length - strlen(suffix), suffix))
		length -= strlen(suffix);
	page_size_name(page + 1, sizeof(page) - 1, replay->page_bytes);
	memory_name(with_memory, sizeof(with_memory), memory);
	if (asprintf(&path, "%.*s.%s%s%s%s", (int)length, arguments->trace, replay->policy_name,
		     arguments->page_count ? page : "", with_memory, suffix) < 0)
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
	if (!error && arguments->evict)
		error = um_policy_set_evict(policy, arguments->evict);
	return error;
}

static int make_label(struct um_replay *replay)
{
	char page[32], memory[32];
	bool shows = replay->shows_memory;

	um_format_bytes(page, sizeof(page), replay->page_bytes);
	um_format_bytes(memory, sizeof(memory), replay->memory_bytes);
	if (asprintf(&replay->label, "%s, %s%s%s%s", replay->policy_name, page, shows ? ", " : "",
		     shows ? memory : "", shows ? " of memory" : "") >= 0)
		return 0;
	replay->label = NULL;
	return um_fail(UM_ENOMEM, "no memory for a name");
}

/* What to simulate: the parts of the command line that one simulation is of. */
struct choice {
	const char *policy_path; /* NULL: none */
	uint64_t page_bytes;	 /* 0: the policy's */
	const struct um_replay_memory *memory;
};

static int settle(struct um_replay_run *run, const struct choice *choice)
{
	struct um_replay *replay = run->replay;
	int error = choice->policy_path ? um_policy_load(&replay->policy, choice->policy_path)
					: um_policy_default(&replay->policy);

	if (!error)
		error = find_machine(run);
	if (!error)
		error = apply_options(run, choice->page_bytes);
	if (!error)
		error = um_replay_settle(replay, run->trace, run->arguments->xnack);
	if (!error)
		error = um_replay_settle_memory(replay, run->trace,
						choice->memory ? &choice->memory->limit : NULL);
	if (!error)
		error = um_policy_check_devices(replay->policy, replay->machine);
	return error ? error : name_machine(replay);
}

static int prepare(struct um_replay_run *run, const struct choice *choice)
{
	struct um_replay *replay = run->replay;
	int error;

	replay->policy_name = name_of_policy(choice->policy_path);
	if (!replay->policy_name)
		return um_fail(UM_ENOMEM, "no memory for a name");
	error = settle(run, choice);
	if (error)
		return error;
	replay->driver = replay->policy->driver;
	replay->page_bytes = replay->policy->page_bytes ? replay->policy->page_bytes
							: replay->driver->default_page_bytes;
	replay->trace_path = run->arguments->trace;
	replay->shows_memory = run->arguments->memory_count > 1;
	error = make_label(replay);
	if (error)
		return error;
	replay->output_path = name_output(run->arguments, replay, choice->memory);
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
	free(replay->label);
	free(replay->xnack_source);
	free(replay->output_path);
	free(replay->partial_path);
	for (size_t i = 0; i < replay->ignored_count; i++)
		free(replay->ignored[i].what);
	free(replay->ignored);
}

/* One of each is there in any case. */
static size_t at_least_one(size_t count)
{
	return count ? count : 1;
}

size_t um_replay_count(const struct um_replay_arguments *arguments)
{
	return at_least_one(arguments->policy_count) * at_least_one(arguments->page_count) *
	       at_least_one(arguments->memory_count);
}

static struct choice nth_choice(const struct um_replay_arguments *arguments, size_t n)
{
	size_t pages = at_least_one(arguments->page_count);
	size_t memories = at_least_one(arguments->memory_count);
	size_t policy = n / memories / pages, page = n / memories % pages, memory = n % memories;

	return (struct choice){
		.policy_path = arguments->policy_count ? arguments->policies[policy] : NULL,
		.page_bytes = arguments->page_count ? arguments->page_bytes[page] : 0,
		.memory = arguments->memory_count ? &arguments->memory[memory] : NULL,
	};
}

static int check_combination(const struct um_replay_arguments *arguments)
{
	size_t all = um_replay_count(arguments);

	if (!arguments->output || all == 1)
		return 0;
	return um_fail(UM_EINVAL, "-o names one database, and there are %zu simulations", all);
}

/* Its output, beside those before it and what is there. */
static int check_output(const struct um_replay_run *run)
{
	const char *path = run->replay->output_path;

	for (const struct um_replay *other = run->replays; other != run->replay; other++)
		if (!strcmp(other->output_path, path))
			return um_fail(UM_EINVAL, "two simulations would be written to %s", path);
	return um_replay_output_check(run->replay, run->trace, run->arguments->force);
}

int um_replay_prepare_all(struct um_replay_run *run)
{
	int error = check_combination(run->arguments);

	for (size_t i = 0; i < um_replay_count(run->arguments) && !error; i++) {
		struct choice choice = nth_choice(run->arguments, i);

		run->replay = &run->replays[i];
		run->count = i + 1;
		error = prepare(run, &choice);
		if (!error)
			error = check_output(run);
		if (error)
			error = um_replay_name_failure(run, error);
	}
	return error;
}
