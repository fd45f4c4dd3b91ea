#include "fake_cuda.h"
#include "fake_cupti.h"
#include "trace/tap/cupti_abi.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <wchar.h>

/* Their declarations are in NVIDIA's headers. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define EXPORT	       __attribute__((visibility("default")))
#define LINES_MAX      4096
#define TEXTS_MAX      256
#define WORDS_MAX      256
#define MEMORY_BYTES   16384 /* of all that one line's fields take */
#define LINE_MAX_BYTES 2048

/* --- the driver's functions --- */

static long told(const char *name, long otherwise)
{
	const char *value = getenv(name);

	return value ? strtol(value, NULL, 0) : otherwise;
}

EXPORT int cuDriverGetVersion(int *version)
{
	*version = (int)told("FAKE_CUDA_VERSION", 13000);
	return 0;
}

EXPORT int cuDeviceGetCount(int *count)
{
	*count = (int)told("FAKE_CUDA_DEVICES", 1);
	return 0;
}

EXPORT int cuDeviceGet(int *device, int ordinal)
{
	*device = ordinal;
	return 0;
}

EXPORT int cuDeviceGetName(char *name, int bytes, int device)
{
	snprintf(name, (size_t)bytes, "Fake GPU %d", device);
	return 0;
}

EXPORT int cuDeviceTotalMem_v2(size_t *bytes, int device)
{
	(void)device;
	*bytes = 1ul << 33;
	return 0;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
	static const int values[128] = {
		[UM_CUDA_WARP_SIZE] = 32,	  [UM_CUDA_CLOCK_KHZ] = 1980000,
		[UM_CUDA_MULTIPROCESSORS] = 132,  [UM_CUDA_MEMORY_CLOCK_KHZ] = 3201000,
		[UM_CUDA_MEMORY_BUS_BITS] = 6144, [UM_CUDA_L2_BYTES] = 62914560,
		[UM_CUDA_CAPABILITY_MAJOR] = 9,
	};

	(void)device;
	*value = attribute < 128 ? values[attribute] : 0;
	return 0;
}

/* Addresses with an odd megabyte are managed, in pieces of 64 KiB. */
EXPORT int cuPointerGetAttribute(void *value, int attribute, uint64_t address)
{
	bool is_managed = address >> 20 & 1;

	if (attribute == UM_CUDA_POINTER_IS_MANAGED)
		*(int *)value = is_managed;
	else if (attribute == UM_CUDA_POINTER_RANGE_START)
		*(uint64_t *)value = address & ~0xffffull;
	else
		*(size_t *)value = 0x10000;
	return is_managed ? 0 : 1;
}

/* Says what it was asked for, where FAKE_CUDA_CALLS names a file. */
static int say(const char *format, unsigned long long address, size_t bytes, int what, int device)
{
	const char *path = getenv("FAKE_CUDA_CALLS");
	FILE *file = path ? fopen(path, "a") : NULL;

	if (file) {
		fprintf(file, format, address, bytes, what, device);
		fclose(file);
	}
	return 0;
}

EXPORT int cuMemAdvise(uint64_t address, size_t bytes, int advice, int device)
{
	return say("advise %#llx %zu advice %d device %d\n", address, bytes, advice, device);
}

EXPORT int cuMemPrefetchAsync(uint64_t address, size_t bytes, int device, void *stream)
{
	return say("prefetch %#llx %zu stream %d device %d\n", address, bytes,
		   (int)(uintptr_t)stream, device);
}

EXPORT int cuStreamCreate(void **stream, unsigned flags)
{
	*stream = (void *)0x990;
	return say("stream %#llx %zu flags %d %d\n", 0x990, 0, (int)flags, 0);
}

/* As if what is prefetched were where it was led to (FAKE_CUDA_READS_AGAIN=1), or not. */
EXPORT int cuMemRangeGetAttribute(void *data, size_t data_bytes, int attribute, uint64_t address,
				  size_t bytes)
{
	(void)attribute;
	(void)address;
	(void)bytes;
	if (data_bytes == sizeof(int32_t))
		*(int32_t *)data = told("FAKE_CUDA_READS_AGAIN", 0) ? 0 : -2;
	return 0;
}

/* Streams whose handle ends in 7 are being captured. */
EXPORT int cuStreamIsCapturing(void *stream, int *status)
{
	*status = ((uintptr_t)stream & 15) == 7;
	return 0;
}

/* --- injection --- */

static const struct fake_cupti *cupti;

static void find_cupti(void)
{
	static const char *const names[] = {"libcupti.so.13", "libcupti.so.12"};

	for (size_t i = 0; i < 2 && !cupti; i++) {
		void *library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD);

		cupti = library ? dlsym(library, "fake_cupti") : NULL;
	}
}

