/* The parts that summary.c puts together: not for the users of summary.h. */
#ifndef UM_SUMMARY_PARTS_H
#define UM_SUMMARY_PARTS_H

#include "summary.h"

/*
 * The schema's view `traffic`, said again over its tables: a view in a file from anyone may be any
 * query, and one that never ends. A test holds the two together.
 */
#define UM_TRAFFIC_SQL                                                                             \
	"SELECT op, allocation, COALESCE(cause, 'unknown') AS cause,"                              \
	" CASE WHEN source = -1 THEN bytes ELSE 0 END AS bytes_to_device,"                         \
	" CASE WHEN destination = -1 THEN bytes ELSE 0 END AS bytes_to_host,"                      \
	" CASE WHEN bytes = 0 THEN 0 ELSE transfers END AS transfers, 0 AS requests"               \
	" FROM migration"                                                                          \
	" UNION ALL SELECT op, allocation, 'remote_access', bytes_to_device, bytes_to_host, 0,"    \
	" requests FROM remote_access"                                                             \
	" UNION ALL SELECT op, allocation, 'copy', bytes_to_device, bytes_to_host, 1, 0"           \
	" FROM copy_traffic"

/* A sum is known if all that it is of is. */
#define UM_KNOWN_SUM(of) "CASE WHEN COUNT(" #of ") = COUNT(*) THEN SUM(" #of ") END"

/* Keeps a text of a row that the schema says is there; UM_EFORMAT where a damaged file lacks it. */
int um_summary_keep(struct um_summary *, const char **text, const char *table, const char *column);
/* After the totals. */
int um_summary_load_driver(struct um_summary *, struct um_db *);
/* Before all else: what does not belong to ranges of such names is hidden. */
int um_summary_choose(struct um_summary *, struct um_db *, const char *pattern);
struct um_summary_singles;
void um_summary_take_transfers(struct um_summary *, const struct um_summary_singles *);
int um_summary_load_measured(struct um_summary *, struct um_db *);
/* After the totals. */
int um_summary_load_ranges(struct um_summary *, struct um_db *);
int um_summary_load_host(struct um_summary *, struct um_db *);
/* "file:line", "function" or "module+0xOFFSET" of a frame's columns from `column` on. UM_ENOMEM. */
int um_summary_site(struct um_summary *, struct sqlite3_stmt *row, int column, const char **site,
		    bool *has_line, const char **function);
/* Sets what is extrapolated from the rest. */
void um_summary_extrapolate(struct um_kernel_summary *);
/* After the kernels. */
int um_summary_load_selection(struct um_summary *, struct um_db *);
int um_summary_load_allocations(struct um_summary *, struct um_db *);
/*
 * After the allocations. Leaves the requests of each op in a temporary table, temp.asked, until
 * um_summary_end_touched(), which is legal also after a failure.
 */
int um_summary_load_touched(struct um_summary *, struct um_db *);
int um_summary_end_touched(struct um_db *);
/* Before the end of what was touched. */
int um_summary_load_kernels(struct um_summary *, struct um_db *);
/* After the allocations. */
int um_summary_load_named(struct um_summary *, struct um_db *);
/* NULL where a row names an allocation that the file does not have. */
struct um_allocation_summary *um_summary_find(struct um_summary *, int64_t allocation);
/* UM_NULL for what the file could not tell of. */
void um_summary_forget_absent(const struct um_summary *, struct um_allocation_summary *);

#endif
