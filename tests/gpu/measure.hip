/*
 * One process that runs many small managed-memory programs (configurations), so that the start of a
 * GPU's driver is paid once: what a model is fitted to, and what it is tested on. Each configuration
 * allocates anew, takes its steps, is checked against the same steps on plain memory, and frees.
 *
 *   measure --list                  names, sizes and steps
 *   measure --only=NAME             one configuration (a shell pattern)
 *   measure --repeat=5              each so many times in turn
 *   measure --mib=64 --steps="host-write gpu-read host-read:4KiB"
 *   measure --times=FILE                 what each took: name, repetition, ns in all, ns of the GPU's
 *   measure --device                     what the device says of itself and its managed memory
 *
 * Each run is a range of NVTX or roctx named "CONFIGURATION#n". Never more managed memory than
 * LIMIT_BYTES is in use, nor more than an eighth of what the device has free.
 */
#include "measure_steps.h"

#include <fnmatch.h>
#include <getopt.h>

#ifdef __HIP_PLATFORM_NVIDIA__
#include <nvtx3/nvToolsExt.h>
#define range_push nvtxRangePushA
#define range_pop  nvtxRangePop
#else
#include <roctracer/roctx.h>
#define range_push roctxRangePushA
#define range_pop  roctxRangePop
#endif

#define LIMIT_BYTES (256ul << 20)

static const struct configuration configurations[] = {
#define C(name, bytes, buffers, steps) {name, bytes, buffers, steps},
#include "measure_list.h"
#undef C
};

#define CONFIGURATIONS (sizeof(configurations) / sizeof(*configurations))

static void check_room(const struct configuration *c)
{
	size_t free_bytes, total_bytes, wanted = c->bytes * (size_t)c->buffers;

	HIP_CHECK(hipMemGetInfo(&free_bytes, &total_bytes));
	if (c->buffers <= BUFFERS_MAX && wanted <= LIMIT_BYTES && wanted <= free_bytes / 8)
		return;
	fprintf(stderr,
		"%s: %zu bytes in %d buffers: over the limit of %lu bytes, or over an eighth of the "
		"%zu bytes that the device has free\n",
		c->name, wanted, c->buffers, LIMIT_BYTES, free_bytes);
	exit(2);
}

static bool run(const struct configuration *c, unsigned repetition, FILE *times)
{
	char range[160];
	struct memory memory;
	bool right = true;

	check_room(c);
	snprintf(range, sizeof(range), "%s#%u", c->name, repetition);
	range_push(range);
	memory_make(&memory, c);
	for (const char *at = c->steps; *at;) {
		size_t length = strcspn(at, " ");
		struct step step;

		step_parse(&step, at, length);
		right = step_take(&step, &memory) && right;
		at += length + strspn(at + length, " ");
	}
	memory_free(&memory);
	range_pop();
	if (times)
		fprintf(times, "%s\t%u\t%ld\t%ld\n", c->name, repetition, memory.all_ns,
			memory.gpu_ns);
	if (!right)
		fprintf(stderr, "%s: wrong result\n", range);
	return right;
}

static void list(void)
{
	for (size_t i = 0; i < CONFIGURATIONS; i++)
		printf("%-32s %9zu x %-3d %s\n", configurations[i].name, configurations[i].bytes,
		       configurations[i].buffers, configurations[i].steps);
}

