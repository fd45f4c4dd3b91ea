/* amdkfd's events, in whatever words a file has them, as rows. */
#ifndef UM_IMPORT_SMI_H
#define UM_IMPORT_SMI_H

#include "import_events.h"
#include "trace/tap/smi/smi_pair.h"

#define UM_IMPORT_SMI_GPUS 64u

struct um_import_smi {
	const struct um_import_events *events;
	struct um_smi_pairs pairs;
	int error;
};

/* Places in the events are 0 for the host's memory and else one more than the device's number. */
void um_import_smi_init(struct um_import_smi *, const struct um_import_events *);
int um_import_smi_put(struct um_import_smi *, const struct um_smi_event *);
/* Tells what had no other half, and of that as a loss. */
int um_import_smi_end(struct um_import_smi *);

#endif
