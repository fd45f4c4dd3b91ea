#include "xnack_text.h"

#include <stdio.h>
#include <string.h>

/* Models to which it means something else. */
static const struct {
	const char *driver, *meaning;
} others[] = {
	{"explicit_copy", "; without managed memory (explicit_copy) it changes nothing"},
};

static const char *other_meaning(const char *driver)
{
	for (size_t i = 0; driver && i < sizeof(others) / sizeof(*others); i++)
		if (strcmp(others[i].driver, driver) == 0)
			return others[i].meaning;
	return NULL;
}

static void put_meaning(char *buffer, size_t capacity, const struct um_xnack_facts *facts)
{
	bool is_on = strcmp(facts->xnack, "on") == 0;

	if (other_meaning(facts->driver))
		snprintf(buffer, capacity, "%s", other_meaning(facts->driver));
	else if (facts->driver && !facts->is_modelled)
		snprintf(
			buffer, capacity,
			"; the driver model %.64s does not look at it, and serves faults of the GPU "
			"in any case",
			facts->driver);
	else if (facts->shares_memory)
		snprintf(buffer, capacity, ": host and GPU share one memory, and nothing migrates");
	else
		snprintf(buffer, capacity, ": managed memory %s on faults",
			 is_on ? "migrates" : "does not migrate");
}

char *um_xnack_text(char *buffer, size_t capacity, const struct um_xnack_facts *facts)
{
	char meaning[256];

	buffer[0] = '\0';
	if (!facts->xnack)
		return buffer;
	put_meaning(meaning, sizeof(meaning), facts);
	snprintf(buffer, capacity, "XNACK %.8s%s%.160s%s%s", facts->xnack,
		 facts->source ? " (" : "", facts->source ? facts->source : "",
		 facts->source ? ")" : "", meaning);
	return buffer;
}
