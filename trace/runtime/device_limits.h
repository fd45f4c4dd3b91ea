/*
 * Limits of the CDNA2 devices that the runtime plays, beside those that code objects share
 * (../compiler/device/device_abi.h).
 */
#ifndef UM_DEVICE_LIMITS_H
#define UM_DEVICE_LIMITS_H

/* "MI200 ISA reference guide": work-groups of up to 1024 work-items; 8 waves on each of 4 SIMDs. */
#define UM_MAX_GROUP_LANES 1024u
#define UM_MAX_CU_WAVES	   32u
/*
 * 512 vector registers of 4 bytes a lane, 128 KiB a SIMD, as hipDeviceProp_t of ROCm counts them.
 */
#define UM_GROUP_REGISTERS 65536

#endif
