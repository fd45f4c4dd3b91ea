/*
 * Lines of amdkfd's SMI event descriptors (include/uapi/linux/kfd_ioctl.h, KFD_EVENT_FMT_*, KFD 1.10 and
 * later), as numbers. No allocation, no state: the same code reads them inside a traced program, in
 * the tests and from logs.
 *
 *   id hex, then
 *   5 "ns -pid @page(pages) from->to prefetch:preferred trigger"    migration begins
 *   6 "ns -pid @page(pages) from->to trigger [error]"               ends; error since Linux 6.12
 *   7 "ns -pid @page(gpu) R|W"        fault begins      8 "... M|U" ends: migrated, or mapped only
 *   9 "ns -pid gpu trigger"           queues stop       a "ns -pid gpu [R|0|NUL]" run again, or retried
 *   b "ns -pid @page(pages) gpu trigger"                unmapped from the GPU
 *   1 "pid:task"    2 "mask:count"    3, 4 "sequence [cause]", or nothing    c, d "pid task"
 *
 * Numbers are hexadecimal, but ns, pid behind '-', trigger and error. Pages are 4 KiB. A location of 0 is
 * system memory, ffffffff none. Times are of CLOCK_BOOTTIME, and lines not always in their order.
 */
#ifndef UM_SMI_EVENT_H
#define UM_SMI_EVENT_H

#include <stddef.h>
#include <stdint.h>

enum um_smi_id {
	UM_SMI_VMFAULT = 1,
	UM_SMI_THERMAL_THROTTLE,
	UM_SMI_PRE_RESET,
	UM_SMI_POST_RESET,
	UM_SMI_MIGRATE_START,
	UM_SMI_MIGRATE_END,
	UM_SMI_FAULT_START,
	UM_SMI_FAULT_END,
	UM_SMI_QUEUE_EVICTION,
	UM_SMI_QUEUE_RESTORE,
	UM_SMI_UNMAP,
	UM_SMI_PROCESS_START,
	UM_SMI_PROCESS_END,
	/* 14 is one thing in ROCm's headers and another in a proposed patch: not known. */
	UM_SMI_IDS
};

enum um_smi_migrate_trigger {
	UM_SMI_MIGRATE_PREFETCH,
	UM_SMI_MIGRATE_GPU_FAULT,
	UM_SMI_MIGRATE_CPU_FAULT,
	UM_SMI_MIGRATE_EVICTION,
};

#define UM_SMI_NOT_TOLD	      (-1)
#define UM_SMI_ERROR_NOT_TOLD INT32_MIN
#define UM_SMI_NOWHERE	      0xffffffffu /* a location that is none */
/* The longest line, with its newline (KFD_SMI_EVENT_MSG_SIZE). */
#define UM_SMI_LINE_BYTES 96u

struct um_smi_event {
	uint32_t id;	   /* enum um_smi_id */
	uint32_t pid;	   /* 0: of no process (reset, throttle) */
	int64_t at_ns;	   /* UM_SMI_NOT_TOLD: the kind has no time */
	uint64_t address;  /* bytes */
	uint64_t pages;	   /* that a migration or an unmapping is about: asked for, not moved */
	uint32_t gpu;	   /* of a fault, a stop, an unmapping: the topology's gpu_id */
	uint32_t from, to; /* of a migration: gpu_id, 0 system memory */
	uint32_t prefetch, preferred;
	int32_t trigger; /* in the kernel's numbers, or UM_SMI_NOT_TOLD */
	int32_t error;	 /* of a migration's end, negative; or UM_SMI_ERROR_NOT_TOLD */
	char letter;	 /* R W M U of faults; R of queues that run again only later; else 0 */
};

enum um_smi_parsed { UM_SMI_EVENT, UM_SMI_UNKNOWN, UM_SMI_MALFORMED };

/*
 * One line, without its newline; any bytes are safe. UNKNOWN: an id that this does not know, which newer
 * kernels may have; MALFORMED: a known one that does not read as documented.
 */
enum um_smi_parsed um_smi_parse(struct um_smi_event *, const char *line, size_t bytes);

#endif
