/*
 * nvidia_uvm: what NVIDIA's unified-memory driver would do (open-gpu-kernel-modules,
 * kernel-open/nvidia-uvm). Rules from source. How far off they are on an H200 is in
 * traces/h200; evictions were not checked on hardware. Each names the function that
 * it was read in; the text is that of 580 where no version stands, "590" is what 590 and later have.
 * R stands for a rule, A for what is assumed or left out. "D" is where pages are to be, "F" the pages
 * of one block that a service is for, "P" what it brings along.
 *
 * Blocks
 * R1  Memory is known by blocks: what one range of addresses has in 2 MiB, aligned by address, at
 *     most 512 pages (uvm_va_block_types.h). An allocation of 2 MiB and more is a range of just its
 *     pages, from an address that 2 MiB divide. Smaller ones share ranges of 2 MiB: what is left of
 *     those is memory like theirs, which trees populate and which moves (A2).
 * R2  Advice belongs to a range. On part of a range it cuts the range, and the block, at each end
 *     where the range has another policy (split_as_needed, uvm_policy.c). The pieces keep policy,
 *     residency and mappings, and are never joined again (uvm_va_block_split_locked); what was known
 *     of thrashing is forgotten.
 *
 * Faults of a device
 * R3  Faults are served in batches, by one server a device. A batch takes the oldest entries that have
 *     come (H1) when the driver looks, up to fault_batch_count (256), those on one page counted each
 *     (fetch_fault_buffer_entries reads PUT once).
 * R4  Sorted by address, then strongest access first; several on one page are served once, by the
 *     strongest (service_fault_batch_block_locked).
 * R5  Block by block: a page that the device has mapped well enough is passed over; one that
 *     thrashes may be throttled (R31); the others get a destination each (R12), and the block is
 *     served once for all of them.
 * R6  Then (replay policy BATCH_FLUSH) the entries that were there when the batch was fetched, and
 *     were not in it, are discarded; where more than half of the batch repeated pages, those that
 *     came since are as well (uvm_parent_gpu_service_replayable_faults). One replay follows: every
 *     stalled access tries again, and faults anew if it must. The driver looks again fetch_time after
 *     that; if nothing has come it sleeps, until interrupt_time after an entry.
 *
 * How entries come: no rules of the driver, but what an H200 did (580.159). All of its entries were
 * recorded, with client, page and the GPU's time (the driver's tools queue), while kernels of 1 to
 * 1056 groups read and wrote; the parameters are read off that, but where it says that they are
 * inferred.
 * H1  One entry each entry_time, whoever faults. Clusters of compute units (GPCs) take turns.
 * H2  A client (a compute unit, one uTLB) has entries of one access at a time, and comes again behind
 *     the others of its cluster. Each wave that makes the access is an entry: what faults in step
 *     repeats pages.
 * H3  Entries of loads come in the order in which waves arrive. A cluster comes to a page by up to one
 *     and two thirds of entry_jitter late, at random, and late to neighbours together (inferred: the
 *     part of L2 that has their data). None of a client's stores overtakes another.
 * H4  A client faults on client_accesses pages at a time, and on client_misses pieces of miss_pages
 *     (32 KiB). Its other accesses wait for a replay, and get no entry. Lanes that were 4 KiB apart had
 *     56 entries (as many as Allen and Ge tell, SC'21), 16 KiB apart 26, 64 KiB apart 14. Not
 *     modelled: with 64 KiB each second batch had just 7.
 * H5  A load of a page that is there takes touch_time, and its wave waits for it; stores store_time, and
 *     a wave has stores_ahead under way. What comes to the same page again at once takes none. Known to
 *     be too long for loads that need not wait for each other: an unrolled loop took 50 to 180 ns each.
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
 *     Each run of a block's pages that comes to be mapped from afar at once is a record, a `mapping`
 *     row that is merged with no other (block_map_gpu_to, block_map_cpu_to).
 *
 * The host
 * R19 A host access that is not mapped is a fault of one page, also the first touch; destination and
 *     tree as above (block_cpu_fault_locked).
 *
 * Calls
 * R20 cudaMemPrefetchAsync brings exactly its pages, block by block, without a tree; under
 *     read-mostly it duplicates. Over several blocks it makes two passes, of which the second maps:
 *     with less memory than the range both move (uvm_migrate).
 * R21 Afterwards D is mapped, for writes where it has the only copy, and accessed-by as in R18.
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
 *     Accessed-by is mapped, but for read-mostly ranges (block_add_eviction_mappings).
 * R28 Device allocations drive managed memory out in the same order, as much as they need.
 *
 * Thrashing (uvm_perf_thrashing.c)
 * R29 A move for a fault, or along with one, is an event of its pages at D. So is the loss of a right
 *     to write, at who lost it: duplication takes it (R16), also from pages that come along and are
 *     there already; a device's counts twice, for writes and for atomics. Two on a block by different
 *     processors within 500 us (thrashing_lapse) begin a record of each page. From then on an event
 *     within a lapse of the page's last counts; 3 (thrashing_threshold) make it thrash: driver_event
 *     "thrashing". A later one beyond a lapse forgets. Prefetches, advice and read-mostly forget the
 *     pages that they move; eviction is no event (thrashing_event_cb).
 * R30 A fault on a page that thrashes, within a lapse or pinned: the first processor of a nap (1
 *     lapse) is let through, not the same twice in a row.
 * R31 Others are throttled: the host sleeps until the nap is over, a device's fault is skipped and
 *     comes again with the replay (driver_event "throttling").
 * R32 When a page has been throttled 10 times (thrashing_pin_threshold) it is pinned: at the
 *     preferred location if all who fight can access it, where it is if that is fast for all, else at
 *     who is let through; later to a place that all can access, if there is one. Who can is mapped
 *     from afar, who cannot is throttled (get_hint_for_migration_thrashing). If rights were lost on
 *     a page that is pinned, all but who is let through are throttled.
 * R33 A pin ends after 300 lapses (remote mappings go); a block without events for 2000 lapses
 *     forgets all, 4 times at most.
 * R34 590: the lapse is no constant: each hint that comes within it counts it up by an eighth, each
 *     32nd that comes later as well, to 0.5 s at most: a comparison of signed with unsigned makes
 *     what was meant to shorten it lengthen it (adjust_thrashing_lapse). Nap, pin and the end of a
 *     block's record stay as they were.
 *
 * Hosts with larger pages
 * R35 The driver's page is the host's (PAGE_SIZE; PAGES_PER_UVM_VA_BLOCK): where that is 64 KiB, as on
 *     POWER9, faults, destinations, mappings and what advice cuts are in 64 KiB (host_page).
 *
 * R36 Access counters (uvm_gpu_access_counters.c): on hosts that share page tables with devices (ATS)
 *     256 accesses of a device to 2 MiB that it has mapped from afar (access_counter_threshold) bring
 *     those of its 64 KiB that were accessed, with what comes along (R10), where R12 says, but for (e).
 *     One thread serves them and faults, in turns.
 *
 * A1  Time: an idle driver looks interrupt_time after the first fault, and wake_time later still if it
 *     had been idle for wake_after. A batch takes batch_time, each block in it block_time, each page of
 *     F page_time and of P prefetched_page_time, a block that had no memory there new_block_time, one
 *     that the host had mapped unmap_time, a victim evict_time, 2 MiB of host memory that a device's
 *     fault makes host_block_time, a run that is mapped from afar map_time, and the copies the link's
 *     time, one after another, with nothing beside them. A host fault takes cpu_fault_time in place of
 *     the first two, and cpu_page_time for each page that it brings. State changes when a block's turn
 *     comes. On an H200 all but evict_time are fits to its batches (machines/h200.yaml, sim/calibrate):
 *     half of 2854 batches within 9 %, nine in ten within 26 %; the sums of nine in ten of 56
 *     configurations within 20 %. Batches of many blocks take up to a fifth longer there than so.
 * A2  Where cudaMallocManaged puts allocations is not in the source. On an H200 (addresses, bytes and
 *     faults) those of 2 MiB and more had a range each, of no page more than asked for; smaller ones
 *     lay in 2 MiB that they share, at multiples of 512 bytes, each at the beginning of the smallest
 *     hole that had room for it (all 136 of 19 programs, compared by address); what was freed was a
 *     hole, whose pages stayed where they were. So it is here. Neighbours share a page, which is
 *     wherever any of them brings it; rows name the one that has its first bytes. A trace has pages
 *     from an allocation's first byte on: each is taken for the page of the 2 MiB that its first byte
 *     is in, and the last of an allocation for the one of its last byte too, if that is another. So an
 *     allocation that is used all over has all of its bytes; where a part is used, it can be a page
 *     too few, or too many. An access to such a last page needs both, which on a card are different
 *     accesses: where it does not get both in 64 services (processors fight over one, or a read-mostly
 *     neighbour takes the right to write) only the first counts from then on.
 * A3  Of a block that advice has cut, all pieces share one 2 MiB of device memory, taken with the
 *     first page of any; the driver takes 64 KiB and 4 KiB for pieces, and for an allocation's last
 *     block of less than 2 MiB, and mixes blocks in 2 MiB. Here such a last block takes its pages.
 * A4  A group makes as many touches at once as its lanes do with one access each: the trace has
 *     groups' touches, waves merged, so that this is the average over the launch (touches x lanes of a
 *     group / accesses of lanes); with faults_per_wave so many times as many. Its waves share them. Which
 *     instructions wait for which the trace does not tell, nor which waves make a touch.
 * A5  Devices have no peer access. Preferred location and accessed-by of another device then count
 *     as the rules say: pages go to who faults.
 * A6  Atomics are writes: the rights for system-wide atomics are not modelled, nor that a write of the
 *     host takes them from who has its memory mapped.
 * A7  Access counters are off unless a machine file or policy says access_counters: on. An access is
 *     a page that a group touches, and a counter's 2 MiB are those of the address, not of memory;
 *     notifications that bring something take a batch's time, others none.
 * A8  A batch of throttled faults only is replayed when the nap is over; the driver replays it again
 *     and again until then. The host sleeps exactly the nap, not up to half as long again.
 * A9  Memory that CUDA did not allocate is accessed where it is (no HMM).
 * A10 Not modelled: prefetch instructions and their faults, range groups and streams that memory is
 *     attached to, discarded memory, NUMA nodes, confidential computing, memory for page tables.
 * A11 Pages that were served are not taken by another processor's faults before the replay that lets
 *     who faulted access them: the faults on that 2 MiB come again, the host's waits. Without that two
 *     who take turns exactly could wait for each other for ever.
 * A12 Copies from and to managed memory are accesses of the device, which fault and bring neighbours
 *     along like a kernel's, whatever their kind, but from host to host: so an H200 took them. How
 *     many pages they touch at once is estimated (copy_touch.c).
 */
