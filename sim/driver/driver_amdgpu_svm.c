/*
 * amdgpu_svm: what amdkfd's shared virtual memory would do (kfd_svm.c, kfd_migrate.c). Rules from
 * source, not checked on hardware. Each names the function that it was read in; where the kernel
 * changed, "6.8" is what amd-drm-next-6.8 brought and later ones have, and "before" what 6.6 has.
 * R stands for a rule, A for what is assumed or left out. The code names the rule that it follows;
 * the tests (tests/unit/sim/svm_*_test.c) name the kernel's function.
 *
 * Ranges (svm_range.c; R3 to R5 in svm_attributes.c as well)
 * R1  Memory is known by ranges of virtual addresses, each with attributes of its own.
 *     hipMallocManaged makes them with ACCESS for every device (CLR, SvmBuffer; hsakmt SET_ATTR).
 *     Until set otherwise: no preferred location, no prefetch location, flags HOST_ACCESS and
 *     COHERENT, granularity 9 (svm_range_set_default_attributes). New ranges have ACCESS for all
 *     devices with XNACK, for none without (svm_range_new).
 * R2  A new range ends at the next address that is a multiple of the largest range: a device's
 *     memory / 32, between 2 MiB and 1 GiB, rounded down to a power of two
 *     (svm_range_set_max_pages, svm_range_split_new). Under a memory limit the device is one that
 *     has no more.
 * R3  SET_ATTR on part of a range splits it at the ends of that part. The pieces keep attributes,
 *     mappings, where their pages are and the buffer object, which they share at their offsets
 *     (svm_range_split_adjust, svm_range_split_nodes). Pieces are never joined again. A range that
 *     has the attributes already is not touched, if it is mapped on a device as well
 *     (svm_range_add).
 * R4  SET_ATTR works on its ranges from the last address to the first (svm_range_add puts each at
 *     the head of the list that svm_range_set_attr walks).
 * R5  6.8: a head or tail that a split leaves with an end off the granularity is mapped anew
 *     (svm_range_split_head, svm_range_split_tail, svm_range_set_attr).
 *
 * Advice (svm_calls.c) is SET_ATTR (svm_attributes.c; CLR roc::Device::SetSvmAttributesInt,
 * svm_range_apply_attrs)
 * R6  preferred_location device or host: PREFERRED_LOC; unset: undefined.
 * R7  accessed_by device: ACCESS_IN_PLACE instead of ACCESS; unset: ACCESS, never NO_ACCESS.
 *     accessed_by host: flag HOST_ACCESS, which is set from the start and decides nothing.
 * R8  coarse_grain clears COHERENT, unset sets it: how caches treat a page, which is not modelled.
 *     read_mostly sets a flag that nothing reads: no page is duplicated. All three are reported as
 *     ignored, but they are SET_ATTR: R3, R10 and R11 hold.
 *
 * Prefetch (svm_attributes.c; svm_range_trigger_migration, svm_range_best_prefetch_location)
 * R9  hipMemPrefetchAsync is SET_ATTR of PREFETCH_LOC, which never counts as unchanged. Each range
 *     moves whole: no granularity. To a device it moves what is not there yet (6.8; before, a
 *     range that is at its prefetch location stays as it is), to the host all that is on a device.
 *     The location becomes the host when a device with ACCESS_IN_PLACE (without XNACK: or ACCESS)
 *     is not in the hive of the target. If memory is refused nothing moves.
 * R10 The prefetch location stays an attribute: whatever SET_ATTR works on a range later moves it
 *     there again (cause prefetch), from either side.
 * R11 SET_ATTR maps a range afterwards if it moved, or if an attribute asks for it: a flag, and
 *     without XNACK any kind of access. With XNACK it is mapped on the devices with
 *     ACCESS_IN_PLACE and, if that has ACCESS, on the one that holds it; if there are none such
 *     but the range is mapped, on those with ACCESS. Without XNACK on all with either
 *     (svm_range_set_attr, svm_range_validate_and_map). So with XNACK accessed_by alone maps
 *     nothing: the first touch still faults.
 * R12 The call returns when the pages are there: the ioctl is synchronous, ROCr makes it when what
 *     comes before in the stream is done (Runtime::SvmPrefetch), and CLR waits for that in the
 *     calling thread, for the time being as its comment has it
 *     (VirtualGPU::submitSvmPrefetchAsync). Time passes on the stream, and with prefetch_waits for
 *     the host too.
 *
 * Faults of a device, XNACK on (svm_fault.c; R16 in svm_dropped.c; svm_range_restore_pages)
 * R13 Where the pages go (svm_range_best_restore_location): on an APU the host. Else the preferred
 *     location, if it is the faulting device, the host, or a device of its hive. Else with ACCESS
 *     the faulting device. Else (ACCESS_IN_PLACE) they stay: in host memory, or on a device of its
 *     hive; from any other device they go to the host.
 * R14 What moves: 6.8 the pages of the range in the block of 2^granularity pages around the fault,
 *     aligned by address, and only those are mapped, on the faulting device alone. Before: the
 *     whole range, if it is not at that place.
 * R15 Pages that are nowhere go to the device without a copy (mm/migrate_device.c collects holes
 *     of anonymous memory; the buffer object was cleared). From then on they are pages like others
 *     and are copied when they leave (svm_migrate_copy_to_ram). Pages that a device maps from host
 *     memory are made there first (hmm_range_fault).
 * R16 A fault on a range that was validated less than 2 ms ago counts as a duplicate and is
 *     dropped without an event; the access retries. Before 6.8 the range was mapped whole, so that
 *     this hits real duplicates, and pages that left again. From 6.8 on it also holds back the
 *     faults on the range's other blocks: no more than one block of a range every 2 ms.
 *     How long accesses wait for that is a driver_event (fault_dropped, duplicate).
 * R17 From one device to another: all the range's pages to host memory, then the block from there
 *     (svm_migrate_vram_to_vram).
 * R18 If device memory is refused, the block is mapped from host memory (cause out_of_memory,
 *     driver_event vram_refused); pages of the range on a third device go to the host before. The
 *     next fault tries again.
 * R19 Memory that nobody registered (malloc, stack): the fault makes a range of what its mapping
 *     has in the aligned 2 MiB block, between its neighbours (svm_range_get_range_boundaries).
 *     What the kernel knows as heap or stack gets the host as its preferred location: it is
 *     mapped, not moved (svm_range_create_unregistered_range).
 *
 * Device memory (svm_memory.c)
 * R20 The first page that moves takes memory for its whole range, as one buffer object, cleared
 *     (svm_range_vram_node_new). It is given back when the last page of its last range has left
 *     (svm_migrate_vram_to_ram, svm_range_bo_release); a piece that comes back before takes its
 *     old place (svm_range_validate_svm_bo).
 * R21 Refused (svm_migrate_ram_to_vram, amdgpu_amdkfd_reserve_mem_limit): a range that does not
 *     fit beside the device allocations, whatever other ranges hold, and even if it has its buffer
 *     object. Device allocations never leave for a range.
 * R22 When memory is short, the buffer object that was made first leaves first: TTM's list is
 *     moved on by reserving an object, which nothing does after it was made, neither accesses nor
 *     faults nor mappings. Objects of ranges have the lowest priority (DISCARDABLE,
 *     amdgpu_bo_create), so that a device allocation drives them out (ttm_resource_manager_first).
 * R23 An object leaves whole: every range that has pages in it goes to host memory (cause
 *     eviction; svm_range_evict_svm_bo_worker). What is wanted starts when that is done.
 *
 * The host (svm_fault.c)
 * R24 A touch of a page that is nowhere is the operating system's: page by page, free, no fault.
 * R25 A touch of a page on a device faults (svm_migrate_to_ram): 6.8 the pages of its block that
 *     are on the device go to host memory. Before: the block is split off as a range of its own,
 *     and goes (svm_range_split_by_granularity). Advice plays no part.
 * R26 Over a coherent link (XGMI to the CPU) device memory is the host's to map
 *     (MEMORY_DEVICE_COHERENT, kgd2kfd_init_zone_device): it accesses that remotely, and
 *     pages leave by prefetch, preferred location or eviction only.
 *
 * Mappings (svm_map.c, svm_queues.c)
 * R27 Moving pages invalidates the whole block or range on all devices (MMU notifier,
 *     svm_range_cpu_invalidate_pagetables), also those of its pages that stay. With XNACK they are
 *     unmapped (svm_range_unmap_from_gpus) and fault when touched.
 * R28 Without XNACK the queues of all devices stop (svm_range_evict, kgd2kfd_quiesce_mm), if the
 *     range is mapped. The restore work comes 1 ms after the first invalidation and waits for
 *     whoever holds the lock; it maps each invalidated range whole, wherever its pages are, and
 *     starts the queues (svm_range_restore_work). If a range was invalidated while it worked, it
 *     comes again 1 ms later and the queues stay stopped. The program's end is that of its queues
 *     and cancels the work (svm_range_list_fini). Each stop is a driver_event (queue_eviction,
 *     svm) of each device.
 * R29 Without XNACK SET_ATTR maps at once, which makes every page in host memory; so does
 *     hipMallocManaged. Nothing moves but by prefetch. A page that the host touched stays in host
 *     memory, mapped from there, until it is prefetched again. A fault ends the process.
 *
 * One server (svm_fault.c)
 * R30 Faults of devices and of the host, SET_ATTR and the restore work hold one lock a process
 *     (svms->lock) from start to end, the copy included: one at a time, the oldest first. A
 *     device's copies come one after another (svm_migrate_copy_memory_gart waits for the last).
 *     Eviction for a device allocation does not take that lock.
 *
 * Without HMM (hmm: off)
 * R31 hipMallocManaged gives pinned host memory; advice and prefetches succeed without effect
 *     (VirtualGPU::submitSvmPrefetchAsync), which is reported. malloc'ed memory is out of a
 *     device's reach.
 *
 * A1  Time. A fault takes fault_service; each page that moves or is mapped page_update, each copy
 *     of up to 2 MiB (AMDGPU_GTT_MAX_TRANSFER_SIZE) copy_setup, each page of a new buffer object
 *     page_alloc; then the link's time. State changes when the work begins.
 * A2  An access that was dropped (R16) comes back exactly when the 2 ms are over: how often the
 *     hardware raises it again is not known.
 * A3  Managed allocations begin at multiples of 2 MiB. Each allocation is a mapping of its own:
 *     two pageable ones never share a range.
 * A4  Devices are in one hive only with `hive`. Accesses to another device's memory take the machine's
 *     link between the two, and the host link where it has none.
 * A5  The pieces of a range that waits for the restore work wait for it as well.
 * A6  6.8 passes over a device that is not in the hive of the range's buffer object even where the
 *     faulting page is in host memory (svm_range_map_to_gpus); its fault would come again without
 *     end. Here a fault is always mapped.
 * A7  A piece whose old place is still part of a buffer object goes back there. amdkfd makes
 *     another object where the piece was cut off while nothing of it was on the device
 *     (svm_range_split_adjust), or was on another device since (svm_range_validate_svm_bo).
 * A8  Not modelled: the limit of host memory that ranges count against, memory for page tables,
 *     the time to preempt queues, NUMA balancing and other invalidations from outside, the
 *     eviction of device allocations that older kernels allowed (before R21's check), retry-CAM
 *     and interrupt ring overflow, GPU_ALWAYS_MAPPED, GPU_RO, GPU_EXEC (HIP sets none).
 */
