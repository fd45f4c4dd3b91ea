/*
 * Sources: Linux, drivers/gpu/drm/amd/amdkfd (kfd_process.c, kfd_process_xnack_mode; kfd_svm.c; kfd_smi_events.c;
 * kfd_ioctl.h for its versions); ROCclr (hip_hmm.cpp, rocdevice.cpp: what managed memory is without HMM); ROCr
 * (HSA_XNACK); HIP's documentation of unified memory; Linux's userfaultfd; umtrace's own launch.
 */
#include "doctor_checks.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* --- saying --- */

static struct um_doctor_check *add(struct um_doctor_report *report, const char *subject,
				   enum um_doctor_state state, const char *format, ...)
	__attribute__((format(printf, 4, 5)));

static struct um_doctor_check *add(struct um_doctor_report *report, const char *subject,
				   enum um_doctor_state state, const char *format, ...)
{
	size_t place = report->check_count < UM_DOCTOR_CHECKS ? report->check_count++
							      : UM_DOCTOR_CHECKS - 1;
	struct um_doctor_check *check = &report->checks[place];
	va_list arguments;

	*check = (struct um_doctor_check){.subject = subject, .state = state};
	va_start(arguments, format);
	vsnprintf(check->what, sizeof(check->what), format, arguments);
	va_end(arguments);
	return check;
}

