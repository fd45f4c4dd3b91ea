#include "doctor_facts.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

/* include/uapi/linux/kfd_ioctl.h */
struct kfd_version {
	uint32_t major, minor;
};
#define KFD_GET_VERSION _IOR('K', 0x01, struct kfd_version)
/* kfd_topology.h: HSA_CAP_SVMAPI_SUPPORTED */
#define CAP_SVM (UINT64_C(1) << 27)

#define PATH_BYTES 512

static bool path_of(char *path, const char *root, const char *name)
{
	int length = snprintf(path, PATH_BYTES, "%s%s", root, name);

	return length > 0 && length < PATH_BYTES;
}

/* The beginning of a file, without its last newline; "" if it cannot be read. */
static void read_text(char *text, size_t capacity, const char *root, const char *name)
{
	char path[PATH_BYTES];
	FILE *file = path_of(path, root, name) ? fopen(path, "re") : NULL;

	text[0] = '\0';
	if (!file)
		return;
	text[fread(text, 1, capacity - 1, file)] = '\0';
	fclose(file);
	text[strcspn(text, "\n")] = '\0';
}

static int read_number(const char *root, const char *name)
{
	char text[32], *end;

	read_text(text, sizeof(text), root, name);
	long value = strtol(text, &end, 10);
	return end == text || value < INT32_MIN || value > INT32_MAX ? UM_DOCTOR_UNKNOWN
								     : (int)value;
}

static bool is_there(const char *root, const char *name)
{
	char path[PATH_BYTES];

	return path_of(path, root, name) && access(path, F_OK) == 0;
}

/* --- the kernel --- */

static void read_config(struct um_doctor_facts *facts, const char *root)
{
	char name[128], path[PATH_BYTES], line[256];

	snprintf(name, sizeof(name), "/boot/config-%s", facts->kernel);
	FILE *file = path_of(path, root, name) ? fopen(path, "re") : NULL;
	if (!file)
		return;
	/* A configuration names all that it has: what is not there is off. */
	facts->device_private = facts->amd_svm = 0;
	while (fgets(line, sizeof(line), file)) {
		if (strncmp(line, "CONFIG_DEVICE_PRIVATE=y", 23) == 0)
			facts->device_private = 1;
		if (strncmp(line, "CONFIG_HSA_AMD_SVM=y", 20) == 0)
			facts->amd_svm = 1;
	}
	fclose(file);
}

static void read_kernel(struct um_doctor_facts *facts, const char *root)
{
	read_text(facts->kernel, sizeof(facts->kernel), root, "/proc/sys/kernel/osrelease");
	if (sscanf(facts->kernel, "%9d.%9d", &facts->kernel_major, &facts->kernel_minor) != 2)
		facts->kernel_major = facts->kernel_minor = UM_DOCTOR_UNKNOWN;
	facts->device_private = facts->amd_svm = UM_DOCTOR_UNKNOWN;
	read_config(facts, root);
	facts->unprivileged_uffd = read_number(root, "/proc/sys/vm/unprivileged_userfaultfd");
}

/* --- AMD --- */

static enum um_doctor_access access_to(struct um_doctor_facts *facts, const char *root)
{
	char path[PATH_BYTES];
	struct stat status;

	if (!path_of(path, root, "/dev/kfd") || stat(path, &status) != 0)
		return UM_DOCTOR_ABSENT;
	facts->can_ask_kfd = S_ISCHR(status.st_mode);
	return access(path, R_OK | W_OK) == 0 ? UM_DOCTOR_OPEN : UM_DOCTOR_DENIED;
}

static void ask_kfd(struct um_doctor_facts *facts, const char *root)
{
	struct kfd_version version;
	char path[PATH_BYTES];

	facts->kfd_major = facts->kfd_minor = UM_DOCTOR_UNKNOWN;
	if (!facts->can_ask_kfd || facts->kfd != UM_DOCTOR_OPEN || !path_of(path, root, "/dev/kfd"))
		return;
	int file = open(path, O_RDWR | O_CLOEXEC);
	if (file >= 0 && ioctl(file, KFD_GET_VERSION, &version) == 0) {
		facts->kfd_major = (int)version.major;
		facts->kfd_minor = (int)version.minor;
	}
	if (file >= 0)
		close(file);
}

/* 90010 is 9, 0, 10: "gfx90a". */
static void name_arch(struct um_doctor_gpu *gpu)
{
	if (gpu->target)
		snprintf(gpu->arch, sizeof(gpu->arch), "gfx%u%x%x", gpu->target / 10000 % 100,
			 gpu->target / 100 % 100, gpu->target % 100);
}

