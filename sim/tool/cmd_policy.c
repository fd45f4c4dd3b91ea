#include "command.h"

#include "policy_render.h"
#include "replay.h"
#include "sim/machine/machine_file.h"
#include "sim/policy/policy_overlay.h"
#include "trace/base/error.h"
#include "trace/base/format_option.h"
#include "trace/db/trace_db.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

struct options {
	const char *verb, *policy, *trace;
	bool json;
};

static const struct argp_option option_table[] = {
	{"format", 'f', "FORMAT", 0, "text (default) or json", 0},
	{0},
};

static const char help[] =
	"check: checks a policy file. With a trace it lists what each rule matches there: "
	"allocations, and the launches that it waits for. A rule that matches nothing is an "
	"error.\n"
	"drivers: lists the driver models, with their page sizes and parameters, and the "
	"eviction orders. umsim machine check MACHINE has the parameters as they are on one."
	"\v"
	"Exit status: 0 fine, 2 the policy is wrong or a rule matches nothing, 1 another failure.\n"
	"\n"
	"A policy, with all that it may say:\n"
	"\n"
	"  machine: mi250x            # or a file: ./my.yaml\n"
	"  # default: the machine's own, and XNACK as the program had it; umsim policy\n"
	"  # drivers lists the parameters\n"
	"  driver: {name: amdgpu_svm, xnack: on}\n"
	"  page_size: 64KiB\n"
	"  memory: 16GiB              # of each device; or 0.8x: times the footprint\n"
	"  evict: random              # who leaves when it is full; default: driver\n"
	"  evict_seed: 7              # of random alone; default: 0\n"
	"  program: {advice: keep, prefetch: drop}  # what the program asks for\n"
	"  # without: [\"train.hip:80\"]: not the advice and prefetches of these lines\n"
	"  advise:\n"
	"    # on: name (of a part too: um_name()), site, index (umanalyze's #), kind,\n"
	"    # larger_than, range: [0, 64MiB]; at the allocation, or the part's naming\n"
	"    - on: {site: \"train.hip:42\"}\n"
	"      at: {before: \"step*\", nth: 1}        # default: at the allocation\n"
	"      preferred_location: host             # or gpu0\n"
	"      accessed_by: [gpu0]                  # or host, over a coherent link\n"
	"      read_mostly: true\n"
	"      coarse_grain: true\n"
	"    - on: {name: \"tmp*\"}\n"
	"      allocate_as: device                  # or managed, pinned\n"
	"  prefetch:\n"
	"    - on: {kind: managed}\n"
	"      to: gpu0\n"
	"      before: \"*\"            # a kernel's name\n"
	"      nth: 1                 # the first such launch; default: every\n"
	"      ahead: 1               # one launch earlier\n"
	"      stream: own            # default: the launch's\n";

static int check(const struct options *);
static int list_drivers(const struct options *);

static const struct verb {
	const char *name;
	int (*run)(const struct options *);
	bool takes_policy;
} verbs[] = {{"check", check, true}, {"drivers", list_drivers, false}};

/* NULL if there is none such. */
static const struct verb *find_verb(const char *name)
{
	for (size_t i = 0; name && i < sizeof(verbs) / sizeof(verbs[0]); i++)
		if (strcmp(verbs[i].name, name) == 0)
			return &verbs[i];
	return NULL;
}

