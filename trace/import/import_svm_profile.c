/*
 * What ROCr writes with HSA_SVM_PROFILE=FILE in a program's environment: amdkfd's SMI events in words
 * (rocr-runtime, core/runtime/svm_profiler.cpp). One line an event:
 *
 *   ROCr HMM event: <ns> MIGRATE_START|MIGRATE_END <trigger> <agent>-><agent> [0x<first>, 0x<last>]
 *   ROCr HMM event: <ns> PAGE_FAULT_START Read|Write <agent> <address, decimal>
 *   ROCr HMM event: <ns> PAGE_FAULT_END Migration|Map <agent> <address, decimal>
 *   ROCr HMM event: <ns> QUEUE_EVICTION <cause> <agent>
 *   ROCr HMM event: <ns> QUEUE_RESTORE <agent>
 *   ROCr HMM event: <ns> UNMAP_FROM_GPU <cause> <agent> [0x<first>, 0x<last>]
 *
 * with an agent CPU or GPU<n>(0x<handle>). ROCr drops the kernel's pid, the error of a migration, the places
 * that were asked for, and whether a queue's restart is put off. Times are of CLOCK_BOOTTIME.
 */
#include "import_lines.h"

#include "import_smi.h"
#include "trace/base/error.h"

#include <stdlib.h>
#include <string.h>

static const char prefix[] = "ROCr HMM event: ";

/* What is left of a line; every step beyond something else makes it NULL. */
struct cursor {
	const char *at;
};

static void expect(struct cursor *cursor, const char *text)
{
	if (cursor->at && strncmp(cursor->at, text, strlen(text)) == 0)
		cursor->at += strlen(text);
	else
		cursor->at = NULL;
}

static uint64_t number(struct cursor *cursor, int base)
{
	static const char hex[] = "0123456789abcdefABCDEF";
	char *end;

	if (base == 16)
		expect(cursor, "0x");
	if (!cursor->at || !*cursor->at || !memchr(hex, *cursor->at, base == 16 ? 22 : 10)) {
		cursor->at = NULL;
		return 0;
	}
	uint64_t value = strtoull(cursor->at, &end, base);
	cursor->at = value > INT64_MAX ? NULL : end;
	return value;
}

/* One of the words, up to a blank or the line's end; -1: none, which is no error of the line. */
static int word(struct cursor *cursor, const char *const *words)
{
	size_t length = cursor->at ? strcspn(cursor->at, " ") : 0;
	int found = -1;

	for (int i = 0; words[i] && length; i++)
		if (strlen(words[i]) == length && strncmp(cursor->at, words[i], length) == 0)
			found = i;
	if (cursor->at)
		cursor->at += length;
	if (!length)
		cursor->at = NULL;
	return found;
}

/* 0 the CPU, else one more than the GPU's number: as SMI events have places. */
static uint32_t agent(struct cursor *cursor)
{
	if (cursor->at && strncmp(cursor->at, "CPU", 3) == 0) {
		cursor->at += 3;
		return 0;
	}
	expect(cursor, "GPU");
	uint64_t gpu = number(cursor, 10);
	expect(cursor, "(");
	number(cursor, 16);
	expect(cursor, ")");
	if (gpu >= UM_IMPORT_SMI_GPUS)
		cursor->at = NULL;
	return (uint32_t)gpu + 1;
}

static void range(struct cursor *cursor, struct um_smi_event *event)
{
	expect(cursor, "[");
	uint64_t first = number(cursor, 16);
	expect(cursor, ", ");
	uint64_t last = number(cursor, 16);
	expect(cursor, "]");
	if (last < first)
		cursor->at = NULL;
	event->address = first;
	event->pages = (uint64_t)um_import_pages(first, last - first + 1);
}

static const char *const migrate_words[] = {"PREFETCH", "PAGEFAULT_GPU", "PAGEFAULT_CPU",
					    "TTM_EVICTION", NULL};
static const char *const evict_words[] = {
	"SVM", "USERPTR", "TTM", "SUSPEND", "CRIU_CHECKPOINT", "CRIU_RESTORE", NULL};
static const char *const unmap_words[] = {"MMU_NOTIFY", "MMU_NOTIFY_MIGRATE", "UNMAP_FROM_CPU",
					  NULL};

static void migration(struct cursor *cursor, struct um_smi_event *event)
{
	event->trigger = word(cursor, migrate_words);
	expect(cursor, " ");
	event->from = agent(cursor);
	expect(cursor, "->");
	event->to = agent(cursor);
	expect(cursor, " ");
	range(cursor, event);
}

