#include "trace_options.h"

#include "output_name.h"

#include "sim/driver/driver.h"
#include "trace/base/error.h"
#include "trace/base/units.h"

#include <argp.h>
#include <stdlib.h>
#include <string.h>

enum option_key {
	OPTION_FORCE = 256,
	OPTION_MACHINE, /* from here to OPTION_IMPORT: about a program that is run */
	OPTION_DRIVER,
	OPTION_PAGE_SIZE,
	OPTION_MEMORY,
	OPTION_XNACK,
	OPTION_NO_REQUESTS,
	OPTION_HOST_WATCH,
	OPTION_HOST_SYNC,
	OPTION_PAGEABLE,
	OPTION_FAULTS,
	OPTION_NO_MODEL,
	OPTION_KERNELS,
	OPTION_EXCLUDE_KERNELS,
	OPTION_LAUNCHES,
	OPTION_RANGES,
	OPTION_PROFILE_FROM_START,
	OPTION_WALL,
	OPTION_BASELINE,
	OPTION_IMPORT,
	OPTION_VERSION,
};

static const struct argp_option options[] = {
	{"output", 'o', "FILE", 0,
	 "Trace to write; in its name %h is the host, %p the process, %r the MPI rank (0 without a job), "
	 "%% a percent sign; default: PROGRAM.um.db, in the current folder, of one of several ranks "
	 "PROGRAM.%r.um.db",
	 1},
	{"force", OPTION_FORCE, NULL, 0, "Replace FILE if it is a trace already", 1},
	{"quiet", 'q', NULL, 0, "No progress and no closing lines; errors only", 1},
	{NULL, 0, NULL, 0, "What the program runs on:", 2},
	{"machine", OPTION_MACHINE, "NAME", 0,
	 "Machine to play: mi100, mi210, mi250x, mi250x_frontier, mi300a, mi300x, rx7900xtx, h200, "
	 "v100_pcie, v100_nvlink, or a "
	 "machine file (a path); default: mi250x, one GCD of it",
	 2},
	{"memory", OPTION_MEMORY, "BYTES", 0,
	 "Memory of the device, as 16GiB; default: the machine's", 2},
	{"xnack", OPTION_XNACK, "on|off", 0,
	 "Whether the device retries accesses that fault, so that managed memory can migrate: sets "
	 "HSA_XNACK for PROGRAM, or is how the machine was booted where that decides (mi100); "
	 "default: HSA_XNACK as it is, and off without it",
	 2},
	{"wall", OPTION_WALL, NULL, 0,
	 "Without a GPU: events tell PROGRAM the time that passes here, not an estimate by the "
	 "machine's memory bandwidth, link and launches",
	 2},
	{NULL, 0, NULL, 0, "What is recorded:", 3},
	{"no-requests", OPTION_NO_REQUESTS, NULL, 0,
	 "Do not count coalesced requests: faster, but the time of remote accesses is then guessed "
	 "from the lines",
	 3},
	{"host-watch", OPTION_HOST_WATCH, "METHOD", 0,
	 "How host accesses are seen: wp-async, uffd-sync, mprotect, none; default: auto, the "
	 "first of them that works here",
	 3},
	{"host-sync", OPTION_HOST_SYNC, NULL, 0,
	 "Tell which line of the host read and wrote managed memory first, page by page between two "
	 "device operations, with its call stack; by mprotect and SIGSEGV, so that each first touch of "
	 "a page costs a signal and a system call",
	 3},
	{"pageable", OPTION_PAGEABLE, NULL, 0,
	 "Record what kernels do to memory that HIP did not allocate: malloc, new, variables and "
	 "stacks of the host, mapped files; else it is only counted",
	 3},
	{"faults", OPTION_FAULTS, "off|gpu|all", 0,
	 "On an NVIDIA GPU: page faults of none, of the GPU, or of the host too, which slows the "
	 "program down at each; default: gpu",
	 3},
	{NULL, 0, NULL, 0,
	 "Which launches are recorded in detail; without a GPU the others run without hooks:", 4},
	{"kernels", OPTION_KERNELS, "PATTERN", 0,
	 "Those of kernels with such a name, with or without arguments and template arguments; may be "
	 "repeated",
	 4},
	{"exclude-kernels", OPTION_EXCLUDE_KERNELS, "PATTERN", 0, "Not those; may be repeated", 4},
	{"launches", OPTION_LAUNCHES, "10..20", 0,
	 "Those of these numbers, from 1; 10.., ..20, 10; may be repeated. Launches of the run are "
	 "counted, or with --kernels those of each kernel, whether they are recorded or not",
	 4},
	{"ranges", OPTION_RANGES, "NAME", 0,
	 "Those within ranges (roctx, NVTX) of such a name, which may be a pattern, of the thread that "
	 "launches; may be repeated",
	 4},
	{"profile-from-start", OPTION_PROFILE_FROM_START, "on|off", 0,
	 "off: those from hipProfilerStart(), roctxProfilerResume() or cuProfilerStart() on; default: on. "
	 "Up to hipProfilerStop() and its like either way",
	 4},
	{NULL, 0, NULL, 0,
	 "Faults and migrations of a program that runs without a GPU, which a driver model adds after "
	 "the run:",
	 5},
	{"driver", OPTION_DRIVER, "NAME", 0,
	 "Driver model; default: the machine's own, which is amdgpu_svm for AMD's, nvidia_uvm for NVIDIA's",
	 5},
	{"page-size", OPTION_PAGE_SIZE, "BYTES", 0,
	 "Its page size, as 64KiB; default: the driver's", 5},
	{"no-model", OPTION_NO_MODEL, NULL, 0, "Add none", 5},
	{NULL, 0, NULL, 0, "Applying a policy to the program as it runs:", 6},
	{"policy", 'P', "FILE", 0,
	 "Have PROGRAM make the advice and prefetches of a policy file (umsim policy --help), and leave out its "
	 "own where the file says so; results and exit status stay. The trace marks what was ours "
	 "(op.flags 16), and is PROGRAM.POLICY.applied.um.db by default",
	 6},
	{"baseline", OPTION_BASELINE, "TRACE", 0,
	 "The trace of an earlier run of the same PROGRAM, in which the policy's rules find what they are about; "
	 "default: PROGRAM.um.db",
	 6},
	{NULL, 0, NULL, 0, "In place of a program:", 7},
	{"import", OPTION_IMPORT, "FILE", 0,
	 "Make a trace of what another tool recorded: a rocpd database (rocprofv3, rocprof-sys), a log of "
	 "ROCr's HSA_SVM_PROFILE, rocprof-sys' unified_memory JSON, an SQLite export of Nsight Systems, a "
	 "log of nvprof --print-gpu-trace; FILE says by what is in it which of these it is. Takes -o, "
	 "--force and -q; default: FILE's name with .um.db, in the current folder",
	 7},
	{"version", OPTION_VERSION, NULL, 0, "Print the version", -1},
	{NULL, 0, NULL, 0, NULL, 0},
};

