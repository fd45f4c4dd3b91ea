/*
 * What the databases of several processes say together: one row a rank, and kernels and allocations
 * added up over the ranks. Files are read one after another, none is kept open. Those that cannot be
 * compared (measured with emulated, other machines, drivers, policies or jobs, traces with
 * simulations) come into groups of their own.
 */
#ifndef UM_RANKS_H
#define UM_RANKS_H

#include "summary.h"

enum um_ranks_unit { UM_RANKS_COUNT, UM_RANKS_BYTES, UM_RANKS_NS };

/* A figure of a rank, a kernel or an allocation; tables of them end with a NULL name. */
struct um_ranks_quantity {
	const char *name;  /* in JSON */
	const char *title; /* of a column; '\n' begins its second line */
	const char *words; /* in a sentence */
	enum um_ranks_unit unit;
	size_t offset; /* of an int64_t: of struct um_rank, um_kernel_summary, um_ranks_allocation */
};

#define UM_RANKS_QUANTITIES_MAX 16

/* The figure over the ranks that know it. */
struct um_extent {
	int64_t sum, least, most; /* sum UM_NULL: beyond 64 bits, and all where known is 0 */
	int64_t median;		  /* of a rank's own figures only; else UM_NULL */
	size_t known;		  /* of so many ranks */
	size_t least_at, most_at; /* in um_rank_group.ranks, the first of those alike */
};

/* One process. UM_NULL: not in its file. */
struct um_rank {
	const char *path, *host, *command, *ended, *started;
	int64_t rank, pid, exit_status, exit_signal;
	int64_t time_ns;    /* of the run, on its clock */
	int64_t kernels_ns; /* of kernels; UM_NULL of an emulation, where it says nothing */
	int64_t launches, device_faults, host_faults;
	int64_t moved_to_device, moved_to_host; /* bytes that migrated */
	int64_t remote_to_device, remote_to_host, copied_to_device, copied_to_host;
	int64_t remote_mappings; /* of measured runs, which have no remote accesses */
	size_t losses;		 /* kinds of what its file lacks */
	size_t file;		 /* as they were added, from 0 */
};
extern const struct um_ranks_quantity um_rank_quantities[];

/* A kernel by its name, or the allocations, or parts of some, of one name, site and kind. */
struct um_ranks_item {
	const char *name; /* NULL: of an allocation that has none */
	const char *site; /* of allocations; NULL: not known */
	const char *kind; /* of allocations */
	bool has_line;
	struct um_extent extents[UM_RANKS_QUANTITIES_MAX]; /* by the quantities of its table */
	size_t ranks;					   /* that have it */
	/* While files are added: */
	size_t file;
	int64_t current[UM_RANKS_QUANTITIES_MAX];
};
extern const struct um_ranks_quantity um_ranks_kernel_quantities[];
extern const struct um_ranks_quantity um_ranks_allocation_quantities[];
/* The figure by which items are sorted and their ranks compared: NULL where none is known. */
const struct um_ranks_quantity *um_ranks_main_quantity(const struct um_ranks_quantity *table,
						       bool is_timed);

struct um_ranks_items {
	struct um_ranks_item **items; /* those with most of the main quantity first */
	size_t count;
	void *tree; /* of tsearch(3) */
};

/* A figure of one rank that lies far from the others. */
struct um_ranks_outlier {
	size_t at; /* in ranks */
	const struct um_ranks_quantity *quantity;
	int64_t value, median;
	double deviations; /* from the median, in standard deviations as the middle half has them */
};

/* What must be alike in a group. */
enum um_ranks_trait {
	UM_TRAIT_ROLE,
	UM_TRAIT_BACKEND,
	UM_TRAIT_MACHINE,
	UM_TRAIT_MACHINE_FILE,
	UM_TRAIT_DRIVER,
	UM_TRAIT_SETTINGS,
	UM_TRAIT_PAGE_SIZE,
	UM_TRAIT_MEMORY,
	UM_TRAIT_XNACK,
	UM_TRAIT_POLICY,
	UM_TRAIT_FAULTS,
	UM_TRAIT_HOST_FAULTS,
	UM_TRAIT_MIGRATIONS,
	UM_TRAIT_REMOTE,
	UM_TRAIT_COPIES,
	UM_TRAIT_HOST_WATCH,
	UM_TRAIT_SELECTION,
	UM_TRAIT_JOB,
	UM_RANKS_TRAITS
};
extern const struct um_ranks_trait_info {
	const char *name;  /* in JSON */
	const char *words; /* for people */
	bool is_plain;	   /* its values say what they are of: "simulation" */
} um_ranks_traits[UM_RANKS_TRAITS];

struct um_rank_group {
	struct um_rank *ranks; /* by rank, then as they were given */
	size_t count;
	const char *traits[UM_RANKS_TRAITS]; /* NULL: no file of it tells */
	uint32_t differs;		     /* bit n: trait n is not the first group's */
	bool is_measured, is_simulation;
	const char *driver, *machine; /* for people, or NULL */
	const char *command;	      /* the first rank's */
	size_t commands;	      /* how many different ones */
	size_t hosts;		      /* how many different ones */
	int64_t ranks_of_job;	      /* UM_NULL: not known */
	struct um_rank_gap {
		int64_t first, last;
	} * gaps; /* ranks of the job that no file is of */
	size_t gap_count;
	int64_t missing;     /* how many those are */
	bool is_unranked;    /* no launcher told; `rank` of each is UM_NULL */
	bool is_job_guessed; /* as many ranks of one program: no launcher named the job */
	const char *first_started, *last_started;	   /* ISO 8601; NULL: not known */
	struct um_extent extents[UM_RANKS_QUANTITIES_MAX]; /* by um_rank_quantities */
	struct um_ranks_outlier *outliers;		   /* the furthest first */
	size_t outlier_count;
	struct um_ranks_items kernels, allocations;
	struct um_ranks_items
		parts; /* of allocations, that have names of their own; counted above too */
	int64_t launches, recorded; /* of all ranks; recorded UM_NULL: a file does not say */
};

struct um_ranks {
	struct um_rank_group *groups; /* as their first files were given */
	size_t count, files;
	const char *range;    /* as of um_summary_choice */
	size_t without_range; /* files that have none of that name, and are left out */
	struct um_text_pool *texts;
	struct um_ranks_seen *seen;
	size_t seen_count;
};

int um_ranks_create(struct um_ranks **out, const struct um_summary_choice *);
void um_ranks_destroy(struct um_ranks *); /* NULL is legal */
/*
 * Reads one file. An error leaves the others as they are: UM_EEXIST where the file was added before,
 * the errors of um_db_open() and um_summary_load() but for a range that it has not.
 */
int um_ranks_add(struct um_ranks *, const char *path, const struct um_summary_choice *);
/*
 * After the last. UM_ENOTSUP: a rank is there twice and nothing tells which is meant; UM_ENOENT: no file
 * has such a range.
 */
int um_ranks_finish(struct um_ranks *);

#endif
