/* An ingest into a fresh database, and records to feed it with. */
#ifndef INGEST_FIXTURE_H
#define INGEST_FIXTURE_H

#include "trace/spool/spool_ring.h"
#include "trace/tool/ingest.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

struct fixture {
	struct um_db *db;
	struct um_ingest *ingest;
	_Alignas(8) char record[UM_SPOOL_RECORD_MAX];
};

extern char ingest_path[64];		       /* of the database */
extern const struct um_run_row ingest_running; /* how the run begins */

/* Of a group of tests, and of each test. */
int ingest_make_directory(void **state);
int ingest_remove_directory(void **state);
int ingest_start(void **state);
int ingest_stop(void **state);

/* A record of a kind: the body, whose header is filled in. */
void put(struct fixture *, uint16_t kind, const void *body, size_t bytes);
#define PUT(fixture, kind, ...) put(fixture, kind, &(__VA_ARGS__), sizeof(__VA_ARGS__))
/* The same with text behind. */
void put_text(struct fixture *, uint16_t kind, const void *body, size_t bytes, const char *text,
	      size_t text_bytes);
/* The one integer that the query gives. */
void expect(struct fixture *, const char *sql, int64_t wanted);
/* Records so far that could not be right. */
uint64_t invalid(const struct fixture *);

#endif