static const char documentation[] =
	"Runs PROGRAM and records what it does to its memory: managed and device allocations, "
	"copies, advice, prefetches, kernel launches, and which pages and 64-byte lines each "
	"kernel "
	"and the host touched, in order. No GPU is needed: kernels compiled by umhipcc run on the "
	"CPU. Of a program that uses CUDA on an NVIDIA GPU it records what the driver did: kernels "
	"with their times, page faults, each migration with its cause, remote mappings."
	"\v"
	"The trace is an SQLite database that can be read at any moment, also while the program "
	"runs or after it crashed. Accesses in it are what the kernels did; times are the CPU's; page "
	"faults and migrations are those of a driver model, not of hardware. On a GPU all of it is "
	"measured and nothing modelled. Table 'origin' says which, for each kind of record.\n\n"
	"A launch is recorded if all kinds of options that select launches let it through, and any of "
	"those of one kind. One that is not is in the trace with its name, shape and times, marked "
	"(kernel.recorded), and what it touched is not known; allocations, copies, advice, other calls and "
	"what the host touched are recorded all the same. On a GPU launches that are not selected keep their "
	"times, and what the driver did on their account is left out of the trace; with --ranges or the "
	"profiler's calls also what it did outside of them.\n\n"
	"PROGRAM's input, output, signals and exit status are as without umtrace. Where the trace "
	"cannot be written any more, PROGRAM goes on untraced.\n\n"
	"Ranks: umtrace stands behind mpirun, srun, flux run, jsrun or aprun and before PROGRAM; it knows its "
	"rank from the variables of Open MPI, MPICH, Intel MPI, MVAPICH, Cray MPICH, PMIx, Slurm, Flux, ALPS "
	"and JSM. Each rank writes a file of its own; umanalyze summary app.*.um.db shows all of them. Two "
	"that would write the same file, one after the other too, is an error of the second.\n\n"
	"Examples:\n"
	"  umtrace ./app data.bin            writes app.um.db\n"
	"  umtrace -o run1.um.db -- ./app -v\n"
	"  mpirun -n 4 umtrace ./app         writes app.0.um.db to app.3.um.db\n"
	"  umtrace --xnack on --memory 4GiB --force ./app\n"
	"  umtrace --faults=all ./cuda_app   with the host's page faults, on an NVIDIA GPU\n"
	"  umtrace --kernels 'jacobi*' --launches 10..20 ./app    the 10th to 20th of each such kernel\n"
	"  umtrace --ranges solve --exclude-kernels 'init*' ./app\n"
	"  umtrace doctor ./app              what will happen here, and why\n"
	"  umtrace calibrate -o node.yaml    a machine file of the NVIDIA GPU here\n"
	"  umtrace --import hotspot.log      writes hotspot.um.db of what nvprof printed\n"
	"  umanalyze summary app.um.db       what is in it\n"
	"  umsim replay app.um.db -P x.yaml  what it would have done under a policy\n"
	"  umtrace -P x.yaml ./app           that policy in effect; after umtrace ./app\n"
	"  umtrace verify -P x.yaml ./app    both, and whether the prediction came true\n\n"
	"Exit status: PROGRAM's own, 128+n if signal n ended it; 125 umtrace failed before PROGRAM "
	"began, 126 PROGRAM cannot be executed, 127 there is no such PROGRAM; of --import 0, 1 failed.";

