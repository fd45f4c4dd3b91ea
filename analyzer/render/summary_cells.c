#include "summary_cells.h"

#include "trace/base/text_width.h"
#include "trace/base/units.h"
#include "trace/db/trace_db.h"

#include <stdbool.h>
#include <string.h>

enum { NAME_COLUMNS = 36 };

void um_cell_bytes(struct um_text_table *table, int64_t bytes)
{
	char text[32];

	if (bytes == UM_NULL)
		um_text_table_cell(table, "-");
	else
		um_text_table_cell(table, "%s",
				   um_format_bytes(text, sizeof(text), (uint64_t)bytes));
}

void um_cell_count(struct um_text_table *table, int64_t count)
{
	char text[32];

	if (count == UM_NULL)
		um_text_table_cell(table, "-");
	else
		um_text_table_cell(table, "%s",
				   um_format_count(text, sizeof(text), (uint64_t)count));
}

void um_cell_accesses(struct um_text_table *table, int64_t count)
{
	static const struct {
		double scale;
		const char *name;
	} scales[] = {{1e12, "T"}, {1e9, "G"}, {1e6, "M"}};

	for (size_t i = 0; i < sizeof(scales) / sizeof(scales[0]); i++)
		if ((double)count >= 10 * scales[i].scale) {
			um_text_table_cell(table, "%.4g %s", (double)count / scales[i].scale,
					   scales[i].name);
			return;
		}
	um_cell_count(table, count);
}

void um_cell_duration(struct um_text_table *table, int64_t ns)
{
	char text[32];

	if (ns == UM_NULL || ns < 0)
		um_text_table_cell(table, "-");
	else
		um_text_table_cell(table, "%s",
				   um_format_duration(text, sizeof(text), (uint64_t)ns));
}

void um_cell_name(struct um_text_table *table, const char *name, size_t length)
{
	size_t shown = 0, used = 0;
	int columns;

	while (used < length && shown < NAME_COLUMNS) {
		used += um_utf8_next(name + used, &columns);
		shown += columns < 0 ? 1 : (size_t)columns;
	}
	if (used < length)
		um_text_table_cell(table, "%.*s...", (int)used, name);
	else
		um_text_table_cell(table, "%.*s", (int)length, name);
}

static const char *without_folders(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void um_cell_site(struct um_text_table *table, const char *before, const char *site)
{
	char label[160];

	snprintf(label, sizeof(label), "%s%s", before, without_folders(site));
	um_cell_name(table, label, strlen(label));
}
