/*
 * What umtrace doctor finds out about a machine, from files below a root ("" is this machine's; tests make trees), and
 * the environment. No opinion: that is doctor_checks.h's.
 */
#ifndef UM_DOCTOR_FACTS_H
#define UM_DOCTOR_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UM_DOCTOR_GPUS	  64u
#define UM_DOCTOR_UNKNOWN (-1)

/* A node of /sys/class/kfd/kfd/topology/nodes that has compute units. */
struct um_doctor_gpu {
	uint32_t node, gpu_id;
	uint32_t target; /* gfx_target_version: 90010 is gfx90a */
	char arch[16];	 /* "gfx90a"; "": not told */
	bool has_svm;	 /* HSA_CAP_SVMAPI_SUPPORTED, bit 27 of `capability` */
	bool is_apu;	 /* has CPU cores too: host and device share one memory */
};

enum um_doctor_access { UM_DOCTOR_ABSENT, UM_DOCTOR_DENIED, UM_DOCTOR_OPEN };

struct um_doctor_facts {
	char kernel[65]; /* "6.8.0-31-generic"; "": not told */
	int kernel_major, kernel_minor;
	int device_private, amd_svm; /* CONFIG_DEVICE_PRIVATE, CONFIG_HSA_AMD_SVM: 0, 1, UNKNOWN */
	bool has_amdgpu;
	int noretry; /* module parameter: 0 faults are retried, 1 not, UNKNOWN (and -1 there): by generation */
	enum um_doctor_access kfd; /* /dev/kfd */
	int kfd_major, kfd_minor;  /* AMDKFD_IOC_GET_VERSION; UNKNOWN: not asked */
	struct um_doctor_gpu gpus[UM_DOCTOR_GPUS];
	size_t gpu_count;
	bool has_nvidia;
	char nvidia[32]; /* "580.159.03"; "": not told */
	bool has_nvidia_uvm;
	char cupti[256];       /* the library; "": not found */
	int unprivileged_uffd; /* sysctl vm.unprivileged_userfaultfd; UNKNOWN: there is none */
	char hsa_xnack[16];    /* of the environment; "": not set */
	char hidden[64];       /* a variable that hides GPUs, with its value; "": none */
	bool can_ask_kfd;      /* /dev/kfd is a device: the version can be asked for */
};

/*
 * Reads what is there; what is not is left unknown. `environment` as environ.
 */
void um_doctor_gather(struct um_doctor_facts *, const char *root, char *const *environment);

#endif