#include "driver_list.h"
#include "svm.h"

#include "trace/base/error.h"

#include <stdlib.h>

enum xnack_choice { XNACK_AUTO, XNACK_ON, XNACK_OFF };
static const char *const xnack_choices[] = {"auto", "on", "off", NULL};
static const char *const kernel_choices[] = {"6.6", "6.8", NULL}; /* enum svm_kernel */

enum svm_param {
	PARAM_XNACK,
	PARAM_KERNEL,
	PARAM_HMM,
	PARAM_HIVE,
	PARAM_PREFETCH_WAITS,
	PARAM_FAULT_SERVICE,
	PARAM_PAGE_UPDATE,
	PARAM_COPY_SETUP,
	PARAM_PAGE_ALLOC,
	PARAM_RESTORE_DELAY,
	PARAM_DUPLICATE_WINDOW,
};

/*
 * What a gigabyte of faults costs beside its copy was measured once (Cooper, Scogland, Ge, ICS'24:
 * one die of an MI250X, ROCm 5.4, 36 GB/s to the host): the processor's updates, setting up SDMA
 * and allocating are about 76 % of the whole together. A copy of 2 MiB takes 58 us there, so that
 * they take 184 us; that each takes a third is assumed.
 */
#define ICS24 "(derived from Cooper et al., ICS'24, MI250X; an even share is assumed)"

