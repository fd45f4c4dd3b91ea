#include "words.h"

#include "trace/spool/spool_record.h"

#include <stddef.h>
#include <string.h>

#define END                                                                                        \
	{                                                                                          \
		-1, NULL, NULL                                                                     \
	}
#define CAUSES                                                                                     \
	{UM_CAUSE_DEVICE_FAULT, "device_fault", "faults of the GPU"},                              \
		{UM_CAUSE_HOST_FAULT, "host_fault", "faults of the host"},                         \
		{UM_CAUSE_PREFETCH, "prefetch", "prefetch"},                                       \
		{UM_CAUSE_EVICTION, "eviction", "eviction"},                                       \
		{UM_CAUSE_ADVICE, "advice", "advice"},                                             \
		{UM_CAUSE_DUPLICATE, "duplicate", "read duplication"},                             \
		{UM_CAUSE_DRIVER_PREFETCH, "driver_prefetch", "prefetch by the driver"},           \
		{UM_CAUSE_ACCESS_COUNTER, "access_counter", "access counters"},                    \
		{UM_CAUSE_THRASHING, "thrashing", "thrashing"},                                    \
		{UM_CAUSE_OUT_OF_MEMORY, "out_of_memory", "lack of memory"},                       \
	{                                                                                          \
		UM_CAUSE_HOST_UNMAP, "host_unmap", "unmapping by the host"                         \
	}

const struct um_word um_access_words[] = {
	{UM_FAULT_READ, "read", "on a read"},
	{UM_FAULT_WRITE, "write", "on a write"},
	{UM_FAULT_ATOMIC, "atomic", "on an atomic"},
	{UM_FAULT_PREFETCH, "prefetch", "by a prefetch instruction"},
	END,
};

const struct um_word um_cause_words[] = {CAUSES, END};

const struct um_word um_traffic_words[] = {
	CAUSES,
	{UM_TRAFFIC_UNKNOWN, "unknown", "cause not known"},
	{UM_TRAFFIC_REMOTE_ACCESS, "remote_access", "remote access, in place"},
	{UM_TRAFFIC_COPY, "copy", "explicit copies"},
	END,
};
_Static_assert(sizeof(um_traffic_words) / sizeof(*um_traffic_words) == UM_TRAFFIC_CAUSES + 1,
	       "each cause has its words");

const struct um_word um_change_words[] = {
	{UM_CHANGE_REMOTE, "remote", NULL},
	{UM_CHANGE_LOCAL, "local", NULL},
	{UM_CHANGE_UNMAPPED, "unmapped", NULL},
	{UM_CHANGE_FIRST_TOUCH, "first_touch", NULL},
	END,
};

const struct um_word um_op_words[] = {
	{UM_OP_ALLOC, "alloc", NULL},
	{UM_OP_FREE, "free", NULL},
	{UM_OP_ADVISE, "advise", NULL},
	{UM_OP_PREFETCH, "prefetch", NULL},
	{UM_OP_COPY, "copy", NULL},
	{UM_OP_MEMSET, "memset", NULL},
	{UM_OP_LAUNCH, "launch", NULL},
	{UM_OP_SYNC_DEVICE, "sync_device", NULL},
	{UM_OP_SYNC_STREAM, "sync_stream", NULL},
	{UM_OP_EVENT_RECORD, "event_record", NULL},
	{UM_OP_EVENT_SYNC, "event_sync", NULL},
	{UM_OP_STREAM_WAIT, "stream_wait", NULL},
	{UM_OP_STREAM_CREATE, "stream_create", NULL},
	{UM_OP_STREAM_DESTROY, "stream_destroy", NULL},
	{UM_OP_ATTACH, "attach", NULL},
	{UM_OP_HOST, "host", NULL},
	{UM_OP_RANGE, "range", NULL},
	{UM_OP_NAME, "name", NULL},
	{UM_OP_NAME_END, "name_end", NULL},
	{UM_OP_PROFILER_START, "profiler_start", NULL},
	{UM_OP_PROFILER_STOP, "profiler_stop", NULL},
	{UM_OP_CALLBACK, "callback", NULL},
	{UM_OP_EVENT_QUERY, "event_query", NULL},
	{UM_OP_STREAM_QUERY, "stream_query", NULL},
	END,
};

const struct um_word um_allocation_words[] = {
	{UM_ALLOCATION_MANAGED, "managed", NULL},   {UM_ALLOCATION_DEVICE, "device", NULL},
	{UM_ALLOCATION_PINNED, "pinned", NULL},	    {UM_ALLOCATION_REGISTERED, "registered", NULL},
	{UM_ALLOCATION_PAGEABLE, "pageable", NULL}, END,
};

/* hip_runtime_api.h 5.2, less the prefix. */
const struct um_word um_advice_words[] = {
	{1, "read_mostly", NULL},
	{2, "unset_read_mostly", NULL},
	{3, "preferred_location", NULL},
	{4, "unset_preferred_location", NULL},
	{5, "accessed_by", NULL},
	{6, "unset_accessed_by", NULL},
	{100, "coarse_grain", NULL},
	{101, "unset_coarse_grain", NULL},
	END,
};

const char *um_word(const struct um_word *words, int code)
{
	for (; words->word; words++)
		if (words->code == code)
			return words->word;
	return NULL;
}

int um_word_code(const struct um_word *words, const char *word)
{
	for (const struct um_word *same = words; word && same->word; same++)
		if (same->word == word) /* whoever made the row took it from here */
			return same->code;
	for (; word && words->word; words++)
		if (strcmp(words->word, word) == 0)
			return words->code;
	return -1;
}
