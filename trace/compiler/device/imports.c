/*
 * The import library of code objects: the names of device_abi.h, under the soname and the version
 * node of the runtime that defines them. Nothing here ever runs.
 */
#define UM_DEVICE __attribute__((visibility("default")))
#include "device_abi.h"

char um_lds_dynamic[UM_LDS_BYTES];

#define IMPORT(type, name, parameters, result)                                                     \
	type name parameters                                                                       \
	{                                                                                          \
		return result;                                                                     \
	}

IMPORT(const struct um_lane *, um_self, (void), 0)
IMPORT(unsigned long, um_wave_ballot, (int predicate), (unsigned long)predicate)
IMPORT(unsigned, um_wave_read, (unsigned value, unsigned source), value + source)
IMPORT(unsigned long, um_wave_active, (void), 0)
IMPORT(unsigned long, um_clock, (void), 0)
IMPORT(void *, um_device_malloc, (unsigned long bytes), bytes ? 0 : um_lds_dynamic)

#define IMPORT_VOID(name, parameters, uses)                                                        \
	void name parameters                                                                       \
	{                                                                                          \
		uses;                                                                              \
	}

IMPORT_VOID(um_access, (const void *address, unsigned descriptor), (void)address; (void)descriptor)
IMPORT_VOID(um_access_range, (const void *address, unsigned long bytes, unsigned descriptor),
	    (void)address;
	    (void)bytes; (void)descriptor)
IMPORT_VOID(um_barrier, (void), )
IMPORT_VOID(um_wave_sync, (void), )
IMPORT_VOID(um_yield, (void), )
IMPORT_VOID(um_fault, (int hip_error, const char *text), (void)hip_error; (void)text; for (;;))
IMPORT_VOID(um_device_free, (void *memory), (void)memory)
