/* Whether devices retry this process's faults (XNACK), as AMD's runtime and kernel driver settle it. */
#ifndef UM_PROCESS_XNACK_H
#define UM_PROCESS_XNACK_H

#include "trace/spool/spool_ring.h"

#include <stdbool.h>

/* What HSA_XNACK is now. */
enum um_hsa_xnack um_hsa_xnack(void);
/* `without`: how a process has it that does not choose; `may`: UM_XNACK_MAY_*. */
bool um_process_xnack(bool without, uint32_t may, enum um_hsa_xnack asked);

#endif
