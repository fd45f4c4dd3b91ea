/*
 * amdgpu_svm: what amdkfd's shared virtual memory would do (kfd_svm.c, kfd_migrate.c). Rules from
 * source, not checked on hardware. Each names the function that it was read in; where the kernel
 * changed, the version from which it holds ("6.8" is what amd-drm-next-6.8 brought, "5.15" holds
 * until 6.0, "6.1" until 6.7). R stands for a rule, A for what is assumed or left out.
 *
 * Ranges
 * R1  Memory is known by ranges of virtual addresses, each with attributes of its own.
 *     hipMallocManaged makes them with ACCESS for every device (CLR, SvmBuffer; hsakmt SET_ATTR).
 *     Until set otherwise: no preferred location, no prefetch location, flags HOST_ACCESS and
 *     COHERENT, granularity 9 (svm_range_set_default_attributes). New ranges have ACCESS for all
 *     devices with XNACK, for none without (svm_range_new).
 * R2  A new range ends at the next address that is a multiple of the largest range: the smallest
 *     device's memory / 32, between 2 MiB and 1 GiB, rounded down to a power of two
 *     (svm_range_set_max_pages, svm_range_split_new). 5.15: not cut at all (svm_range_add).
 * R3  SET_ATTR on part of a range splits it at the ends of that part. The pieces keep attributes,
 *     mappings, where their pages are and the buffer object, which they share at their offsets
 *     (svm_range_split_adjust, svm_range_split_nodes). Pieces are never joined again. A range that
 *     has the attributes already is not touched, if it is mapped on a device as well
 *     (svm_range_add; 5.15: whether it is mapped or not).
 * R4  SET_ATTR works on its ranges from the last address to the first (svm_range_add puts each at
 *     the head of the list that svm_range_set_attr walks).
 * R5  6.8: a head or tail that a split leaves with an end off the granularity is mapped anew
 *     (svm_range_split_head, svm_range_split_tail, svm_range_set_attr).
 *
 * Advice is SET_ATTR (CLR roc::Device::SetSvmAttributesInt; svm_range_apply_attrs)
 * R6  preferred_location device or host: PREFERRED_LOC; unset: undefined.
 * R7  accessed_by device: ACCESS_IN_PLACE instead of ACCESS; unset: ACCESS, never NO_ACCESS.
 *     accessed_by host: flag HOST_ACCESS, which is set from the start and decides nothing.
 * R8  coarse_grain clears COHERENT, unset sets it: how caches treat a page, which is not modelled.
 *     read_mostly sets a flag that nothing reads: no page is duplicated. All three are reported as
 *     ignored, but they are SET_ATTR: R3, R10 and R11 hold.
 *
 * Prefetch (svm_range_trigger_migration, svm_range_best_prefetch_location)
 * R9  hipMemPrefetchAsync is SET_ATTR of PREFETCH_LOC, which never counts as unchanged. Each range
 *     moves whole: no granularity. To a device it moves what is not there yet (6.8; before, a range
 *     that is at its prefetch location stays as it is), to the host all that is on a device. The
 *     location becomes the host when a device with ACCESS_IN_PLACE (without XNACK: or ACCESS) is
 *     not in the hive of the target. If memory is refused nothing moves.
 * R10 The prefetch location stays an attribute: whatever SET_ATTR works on a range later moves it
 *     there again (cause prefetch), from either side.
 * R11 SET_ATTR maps a range afterwards if it moved, or if an attribute asks for it: a flag, and
 *     without XNACK any kind of access (5.15: always). With XNACK on the devices with
 *     ACCESS_IN_PLACE and, if it has ACCESS, the one that holds the range; if there are none such
 *     but the range is mapped, on those with ACCESS. Without XNACK on all with either
 *     (svm_range_set_attr, svm_range_validate_and_map). So with XNACK accessed_by alone maps
 *     nothing: the first touch still faults.
 * R12 The call returns when the pages are there: the ioctl is synchronous, ROCr makes it when what
 *     comes before in the stream is done, and CLR waits for that in the calling thread ("should
 *     skip wait": VirtualGPU::submitSvmPrefetchAsync). Time passes on the stream, and with
 *     prefetch_waits (as it is) for the host too.
 *
 * Faults of a device, XNACK on (svm_range_restore_pages)
 * R13 Where the pages go (svm_range_best_restore_location): on an APU the host. Else the preferred
 *     location, if it is the faulting device, the host, or a device of its hive. Else with ACCESS
 *     the faulting device. Else (ACCESS_IN_PLACE) they stay: in host memory, or on a device of its
 *     hive; from any other device they go to the host.
 * R14 What moves: 6.8 the pages of the range in the block of 2^granularity pages around the fault,
 *     aligned by address, and only those are mapped, on the faulting device alone. Before: the
 *     whole range, if it is not at that place.
 * R15 Pages that are nowhere go to the device without a copy (mm/migrate_device.c collects holes of
 *     anonymous memory; the buffer object was cleared). From then on they are pages like others and
 *     are copied when they leave (svm_migrate_copy_to_ram). Pages that a device maps from host
 *     memory are made there first (hmm_range_fault).
 * R16 A fault on a range that was validated less than 2 ms ago counts as a duplicate and is dropped
 *     without an event; the access retries. Before 6.8 the range was mapped whole, so that this
 *     hits real duplicates, and pages that left again. From 6.8 on it also holds back the faults on
 *     the range's other blocks: no more than one block of a range every 2 ms.
 * R17 From one device to another: all the range's pages to host memory, then the block from there
 *     (svm_migrate_vram_to_vram).
 * R18 If device memory is refused, the block is mapped from host memory (cause out_of_memory,
 *     driver_event vram_refused); pages of the range on a third device go to the host before. The
 *     next fault tries again.
 * R19 Memory that nobody registered (malloc, stack): the fault makes a range of what its mapping has
 *     in the aligned 2 MiB block, between its neighbours (svm_range_get_range_boundaries). What the
 *     kernel knows as heap or stack gets the host as its preferred location: it is mapped, not
 *     moved (svm_range_create_unregistered_range).
 *
 * Device memory
 * R20 The first page that moves takes memory for its whole range, as one buffer object, cleared
 *     (svm_range_vram_node_new). It is given back when the last page of its last range has left
 *     (svm_migrate_vram_to_ram, svm_range_bo_release); a piece that comes back before takes its old
 *     place (svm_range_validate_svm_bo).
 * R21 Refused (svm_migrate_ram_to_vram, amdgpu_amdkfd_reserve_mem_limit): a range that does not fit
 *     beside the device allocations, whatever other ranges hold, and even if it has its buffer
 *     object. Device allocations never leave for a range.
 * R22 When memory is short, the buffer object that was made first leaves first: TTM's list is moved
 *     on by reserving an object, which nothing does after it was made, neither accesses nor faults
 *     nor mappings. Objects of ranges have the lowest priority (DISCARDABLE, amdgpu_bo_create), so
 *     that a device allocation drives them out (ttm_resource_manager_first).
 * R23 An object leaves whole: every range that has pages in it goes to host memory (cause eviction;
 *     svm_range_evict_svm_bo_worker). What is wanted starts when that is done.
 *
 * The host
 * R24 A touch of a page that is nowhere is the operating system's: page by page, free, no fault.
 * R25 A touch of a page on a device faults (svm_migrate_to_ram): 6.8 the pages of its block that are
 *     on the device go to host memory. Before: the block is split off as a range of its own, and
 *     goes (svm_range_split_by_granularity). Advice plays no part.
 * R26 6.1: over a coherent link (XGMI to the CPU) device memory is the host's to map
 *     (MEMORY_DEVICE_COHERENT, kgd2kfd_init_zone_device): it reads and writes it from afar, and
 *     pages leave by prefetch, preferred location or eviction only. 5.15: as any other.
 *
 * Mappings
 * R27 Moving pages invalidates the whole block or range on all devices (MMU notifier,
 *     svm_range_cpu_invalidate_pagetables), also those of its pages that stay. With XNACK they are
 *     unmapped (svm_range_unmap_from_gpus) and fault when touched.
 * R28 Without XNACK the queues of all devices stop (svm_range_evict, kgd2kfd_quiesce_mm), if the
 *     range is mapped. The restore work comes 1 ms after the first invalidation and waits for
 *     whoever holds the lock; it maps each invalidated range whole, wherever its pages are, and
 *     starts the queues (svm_range_restore_work). If a range was invalidated while it worked, it
 *     comes again 1 ms later and the queues stay stopped. Each stop is a driver_event
 *     (queue_eviction, svm) of each device.
 * R29 Without XNACK SET_ATTR maps at once, which makes every page in host memory; so does
 *     hipMallocManaged. Nothing moves but by prefetch. A page that the host touched stays in host
 *     memory, mapped from there, until it is prefetched again. A fault ends the process.
 *
 * One server
 * R30 Faults of devices and of the host, SET_ATTR and the restore work hold one lock a process
 *     (svms->lock) from start to end, the copy included: one at a time, the oldest first.
 *     A device's copies come one after another (svm_migrate_copy_memory_gart waits for the last).
 *     Eviction for a device allocation does not take that lock.
 *
 * Without HMM (hmm: off)
 * R31 hipMallocManaged gives pinned host memory; advice and prefetches succeed without effect
 *     (CLR: "ignored, because no HMM support"), which is reported. malloc'ed memory is out of a
 *     device's reach.
 *
 * A1  Time. A fault takes fault_service; each page that moves or is mapped page_update, each copy of
 *     up to 2 MiB (AMDGPU_GTT_MAX_TRANSFER_SIZE) copy_setup, each page of a new buffer object
 *     page_alloc; then the link's time. State changes when the work begins.
 * A2  An access that was dropped (R16) comes back exactly when the 2 ms are over: how often the
 *     hardware raises it again is not known.
 * A3  Allocations begin at multiples of 2 MiB; each is a mapping of its own (two small malloc'ed
 *     ones never share a range).
 * A4  Devices are in one hive only with `hive`; the machine has no link between them: accesses to
 *     another device's memory take the host link.
 * A5  Not modelled: the limit of host memory that ranges count against, memory for page tables,
 *     the time to preempt queues, NUMA balancing and other invalidations from outside, the
 *     eviction of device allocations that kernels before 6.6 allowed (R21 holds for all here),
 *     retry-CAM and interrupt ring overflow, GPU_ALWAYS_MAPPED, GPU_RO, GPU_EXEC (HIP sets none).
 */
#include "driver_list.h"
