/* The only list of findings: most specific first, which matters where two would change the same. */
#include "finding_list.h"

#include "trace/base/error.h"
#include "trace/base/suggest.h"

#include <stddef.h>
#include <string.h>

const struct um_finding_rule *const um_finding_rules[] = {
	&um_finding_missing_sync,
	&um_finding_float_atomics,
	&um_finding_remote_atomics,
	&um_finding_device_memory,
	&um_finding_shared_by_devices,
	&um_finding_ping_pong,
	&um_finding_thrashing,
	&um_finding_false_sharing,
	&um_finding_over_fetch,
	&um_finding_read_mostly,
	&um_finding_host_preferred,
	&um_finding_device_preferred,
	&um_finding_prefetch_harmful,
	&um_finding_prefetch_useless,
	&um_finding_prefetch_stream,
	&um_finding_prefetch_late,
	&um_finding_prefetch_missing,
	&um_finding_advice_harmful,
	&um_finding_advice_without_effect,
	&um_finding_pinned_memory,
	&um_finding_small_allocations,
	&um_finding_xnack_off,
	&um_finding_link_saturated,
	&um_finding_memory_headroom,
	&um_finding_fragmentation,
	NULL,
};

#define COUNT (sizeof(um_finding_rules) / sizeof(*um_finding_rules) - 1)

const struct um_finding_rule *um_finding_rule_find(const char *name)
{
	const char *names[COUNT], *meant;

	for (size_t i = 0; i < COUNT; i++) {
		if (strcmp(um_finding_rules[i]->name, name) == 0)
			return um_finding_rules[i];
		names[i] = um_finding_rules[i]->name;
	}
	meant = um_suggest(name, names, COUNT, sizeof(*names));
	if (meant)
		um_fail(UM_EINVAL, "no finding \"%.48s\": did you mean \"%s\"?", name, meant);
	else
		um_fail(UM_EINVAL, "no finding \"%.48s\"; umanalyze findings --list has them",
			name);
	return NULL;
}