static const struct um_param svm_params[] = {
	[PARAM_XNACK] = {.name = "xnack",
			 .type = UM_PARAM_CHOICE,
			 .default_text = "auto",
			 .choices = xnack_choices,
			 .help = "whether devices retry accesses that fault, so that the driver "
				 "can serve them (auto: as the traced program had it, else as the "
				 "machine has it)"},
	[PARAM_KERNEL] = {.name = "kernel",
			  .type = UM_PARAM_CHOICE,
			  .default_text = "6.8",
			  .choices = kernel_choices,
			  .help = "whose rules: 6.8 and later (faults move blocks), or 6.6 (faults "
				  "move ranges)"},
	[PARAM_HMM] = {.name = "hmm",
		       .type = UM_PARAM_BOOL,
		       .default_text = "on",
		       .help = "whether the kernel can migrate memory at all (HMM); off: managed "
			       "memory is pinned host memory"},
	[PARAM_HIVE] = {.name = "hive",
			.type = UM_PARAM_BOOL,
			.default_text = "off",
			.help = "whether the devices are one XGMI hive and map each other's memory "
				"(over the machine's peer_link, or the host link without one)"},
	[PARAM_PREFETCH_WAITS] = {.name = "prefetch_waits",
				  .type = UM_PARAM_BOOL,
				  .default_text = "on",
				  .help = "whether hipMemPrefetchAsync returns when the pages are "
					  "there, as CLR has it, or at once"},
	[PARAM_FAULT_SERVICE] = {.name = "fault_service",
				 .type = UM_PARAM_DURATION,
				 .minimum = 0,
				 .maximum = 1e9,
				 .default_text = "100us",
				 .help = "time to serve a fault, without its pages (99.6 us in a "
					 "published sample that only maps, rocprofiler-sdk's "
					 "parser.cpp, hardware unknown)"},
	[PARAM_PAGE_UPDATE] =
		{.name = "page_update",
		 .type = UM_PARAM_DURATION,
		 .minimum = 0,
		 .maximum = 1e6,
		 .default_text = "120ns",
		 .help = "time for each page of 4 KiB that moves or is mapped " ICS24},
	[PARAM_COPY_SETUP] = {.name = "copy_setup",
			      .type = UM_PARAM_DURATION,
			      .minimum = 0,
			      .maximum = 1e9,
			      .default_text = "60us",
			      .help = "time to set up each copy of up to 2 MiB " ICS24},
	[PARAM_PAGE_ALLOC] = {.name = "page_alloc",
			      .type = UM_PARAM_DURATION,
			      .minimum = 0,
			      .maximum = 1e6,
			      .default_text = "120ns",
			      .help = "time for each page of 4 KiB of device memory that a range "
				      "takes " ICS24},
	[PARAM_RESTORE_DELAY] = {.name = "restore_delay",
				 .type = UM_PARAM_DURATION,
				 .minimum = 0,
				 .maximum = 1e9,
				 .default_text = "1ms",
				 .help = "time after which stopped queues are started again, "
					 "without XNACK (AMDGPU_SVM_RANGE_RESTORE_DELAY_MS)"},
	[PARAM_DUPLICATE_WINDOW] =
		{.name = "duplicate_window",
		 .type = UM_PARAM_DURATION,
		 .minimum = 0,
		 .maximum = 1e9,
		 .default_text = "2ms",
		 .help = "time in which further faults on a range that was just mapped "
			 "are dropped (AMDGPU_SVM_RANGE_RETRY_FAULT_PENDING)"},
	{.name = NULL},
};
static const uint64_t svm_page_bytes[] = {4096, 65536, 2097152, 0}; /* granularity 0, 4, 9 */