#include "driver_list.h"
#include "uvm.h"

#include "trace/base/error.h"

#include <stdlib.h>

static const char *const version_choices[] = {"515", "535", "550", "580",
					      "590", "595", NULL}; /* enum uvm_version */

static const char *const host_page_choices[] = {"4KiB", "64KiB", NULL};
static const uint32_t host_page_units[] = {1, 16}; /* 4 KiB each */

enum uvm_param {
	PARAM_VERSION,
	PARAM_HOST_PAGE,
	PARAM_BATCH_COUNT,
	PARAM_PREFETCH_ENABLE,
	PARAM_PREFETCH_THRESHOLD,
	PARAM_PREFETCH_MIN_FAULTS,
	PARAM_THRASHING_ENABLE,
	PARAM_THRASHING_THRESHOLD,
	PARAM_THRASHING_PIN_THRESHOLD,
	PARAM_THRASHING_LAPSE,
	PARAM_THRASHING_NAP,
	PARAM_THRASHING_EPOCH,
	PARAM_THRASHING_PIN,
	PARAM_THRASHING_MAX_RESETS,
	PARAM_FAULTS_PER_WAVE,
	PARAM_ACCESS_COUNTERS,
	PARAM_ACCESS_COUNTER_THRESHOLD,
	PARAM_GPU_CLUSTERS,
	PARAM_CLIENT_ACCESSES,
	PARAM_CLIENT_MISSES,
	PARAM_MISS_PAGES,
	PARAM_ENTRY_TIME,
	PARAM_ENTRY_JITTER,
	PARAM_FETCH_TIME,
	PARAM_INTERRUPT_TIME,
	PARAM_TOUCH_TIME,
	PARAM_STORE_TIME,
	PARAM_STORES_AHEAD,
	PARAM_BATCH_TIME,
	PARAM_BLOCK_TIME,
	PARAM_PAGE_TIME,
	PARAM_NEW_BLOCK_TIME,
	PARAM_UNMAP_TIME,
	PARAM_EVICT_TIME,
	PARAM_HOST_BLOCK_TIME,
	PARAM_MAP_TIME,
	PARAM_HOST_FAULT_TIME,
	PARAM_PREFETCHED_PAGE_TIME,
	PARAM_HOST_PAGE_TIME,
	PARAM_WAKE_TIME,
	PARAM_WAKE_AFTER,
};

