#include "process_xnack.h"

#include <stdlib.h>
#include <string.h>

/* ROCr, core/util/flag.h: "0" or "1", and nothing else counts. */
enum um_hsa_xnack um_hsa_xnack(void)
{
	const char *value = getenv("HSA_XNACK");

	if (!value)
		return UM_HSA_XNACK_UNSET;
	if (strcmp(value, "1") == 0)
		return UM_HSA_XNACK_1;
	return strcmp(value, "0") == 0 ? UM_HSA_XNACK_0 : UM_HSA_XNACK_NEITHER;
}

/*
 * ROCr asks the driver for what was asked of it and tolerates that it refuses: what the driver has
 * then counts (BindXnackMode). The driver refuses "on" where not all GPUs can
 * (kfd_process_xnack_mode), and never "off" (kfd_ioctl_set_xnack_mode).
 */
bool um_process_xnack(bool without, uint32_t may, enum um_hsa_xnack asked)
{
	if (asked == UM_HSA_XNACK_1 && (may & UM_XNACK_MAY_TURN_ON))
		return true;
	if (asked == UM_HSA_XNACK_0 && (may & UM_XNACK_MAY_TURN_OFF))
		return false;
	return without;
}
