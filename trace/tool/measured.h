/*
 * What is known of a program on hardware while its trace grows, and whose the driver's records are
 * once it is complete. A driver tells of faults, migrations and mappings by address, late and in no
 * order; schema.sql states the rules by which they find their allocation and their op (table fault).
 *
 * Ops and allocations are named by the numbers of the spool. In the database the id of an op is twice
 * its number, which leaves room for what the host did before each.
 */
#ifndef UM_MEASURED_H
#define UM_MEASURED_H

#include "trace/db/trace_db.h"
#include "trace/spool/spool_record.h"

#include <stdbool.h>

struct um_measured;

int um_measured_create(struct um_measured **out); /* UM_ENOMEM */
void um_measured_destroy(struct um_measured *);	  /* NULL is legal */

static inline int64_t um_measured_op_id(uint32_t op)
{
	return op ? 2 * (int64_t)op : UM_NULL;
}

/* An op, or more about one that is known; numbers do not fall. UM_ENOMEM. */
int um_measured_add_op(struct um_measured *, const struct um_record_op *);
/* One more piece of an op on its device. False: there is no such op. */
bool um_measured_add_time(struct um_measured *, const struct um_record_time *);
/* When it ran there, all pieces together; left as they are where that was not told. */
void um_measured_get_time(const struct um_measured *, uint32_t op, int64_t *start_ns,
			  int64_t *end_ns);
/* As it was told; 0: there is no such op. */
uint32_t um_measured_op_site(const struct um_measured *, uint32_t op);
uint32_t um_measured_op_thread(const struct um_measured *, uint32_t op);
uint64_t um_measured_op_call_ns(const struct um_measured *, uint32_t op);
/*
 * The op is none of what was selected: rows that turn out to be its are not kept. With
 * um_measured_span(), of which there may be several in their order, neither are those of no call, and of
 * 'host' ops, that are outside of all such times. UM_ENOMEM.
 */
void um_measured_leave_out(struct um_measured *, uint32_t op);
bool um_measured_is_left_out(const struct um_measured *, uint32_t op);
/* Whether rows may have been left out. */
bool um_measured_has_left_out(const struct um_measured *);
/* Rows of no call are selected from then on, or no more. */
int um_measured_span(struct um_measured *, bool begins, int64_t at_ns);
/* Of a number above those before. UM_ENOMEM. */
int um_measured_add_allocation(struct um_measured *, const struct um_record_allocation *);
void um_measured_add_free(struct um_measured *, uint32_t allocation, uint32_t op);

/*
 * Gives the rows of fault, migration, mapping and driver_event their op and allocation, and puts them
 * in order; adds the 'host' ops and copy_traffic. Within the caller's transaction. UM_ENOMEM, or the
 * database's errors.
 */
int um_measured_attribute(struct um_measured *, struct um_db *, const struct um_run_row *run);

#endif