static void inject(void)
{
	const char *path = getenv("CUDA_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*initialize)(void) = NULL;

	if (path && !library)
		fprintf(stderr, "fake driver: %s\n", dlerror());
	if (library)
		*(void **)&initialize = dlsym(library, "InitializeInjection");
	if (initialize && initialize() != 1)
		fprintf(stderr, "fake driver: the tool refused\n");
	find_cupti();
}

EXPORT int cuInit(unsigned flags)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	(void)flags;
	pthread_once(&once, inject);
	return 0;
}

/* --- scripts --- */

struct script {
	size_t lines;
	char *line[LINES_MAX];
};

struct player {
	const struct script *script;
	uint64_t round;
	uint64_t now; /* of activities that follow one another; 0: not read */
	uint32_t correlation;
	uint64_t context;
	char text[LINE_MAX_BYTES]; /* of the line, cut into words */
	char *word[WORDS_MAX];
	size_t words, at;
	char memory[MEMORY_BYTES] __attribute__((aligned(16)));
	size_t used;
	bool failed;
};

static uint32_t last_correlation;

static bool fail(struct player *player, const char *what)
{
	fprintf(stderr, "fake driver: %s: %s\n", what,
		player->at < player->words ? player->word[player->at] : "end of line");
	player->failed = true;
	return false;
}

static void cut(struct player *player, const char *line)
{
	char *rest = player->text;

	snprintf(player->text, sizeof(player->text), "%s", line);
	player->words = 0;
	player->at = 0;
	player->used = 0;
	for (char *word; (word = strtok_r(rest, " \t\n", &rest)) && player->words < WORDS_MAX;)
		player->word[player->words++] = word;
}

static const char *next_word(struct player *player)
{
	return player->at < player->words ? player->word[player->at++] : "";
}

/* How long an activity takes is the script's to say, whatever the machine does between its two times. */
static uint64_t now_of(struct player *player)
{
	if (!player->now && cupti)
		player->now = cupti->now();
	return player->now;
}

static uint64_t value_of(struct player *player, const char *text)
{
	uint64_t base = 0;
	char *end = (char *)text;

	if (!strncmp(text, "now", 3) || !strncmp(text, "corr", 4)) {
		bool is_now = *text == 'n';

		base = is_now ? now_of(player) : player->correlation;
		end = (char *)text + (is_now ? 3 : 4);
	} else if (!strncmp(text, "i*", 2)) {
		base = player->round * strtoull(text + 2, &end, 0);
	}
	return base + (uint64_t)strtoll(end, &end, 0);
}

static void *take_memory(struct player *player, size_t bytes)
{
	char *memory = player->memory + player->used;

	if (player->used + bytes + 16 > MEMORY_BYTES) {
		fail(player, "line too long");
		return player->memory;
	}
	memset(memory, 0, bytes);
	player->used += (bytes + 15) & ~(size_t)15;
	return memory;
}

/* Names last as long as their module, which is for ever. */
static const char *lasting(const char *text)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static const char *known[TEXTS_MAX];
	size_t i = 0;

	pthread_mutex_lock(&lock);
	while (i < TEXTS_MAX - 1 && known[i] && strcmp(known[i], text) != 0)
		i++;
	if (!known[i])
		known[i] = strdup(text);
	const char *found = known[i];

	pthread_mutex_unlock(&lock);
	return found;
}

static const void *wide(struct player *player, const char *text)
{
	wchar_t *out = take_memory(player, (strlen(text) + 1) * sizeof(*out));

	for (size_t i = 0; i <= strlen(text); i++)
		out[i] = (wchar_t)(unsigned char)text[i];
	return out;
}

static size_t width_of(char letter)
{
	switch (letter) {
	case 'c':
		return 1;
	case 'h':
		return 2;
	case 'u':
		return 4;
	default:
		return 8;
	}
}

static size_t read_fields(struct player *player, char *out, size_t room);

static uint64_t field_value(struct player *player, const char *word, const char *value)
{
	uint64_t *pointed;
	char *block;

	switch (*word) {
	case 'P':
		pointed = take_memory(player, sizeof(*pointed));
		*pointed = value_of(player, value);
		return (uintptr_t)pointed;
	case 's':
		return (uintptr_t)lasting(value);
	case 'w':
		return (uintptr_t)wide(player, value);
	case '&':
		block = take_memory(player, 1024);
		read_fields(player, block, 1024);
		return (uintptr_t)block;
	default:
		return value_of(player, value);
	}
}

