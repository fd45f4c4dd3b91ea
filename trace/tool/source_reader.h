/*
 * A process of its own that reads debug information (source_files.h). Files come from anyone; what one
 * of them does to the reader, it does to nobody else: it crashes, takes too much memory or time, and is
 * started anew, and that file is not asked for again.
 */
#ifndef UM_SOURCE_READER_H
#define UM_SOURCE_READER_H

#include "source_lines.h"
#include "source_variable.h"

#include <stddef.h>
#include <stdint.h>

enum um_source_question {
	UM_SOURCE_BUILD_ID, /* text: the id */
	UM_SOURCE_PLACE,    /* frames of the call that returns to the address; text: its symbol */
	UM_SOURCE_VARIABLE, /* text: its name; depth */
	UM_SOURCE_GLOBAL,   /* text: its name */
};

struct um_source_query {
	enum um_source_question question;
	const char *path;
	uint64_t address;
	struct um_source_place place; /* UM_SOURCE_VARIABLE */
};

#define UM_SOURCE_FRAMES_MAX 32 /* of one address */

/* Texts lie in `bytes`; NULL: not known. */
struct um_source_answer {
	const char *text;
	size_t depth;
	size_t frame_count;
	struct um_source_frame frames[UM_SOURCE_FRAMES_MAX];
	char *bytes; /* malloc'ed, the caller frees */
};

struct um_source_reader;

/* NULL without memory. It starts with the first question. */
struct um_source_reader *um_source_reader_create(void);
void um_source_reader_destroy(struct um_source_reader *); /* NULL is legal */
/* False: no answer came, and the reader has ended; the answer is then empty. */
bool um_source_reader_ask(struct um_source_reader *, const struct um_source_query *,
			  struct um_source_answer *);

#endif