#define BATCH_MOST    4096
#define LAPSE_DEFAULT "500us"
#define NS_PER_S      1e9

/*
 * What batches cost is published for a Titan V with driver 460 only. Read off the plots of Allen and
 * Ge's data (uvm-eval, paper-figs): 4 to 24 KB take 20 to 30 us; without prefetching 40 us and 2.8 us
 * a page of 4 KB; stream, with about 4 blocks and 200 KB a batch, 80 to 150 us, with pages that the
 * host had mapped 170 to 300 us; an eviction adds about 200 us. The copies are in those figures: the
 * parts here are estimates from them, not fits.
 */
#define SC21 "(estimated from Allen and Ge's plots, SC'21 and uvm-eval: Titan V, driver 460)"

/* Of how entries of the fault buffer come (H1 to H5). */
#define H200 "(measured on an H200)"

#define UNMEASURED "(left out where nobody has measured it)"

#define TIME(key, time, text)                                                                      \
	{                                                                                          \
		.name = key, .type = UM_PARAM_DURATION, .minimum = 0, .maximum = NS_PER_S,         \
		.default_text = time, .help = text                                                 \
	}
#define COUNT(key, least, most, count, text)                                                       \
	{                                                                                          \
		.name = key, .type = UM_PARAM_COUNT, .minimum = least, .maximum = most,            \
		.default_text = count, .help = text                                                \
	}