static const struct {
	const char *name;
	uint32_t value;
} host_watches[] = {
	{"none", UM_HOST_WATCH_NONE},		{"wp-async", UM_HOST_WATCH_WP_ASYNC},
	{"uffd-sync", UM_HOST_WATCH_UFFD_SYNC}, {"mprotect", UM_HOST_WATCH_MPROTECT},
	{"auto", UM_HOST_WATCH_BEST},
};

#define HOST_WATCHES (sizeof(host_watches) / sizeof(*host_watches))

const char *um_host_watch_name(uint32_t host_watch)
{
	for (size_t i = 0; i < HOST_WATCHES; i++)
		if (host_watches[i].value == host_watch)
			return host_watches[i].name;
	return NULL;
}

static int parse_host_watch(struct um_trace_options *parsed, const char *text)
{
	for (size_t i = 0; i < HOST_WATCHES; i++)
		if (!strcmp(host_watches[i].name, text)) {
			parsed->host_watch = host_watches[i].value;
			return 0;
		}
	return um_fail(UM_EINVAL,
		       "no way to watch the host is called '%s'; there are: auto, wp-async, "
		       "uffd-sync, mprotect, none",
		       text);
}

static int parse_faults(struct um_trace_options *parsed, const char *text)
{
	static const char *const words[] = {[UM_TAP_FAULTS_OFF] = "off",
					    [UM_TAP_FAULTS_GPU] = "gpu",
					    [UM_TAP_FAULTS_ALL] = "all"};

	for (uint32_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (!strcmp(words[i], text)) {
			parsed->faults = i;
			parsed->faults_given = true;
			return 0;
		}
	return um_fail(UM_EINVAL, "--faults: '%s' is none of off, gpu, all", text);
}

static int parse_profile_from_start(struct um_trace_options *parsed, const char *text)
{
	parsed->starts_off = strcmp(text, "off") == 0;
	return parsed->starts_off || strcmp(text, "on") == 0
		       ? 0
		       : um_fail(UM_EINVAL, "--profile-from-start: '%s' is neither on nor off",
				 text);
}

static const enum um_criterion criteria[] = {
	[OPTION_KERNELS - OPTION_KERNELS] = UM_SELECT_KERNELS,
	[OPTION_EXCLUDE_KERNELS - OPTION_KERNELS] = UM_SELECT_EXCLUDE_KERNELS,
	[OPTION_LAUNCHES - OPTION_KERNELS] = UM_SELECT_LAUNCHES,
	[OPTION_RANGES - OPTION_KERNELS] = UM_SELECT_RANGES,
};

static int parse_output(struct um_trace_options *parsed, const char *text)
{
	if (!*text)
		return um_fail(UM_EINVAL, "the name of the trace to write is empty");
	parsed->output = text;
	return um_output_pattern_check(text);
}

/* Nothing is run, so that no other option would do anything. */
static void check_import(const struct um_trace_options *parsed, struct argp_state *state)
{
	if (parsed->import && parsed->program)
		argp_error(state, "--import reads a file; '%s' would not be run", *parsed->program);
	else if (parsed->import && parsed->about_program)
		argp_error(state, "--import takes -o, --force and -q, and no other option");
}

static error_t parse_option(int key, char *value, struct argp_state *state)
{
	struct um_trace_options *parsed = state->input;
	int error = 0;

	parsed->about_program |= key == 'P' || (key >= OPTION_MACHINE && key < OPTION_IMPORT);
	switch (key) {
	case 'P':
		parsed->policy = value;
		break;
	case OPTION_BASELINE:
		parsed->baseline = value;
		break;
	case 'o':
		error = parse_output(parsed, value);
		break;
	case 'q':
		parsed->quiet = true;
		break;
	case OPTION_FORCE:
		parsed->force = true;
		break;
	case OPTION_MACHINE:
		parsed->machine = value;
		break;
	case OPTION_DRIVER:
		parsed->driver = value;
		error = um_driver_find(value) ? 0 : UM_EINVAL;
		break;
	case OPTION_PAGE_SIZE:
		error = um_parse_page_bytes(value, &parsed->page_bytes);
		break;
	case OPTION_MEMORY:
		error = um_parse_memory_bytes(value, &parsed->memory_bytes);
		break;
	case OPTION_XNACK:
		error = um_xnack_parse(&parsed->xnack, value);
		break;
	case OPTION_NO_REQUESTS:
		parsed->no_requests = true;
		break;
	case OPTION_HOST_WATCH:
		error = parse_host_watch(parsed, value);
		break;
	case OPTION_HOST_SYNC:
		parsed->host_sync = true;
		break;
	case OPTION_PAGEABLE:
		parsed->pageable = true;
		break;
	case OPTION_FAULTS:
		error = parse_faults(parsed, value);
		break;
	case OPTION_WALL:
		parsed->wall = true;
		break;
	case OPTION_NO_MODEL:
		parsed->no_model = true;
		break;
	case OPTION_KERNELS:
	case OPTION_EXCLUDE_KERNELS:
	case OPTION_LAUNCHES:
	case OPTION_RANGES:
		error = um_selection_add(parsed->selection, criteria[key - OPTION_KERNELS], value);
		break;
	case OPTION_PROFILE_FROM_START:
		error = parse_profile_from_start(parsed, value);
		break;
	case OPTION_IMPORT:
		parsed->import = value;
		break;
	case OPTION_VERSION:
		puts("umtrace " UM_VERSION);
		exit(0);
	case ARGP_KEY_ARG:
		/* The first word that is no option is PROGRAM; all behind it is its own. */
		parsed->program = &state->argv[state->next - 1];
		state->next = state->argc;
		break;
	case ARGP_KEY_SUCCESS:
		check_import(parsed, state);
		if (parsed->host_sync && parsed->host_watch != UM_HOST_WATCH_BEST &&
		    parsed->host_watch != UM_HOST_WATCH_MPROTECT)
			argp_error(state, "--host-sync: only --host-watch=mprotect sees which "
					  "instruction touches memory");
		if (parsed->baseline && !parsed->policy)
			argp_error(
				state,
				"--baseline: it is what the rules of a policy (-P) are held against");
		break;
	case ARGP_KEY_NO_ARGS:
		if (!parsed->import)
			argp_error(state, "which program?");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	if (error)
		argp_error(state, "%s", um_error_message());
	return 0;
}

int um_trace_options_parse(struct um_trace_options *parsed, int argc, char **argv)
{
	static const struct argp argp = {
		options,       parse_option, "[--] PROGRAM [ARGUMENT...]\n--import FILE",
		documentation, NULL,	     NULL,
		NULL};

	*parsed = (struct um_trace_options){.host_watch = UM_HOST_WATCH_BEST,
					    .faults = UM_TAP_FAULTS_GPU,
					    .xnack = UM_XNACK_UNKNOWN};
	argp_err_exit_status = UM_TRACE_FAILED;
	if (argp_parse(&argp, argc, argv, ARGP_IN_ORDER, NULL, parsed))
		return um_fail(UM_EINVAL, "cannot read the command line");
	if (parsed->host_sync && parsed->host_watch == UM_HOST_WATCH_BEST)
		parsed->host_watch = UM_HOST_WATCH_MPROTECT;
	if (parsed->starts_off)
		return um_selection_add(parsed->selection, UM_SELECT_PROFILE_FROM_START, "off");
	return 0;
}
