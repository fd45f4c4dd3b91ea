/*
 * nvidia_uvm: what NVIDIA's unified-memory driver would do (open-gpu-kernel-modules,
 * kernel-open/nvidia-uvm). Rules from source, not checked on hardware. Each names the function that
 * it was read in; the text is that of 580 where no version stands, "590" is what 590 and later have.
 * R stands for a rule, A for what is assumed or left out. "D" is where pages are to be, "F" the pages
 * of one block that a service is for, "P" what it brings along.
 *
 * Blocks
 * R1  Memory is known by blocks: what one range of addresses has in 2 MiB, aligned by address, at
 *     most 512 pages (uvm_va_block_types.h). cudaMallocManaged makes ranges of whole 2 MiB: the rest
 *     of an allocation's last 2 MiB is memory like the allocation, which trees populate and which
 *     moves. Allocations below 2 MiB share them, one behind another (A2).
 * R2  Advice belongs to a range. On part of a range it cuts the range, and the block, at each end
 *     where the range has another policy (split_as_needed, uvm_policy.c). The pieces keep policy,
 *     residency and mappings, and are never joined again (uvm_va_block_split_locked); what was known
 *     of thrashing is forgotten.
 *
 * Faults of a device
 * R3  Faults are served in batches, by one server a device. A batch takes the oldest entries, up to
 *     fault_batch_count (256), those on one page counted each (fetch_fault_buffer_entries).
 * R4  Sorted by address, then strongest access first; several on one page are served once, by the
 *     strongest (service_fault_batch_block_locked).
 * R5  Block by block: a page that the device has mapped well enough is passed over; one that
 *     thrashes may be throttled (R31); the others get a destination each (R12), and the block is
 *     served once for all of them.
 * R6  Then (replay policy BATCH_FLUSH) the entries that were there when the batch was fetched, and
 *     were not in it, are discarded; where more than half of the batch repeated pages, those that
 *     came since are as well (uvm_parent_gpu_service_replayable_faults). One replay follows: every
 *     stalled access tries again, and faults anew if it must. The next batch starts at once.
 *
 * What is brought along (uvm_perf_prefetch.c)
 * R7  Once for each block and service, if all of F go to one D. Not for the API's prefetches, nor
 *     for eviction. Off: prefetch_enable.
 * R8  If no page of the block is resident anywhere and D is the preferred location, P is the block.
 * R9  590: if there is a preferred location that is not D, P is empty.
 * R10 Else: the pages resident on D, and F, are marked; of every aligned 64 KiB of the block with a
 *     page of F and none that thrashes all are. What lies before the first aligned 64 KiB, behind
 *     the last, or the block if it has none, counts as such a unit. A tree stands on these leaves,
 *     with ghosts before them if the block does not start at 64 KiB: 16 less the pages before the
 *     first 64 KiB. For each page of F that does not thrash: the largest node above it of which more
 *     than 51 % is marked (prefetch_threshold) is in P; nodes end with the leaves.
 *     A node that begins among the ghosts begins at the page with the number of ghosts, not at page
 *     0 (compute_prefetch_region): what lies before is left out. 515 begins at page 0, and counts
 *     leaves with the ghosts that 128 KiB would need, if the block has an aligned 128 KiB.
 * R11 P loses F, what thrashes, and, towards the host, what the host has resident and mapped. It is
 *     dropped while fewer than prefetch_min_faults pages faulted since D changed.
 *
 * Destinations (block_select_processor_residency), the first that fits
 * R12 (a) Read-mostly: a read duplicates at the faulting processor, a write moves there. (b) The
 *     faulting processor is the preferred location: there. (c) Pinned since it thrashes (R32): there.
 *     (d) Nowhere resident: the preferred location if the processor can access that, else the
 *     processor. (e) The processor is in accessed-by, and can access where it is: it stays, and is
 *     mapped. (f) Not resident at the processor, which can access the preferred location: the
 *     preferred location. (g) The processor.
 * R13 A device can access host memory. The host can access a device's only over a coherent link.
 *     Devices cannot access each other's (A5).
 *
 * Moving (uvm_va_block_make_resident_copy, block_copy_resident_pages_between)
 * R14 Pages of F and P that D lacks are unmapped everywhere and copied, whether written or not. A
 *     record is a run of neighbours, of one source and one cause, F or P, in one block. From one
 *     device to another they go through host memory, two records.
 * R15 Pages resident nowhere are made at D, zeroed, without a record: they are data from then on.
 * R16 Duplication keeps the source; all lose the right to write (block_prep_read_duplicate_mapping).
 *     Pages that come to D as the only copy end duplication: other copies go, without bytes.
 * R17 The faulting processor is mapped, F and P, for writes too unless the range is read-mostly or
 *     the page is duplicated (compute_new_permission). From another's memory: a remote mapping.
 * R18 Then those of accessed-by that can access D, but for the preferred location where D is
 *     another (uvm_va_block_add_mappings_after_migration); not in read-mostly ranges.
 *
 * The host
 * R19 A host access that is not mapped is a fault of one page, also the first touch; destination and
 *     tree as above (block_cpu_fault_locked).
 *
 * Calls
 * R20 cudaMemPrefetchAsync brings exactly its pages, block by block, without a tree; under
 *     read-mostly it duplicates. Over several blocks it makes two passes, of which the second maps:
 *     with less memory than the range both move (uvm_migrate).
 * R21 Afterwards D is mapped, for writes if nobody had the page mapped or it is the only copy, and
 *     accessed-by as in R18.
 * R22 A preferred location unmaps what that processor has mapped from afar; an old one that is in
 *     accessed-by is mapped again (uvm_va_range_set_preferred_location). Nothing moves.
 * R23 Accessed-by maps at once what the processor can access and nobody has duplicated
 *     (uvm_va_block_set_accessed_by); its end changes no mapping. Read-mostly: nothing.
 * R24 Read-mostly takes the right to write from who has pages, and their mappings from all others
 *     (va_block_set_read_duplication_locked). Its end leaves the copy at the preferred location, else
 *     at the host, else at the first device, and maps accessed-by.
 *
 * Device memory (uvm_pmm_gpu.c)
 * R25 A block of 2 MiB takes 2 MiB when its first page comes, and keeps them when its pages leave.
 * R26 When memory is short, 2 MiB leave: those without pages first, then those that were made or
 *     served longest ago, as a service or prefetch that made pages of a block of 2 MiB resident there
 *     puts it at the end; accesses do not (block_mark_memory_used, pick_root_chunk_to_evict).
 * R27 All pages of the victim go to host memory, written or not, but those that the host has a copy
 *     of. The host does not have them mapped then: its next access is a fault without a copy.
 *     Accessed-by is mapped (block_add_eviction_mappings).
 * R28 Device allocations drive managed memory out in the same order, as much as they need.
 *
 * Thrashing (uvm_perf_thrashing.c)
 * R29 A move for a fault, or along with one, is an event of its pages at D. Two on a block by
 *     different D within 500 us (thrashing_lapse) begin a record of each page. From then on an event
 *     within a lapse of the page's last counts; 3 (thrashing_threshold) make it thrash: driver_event
 *     "thrashing". A later one beyond a lapse forgets. Prefetches, advice and read-mostly forget the
 *     pages that they move; eviction is no event.
 * R30 A fault on a page that thrashes, within a lapse or pinned: the first processor of a nap (1
 *     lapse) is let through, not the same twice in a row.
 * R31 Others are throttled: the host sleeps until the nap is over, a device's fault is skipped and
 *     comes again with the replay (driver_event "throttling").
 * R32 When a page has been throttled 10 times (thrashing_pin_threshold) it is pinned: at the
 *     preferred location if all who fight can access it, where it is if that is fast for all, else at
 *     who is let through; later to a place that all can access, if there is one. Who can is mapped
 *     from afar, who cannot is throttled (get_hint_for_migration_thrashing).
 * R33 A pin ends after 300 lapses (remote mappings go); a block without events for 2000 lapses
 *     forgets all, 4 times at most.
 * R34 590: the lapse is no constant: each hint that comes within it counts it up by an eighth, each
 *     32nd that comes later as well, to 0.5 s at most: a comparison of signed with unsigned makes
 *     what was meant to shorten it lengthen it (adjust_thrashing_lapse). Nap, pin and the end of a
 *     block's record stay as they were.
 *
 * A1  Time: a batch takes batch_time, each block in it block_time, each page of F page_time, a block
 *     that had no memory there new_block_time, one that the host had mapped unmap_time, a victim
 *     evict_time, and the copies the link's time, one after another; a host fault cpu_fault_time in
 *     place of the first two. State changes when a block's turn comes.
 * A2  Where cudaMallocManaged puts small allocations is not in the source: here the next free page of
 *     the last 2 MiB that were made for such, if they have room. An H200 moved 2 MiB for 1 MiB and 12 KiB.
 * A3  Of a block that advice has cut, all pieces share one 2 MiB of device memory, taken with the
 *     first page of any; the driver takes 64 KiB and 4 KiB for pieces and mixes blocks in 2 MiB.
 * A4  A wave faults on one page at a time, or on faults_per_wave side by side, a group on as many as
 *     its waves do: which instructions wait for which the trace does not tell.
 * A5  Devices have no peer access. Preferred location and accessed-by of another device then count
 *     as the rules say: pages go to who faults.
 * A6  Atomics are writes: the rights for system-wide atomics, and their revocation, are not modelled.
 * A7  Access counters are off, as they are without ATS. On machines with a coherent link they would
 *     be on: not modelled. There only destinations and mappings (R12, R13, R18, R32) differ here.
 * A8  A batch of throttled faults only is replayed when the nap is over; the driver replays it again
 *     and again until then. The host sleeps exactly the nap, not up to half as long again.
 * A9  Memory that CUDA did not allocate is accessed where it is (no HMM).
 * A10 Not modelled: prefetch instructions and their faults, range groups and streams that memory is
 *     attached to, discarded memory, NUMA nodes, confidential computing, memory for page tables.
 */
