/* The report: one page of HTML with everything in it, for a browser without a network. */
#ifndef UM_RENDER_REPORT_H
#define UM_RENDER_REPORT_H

#include "analyzer/query/report_run.h"

#include <jansson.h>
#include <stdio.h>

/* No page is larger; what is beyond is folded, and the page says so. */
#define UM_REPORT_BYTES_MAX (5u << 20)
/* Databases side by side. */
#define UM_REPORT_RUNS_MAX 8u

struct um_report {
	const struct um_report_run *const *runs; /* the first is what the page is about */
	size_t run_count;			 /* 1 to UM_REPORT_RUNS_MAX */
	json_t *findings; /* of the first (render_findings_json.c's); NULL: none were looked for */
	const char *findings_missing; /* why; NULL where they were */
};

/* How much of what there is goes into the page; the rest is counted in it. */
struct um_report_limits {
	size_t rows;	   /* of a table */
	size_t spans;	   /* the longest */
	size_t heatmaps;   /* the foremost */
	size_t text_bytes; /* of one name, path, command */
};

/* What such a number of databases leaves for each. */
struct um_report_detail um_report_detail(size_t run_count);
/*
 * Writes the page: `template`, with the data in the place of UM_REPORT_MARK. *page_bytes is how large it
 * is. UM_ENOMEM, UM_EIO; UM_ELIMIT: even folded it is larger than the limit.
 */
#define UM_REPORT_MARK "@UM_REPORT_DATA@"
int um_render_report(FILE *out, const char *template, const struct um_report *, size_t *page_bytes);
/* The data alone, with everything that could end a script element escaped; malloc'ed. UM_ENOMEM. */
int um_report_data(char **out, const struct um_report *, const struct um_report_limits *);

#endif