static void tell_device(void)
{
	static const struct {
		const char *name;
		hipDeviceAttribute_t attribute;
	} rows[] = {
		{"concurrentManagedAccess", hipDeviceAttributeConcurrentManagedAccess},
		{"pageableMemoryAccess", hipDeviceAttributePageableMemoryAccess},
		{"directManagedMemAccessFromHost",
		 hipDeviceAttributeDirectManagedMemAccessFromHost},
		{"multiProcessorCount", hipDeviceAttributeMultiprocessorCount},
		{"maxThreadsPerMultiProcessor",
		 hipDeviceAttributeMaxThreadsPerMultiProcessor},
		{"warpSize", hipDeviceAttributeWarpSize},
		{"clockRate", hipDeviceAttributeClockRate},
		{"memoryClockRate", hipDeviceAttributeMemoryClockRate},
		{"memoryBusWidth", hipDeviceAttributeMemoryBusWidth},
		{"l2CacheSize", hipDeviceAttributeL2CacheSize},
	};
	size_t free_bytes, total_bytes;
	int device, value;

	HIP_CHECK(hipGetDevice(&device));
	for (const auto &row : rows) {
		HIP_CHECK(hipDeviceGetAttribute(&value, row.attribute, device));
		printf("%s\t%d\n", row.name, value);
	}
	HIP_CHECK(hipMemGetInfo(&free_bytes, &total_bytes));
	printf("free_bytes\t%zu\ntotal_bytes\t%zu\n", free_bytes, total_bytes);
	HIP_CHECK(hipRuntimeGetVersion(&value));
	printf("runtimeVersion\t%d\n", value);
}

struct choice {
	const char *only;
	long repeat, mib;
	const char *steps;
	FILE *times;
	bool list, device;
};

static FILE *create(const char *path)
{
	FILE *file = fopen(path, "w");

	if (file)
		return file;
	perror(path);
	exit(2);
}

static long number(const char *text)
{
	char *end;
	long value = strtol(text, &end, 10);

	if (end != text && !*end && value > 0 && value <= 1000)
		return value;
	fprintf(stderr, "measure: '%s' is not a number from 1 to 1000\n", text);
	exit(2);
}

static struct choice parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"list", no_argument, NULL, 'l'},	  {"only", required_argument, NULL, 'o'},
		{"repeat", required_argument, NULL, 'r'}, {"mib", required_argument, NULL, 'm'},
		{"steps", required_argument, NULL, 's'},  {"times", required_argument, NULL, 't'},
		{"device", no_argument, NULL, 'd'},	  {NULL, 0, NULL, 0}};
	struct choice choice = {"*", 1, 1, NULL, NULL, false, false};

	for (int found; (found = getopt_long(argc, argv, "", options, NULL)) != -1;)
		switch (found) {
		case 'l':
			choice.list = true;
			break;
		case 'o':
			choice.only = optarg;
			break;
		case 'r':
			choice.repeat = number(optarg);
			break;
		case 'm':
			choice.mib = number(optarg);
			break;
		case 's':
			choice.steps = optarg;
			break;
		case 't':
			choice.times = create(optarg);
			break;
		case 'd':
			choice.device = true;
			break;
		default:
			exit(2);
		}
	if (optind == argc)
		return choice;
	fprintf(stderr, "measure: unexpected argument '%s'\n", argv[optind]);
	exit(2);
}

int main(int argc, char **argv)
{
	struct choice choice = parse(argc, argv);
	size_t ran = 0, wrong = 0;

	if (choice.list) {
		list();
		return 0;
	}
	if (choice.device) {
		tell_device();
		return 0;
	}
	if (choice.steps) {
		const struct configuration own = {"own", (size_t)choice.mib << 20, 1, choice.steps};

		for (long n = 1; n <= choice.repeat; n++, ran++)
			wrong += !run(&own, (unsigned)n, choice.times);
	} else {
		/* All once, then all again, so that a drift of the machine meets all alike. */
		for (long n = 1; n <= choice.repeat; n++)
			for (size_t i = 0; i < CONFIGURATIONS; i++)
				if (!fnmatch(choice.only, configurations[i].name, 0)) {
					wrong +=
						!run(&configurations[i], (unsigned)n, choice.times);
					ran++;
				}
	}
	if (!ran)
		fprintf(stderr, "measure: no configuration is named '%s' (--list)\n", choice.only);
	if (choice.times && fclose(choice.times)) {
		perror("measure: --times");
		wrong++;
	}
	printf("measure: %zu runs, %zu wrong\n", ran, wrong);
	return ran ? wrong != 0 : 2;
}