static const struct um_param uvm_params[] = {
	[PARAM_VERSION] = {.name = "version",
			   .type = UM_PARAM_CHOICE,
			   .default_text = "580",
			   .choices = version_choices,
			   .help = "whose rules, where they differ: the driver's branch"},
	[PARAM_HOST_PAGE] = {.name = "host_page",
			     .type = UM_PARAM_CHOICE,
			     .default_text = "4KiB",
			     .choices = host_page_choices,
			     .help = "the host's page, which is the driver's: 64KiB on POWER9"},
	[PARAM_BATCH_COUNT] = COUNT("fault_batch_count", 1, BATCH_MOST, "256",
				    "entries of the fault buffer that are served together "
				    "(uvm_perf_fault_batch_count)"),
	[PARAM_PREFETCH_ENABLE] = {.name = "prefetch_enable",
				   .type = UM_PARAM_BOOL,
				   .default_text = "on",
				   .help = "whether faults bring neighbours along "
					   "(uvm_perf_prefetch_enable)"},
	[PARAM_PREFETCH_THRESHOLD] =
		COUNT("prefetch_threshold", 1, 100, "51",
		      "of how many hundredths of a node more must be there, so that the rest is "
		      "brought along (uvm_perf_prefetch_threshold)"),
	[PARAM_PREFETCH_MIN_FAULTS] =
		COUNT("prefetch_min_faults", 1, 20, "1",
		      "pages of a block that must have faulted before any is brought along "
		      "(uvm_perf_prefetch_min_faults)"),
	[PARAM_THRASHING_ENABLE] = {.name = "thrashing_enable",
				    .type = UM_PARAM_BOOL,
				    .default_text = "on",
				    .help = "whether pages that go to and fro are throttled and "
					    "pinned (uvm_perf_thrashing_enable)"},
	[PARAM_THRASHING_THRESHOLD] = COUNT("thrashing_threshold", 1, 7, "3",
					    "events that make a page thrash "
					    "(uvm_perf_thrashing_threshold)"),
	[PARAM_THRASHING_PIN_THRESHOLD] =
		COUNT("thrashing_pin_threshold", 1, 255, "10",
		      "times that a page is throttled before it is pinned "
		      "(uvm_perf_thrashing_pin_threshold)"),
	[PARAM_THRASHING_LAPSE] = TIME("thrashing_lapse", LAPSE_DEFAULT,
				       "within which two events are thrashing "
				       "(uvm_perf_thrashing_lapse_usec)"),
	[PARAM_THRASHING_NAP] = COUNT("thrashing_nap", 1, 100, "1",
				      "lapses that a throttled processor waits "
				      "(uvm_perf_thrashing_nap)"),
	[PARAM_THRASHING_EPOCH] = COUNT("thrashing_epoch", 1, 1e6, "2000",
					"lapses without events after which a block starts over "
					"(uvm_perf_thrashing_epoch)"),
	[PARAM_THRASHING_PIN] = COUNT("thrashing_pin", 0, 1e6, "300",
				      "lapses that a page stays pinned; 0: for good "
				      "(uvm_perf_thrashing_pin)"),
	[PARAM_THRASHING_MAX_RESETS] = COUNT("thrashing_max_resets", 0, 1e6, "4",
					     "how often a block starts over "
					     "(uvm_perf_thrashing_max_resets)"),
	[PARAM_FAULTS_PER_WAVE] =
		COUNT("faults_per_wave", 1, 64, "1",
		      "pages that a wave can wait for side by side: loads that the compiler put "
		      "before their use (not in the source; an unrolled loop of one lane waited "
		      "for 8 on an H200)"),
	[PARAM_GPU_CLUSTERS] =
		COUNT("gpu_clusters", 1, 64, "8",
		      "clusters of compute units that take turns at the fault buffer " H200),
	[PARAM_CLIENT_ACCESSES] = COUNT("client_accesses", 1, 4096, "56",
					"pages that a compute unit can fault on at once " H200),
	[PARAM_CLIENT_MISSES] =
		COUNT("client_misses", 1, 1024, "14",
		      "pieces of miss_pages that a compute unit can fault on at once " H200),
	[PARAM_MISS_PAGES] =
		COUNT("miss_pages", 1, 512, "8", "pages that are one miss of a compute unit " H200),
	[PARAM_ENTRY_TIME] =
		TIME("entry_time", "20ns",
		     "time from one entry of the fault buffer to the next; 0: all that "
		     "fault are entries at once " H200),
	[PARAM_ENTRY_JITTER] = TIME("entry_jitter", "150ns",
				    "by which some pages' entries come later than others' " H200),
	[PARAM_FETCH_TIME] =
		TIME("fetch_time", "2300ns",
		     "time from a replay until the driver looks for the entries that follow " H200),
	[PARAM_INTERRUPT_TIME] =
		TIME("interrupt_time", "20us",
		     "time from the first entry until a driver that is idle looks for it " H200),
	[PARAM_TOUCH_TIME] =
		TIME("touch_time", "250ns",
		     "time from a wave's load of a page that is there to its next, which "
		     "waits for it " H200),
	[PARAM_STORE_TIME] =
		TIME("store_time", "25ns",
		     "time from a wave's store to a page that is there to its next, which "
		     "does not wait " H200),
	[PARAM_STORES_AHEAD] =
		COUNT("stores_ahead", 1, 64, "3", "stores that a wave can have under way " H200),
	[PARAM_ACCESS_COUNTERS] =
		{.name = "access_counters",
		 .type = UM_PARAM_BOOL,
		 .default_text = "off",
		 .help = "whether what devices access from afar comes to them, as "
			 "on hosts with ATS "
			 "(uvm_perf_access_counter_migration_enable)"},
	[PARAM_ACCESS_COUNTER_THRESHOLD] = COUNT("access_counter_threshold", 1, 65535, "256",
						 "accesses of 2 MiB from afar until it comes "
						 "(uvm_perf_access_counter_threshold)"),
	[PARAM_BATCH_TIME] = TIME("batch_time", "20us", "time of a batch of faults " SC21),
	[PARAM_BLOCK_TIME] = TIME("block_time", "5us", "time of each block in a batch " SC21),
	[PARAM_PAGE_TIME] = TIME("page_time", "1us", "time of each page that faulted " SC21),
	[PARAM_NEW_BLOCK_TIME] =
		TIME("new_block_time", "20us", "time of a block's first memory on a device " SC21),
	[PARAM_UNMAP_TIME] =
		TIME("unmap_time", "25us",
		     "time to unmap from the host what moves to a device, a block " SC21),
	[PARAM_EVICT_TIME] = TIME("evict_time", "200us",
				  "time of an eviction, without its "
				  "copy " SC21),
	[PARAM_HOST_BLOCK_TIME] =
		TIME("host_block_time", "0ns",
		     "time to make 2 MiB of host memory for a device's fault (left out where "
		     "nobody has measured it)"),
	[PARAM_MAP_TIME] =
		TIME("map_time", "0ns",
		     "time to map neighbours from afar, a run (left out where nobody has measured "
		     "it)"),
	[PARAM_HOST_FAULT_TIME] =
		TIME("cpu_fault_time", "10us", "time of a fault of the host (assumed)"),
	[PARAM_PREFETCHED_PAGE_TIME] =
		TIME("prefetched_page_time", "0ns",
		     "time of each page that is brought along to a device " UNMEASURED),
	[PARAM_HOST_PAGE_TIME] =
		TIME("cpu_page_time", "0ns",
		     "time of each page that a fault of the host brings " UNMEASURED),
	[PARAM_WAKE_TIME] = TIME("wake_time", "0ns",
				 "time besides interrupt_time, if the driver had been idle for "
				 "wake_after " UNMEASURED),
	[PARAM_WAKE_AFTER] = TIME("wake_after", "1ms",
				  "for how long a driver is idle until it sleeps deeply (assumed: "
				  "between 100 us and some ms on an H200)"),
	{.name = NULL},
};

