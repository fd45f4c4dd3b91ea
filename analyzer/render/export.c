#include "export.h"

#include "render_json.h"

#include "trace/base/error.h"

#include <stdlib.h>

const struct um_export_format um_export_formats[] = {
	{"perfetto", "a timeline for ui.perfetto.dev: Chrome's trace event format",
	 um_export_perfetto},
	{"csv", "one table, RFC 4180 (--table)", um_export_csv},
	{"json", "all of it: run, totals, allocations, kernels, transfers, faults", um_export_json},
	{"rocpd", "a database for ROCm's rocpd tools: launches, calls, copies, KFD's events",
	 um_export_rocpd},
	{0},
};

int um_export_string(FILE *out, const char *text)
{
	json_t *json = um_text_json(text);
	int failed = json ? json_dumpf(json, out, JSON_ENCODE_ANY) : -1;

	json_decref(json);
	if (!json)
		return um_fail(UM_ENOMEM, "out of memory");
	return failed ? um_fail_errno(UM_EIO, "writing") : 0;
}