static void remedy(struct um_doctor_check *check, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void remedy(struct um_doctor_check *check, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(check->remedy, sizeof(check->remedy), format, arguments);
	va_end(arguments);
}

static bool kernel_before(const struct um_doctor_facts *facts, int major, int minor)
{
	return facts->kernel_major >= 0 &&
	       (facts->kernel_major < major ||
		(facts->kernel_major == major && facts->kernel_minor < minor));
}

/* --- XNACK --- */

enum xnack_by { BY_PROCESS, BY_BOOT, NEVER };

/*
 * kfd_process_xnack_mode(): GFX10 and later cannot preempt a wave that waits for a fault; gfx90a and later CDNA let
 * each process choose; other GFX9 have it as the module was loaded.
 */
static enum xnack_by xnack_of(const struct um_doctor_gpu *gpu)
{
	if (gpu->target < 90000 || gpu->target >= 100000)
		return NEVER;
	return gpu->target == 90010 || gpu->target >= 90400 ? BY_PROCESS : BY_BOOT;
}

/* gfx906 and gfx908 have noretry=1 of themselves (amdgpu_gmc_noretry_set). */
static bool gpu_allows(const struct um_doctor_facts *facts, const struct um_doctor_gpu *gpu)
{
	switch (xnack_of(gpu)) {
	case BY_PROCESS:
		return true;
	case BY_BOOT:
		return facts->noretry == 0;
	default:
		return false;
	}
}

/* All GPUs of a process have to allow it. */
static const struct um_doctor_gpu *who_forbids(const struct um_doctor_facts *facts)
{
	for (size_t i = 0; i < facts->gpu_count; i++)
		if (!gpu_allows(facts, &facts->gpus[i]))
			return &facts->gpus[i];
	return NULL;
}

static bool has_svm(const struct um_doctor_facts *facts)
{
	for (size_t i = 0; i < facts->gpu_count; i++)
		if (!facts->gpus[i].has_svm)
			return false;
	return facts->gpu_count > 0;
}

static bool any_by_process(const struct um_doctor_facts *facts)
{
	for (size_t i = 0; i < facts->gpu_count; i++)
		if (xnack_of(&facts->gpus[i]) == BY_PROCESS)
			return true;
	return false;
}

/* As ROCr sets it: 0 and 1 ask, all else leaves the driver's default, which is off where processes choose. */
static bool is_xnack_on(const struct um_doctor_facts *facts)
{
	if (!has_svm(facts) || who_forbids(facts))
		return false;
	return any_by_process(facts) ? strcmp(facts->hsa_xnack, "1") == 0
				     : strcmp(facts->hsa_xnack, "0") != 0;
}

static bool is_apu(const struct um_doctor_facts *facts)
{
	return facts->gpu_count && facts->gpus[0].is_apu;
}

/* --- AMD --- */

static void check_gpu_xnack(struct um_doctor_report *report, const struct um_doctor_facts *facts,
			    size_t number)
{
	const struct um_doctor_gpu *gpu = &facts->gpus[number];
	struct um_doctor_check *check;

	switch (xnack_of(gpu)) {
	case BY_PROCESS:
		add(report, "gpu", UM_DOCTOR_OK,
		    "gpu%zu %s: each process chooses XNACK (HSA_XNACK)", number, gpu->arch);
		break;
	case BY_BOOT:
		check = add(report, "gpu", facts->noretry == 0 ? UM_DOCTOR_OK : UM_DOCTOR_NOTE,
			    "gpu%zu %s: XNACK is as amdgpu was loaded, %s, whatever HSA_XNACK says",
			    number, gpu->arch, facts->noretry == 0 ? "on" : "off");
		if (facts->noretry != 0)
			remedy(check,
			       "amdgpu.noretry=0 on the kernel's command line, and programs built "
			       "with --offload-arch=%s:xnack+",
			       gpu->arch);
		break;
	default:
		add(report, "gpu", UM_DOCTOR_NOTE,
		    "gpu%zu %s: has no XNACK: this generation cannot wait for a page fault", number,
		    gpu->arch[0] ? gpu->arch : "of an unknown kind");
	}
}

static void check_xnack(struct um_doctor_report *report, const struct um_doctor_facts *facts)
{
	const struct um_doctor_gpu *forbids = who_forbids(facts);
	bool asked = strcmp(facts->hsa_xnack, "1") == 0;
	struct um_doctor_check *check;

	if (!has_svm(facts))
		return;
	if (is_xnack_on(facts)) {
		add(report, "xnack", UM_DOCTOR_OK,
		    "on: managed memory, malloc and new migrate when a GPU faults on them");
		return;
	}
	if (forbids) {
		check = add(
			report, "xnack", asked ? UM_DOCTOR_PROBLEM : UM_DOCTOR_NOTE,
			"off for every process%s: one GPU that cannot or may not switches it off for "
			"all (%s)",
			asked ? ", though HSA_XNACK=1 asks for it" : "", forbids->arch);
		if (any_by_process(facts))
			remedy(check,
			       "keep that GPU from the process: a container or cgroup without its "
			       "/dev/dri/renderD*; ROCR_VISIBLE_DEVICES does not help");
		return;
	}
	bool is_neither = facts->hsa_xnack[0] && strcmp(facts->hsa_xnack, "0") != 0;

	check = add(
		report, "xnack", UM_DOCTOR_PROBLEM,
		"off (%s%s%s): managed memory does not migrate on faults; a kernel reads what lies on "
		"the host over the link, as often as its caches lose it; malloc and new are no "
		"memory of a kernel's",
		facts->hsa_xnack[0] ? "HSA_XNACK=" : "HSA_XNACK is not set", facts->hsa_xnack,
		is_neither ? ", which is neither 0 nor 1" : "");
	remedy(check,
	       "export HSA_XNACK=1; code built for :xnack- must be built anew, for :xnack+ or for both");
}

static void check_svm(struct um_doctor_report *report, const struct um_doctor_facts *facts)
{
	struct um_doctor_check *check;

	if (has_svm(facts)) {
		add(report, "hmm", UM_DOCTOR_OK, "amdkfd's SVM is there, on all GPUs");
		return;
	}
	check = add(
		report, "hmm", UM_DOCTOR_PROBLEM,
		"amdkfd has no SVM (HMM) %s: hipMallocManaged gives pinned host memory that never "
		"migrates; advice and prefetches do nothing and return success",
		facts->gpu_count > 1 ? "on one GPU at least, and so for none" : "here");
	if (facts->device_private == 0 || facts->amd_svm == 0)
		remedy(check,
		       "a kernel with CONFIG_DEVICE_PRIVATE=y and CONFIG_HSA_AMD_SVM=y; this one is "
		       "without %s",
		       facts->device_private == 0 ? "CONFIG_DEVICE_PRIVATE" : "CONFIG_HSA_AMD_SVM");
	else if (kernel_before(facts, 5, 14))
		remedy(check, "Linux 5.14 or later, or AMD's own driver (amdgpu-dkms)");
	else
		remedy(check,
		       "look for CONFIG_DEVICE_PRIVATE and CONFIG_HSA_AMD_SVM in the kernel's "
		       "configuration, and for GPUs that amdkfd does not list (virtual functions)");
}

static void check_device_file(struct um_doctor_report *report, const struct um_doctor_facts *facts)
{
	struct um_doctor_check *check;

	if (facts->kfd == UM_DOCTOR_OPEN)
		return;
	check = add(report, "access", UM_DOCTOR_PROBLEM,
		    facts->kfd == UM_DOCTOR_DENIED
			    ? "/dev/kfd may not be opened: no program of yours can use the GPU"
			    : "there is no /dev/kfd: no program can use the GPU");
	remedy(check,
	       facts->kfd == UM_DOCTOR_DENIED
		       ? "sudo usermod -a -G render,video $USER, and log in anew; in a container "
			 "--device=/dev/kfd --device=/dev/dri --group-add render"
		       : "in a container --device=/dev/kfd --device=/dev/dri; else modprobe amdgpu, "
			 "and dmesg says why it does not start");
}

static void check_managed(struct um_doctor_report *report, const struct um_doctor_facts *facts)
{
	if (!has_svm(facts))
		return;
	if (is_apu(facts))
		add(report, "managed", UM_DOCTOR_NOTE,
		    "host and device share one memory: pages fault, and never migrate. That is no error");
	else
		add(report, "managed", UM_DOCTOR_OK,
		    is_xnack_on(facts)
			    ? "real: pages move when they fault or are prefetched, 2 MiB a fault as a rule"
			    : "real, but only prefetches move it to the GPU; a touch of the host moves it "
			      "back, and stops all queues of the process meanwhile");
}

static void check_smi(struct um_doctor_report *report, const struct um_doctor_facts *facts)
{
	struct um_doctor_check *check;

	if (facts->kfd != UM_DOCTOR_OPEN)
		return;
	if (facts->kfd_major < 0) {
		add(report, "events", UM_DOCTOR_NOTE,
		    "amdkfd's version could not be asked for: from 1.10 on it tells of faults and "
		    "migrations");
		return;
	}
	if (facts->kfd_major > 1 || facts->kfd_minor >= 10) {
		check = add(
			report, "events", UM_DOCTOR_OK,
			"amdkfd %d.%d tells each process of its own faults and migrations (SMI events)",
			facts->kfd_major, facts->kfd_minor);
		remedy(check,
		       "HSA_SVM_PROFILE=svm.log ./app, then umtrace --import svm.log: what the GPU "
		       "here does, measured by ROCr");
		return;
	}
	check = add(report, "events", UM_DOCTOR_NOTE,
		    "amdkfd %d.%d tells nothing of faults and migrations", facts->kfd_major,
		    facts->kfd_minor);
	remedy(check,
	       "Linux 6.0 or later, or AMD's own driver of ROCm 5.3 or later: 1.10 is needed");
}

static void check_amd(struct um_doctor_report *report, const struct um_doctor_facts *facts)
{
	if (!facts->has_amdgpu && !facts->gpu_count)
		return;
	if (!facts->gpu_count) {
		struct um_doctor_check *check = add(
			report, "gpu", UM_DOCTOR_PROBLEM,
			"amdgpu is loaded, but amdkfd lists no GPU: none that computes, or none that it "
			"supports");
		remedy(check, "dmesg | grep -i kfd says which it left out");
		return;
	}
	check_device_file(report, facts);
	for (size_t i = 0; i < facts->gpu_count; i++)
		check_gpu_xnack(report, facts, i);
	check_svm(report, facts);
	check_xnack(report, facts);
	check_managed(report, facts);
	check_smi(report, facts);
}

/* --- NVIDIA --- */

static void check_nvidia(struct um_doctor_report *report, const struct um_doctor_facts *facts)
{
	struct um_doctor_check *check;

	if (!facts->has_nvidia)
		return;
	add(report, "gpu", UM_DOCTOR_OK,
	    "an NVIDIA GPU, driver %s: managed memory migrates on faults",
	    facts->nvidia[0] ? facts->nvidia : "of an unknown version");
	if (!facts->has_nvidia_uvm) {
		check = add(
			report, "uvm", UM_DOCTOR_NOTE,
			"nvidia_uvm is not loaded, or this container does not see it: the first program "
			"that uses CUDA loads it");
		remedy(check, "nvidia-modprobe -u -c=0, if programs find no device");
	}
	if (facts->cupti[0]) {
		add(report, "cupti", UM_DOCTOR_OK,
		    "%s: umtrace measures what programs that use CUDA do", facts->cupti);
		return;
	}
	check = add(report, "cupti", UM_DOCTOR_PROBLEM,
		    "libcupti was not found: umtrace cannot measure programs that use CUDA");
	remedy(check,
	       "CUDA 12 or 13 in /usr/local/cuda, or CUDA_HOME=FOLDER of one that is elsewhere");
}

/* --- without a GPU --- */

static void check_kernel(struct um_doctor_report *report, const struct um_doctor_facts *facts)
{
	add(report, "kernel", facts->kernel[0] ? UM_DOCTOR_OK : UM_DOCTOR_NOTE, "Linux %s",
	    facts->kernel[0] ? facts->kernel : "of an unknown version");
	if (!facts->gpu_count && !facts->has_amdgpu && !facts->has_nvidia)
		add(report, "gpu", UM_DOCTOR_NOTE,
		    "none: umtrace runs programs built by umhipcc on the CPU, and models the GPU");
	if (facts->hidden[0])
		add(report, "environment", UM_DOCTOR_NOTE, "%s hides GPUs from programs",
		    facts->hidden);
}

/* Linux 6.7: write-protection that needs no handler, nor privileges. */
static void check_host_watch(struct um_doctor_report *report, const struct um_doctor_facts *facts)
{
	struct um_doctor_check *check;

	if (facts->kernel_major < 0 || !kernel_before(facts, 6, 7)) {
		add(report, "userfaultfd", UM_DOCTOR_OK,
		    "what the host touches is seen by wp-async, without privileges");
		return;
	}
	check = add(
		report, "userfaultfd", UM_DOCTOR_NOTE,
		"before Linux 6.7 what the host touches is seen by mprotect: system calls that are "
		"not wrapped (ioctl, io_uring) fail on managed memory of traced programs%s",
		facts->unprivileged_uffd == 1 ? "; userfaultfd is open, so that uffd-sync works too"
					      : "");
	if (facts->unprivileged_uffd != 1)
		remedy(check,
		       "sysctl vm.unprivileged_userfaultfd=1, and umtrace --host-watch=uffd-sync");
}

/* --- the program --- */

static bool is_for(const char *target, const char *arch)
{
	size_t length = strlen(arch);

	return strncmp(target, arch, length) == 0 &&
	       (target[length] == '\0' || target[length] == ':');
}

/* A mode that is in the target's name has to be the process's; one without takes both. */
static bool fits(const char *target, const char *arch, bool xnack)
{
	if (!is_for(target, arch))
		return false;
	return !strstr(target, xnack ? "xnack-" : "xnack+");
}

static bool has_target(const struct um_doctor_program *program, const char *target)
{
	for (size_t i = 0; i < program->target_count; i++)
		if (strcmp(program->targets[i], target) == 0)
			return true;
	return false;
}

static void list_targets(char *text, size_t capacity, const struct um_doctor_program *program)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < program->target_count && used < capacity; i++)
		used += (size_t)snprintf(text + used, capacity - used, "%s%s", i ? ", " : "",
					 program->targets[i]);
}