/* Until "}" or the end of the line; returns how many bytes there are. */
static size_t read_fields(struct player *player, char *out, size_t room)
{
	size_t end = 0;

	while (player->at < player->words && !player->failed) {
		const char *word = next_word(player);

		if (!strcmp(word, "}"))
			break;
		const char *colon = strchr(word, ':');
		const char *offset = strchr(word, '@');
		size_t width = width_of(*word);

		if (!strchr("chuzpPsw&", *word) || (!colon && *word != '&')) {
			player->at--;
			fail(player, "no field");
			break;
		}
		size_t at = (end + width - 1) / width * width;

		if (offset && (!colon || offset < colon))
			at = strtoul(offset + 1, NULL, 0);
		if (at + width > room) {
			fail(player, "field outside");
			break;
		}
		uint64_t value = field_value(player, word, colon ? colon + 1 : "");

		memcpy(out + at, &value, width);
		end = at + width > end ? at + width : end;
	}
	return end;
}

/* "key=value" words before the fields. */
static const char *option(struct player *player, const char *key)
{
	size_t bytes = strlen(key);

	for (size_t i = player->at; i < player->words; i++)
		if (!strncmp(player->word[i], key, bytes) && player->word[i][bytes] == '=')
			return player->word[i] + bytes + 1;
	return NULL;
}

static void skip_options(struct player *player)
{
	while (player->at < player->words && strchr(player->word[player->at], '=') &&
	       player->word[player->at][1] != ':')
		player->at++;
}

static void happen(const char *what)
{
	if (!what)
		return;
	if (!strcmp(what, "exit"))
		exit(3);
	if (!strcmp(what, "kill"))
		kill(getpid(), SIGKILL);
	if (!strcmp(what, "raise"))
		raise(SIGUSR1);
}

static void play_call(struct player *player)
{
	uint32_t number = (uint32_t)strtoul(next_word(player), NULL, 0);
	const char *result_text = option(player, "result");
	const char *inside = option(player, "inside");
	const char *context = option(player, "context");
	const char *symbol = option(player, "symbol");
	int32_t result = result_text ? atoi(result_text) : 0;
	uint64_t kept = 0;
	char *params = take_memory(player, 512);

	skip_options(player);
	read_fields(player, params, 512);
	player->correlation = __atomic_add_fetch(&last_correlation, 1, __ATOMIC_RELAXED);
	if (context)
		player->context = strtoull(context, NULL, 0);
	struct um_cupti_call data = {
		.site = UM_CUPTI_ENTER,
		.function = "cuFake",
		.params = params,
		.result = &result,
		.symbol = symbol,
		.context = (void *)(uintptr_t)player->context,
		.correlation_data = &kept,
		.correlation = player->correlation,
	};

	if (cupti)
		cupti->callback(UM_CUPTI_DRIVER_API, number, &data);
	happen(inside);
	data.site = UM_CUPTI_EXIT;
	if (cupti)
		cupti->callback(UM_CUPTI_DRIVER_API, number, &data);
}

static void play_activity(struct player *player)
{
	uint32_t kind = (uint32_t)strtoul(next_word(player), NULL, 0);
	size_t bytes = strtoul(next_word(player), NULL, 0);
	char *record = take_memory(player, bytes);

	read_fields(player, record, bytes);
	memcpy(record, &kind, sizeof(kind));
	if (cupti)
		cupti->record(record, bytes);
}

static void play_nvtx(struct player *player)
{
	uint32_t number = (uint32_t)strtoul(next_word(player), NULL, 0);
	const char *text = option(player, "result");
	uint64_t result = text ? value_of(player, text) : 0;
	char *params = take_memory(player, 128);

	skip_options(player);
	read_fields(player, params, 128);
	struct um_cupti_nvtx_data data = {"nvtxFake", params, &result};

	if (cupti)
		cupti->callback(UM_CUPTI_NVTX, number, &data);
}

static void play_resource(struct player *player)
{
	uint32_t number = (uint32_t)strtoul(next_word(player), NULL, 0);
	struct um_cupti_resource_data data = {
		.context = (void *)(uintptr_t)strtoull(next_word(player), NULL, 0)};

	player->context = (uintptr_t)data.context;
	if (cupti)
		cupti->callback(UM_CUPTI_RESOURCE, number, &data);
}

static void play_fatal(struct player *player)
{
	struct um_cupti_state_data data = {999, next_word(player)};

	if (cupti)
		cupti->callback(UM_CUPTI_STATE, UM_CUPTI_FATAL_ERROR, &data);
}

static void play_drop(struct player *player)
{
	size_t count = strtoul(next_word(player), NULL, 0);

	if (cupti)
		cupti->drop(count);
}

static void play_sleep(struct player *player)
{
	usleep((unsigned)strtoul(next_word(player), NULL, 0) * 1000);
}