static void fault(struct cursor *cursor, struct um_smi_event *event)
{
	static const char *const starts[] = {"Read", "Write", NULL};
	static const char *const ends[] = {"Migration", "Map", NULL};
	bool begins = event->id == UM_SMI_FAULT_START;
	int which = word(cursor, begins ? starts : ends);

	if (which < 0)
		cursor->at = NULL;
	event->letter = begins ? (which ? 'W' : 'R') : which ? 'U' : 'M';
	expect(cursor, " ");
	event->gpu = agent(cursor);
	expect(cursor, " ");
	event->address = number(cursor, 10);
	event->pages = 1;
}

static void stop(struct cursor *cursor, struct um_smi_event *event)
{
	event->trigger = word(cursor, evict_words);
	expect(cursor, " ");
	event->gpu = agent(cursor);
}

static void restart(struct cursor *cursor, struct um_smi_event *event)
{
	event->gpu = agent(cursor);
}

static void unmap(struct cursor *cursor, struct um_smi_event *event)
{
	event->trigger = word(cursor, unmap_words);
	expect(cursor, " ");
	event->gpu = agent(cursor);
	expect(cursor, " ");
	range(cursor, event);
}

static const struct {
	const char *word;
	uint32_t id;
	void (*read)(struct cursor *, struct um_smi_event *);
} kinds[] = {
	{"MIGRATE_START ", UM_SMI_MIGRATE_START, migration},
	{"MIGRATE_END ", UM_SMI_MIGRATE_END, migration},
	{"PAGE_FAULT_START ", UM_SMI_FAULT_START, fault},
	{"PAGE_FAULT_END ", UM_SMI_FAULT_END, fault},
	{"QUEUE_EVICTION ", UM_SMI_QUEUE_EVICTION, stop},
	{"QUEUE_RESTORE ", UM_SMI_QUEUE_RESTORE, restart},
	{"UNMAP_FROM_GPU ", UM_SMI_UNMAP, unmap},
};

/* Other events have no detail and are none of memory's. */
static bool read_event(struct um_smi_event *event, const char *line)
{
	struct cursor cursor = {line};

	*event = (struct um_smi_event){.trigger = UM_SMI_NOT_TOLD, .error = UM_SMI_ERROR_NOT_TOLD};
	expect(&cursor, prefix);
	event->at_ns = (int64_t)number(&cursor, 10);
	expect(&cursor, " ");
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds) && cursor.at; i++) {
		if (strncmp(cursor.at, kinds[i].word, strlen(kinds[i].word)) != 0)
			continue;
		event->id = kinds[i].id;
		cursor.at += strlen(kinds[i].word);
		kinds[i].read(&cursor, event);
		return cursor.at && strspn(cursor.at, " ") == strlen(cursor.at);
	}
	return cursor.at;
}

static int recognise(const struct um_import_file *file, const char *head)
{
	(void)file;
	return strncmp(head, prefix, sizeof(prefix) - 1) == 0;
}

static int read_file(const struct um_import_file *file, const struct um_import_events *events)
{
	struct um_import_lines lines;
	struct um_import_smi smi;
	struct um_smi_event event;
	int error = 0, more;

	um_import_lines_init(&lines, file, events);
	um_import_smi_init(&smi, events);
	while (!error && (more = um_import_lines_next(&lines)) != 0) {
		if (more < 0)
			error = more;
		else if (lines.cut)
			error = um_import_lines_wrong(&lines, &um_import_svm_profile,
						      "the last line is cut off");
		else if (!read_event(&event, lines.line))
			error = um_import_lines_wrong(&lines, &um_import_svm_profile,
						      "no event reads like '%.100s'", lines.line);
		else
			error = um_import_smi_put(&smi, &event);
	}
	if (!error)
		error = um_import_smi_end(&smi);
	um_import_lines_fini(&lines);
	return error;
}

static const struct um_import_told told[] = {
	{"fault",
	 "of the GPU, as amdkfd tells them: none of one within 2 ms of the last at its place"},
	{"migration", "bytes as amdkfd was asked to move: it tells no other"},
	{"mapping", "unmapped from the GPU"},
	{"driver_event", "queues that stood still"},
	{NULL, NULL},
};

const struct um_import_format um_import_svm_profile = {
	.name = "rocr_svm_profile",
	.what = "HSA_SVM_PROFILE log of ROCr",
	.medium = UM_IMPORT_TEXT,
	.clock = "CLOCK_BOOTTIME",
	.told = told,
	.recognise = recognise,
	.read = read_file,
};