/* A largest range is the memory / 32, at least 2 MiB, at most 1 GiB, a power of two (R2). */
#define RANGE_SHARE	  32
#define RANGE_PAGES_LEAST 512u
#define RANGE_PAGES_MOST  262144u

static um_page max_range_pages(uint64_t memory_bytes)
{
	uint64_t pages = memory_bytes / UM_PAGE_BYTES / RANGE_SHARE;

	if (pages <= RANGE_PAGES_LEAST)
		return RANGE_PAGES_LEAST;
	if (pages >= RANGE_PAGES_MOST)
		return RANGE_PAGES_MOST;
	return 1u << (31 - __builtin_clz((uint32_t)pages));
}

static void take_params(struct svm *svm, const struct um_machine_spec *spec,
			const struct um_param_value *params)
{
	uint64_t xnack = params[PARAM_XNACK].integer;

	svm->xnack = xnack == XNACK_AUTO ? spec->xnack == UM_XNACK_ALWAYS : xnack == XNACK_ON;
	svm->kernel = (enum svm_kernel)params[PARAM_KERNEL].integer;
	svm->hmm = params[PARAM_HMM].integer;
	svm->hive = params[PARAM_HIVE].integer;
	svm->prefetch_waits = params[PARAM_PREFETCH_WAITS].integer;
	svm->apu = spec->apu;
	svm->coherent = !spec->apu && spec->link.coherent;
	svm->costs = (struct svm_costs){
		.fault_ns = params[PARAM_FAULT_SERVICE].integer,
		.page_update_ns = params[PARAM_PAGE_UPDATE].integer,
		.copy_setup_ns = params[PARAM_COPY_SETUP].integer,
		.page_alloc_ns = params[PARAM_PAGE_ALLOC].integer,
		.restore_delay_ns = params[PARAM_RESTORE_DELAY].integer,
		.duplicate_ns = params[PARAM_DUPLICATE_WINDOW].integer,
	};
}

