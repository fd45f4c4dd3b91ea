/*
 * What the report page shows, as JSON; analyzer/web/README.md documents it. NULL where there is no
 * memory. A part of render_report.c.
 */
#ifndef UM_REPORT_JSON_H
#define UM_REPORT_JSON_H

#include "render_report.h"

/* One database. */
json_t *um_report_run_json(const struct um_report_run *, const struct um_report_limits *);
/* The summary as `umanalyze summary --format=json` has it, its tables cut down to the limit. */
json_t *um_report_summary_json(const struct um_summary *, const struct um_report_limits *);
/* The settings and origins that `umanalyze summary` begins with: [[label, text], ...] */
json_t *um_report_head_json(const struct um_summary *);

/* Bins as [gap, amount, gap, amount, ...]: each gap leads from the bin before to the next with any. */
json_t *um_report_bins_json(const struct um_bins *);
/* Values as [times, value, times, value, ...] */
json_t *um_report_repeats_json(const int64_t *values, size_t count);
/* Sets a member and takes the value over; false, and nothing leaks, where either failed. */
bool um_report_set(json_t *object, const char *name, json_t *value);
/* Appends an integer. */
bool um_report_push(json_t *array, int64_t value);

#endif
