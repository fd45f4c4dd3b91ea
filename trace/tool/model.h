/* The driver model that gives a trace without hardware its faults and migrations. */
#ifndef UM_MODEL_H
#define UM_MODEL_H

#include "trace_options.h"

#include "sim/machine/machine_file.h"
#include "sim/policy/policy.h"
#include "sim/probe/probe.h"
#include "trace/db/trace_db.h"

struct um_model {
	struct um_machine_spec *machine;
	struct um_policy *policy; /* empty: what the program did, under a driver */
	const struct um_driver_ops *driver;
	uint64_t page_bytes, memory_bytes;
	enum um_xnack xnack;	 /* of the command line; UNKNOWN: none given */
	struct um_totals totals; /* of the rows, once it has run */
	bool ran;
};

/* UM_EINVAL, UM_ENOENT, ... of the machine file, the driver and its page size. */
int um_model_init(struct um_model *, const struct um_trace_options *);
void um_model_fini(struct um_model *);
/* What the traced program sees of the machine. */
void um_model_spool_config(const struct um_model *, struct um_spool_config *);
/* Before the program starts: sets its HSA_XNACK where that decides, and --xnack was given. UM_ENOMEM. */
int um_model_set_environment(const struct um_model *);
/* Facts of the machine in `run`; nothing of the driver before it has run. */
void um_model_describe_machine(const struct um_model *, struct um_run_row *run);
/* The link's facts into the devices' rows. */
int um_model_complete_devices(const struct um_model *, struct um_db *);
/*
 * Adds the rows, their origin and the driver's part of `run` to a trace that is complete; `run` is
 * as it stands there. After an error no such row is left. `progress` may be NULL.
 */
int um_model_run(struct um_model *, struct um_db *, const struct um_run_row *run,
		 void (*progress)(void *context, uint64_t done, uint64_t all), void *context);

#endif
