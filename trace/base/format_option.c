#include "format_option.h"

#include <string.h>

bool um_wants_json(struct argp_state *state, const char *format)
{
	bool wants = strcmp(format, "json") == 0;

	if (!wants && strcmp(format, "text") != 0)
		argp_error(state, "--format: \"%s\" is neither text nor json", format);
	return wants;
}