static void take_costs(struct uvm_costs *costs, const struct um_param_value *params)
{
	*costs = (struct uvm_costs){
		.batch_ns = params[PARAM_BATCH_TIME].integer,
		.block_ns = params[PARAM_BLOCK_TIME].integer,
		.page_ns = params[PARAM_PAGE_TIME].integer,
		.new_block_ns = params[PARAM_NEW_BLOCK_TIME].integer,
		.unmap_ns = params[PARAM_UNMAP_TIME].integer,
		.evict_ns = params[PARAM_EVICT_TIME].integer,
		.host_block_ns = params[PARAM_HOST_BLOCK_TIME].integer,
		.map_ns = params[PARAM_MAP_TIME].integer,
		.host_fault_ns = params[PARAM_HOST_FAULT_TIME].integer,
		.prefetched_page_ns = params[PARAM_PREFETCHED_PAGE_TIME].integer,
		.host_page_ns = params[PARAM_HOST_PAGE_TIME].integer,
		.wake_ns = params[PARAM_WAKE_TIME].integer,
		.wake_after_ns = params[PARAM_WAKE_AFTER].integer,
		.fetch_ns = params[PARAM_FETCH_TIME].integer,
		.interrupt_ns = params[PARAM_INTERRUPT_TIME].integer,
	};
}