static const struct {
	const char *word;
	void (*play)(struct player *);
} actions[] = {
	{"call", play_call},	     {"activity", play_activity}, {"nvtx", play_nvtx},
	{"resource", play_resource}, {"fatal", play_fatal},	  {"drop", play_drop},
	{"sleep", play_sleep},
};

static void play_line(struct player *player, const char *line)
{
	cut(player, line);
	const char *word = next_word(player);

	for (size_t i = 0; i < sizeof(actions) / sizeof(*actions); i++) {
		if (strcmp(actions[i].word, word) != 0)
			continue;
		if (actions[i].play != play_activity)
			player->now = 0;
		actions[i].play(player);
		return;
	}
	player->at = 0;
	fail(player, "no such action");
}

/* The line behind the "end" of the block that begins at `at`. */
static size_t end_of(const struct script *script, size_t at)
{
	for (int depth = 1; at < script->lines; at++) {
		if (!strncmp(script->line[at], "repeat", 6))
			depth++;
		if (!strncmp(script->line[at], "end", 3) && --depth == 0)
			return at;
	}
	return at;
}

static void play_lines(struct player *player, size_t at, size_t end)
{
	while (at < end && !player->failed) {
		const char *line = player->script->line[at++];

		if (strncmp(line, "repeat", 6) != 0) {
			play_line(player, line);
			continue;
		}
		size_t behind = end_of(player->script, at);
		uint64_t rounds = strtoull(line + 6, NULL, 0), outer = player->round;

		for (uint64_t round = 0; round < rounds && !player->failed; round++) {
			player->round = round;
			play_lines(player, at, behind);
		}
		player->round = outer;
		at = behind + 1;
	}
}

static bool read_script(struct script *script, const char *path)
{
	FILE *file = fopen(path, "r");
	char text[LINE_MAX_BYTES];

	if (!file) {
		perror(path);
		return false;
	}
	while (script->lines < LINES_MAX && fgets(text, sizeof(text), file)) {
		const char *start = text + strspn(text, " \t");

		if (*start != '#' && *start != '\n' && *start)
			script->line[script->lines++] = strdup(start);
	}
	fclose(file);
	return true;
}

EXPORT int fake_cuda_play(const char *path)
{
	struct script *script = calloc(1, sizeof(*script));
	struct player *player = calloc(1, sizeof(*player));
	bool failed = !read_script(script, path);

	player->script = script;
	if (!failed)
		play_lines(player, 0, script->lines);
	failed |= player->failed;
	for (size_t i = 0; i < script->lines; i++)
		free(script->line[i]);
	free(script);
	free(player);
	return failed;
}

/* --- two of the driver's and the runtime's own functions --- */

static void call_back(uint32_t domain, uint32_t number, const void *params, uint32_t site)
{
	static _Thread_local uint64_t kept[3]; /* by domain */
	static const int32_t result;
	struct um_cupti_call data = {
		.site = site,
		.function = "cuFake",
		.params = params,
		.result = &result,
		.context = (void *)0x5000,
		.correlation_data = &kept[domain],
	};

	if (cupti)
		cupti->callback(domain, number, &data);
}

EXPORT int cuMemAllocManaged(uint64_t *pointer, size_t bytes, unsigned flags)
{
	static uint64_t next = 0x7f1000000000;
	const struct um_params_alloc params = {pointer, bytes, flags};

	call_back(UM_CUPTI_DRIVER_API, UM_CUDA_ALLOC_MANAGED, &params, UM_CUPTI_ENTER);
	*pointer = __atomic_fetch_add(&next, (bytes + 0x1fffff) & ~0x1ffffful, __ATOMIC_RELAXED);
	call_back(UM_CUPTI_DRIVER_API, UM_CUDA_ALLOC_MANAGED, &params, UM_CUPTI_EXIT);
	return 0;
}

/* As libcudart's: the driver gets a variable of its own. */
EXPORT int cudaMallocManaged(void **pointer, size_t bytes, unsigned flags)
{
	const struct {
		void **pointer;
		size_t bytes;
		unsigned flags;
	} params = {pointer, bytes, flags};
	uint64_t address = 0;

	cuInit(0);
	call_back(UM_CUPTI_RUNTIME_API, UM_CUDA_RUNTIME_MALLOC_MANAGED, &params, UM_CUPTI_ENTER);
	cuMemAllocManaged(&address, bytes, flags);
	*pointer = (void *)(uintptr_t)address;
	call_back(UM_CUPTI_RUNTIME_API, UM_CUDA_RUNTIME_MALLOC_MANAGED, &params, UM_CUPTI_EXIT);
	return 0;
}
