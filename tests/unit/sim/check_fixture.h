/* Small databases for the tests of sim/check, each written by hand in SQL. */
#ifndef UM_CHECK_FIXTURE_H
#define UM_CHECK_FIXTURE_H

#include "sim/check/check_compare.h"

/* A file in a folder of the test's own; gone with ck_close(). Paths live until then. */
void ck_open(void);
void ck_close(void);
/* The path of a file there with this content. */
const char *ck_file(const char *name, const char *content);
/*
 * A trace that was measured on a "Test GPU", every kind of record, with the rows of `sql`; %s-free. Ops
 * are inserted by their own columns. Returns its path.
 */
const char *ck_trace(const char *name, const char *sql);
/* The same, read; fails the test on an error. */
struct um_check_side ck_side(const char *name, const char *sql);

/*
 * Two ranges, "first" and "second", of one launch of "k" each on an allocation of 64 KiB. In the first the
 * host faults twice, 64 KiB go to the device in 2 records of 1000 ns for 1 batch, the kernel takes 5000
 * ns; in the second 4 KiB are mapped from afar and the kernel takes 700 ns.
 */
extern const char ck_two_ranges[];

#endif