static void take_thrashing(struct uvm_thrash_params *thrashing, const struct um_param_value *params)
{
	um_ns lapse = params[PARAM_THRASHING_LAPSE].integer;
	struct um_param_value usual;

	um_param_default(&usual, &uvm_params[PARAM_THRASHING_LAPSE]);
	*thrashing = (struct uvm_thrash_params){
		.enable = params[PARAM_THRASHING_ENABLE].integer,
		.threshold = params[PARAM_THRASHING_THRESHOLD].integer,
		.pin_threshold = params[PARAM_THRASHING_PIN_THRESHOLD].integer,
		.max_resets = params[PARAM_THRASHING_MAX_RESETS].integer,
		.adjusts = lapse == usual.integer,
		.lapse_ns = lapse,
		.nap_ns = lapse * params[PARAM_THRASHING_NAP].integer,
		.epoch_ns = lapse * params[PARAM_THRASHING_EPOCH].integer,
		.pin_ns = lapse * params[PARAM_THRASHING_PIN].integer,
	};
}

static void take_path(struct um_fault_path *path, const struct um_machine_spec *spec,
		      const struct um_param_value *params)
{
	*path = (struct um_fault_path){
		.entry_ns = params[PARAM_ENTRY_TIME].integer,
		.clients = spec->compute_units ? spec->compute_units : 1,
		.clusters = (uint32_t)params[PARAM_GPU_CLUSTERS].integer,
		.jitter_ns = params[PARAM_ENTRY_JITTER].integer,
		.accesses = (uint32_t)params[PARAM_CLIENT_ACCESSES].integer,
		.misses = (uint32_t)params[PARAM_CLIENT_MISSES].integer,
		.miss_pages = (uint32_t)params[PARAM_MISS_PAGES].integer,
		.touch_ns = params[PARAM_TOUCH_TIME].integer,
		.store_ns = params[PARAM_STORE_TIME].integer,
		.stores = (uint32_t)params[PARAM_STORES_AHEAD].integer,
	};
}

