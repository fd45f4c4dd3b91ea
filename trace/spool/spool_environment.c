#include "spool_environment.h"

#include <stdlib.h>
#include <string.h>

const char *um_environment_spool(void)
{
	return getenv(UM_SPOOL_VARIABLE);
}

void um_environment_remove(const char *name)
{
	char *value = getenv(name);

	if (!value)
		return;
	unsetenv(name);
	size_t name_bytes = strlen(name) + 1;

	memset(value - name_bytes, 0, name_bytes + strlen(value));
}
