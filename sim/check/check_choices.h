/*
 * Policies that were measured on the same program: did the prediction rank them as the card did, and what
 * would it have cost to follow it?
 */
#ifndef UM_CHECK_CHOICES_H
#define UM_CHECK_CHOICES_H

#include "check_table.h"

/* What a policy is chosen by; each is the same sum of figures on both sides. */
enum um_check_aim {
	UM_CHECK_BY_TIME,  /* wait_time */
	UM_CHECK_BY_BYTES, /* moved and copied, both ways */
	UM_CHECK_AIMS
};
extern const char *const um_check_aim_names[UM_CHECK_AIMS];

/*
 * Pairs of policies of one program, by what is compared of both; where that is nothing the pair is in
 * none of these. A tie: what the card took for the two overlaps, least to most.
 */
struct um_check_ranking {
	size_t right, wrong, ties;
};

/* One program: what of its policies was predicted to be best, and what was. */
struct um_check_choice {
	char *program;
	size_t policies; /* that are in the table, with a time that is compared */
	struct um_check_ranking rankings[UM_CHECK_AIMS];
	/* By time; names of entries. The first of the list where several are equally good. */
	const char *predicted_best, *measured_best;
	double cost;	 /* measured time of the former over that of the latter, 1 at least */
	bool is_as_good; /* they are the same, or the card cannot tell them apart */
	bool is_test;	 /* some policy of it is of the test set */
};

/* What following the prediction comes to. */
struct um_check_cost {
	size_t as_good;	     /* programs */
	double largest;	     /* cost, 1 where there is none */
	const char *program; /* of the largest; NULL: none */
};

struct um_check_choices {
	struct um_check_choice *choices;
	size_t count, room;
};

/*
 * Reads a list, "program: policy policy ..." a line, '#' for the rest of a line, and looks the policies
 * up in the table; programs with fewer than two there whose time is compared are left out. UM_EFORMAT
 * with the line, UM_ENOENT, UM_EIO, UM_ENOMEM. The table must outlive it.
 */
int um_check_choices_read(struct um_check_choices *, const char *path,
			  const struct um_check_table *);
void um_check_choices_free(struct um_check_choices *);
struct um_check_cost um_check_choices_cost(const struct um_check_choices *);
/* All pairs together. */
struct um_check_ranking um_check_choices_total(const struct um_check_choices *, enum um_check_aim);

#endif
