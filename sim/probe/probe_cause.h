/* The schema's names of migration.cause, in the order of enum um_migration_cause (machine.h). */
#ifndef UM_PROBE_CAUSE_H
#define UM_PROBE_CAUSE_H

#include <string.h>

#define UM_CAUSE_COUNT 6

static inline unsigned um_cause_index(const char *name)
{
	static const char *const names[UM_CAUSE_COUNT] = {
		"device_fault", "host_fault", "prefetch", "eviction", "advice", "duplicate"};
	unsigned cause = 0;

	while (cause + 1 < UM_CAUSE_COUNT && strcmp(names[cause], name))
		cause++;
	return cause;
}

#endif