static void check_targets(struct um_doctor_report *report, const struct um_doctor_facts *facts,
			  const struct um_doctor_program *program)
{
	bool xnack = is_xnack_on(facts), any = false, wrong_mode = false;
	const char *arch = facts->gpu_count ? facts->gpus[0].arch : "";
	char list[200];
	struct um_doctor_check *check;

	list_targets(list, sizeof(list), program);
	for (size_t i = 0; i < program->target_count && *arch; i++) {
		any |= fits(program->targets[i], arch, xnack);
		wrong_mode |= is_for(program->targets[i], arch) &&
			      !fits(program->targets[i], arch, xnack);
	}
	if (!*arch || any || !program->target_count) {
		if (program->target_count)
			add(report, "code", UM_DOCTOR_OK, "%s has code for %s", program->path,
			    list);
		return;
	}
	check = add(report, "code", UM_DOCTOR_PROBLEM,
		    "%s has code for %s, and none for %s with XNACK %s: launches fail with "
		    "hipErrorNoBinaryForGpu",
		    program->path, list, arch, xnack ? "on" : "off");
	if (wrong_mode)
		remedy(check, "HSA_XNACK=%d, or build for %s, which takes both, or for %s:xnack%s",
		       !xnack, arch, arch, xnack ? "+" : "-");
	else
		remedy(check, "build with --offload-arch=%s", arch);
}

