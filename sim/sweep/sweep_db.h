/*
 * The database of a sweep (sweep_schema.sql): made with a row for each configuration, which is filled
 * in when it is done; read again to go on after a kill, and to show what came of it.
 */
#ifndef UM_SWEEP_DB_H
#define UM_SWEEP_DB_H

#include "sweep.h"
#include "sweep_plan.h"

struct um_sweep_db;

/* What a sweep is of, beside its plan. */
struct um_sweep_facts {
	const char *command, *trace_path;
	char identity[512]; /* what tells the trace from others */
	char accesses[64];  /* origin of page_access */
	bool host_time;
};
/* identity and accesses. UM_ENOTSUP: a trace of which accesses are not known. */
int um_sweep_facts_read(struct um_sweep_facts *, struct um_db *trace);

enum um_sweep_status {
	UM_SWEEP_WAITING,
	UM_SWEEP_DONE,
	UM_SWEEP_REFUSED, /* it cannot be: a value that its driver or machine does not take */
	UM_SWEEP_FAILED,
};
const char *um_sweep_status_word(enum um_sweep_status);
/* Of a point that was run. */
enum um_sweep_status um_sweep_status_of(const struct um_sweep_result *);

/* What came of a configuration. */
struct um_sweep_outcome {
	enum um_sweep_status status;
	char *reason;	   /* malloc'ed; NULL where it is done */
	uint64_t *figures; /* um_sweep_column_count of them, malloc'ed; NULL unless it is done */
};

/*
 * UM_EEXIST: the file is there, unless `force`, which replaces a database of a sweep and nothing else;
 * UM_EIO. What was given outlives the database.
 */
int um_sweep_db_create(struct um_sweep_db **out, const char *path, const struct um_sweep_plan *,
		       const struct um_sweep_facts *, bool force);
/*
 * Opens one to go on with. UM_EINVAL: it is of another trace, or of other configurations (the message
 * has the first that differs); UM_ENOENT, UM_EFORMAT, UM_EVERSION, UM_EIO.
 */
int um_sweep_db_resume(struct um_sweep_db **out, const char *path, const struct um_sweep_plan *,
		       const struct um_sweep_facts *);
/* Within a transaction that it begins where there is none. UM_EIO: a full disk says so. */
int um_sweep_db_put(struct um_sweep_db *, size_t configuration, const struct um_sweep_result *);
/* From now on a kill does not lose what was put. */
int um_sweep_db_commit(struct um_sweep_db *);
/* All configurations in order: malloc'ed, um_sweep_outcomes_free(). */
int um_sweep_db_outcomes(struct um_sweep_db *, struct um_sweep_outcome **out);
void um_sweep_outcomes_free(struct um_sweep_outcome *, size_t count);
/* What is not simulated, each once, with how many configurations that is said of. */
int um_sweep_db_notes(struct um_sweep_db *,
		      int (*call)(void *context, const char *what, const char *why, int64_t count),
		      void *context);
/* Commits first. NULL is legal. */
int um_sweep_db_close(struct um_sweep_db *);

#endif
