/*
 * amdkfd's SMI descriptors: one a GPU. Opened within the program that is traced, since one tells of its opener's
 * process alone unless that is privileged. The driver keeps 1 KiB of lines (8 KiB since Linux 6.12) and drops what
 * does not fit without a word, so that a thread has to do nothing but drain them.
 */
#ifndef UM_SMI_DESCRIPTOR_H
#define UM_SMI_DESCRIPTOR_H

#include "smi_reader.h"

/* The first version of amdkfd (KFD_IOCTL_MINOR_VERSION of 1) that has events of migrations and faults. */
#define UM_SMI_KFD_MINOR 10u

struct um_smi_descriptor {
	int file; /* -1: none, or it has ended */
	uint32_t gpu_id;
	struct um_smi_reader reader;
};

/* `file` is the descriptor's from then on; it is set not to block. The reader is as um_smi_reader_init(). */
void um_smi_descriptor_init(struct um_smi_descriptor *, int file, uint32_t gpu_id,
			    void (*take)(void *context, const struct um_smi_span *), void *context);
/*
 * Opens the events of a GPU (gpu_id of the topology) by an open /dev/kfd, and switches on those of migrations, faults,
 * queues and unmappings. Returns a descriptor, or -1 with errno: EPROTO, amdkfd is older than 1.10.
 */
int um_smi_open(int kfd, uint32_t gpu_id);
/*
 * Waits for at most timeout_ms (-1: for ever) until there is something on any of them, or on `wake` (-1: none), and
 * reads all that there is. Returns how many bytes; -1 when all have ended. 
 */
int64_t um_smi_drain(struct um_smi_descriptor *, unsigned count, int wake, int timeout_ms);
/* Closes it, after having read what is there; what is open has no end. */
void um_smi_descriptor_fini(struct um_smi_descriptor *);

/*
 * What the driver has counted of a process on a GPU since the process began to use it: /sys/class/kfd/kfd/proc/PID/
 * counters_GPUID (kfd_process.c). It counts faults of which it tells nothing, too: those that it finds mapped
 * already within 2 ms. So it says at most how many were lost where halves say at least how many.
 */
struct um_smi_counters {
	uint64_t faults, pages_in, pages_out; /* pages that moved to the GPU, and from it */
};

/* `root` is "" but in tests. False: they cannot be read. */
bool um_smi_counters_read(struct um_smi_counters *, const char *root, uint32_t pid,
			  uint32_t gpu_id);

#endif