static void check_runs_here(struct um_doctor_report *report, const struct um_doctor_facts *facts,
			    const struct um_doctor_program *program)
{
	struct um_doctor_check *check;
	bool uses_cuda = program->cuda[0] || program->has_cuda_code;

	if (uses_cuda && !program->hip[0]) {
		check = add(report, "tracing", facts->has_nvidia ? UM_DOCTOR_OK : UM_DOCTOR_PROBLEM,
			    "%s uses CUDA: %s", program->path,
			    facts->has_nvidia ? "umtrace measures it"
					      : "it needs an NVIDIA GPU, and there is none");
		if (!facts->has_nvidia)
			remedy(check, "HIP source can be built by umhipcc, and then needs no GPU");
		return;
	}
	if (!program->hip[0]) {
		check = add(
			report, "tracing", program->is_static ? UM_DOCTOR_PROBLEM : UM_DOCTOR_NOTE,
			program->is_static
				? "%s is linked statically: nothing can be put into it"
				: "%s links neither HIP nor CUDA itself: a library of its may, or "
				  "load them later (Python does)",
			program->path);
		if (program->is_static)
			remedy(check, "link it dynamically, without -static");
		return;
	}
	if (has_target(program, "x86_64")) {
		add(report, "tracing", UM_DOCTOR_OK,
		    "%s has been built by umhipcc: umtrace runs its kernels on the CPU, with every access "
		    "seen%s",
		    program->path,
		    program->target_count > 1 ? ", and the same file runs on a GPU" : "");
		return;
	}
	check = add(
		report, "tracing", UM_DOCTOR_PROBLEM,
		program->is_compressed
			? "%s has code for GPUs that is compressed and cannot be read: whether umtrace "
			  "can run it is not known"
			: "%s has no code for the CPU: under umtrace its launches fail with "
			  "hipErrorNoBinaryForGpu",
		program->path);
	remedy(check, program->is_compressed ? "build with -no-offload-compress, or by umhipcc"
					     : "build it by umhipcc, which takes what hipcc takes");
}