static error_t add_argument(struct options *options, char *argument, struct argp_state *state)
{
	if (!options->verb)
		options->verb = argument;
	else if (!options->policy)
		options->policy = argument;
	else if (!options->trace)
		options->trace = argument;
	else
		argp_error(state, "too many arguments");
	return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case 'f':
		options->json = um_wants_json(state, argument);
		return 0;
	case ARGP_KEY_ARG:
		return add_argument(options, argument, state);
	case ARGP_KEY_END:
		if (!find_verb(options->verb))
			argp_error(state, "there are: umsim policy check POLICY [TRACE], umsim "
					  "policy drivers");
		if (find_verb(options->verb)->takes_policy != !!options->policy)
			argp_error(state, options->policy ? "too many arguments" : "which policy?");
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

/* The machine that a replay would take: the policy's, else the one that the trace was made for. */
struct machine_choice {
	struct um_machine_spec *spec;
	enum um_xnack xnack; /* of the program, as it counts on that machine */
	const char *trace_path;
};

static int machine_of_run(const void *row, void *context)
{
	const struct um_run_row *run = row;
	struct machine_choice *choice = context;

	if (!run->machine_text)
		return 0;
	return um_machine_parse(&choice->spec, choice->trace_path, run->machine_text,
				strlen(run->machine_text));
}

static int xnack_of_run(const void *row, void *context)
{
	struct machine_choice *choice = context;

	choice->xnack = um_policy_traced_xnack(row, choice->spec);
	return 0;
}

static int settle(struct um_policy *policy, struct um_db *trace)
{
	struct machine_choice choice = {.xnack = UM_XNACK_UNKNOWN};
	int error = 0;

	if (!policy->machine && trace) {
		choice.trace_path = um_db_path(trace);
		error = um_db_run(trace, machine_of_run, &choice);
	}
	if (!error && !choice.spec)
		error = um_machine_load(&choice.spec, policy->machine);
	if (!error && trace)
		error = um_db_run(trace, xnack_of_run, &choice);
	if (!error)
		error = um_policy_settle(policy, choice.spec, choice.xnack);
	if (!error && trace)
		error = um_policy_settle_memory(policy, choice.spec, trace);
	if (!error)
		error = um_policy_check_devices(policy, choice.spec);
	um_machine_spec_destroy(choice.spec);
	return error;
}

/* The list is printed before a rule that matches nothing is an error: it is what helps then. */
static int print_report(const struct options *options, const struct um_policy *policy,
			const struct um_rule_report *reports, const struct um_subjects *subjects)
{
	int error = options->json ? um_policy_render_json(stdout, policy, reports, subjects)
				  : um_policy_render_text(stdout, policy, reports, subjects);

	return error || !reports ? error : um_policy_report_check(policy, reports);
}

static int check_with_trace(const struct options *options, struct um_policy *policy,
			    struct um_db *trace)
{
	struct um_subjects *subjects = NULL;
	struct um_rule_report *reports = NULL;
	int error = settle(policy, trace);

	if (!error)
		error = um_subjects_load(&subjects, trace);
	if (!error)
		error = um_policy_report(&reports, policy, subjects, trace);
	if (!error)
		error = print_report(options, policy, reports, subjects);
	um_policy_report_free(reports, policy->rule_count);
	um_subjects_destroy(subjects);
	return error;
}

static int check(const struct options *options)
{
	struct um_policy *policy = NULL;
	struct um_db *trace;
	int error = um_policy_load(&policy, options->policy);

	if (error)
		return error;
	if (!options->trace) {
		error = settle(policy, NULL);
		if (!error)
			error = print_report(options, policy, NULL, NULL);
	} else {
		error = um_db_open(&trace, options->trace);
		if (!error) {
			error = check_with_trace(options, policy, trace);
			um_db_close(trace);
		}
	}
	um_policy_destroy(policy);
	return error;
}

static int list_drivers(const struct options *options)
{
	return options->json ? um_drivers_render_json(stdout) : um_drivers_render_text(stdout);
}

int um_cmd_policy(int argc, char **argv)
{
	static const struct argp argp = {
		option_table, parse, "check POLICY [TRACE]\ndrivers", help, NULL, NULL, NULL};
	struct options options = {0};

	argp_err_exit_status = UM_EXIT_USAGE;
	argp_parse(&argp, argc, argv, 0, NULL, &options);
	int error = find_verb(options.verb)->run(&options);
	if (error)
		fprintf(stderr, "umsim: %s\n", um_error_message());
	return um_exit_status(error);
}