static void take_params(struct uvm *uvm, const struct um_machine_spec *spec,
			const struct um_param_value *params)
{
	uvm->version = (enum uvm_version)params[PARAM_VERSION].integer;
	uvm->coherent = spec->link.coherent;
	uvm->unit = host_page_units[params[PARAM_HOST_PAGE].integer];
	uvm->batch_entries = params[PARAM_BATCH_COUNT].integer;
	uvm->prefetches = params[PARAM_PREFETCH_ENABLE].integer;
	uvm->prefetch_threshold = params[PARAM_PREFETCH_THRESHOLD].integer;
	uvm->prefetch_min_faults = params[PARAM_PREFETCH_MIN_FAULTS].integer;
	uvm->faults_per_wave = (uint32_t)params[PARAM_FAULTS_PER_WAVE].integer;
	uvm->counts_accesses = params[PARAM_ACCESS_COUNTERS].integer;
	uvm->counter_threshold = params[PARAM_ACCESS_COUNTER_THRESHOLD].integer;
	take_path(&uvm->path, spec, params);
	take_costs(&uvm->costs, params);
	take_thrashing(&uvm->thrashing, params);
}

static void uvm_destroy(struct um_driver *driver)
{
	struct uvm *uvm = uvm_of(driver);

	if (!driver)
		return;
	for (size_t id = 0; id < uvm->allocation_slots; id++)
		if (uvm->allocations[id])
			um_uvm_drop_allocation(uvm, uvm->allocations[id]);
	free(uvm->allocations);
	free(uvm->entries);
	free(uvm->sorted);
	for (um_device_id device = 0; device < uvm->devices; device++)
		um_evict_destroy(uvm->order[device]);
	free(uvm);
}