static void check_program(struct um_doctor_report *report, const struct um_doctor_facts *facts,
			  const struct um_doctor_program *program)
{
	if (!program)
		return;
	if (!program->is_elf) {
		struct um_doctor_check *check =
			add(report, "program", UM_DOCTOR_NOTE,
			    "%s is no ELF file but a script, perhaps: what it "
			    "runs is traced, and was not looked at",
			    program->path);
		remedy(check, "umtrace doctor of the program that it runs");
		return;
	}
	if (program->hip[0] || program->cuda[0])
		add(report, "program", UM_DOCTOR_OK, "%s links %s%s%s", program->path, program->hip,
		    program->hip[0] && program->cuda[0] ? " and " : "", program->cuda);
	check_targets(report, facts, program);
	check_runs_here(report, facts, program);
}

/* --- hints --- */

static const struct um_doctor_hint hints_pinned[] = {
	{"hipMallocManaged", "pinned host memory, read and written over the link"},
	{"hipMemAdvise, all of them", "nothing; returns success"},
	{"hipMemPrefetchAsync", "nothing; returns success"},
	{NULL, NULL},
};
static const struct um_doctor_hint hints_xnack_off[] = {
	{"hipMallocManaged", "host memory that every GPU has mapped"},
	{"SetPreferredLocation", "remembered; a later prefetch of the range may follow it"},
	{"SetAccessedBy", "mapped where it is"},
	{"SetReadMostly", "nothing that is known: amdkfd makes no second copy"},
	{"SetCoarseGrain",
	 "caches may keep lines: faster, atomics of the device work within it alone"},
	{"hipMemPrefetchAsync", "moves all of the range, while the process's queues stand still"},
	{"hipMemAttach*, hipStreamAttachMemAsync", "nothing"},
	{NULL, NULL},
};
static const struct um_doctor_hint hints_xnack_on[] = {
	{"hipMallocManaged", "memory that goes where it is first touched, 2 MiB a fault"},
	{"SetPreferredLocation", "where faults of GPUs take it; the host's still bring it back"},
	{"SetAccessedBy",
	 "faults map it where it is, and do not move it; a preferred location still wins"},
	{"SetReadMostly", "nothing that is known: amdkfd makes no second copy"},
	{"SetCoarseGrain",
	 "caches may keep lines: faster, atomics of the device work within it alone"},
	{"hipMemPrefetchAsync",
	 "moves all of the range, and stays in force: later advice does it again"},
	{"hipMemAttach*, hipStreamAttachMemAsync", "nothing"},
	{NULL, NULL},
};
static const struct um_doctor_hint hints_nvidia[] = {
	{"cudaMallocManaged", "memory that goes where it is touched, in batches of faults"},
	{"SetPreferredLocation", "faults of others map it from afar where they can"},
	{"SetAccessedBy", "mapped from afar, and kept mapped"},
	{"SetReadMostly", "a copy for each who reads it, until somebody writes"},
	{"cudaMemPrefetchAsync", "moves the range"},
	{NULL, NULL},
};

