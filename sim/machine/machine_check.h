/*
 * Byte conservation: the machine's books against what they are about, after every event. A break is
 * a bug of the simulator and ends the process with what is wrong (abort). um_simulate() has it where
 * UM_CHECK_EVERY_EVENT is defined: debug and sanitizer builds.
 *
 * After every event, from sums that are kept as things happen:
 * - no device has more memory reserved than it has;
 * - bytes that rows of migration, remote_access and copy_traffic tell of are those that the links'
 *   servers booked, each way, and no device's rows tell of more than its own link carried;
 * - pages that rows brought to a place, less those that they took from it, are those that its
 *   ledger has, and its ledger never gives away what it has not.
 *
 * From a walk over all page tables, in words of 64 pages:
 * - what each device has reserved is the sum over its allocations, and a copy lies in it;
 * - each place holds what came to it less what left;
 * - every populated page has a copy;
 * - every mapping is legal: local with the only copy, local for reading with a copy, remote with
 *   none here and one elsewhere.
 * A walk is due as soon as the events since the last have earned its cost, UM_CHECK_WORDS_AN_EVENT
 * each: small machines are walked at every event or so, and large ones keep within a constant cost
 * an event. um_machine_check_walk() walks at once, at the end.
 */
#ifndef UM_MACHINE_CHECK_H
#define UM_MACHINE_CHECK_H

#include "machine.h"

#define UM_CHECK_WORDS_AN_EVENT 512

struct um_machine_check;

/* Observes the probe until it is destroyed; the machine has done nothing yet. */
int um_machine_check_create(struct um_machine_check **out, struct um_machine *, struct um_probe *);
void um_machine_check_destroy(struct um_machine_check *); /* NULL is legal */
/* For um_engine_watch(): the context is the um_machine_check. */
void um_machine_check_event(void *check);
void um_machine_check_walk(struct um_machine_check *);

#endif