static int make_parts(struct uvm *uvm, const struct um_driver_env *env)
{
	int error = 0;

	uvm->entries = calloc(uvm->batch_entries, sizeof(*uvm->entries));
	uvm->sorted = calloc(uvm->batch_entries, 2 * sizeof(*uvm->sorted));
	if (!uvm->entries || !uvm->sorted)
		return um_fail(UM_ENOMEM, "no memory for %zu faults", uvm->batch_entries);
	for (um_device_id device = 0; device < uvm->devices && !error; device++)
		error = um_evict_create(&uvm->order[device], env->evict, um_driver_nvidia_uvm.evict,
					device);
	return error;
}

static int uvm_create(struct um_driver **out, const struct um_driver_env *env)
{
	const struct um_machine_spec *spec = um_machine_spec(env->machine);
	struct uvm *uvm = calloc(1, sizeof(*uvm));
	int error;

	if (!uvm)
		return um_fail(UM_ENOMEM, "no memory for the driver");
	uvm->base.ops = &um_driver_nvidia_uvm;
	uvm->env = env;
	uvm->machine = env->machine;
	uvm->devices = (um_device_id)spec->devices;
	take_params(uvm, spec, env->params);
	error = make_parts(uvm, env);
	if (error)
		uvm_destroy(&uvm->base);
	else
		*out = &uvm->base;
	return error;
}

static int uvm_on_alloc(struct um_driver *driver, const struct um_alloc *alloc, um_ns *done_at)
{
	struct uvm *uvm = uvm_of(driver);

	(void)done_at;
	if (um_machine_home(uvm->machine, alloc->allocation) != UM_HOME_MANAGED)
		return 0;
	return um_uvm_add_allocation(uvm, alloc->allocation, alloc->bytes);
}

static int uvm_on_free(struct um_driver *driver, um_alloc_id id, um_ns *done_at)
{
	struct uvm *uvm = uvm_of(driver);
	struct uvm_allocation *allocation = um_uvm_find(uvm, id);

	(void)done_at;
	return allocation ? um_uvm_remove_allocation(uvm, allocation) : 0;
}

/* Pins that ended while nobody faulted. */
static int uvm_on_launch(struct um_driver *driver, const struct um_launch *launch, um_ns *start_at)
{
	struct uvm *uvm = uvm_of(driver);

	(void)start_at;
	uvm->counters[launch->device].op = launch->op;
	um_uvm_thrash_unpin_due(uvm);
	return uvm->failed;
}

static int uvm_on_exit(struct um_driver *driver)
{
	return uvm_of(driver)->failed;
}

static uint32_t uvm_faults_side_by_side(const struct um_driver *driver, uint32_t touches)
{
	return touches * ((const struct uvm *)driver)->faults_per_wave;
}

static void uvm_fault_path(const struct um_driver *driver, struct um_fault_path *path)
{
	*path = ((const struct uvm *)driver)->path;
}

const struct um_driver_ops um_driver_nvidia_uvm = {
	.name = "nvidia_uvm",
	.summary = "NVIDIA's UVM: fault batches, 2 MiB blocks, a prefetching tree",
	.validated = "rules from source, checked on an H200 but for evictions (traces/h200)",
	.params = uvm_params,
	.default_page_bytes = 65536,
	.packed_bytes = UINT64_C(2) << 20, /* A2 */
	.evict = &um_evict_fifo,
	.create = uvm_create,
	.faults_side_by_side = uvm_faults_side_by_side,
	.fault_path = uvm_fault_path,
	.on_alloc = uvm_on_alloc,
	.on_free = uvm_on_free,
	.on_advice = um_uvm_on_advice,
	.on_prefetch = um_uvm_on_prefetch,
	.on_pressure = um_uvm_on_pressure,
	.on_faults = um_uvm_on_faults,
	.on_launch = uvm_on_launch,
	.on_touch = um_uvm_on_touch,
	.copies_fault = true,
	.on_copied = um_uvm_on_copied,
	.on_exit = uvm_on_exit,
	.destroy = uvm_destroy,
};
