#include "render_report.h"
#include "report_json.h"

#include "trace/base/error.h"
#include "trace/base/text_width.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* --- how much of it --- */

struct um_report_detail um_report_detail(size_t run_count)
{
	size_t share = run_count > 1 ? run_count : 1;

	return (struct um_report_detail){
		.bins = 8192 / share,
		.columns = share > 2 ? 128 : 192,
		.spans = 16384 / share,
	};
}

/* Tried in this order until the page is small enough. */
static const struct um_report_limits limits[] = {
	{.rows = 500, .spans = 24000, .heatmaps = 16, .text_bytes = 65536},
	{.rows = 250, .spans = 12000, .heatmaps = 12, .text_bytes = 16384},
	{.rows = 100, .spans = 6000, .heatmaps = 8, .text_bytes = 4096},
	{.rows = 50, .spans = 2000, .heatmaps = 4, .text_bytes = 4096},
	{.rows = 20, .spans = 500, .heatmaps = 2, .text_bytes = 1024},
};

/* Cuts a text between two characters, with a sign that it was. */
static void cut_text(json_t *text, size_t most)
{
	size_t bytes = 0;
	int columns;
	char *cut;

	if (json_string_length(text) <= most)
		return;
	cut = strdup(json_string_value(text));
	for (char *at = cut; at && *at && bytes < most - 4;) {
		size_t next = um_utf8_next(at, &columns);
		bytes += next;
		at += next;
	}
	if (cut) {
		strcpy(cut + bytes, "\xe2\x80\xa6");
		json_string_set(text, cut);
	}
	free(cut);
}

static void cut_texts(json_t *json, size_t most)
{
	const char *key;
	size_t index;
	json_t *value;

	if (json_is_string(json))
		cut_text(json, most);
	else if (json_is_array(json))
		json_array_foreach(json, index, value) cut_texts(value, most);
	else
		json_object_foreach(json, key, value) cut_texts(value, most);
}

/* --- data --- */

static json_t *now_json(void)
{
	char text[32];
	time_t now = time(NULL);
	struct tm utc;

	gmtime_r(&now, &utc);
	strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	return json_string(text);
}

static json_t *report_json(const struct um_report *report, const struct um_report_limits *most)
{
	json_t *runs = json_array(), *object;
	bool ok = runs != NULL;

	for (size_t i = 0; i < report->run_count && ok; i++)
		ok = json_array_append_new(runs, um_report_run_json(report->runs[i], most)) == 0;
	if (!ok) {
		json_decref(runs);
		return NULL;
	}
	object = json_pack("{s:i, s:s, s:o, s:o, s:s?, s:O?}", "schema", 1, "tool",
			   "umanalyze " UM_VERSION, "created", now_json(), "runs", runs,
			   "findings_missing", report->findings_missing, "findings",
			   report->findings);
	if (object)
		cut_texts(object, most->text_bytes);
	return object;
}

/*
 * JSON in a script element ends at "</script", and "<!--" changes how it is read: no '<' is left, which
 * JSON has in strings alone. The rest is ASCII, so that no U+2028 is there either.
 */
static char *escape(const char *json)
{
	size_t bytes = strlen(json) + 1;
	char *out, *to;

	for (const char *at = json; *at; at++)
		bytes += *at == '<' ? 5 : 0;
	out = to = malloc(bytes);
	if (!out)
		return NULL;
	for (const char *at = json; *at; at++) {
		if (*at == '<')
			to = stpcpy(to, "\\u003c");
		else
			*to++ = *at;
	}
	*to = '\0';
	return out;
}

int um_report_data(char **out, const struct um_report *report, const struct um_report_limits *most)
{
	json_t *object = report_json(report, most);
	char *json = object ? json_dumps(object, JSON_COMPACT | JSON_ENSURE_ASCII) : NULL;

	json_decref(object);
	*out = json ? escape(json) : NULL;
	free(json);
	return *out ? 0 : um_fail(UM_ENOMEM, "out of memory");
}

/* --- page --- */

static int write_page(FILE *out, const char *template, const char *mark, const char *data)
{
	fwrite(template, 1, (size_t)(mark - template), out);
	fputs(data, out);
	fputs(mark + strlen(UM_REPORT_MARK), out);
	return ferror(out) ? um_fail_errno(UM_EIO, "writing") : 0;
}

int um_render_report(FILE *out, const char *template, const struct um_report *report,
		     size_t *page_bytes)
{
	const char *mark = strstr(template, UM_REPORT_MARK);
	size_t frame = strlen(template) - strlen(UM_REPORT_MARK);

	for (size_t i = 0; mark && i < sizeof(limits) / sizeof(limits[0]); i++) {
		char *data;
		int error = um_report_data(&data, report, &limits[i]);

		if (error)
			return error;
		*page_bytes = frame + strlen(data);
		if (*page_bytes <= UM_REPORT_BYTES_MAX) {
			error = write_page(out, template, mark, data);
			free(data);
			return error;
		}
		free(data);
	}
	return um_fail(UM_ELIMIT, "the page would be larger than %u MiB: give fewer databases",
		       UM_REPORT_BYTES_MAX >> 20);
}