static void read_node(struct um_doctor_facts *facts, const char *root, unsigned node)
{
	char name[128], path[PATH_BYTES], line[128], key[64];
	struct um_doctor_gpu gpu = {.node = node};
	uint64_t simds = 0, cores = 0, value;

	snprintf(name, sizeof(name), "/sys/class/kfd/kfd/topology/nodes/%u/properties", node);
	FILE *file = path_of(path, root, name) ? fopen(path, "re") : NULL;
	if (!file)
		return;
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "%63s %" SCNu64, key, &value) != 2)
			continue;
		if (strcmp(key, "simd_count") == 0)
			simds = value;
		else if (strcmp(key, "cpu_cores_count") == 0)
			cores = value;
		else if (strcmp(key, "gfx_target_version") == 0)
			gpu.target = (uint32_t)value;
		else if (strcmp(key, "capability") == 0)
			gpu.has_svm = value & CAP_SVM;
	}
	fclose(file);
	if (!simds || facts->gpu_count == UM_DOCTOR_GPUS)
		return;
	snprintf(name, sizeof(name), "/sys/class/kfd/kfd/topology/nodes/%u/gpu_id", node);
	int id = read_number(root, name);
	gpu.gpu_id = id > 0 ? (uint32_t)id : 0;
	gpu.is_apu = cores > 0;
	name_arch(&gpu);
	facts->gpus[facts->gpu_count++] = gpu;
}

/* Nodes are numbered without gaps; one that this process may not use has an empty file. */
static void read_nodes(struct um_doctor_facts *facts, const char *root)
{
	char name[128];

	for (unsigned node = 0; node < 2 * UM_DOCTOR_GPUS; node++) {
		snprintf(name, sizeof(name), "/sys/class/kfd/kfd/topology/nodes/%u", node);
		if (!is_there(root, name))
			return;
		read_node(facts, root, node);
	}
}

static void read_amd(struct um_doctor_facts *facts, const char *root)
{
	facts->has_amdgpu = is_there(root, "/sys/module/amdgpu");
	facts->noretry = read_number(root, "/sys/module/amdgpu/parameters/noretry");
	facts->kfd = access_to(facts, root);
	ask_kfd(facts, root);
	read_nodes(facts, root);
}

/* --- NVIDIA --- */

static const char *const cupti_places[] = {
	"/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
	"/usr/local/cuda/lib64/libcupti.so",
	"/usr/local/cuda/targets/x86_64-linux/lib/libcupti.so",
	"/usr/local/cuda-13/extras/CUPTI/lib64/libcupti.so",
	"/usr/local/cuda-12/extras/CUPTI/lib64/libcupti.so",
	"/usr/lib/x86_64-linux-gnu/libcupti.so",
};

/* "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Thu ...": the first number with two dots. */
static void read_nvidia_version(struct um_doctor_facts *facts, const char *root)
{
	char text[256];

	read_text(text, sizeof(text), root, "/proc/driver/nvidia/version");
	for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
		if (word[strspn(word, "0123456789.")] == '\0' && strchr(word, '.')) {
			snprintf(facts->nvidia, sizeof(facts->nvidia), "%.31s", word);
			return;
		}
}

static void read_nvidia(struct um_doctor_facts *facts, const char *root)
{
	facts->has_nvidia = is_there(root, "/proc/driver/nvidia/version");
	facts->has_nvidia_uvm = is_there(root, "/sys/module/nvidia_uvm");
	read_nvidia_version(facts, root);
	for (size_t i = 0; i < sizeof(cupti_places) / sizeof(*cupti_places) && !facts->cupti[0];
	     i++)
		if (is_there(root, cupti_places[i]))
			snprintf(facts->cupti, sizeof(facts->cupti), "%s", cupti_places[i]);
}

/* --- the environment --- */

static const char *variable(char *const *environment, const char *name)
{
	size_t length = strlen(name);

	for (; *environment; environment++)
		if (strncmp(*environment, name, length) == 0 && (*environment)[length] == '=')
			return *environment + length + 1;
	return NULL;
}

static void read_environment(struct um_doctor_facts *facts, const char *root,
			     char *const *environment)
{
	static const char *const hiding[] = {"ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
					     "CUDA_VISIBLE_DEVICES"};
	const char *xnack = variable(environment, "HSA_XNACK");
	const char *cuda = variable(environment, "CUDA_HOME");
	char name[200];

	if (xnack)
		snprintf(facts->hsa_xnack, sizeof(facts->hsa_xnack), "%.15s", *xnack ? xnack : " ");
	for (size_t i = 0; i < sizeof(hiding) / sizeof(*hiding) && !facts->hidden[0]; i++)
		if (variable(environment, hiding[i]))
			snprintf(facts->hidden, sizeof(facts->hidden), "%s=%.30s", hiding[i],
				 variable(environment, hiding[i]));
	if (!cuda || !*cuda || facts->cupti[0])
		return;
	snprintf(name, sizeof(name), "%.150s/extras/CUPTI/lib64/libcupti.so", cuda);
	if (is_there(root, name))
		snprintf(facts->cupti, sizeof(facts->cupti), "%s", name);
}

void um_doctor_gather(struct um_doctor_facts *facts, const char *root, char *const *environment)
{
	*facts = (struct um_doctor_facts){0};
	read_kernel(facts, root);
	read_amd(facts, root);
	read_nvidia(facts, root);
	read_environment(facts, root, environment);
}