static void svm_destroy(struct um_driver *driver)
{
	struct svm *svm = svm_of(driver);

	if (!driver)
		return;
	for (size_t id = 0; id < svm->allocation_slots; id++)
		if (svm->allocations[id])
			um_svm_remove_allocation(svm, svm->allocations[id]);
	free(svm->allocations);
	free(svm->updates.at);
	free(svm->remaps.at);
	free(svm->dropping.at);
	for (um_device_id device = 0; device < svm->devices; device++)
		um_evict_destroy(svm->order[device]);
	free(svm);
}

static int svm_create(struct um_driver **out, const struct um_driver_env *env)
{
	const struct um_machine_spec *spec = um_machine_spec(env->machine);
	uint64_t page_bytes =
		env->page_bytes ? env->page_bytes : um_driver_amdgpu_svm.default_page_bytes;
	struct svm *svm = calloc(1, sizeof(*svm));
	int error = 0;

	if (!svm)
		return um_fail(UM_ENOMEM, "no memory for the driver");
	svm->base.ops = &um_driver_amdgpu_svm;
	svm->env = env;
	svm->machine = env->machine;
	svm->devices = (um_device_id)spec->devices;
	svm->block_pages = (um_page)(page_bytes / UM_PAGE_BYTES);
	svm->max_range_pages = max_range_pages(um_machine_memory_total(env->machine, 0));
	svm->service_due = UM_NEVER;
	take_params(svm, spec, env->params);
	for (um_device_id device = 0; device < svm->devices && !error; device++)
		error = um_evict_create(&svm->order[device], env->evict, um_driver_amdgpu_svm.evict,
					device);
	if (error)
		svm_destroy(&svm->base);
	else
		*out = &svm->base;
	return error;
}

/* R31. Pageable memory has pages of its own as well: a device can fault on it (R19). */
static enum um_home svm_home(struct um_driver *driver, const struct um_alloc *alloc)
{
	if (alloc->kind == UM_ALLOCATION_MANAGED && !svm_of(driver)->hmm)
		return UM_HOME_HOST;
	return UM_HOME_MANAGED;
}

/* R12 */
static bool svm_prefetch_waits(const struct um_driver *driver)
{
	return ((const struct svm *)driver)->prefetch_waits;
}

const struct um_driver_ops um_driver_amdgpu_svm = {
	.name = "amdgpu_svm",
	.summary = "AMD's amdkfd: ranges, faults by block, memory by range",
	.validated = "rules from source, not checked on hardware",
	.params = svm_params,
	.page_bytes = svm_page_bytes,
	.default_page_bytes = 2097152,
	.evict = &um_evict_fifo, /* R22 */
	.create = svm_create,
	.home = svm_home,
	.on_alloc = um_svm_on_alloc,
	.on_free = um_svm_on_free,
	.on_advice = um_svm_on_advice,
	.on_prefetch = um_svm_on_prefetch,
	.prefetch_waits = svm_prefetch_waits,
	.on_pressure = um_svm_on_pressure,
	.on_faults = um_svm_on_faults,
	.on_touch = um_svm_on_touch,
	.on_exit = um_svm_on_exit,
	.destroy = svm_destroy,
};