static void choose_hints(struct um_doctor_report *report, const struct um_doctor_facts *facts)
{
	if (facts->gpu_count && !has_svm(facts)) {
		report->hints = hints_pinned;
		report->hints_for = "amdgpu without SVM";
	} else if (facts->gpu_count) {
		report->hints = is_xnack_on(facts) ? hints_xnack_on : hints_xnack_off;
		report->hints_for =
			is_xnack_on(facts) ? "amdgpu with XNACK on" : "amdgpu with XNACK off";
	} else if (facts->has_nvidia) {
		report->hints = hints_nvidia;
		report->hints_for = "NVIDIA's driver";
	} else {
		report->hints =
			strcmp(facts->hsa_xnack, "1") == 0 ? hints_xnack_on : hints_xnack_off;
		report->hints_for = strcmp(facts->hsa_xnack, "1") == 0
					    ? "the model of amdgpu, XNACK on"
					    : "the model of amdgpu, XNACK off";
	}
}

/* --- records --- */

static const struct um_doctor_record records_emulated[] = {
	{"accesses of kernels, their order", "emulated",
	 "each access of each lane, counted on the CPU"},
	{"pages that the host touched", "measured", "by the CPU's page tables"},
	{"faults, migrations, mappings", "modelled", "by a driver model (--machine, --driver)"},
	{"times of kernels", "emulated", "of the CPU: they say nothing about a GPU"},
	{NULL, NULL, NULL},
};
static const struct um_doctor_record records_cupti[] = {
	{"faults, migrations, remote mappings", "measured", "as NVIDIA's driver tells CUPTI"},
	{"times of kernels and copies", "measured", "of the GPU"},
	{"accesses of kernels and the host", "absent",
	 "a GPU does not tell what its kernels touch"},
	{NULL, NULL, NULL},
};

static void choose_records(struct um_doctor_report *report, const struct um_doctor_facts *facts,
			   const struct um_doctor_program *program)
{
	bool measures = facts->has_nvidia && facts->cupti[0] && (!program || !program->hip[0]);

	report->records = measures ? records_cupti : records_emulated;
	report->records_for = measures ? "programs that use CUDA" : "programs built by umhipcc";
}

void um_doctor_check(struct um_doctor_report *report, const struct um_doctor_facts *facts,
		     const struct um_doctor_program *program)
{
	*report = (struct um_doctor_report){0};
	check_kernel(report, facts);
	check_amd(report, facts);
	check_nvidia(report, facts);
	check_host_watch(report, facts);
	check_program(report, facts, program);
	choose_hints(report, facts);
	choose_records(report, facts, program);
}

bool um_doctor_has_problem(const struct um_doctor_report *report)
{
	for (size_t i = 0; i < report->check_count; i++)
		if (report->checks[i].state == UM_DOCTOR_PROBLEM)
			return true;
	return false;
}
