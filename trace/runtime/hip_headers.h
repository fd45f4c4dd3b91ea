/*
 * Of which HIP the headers were that the program was compiled with: types and constants differ
 * between its major versions, and a function that has one name in all of them must know.
 *
 * 5 is what this runtime itself is compiled with. What changed, read from the public headers of
 * ROCm (github.com/ROCm/HIP, tags rocm-6.0.2, 6.1.2, 6.2.2, and ROCm/rocm-systems,
 * projects/hip, for 7) by comparing every constant and the place of every member:
 *
 *	6.0	hipMemoryType and hipGraphNodeType have other numbers; HIP_MEMCPY3D has 64-bit
 *		fields; hipMemAllocationProp has its members in another order; hipDeviceProp_t is
 *		another (its functions too: hipGetDevicePropertiesR0600); hipPointerGetAttributes()
 *		knows memory that is not HIP's
 *	7.0	hipMemsetParams has its members in another order (docs/hip-7-changes.rst)
 */
#ifndef UM_HIP_HEADERS_H
#define UM_HIP_HEADERS_H

#define UM_HIP_HEADERS_OLDEST 5u
#define UM_HIP_HEADERS_NEWEST 7u

/*
 * 5, 6 or 7: the largest N for which something that is loaded was linked with libamdhip64.so.N, or
 * that um_hip_headers_at_least() was told. A program that only dlopen()s HIP counts as 5 until then.
 */
unsigned um_hip_headers(void);
/* A function was called that older headers do not have. */
void um_hip_headers_at_least(unsigned major);
/* N as above among what is loaded now; 0: nothing was linked with HIP. */
unsigned um_hip_needed(void);

#endif
