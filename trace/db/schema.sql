-- The umtrace database: what a program did to its pages (`run.role` = 'trace'), or what a simulated
-- driver would have done (`run.role` = 'simulation'). One file, one run. The simulator writes the
-- schema that it reads, so that one reader serves both and two databases can be set side by side.
--
-- application_id 0x554d5452 ("UMTR"), user_version = version of this file. A reader refuses a newer
-- version. Added tables and columns raise the version; nothing changes its meaning within one. What
-- is added may be NULL, and is where an older file is read.
--
-- Units are in the names: _ns (of run.clock, or of origin.clock where the record has another),
-- _bytes. A page is 4096 bytes and is numbered within
-- its allocation; a line is 64 bytes, bit i of a mask is line i of the page. Ids are in program
-- order from 1. Devices count from 0; -1 is the host. NULL is "not known", never "none".
-- Where rows are many, a word is kept as its code and an end as a duration; the word and the end are
-- computed columns, which read like any other.

PRAGMA application_id = 0x554d5452;
-- 2: driver_event, bound, run.xnack_source; 3: driver_event.waited_ns; 4: user_range, fault.site,
-- driver_event.address, run.driver_version, run.clocks, op.kind 'range'; 5: part, selection,
-- host_access, kernel.recorded, run.rank_source, run.job, op.kind 'name', 'name_end',
-- 'profiler_start', 'profiler_stop' and 'callback'
-- 8: page_access.touch 16 and 32
PRAGMA user_version = 8;

-- One row. `ended`: 'exited' (exit_status), 'signalled' (exit_signal), or 'running': whoever wrote
-- the file was stopped before the program ended, and the trace ends early.
CREATE TABLE run (
	id INTEGER PRIMARY KEY CHECK (id = 1),
	role TEXT NOT NULL CHECK (role IN ('trace', 'simulation')),
	tool TEXT NOT NULL,           -- 'umtrace 0.1.0'
	command TEXT NOT NULL,        -- as typed, shell-quoted
	source TEXT,                  -- simulation: the trace that was replayed, as named
	backend TEXT,                 -- 'emulated' (HIP runtime without a GPU), 'cupti' (NVIDIA's, on a GPU); of
	                              -- umtrace --import the format: 'rocpd', 'nsys', 'nvprof', 'rocr_svm_profile',
	                              -- 'rocprof_sys_totals'
	runtime TEXT,                 -- what ran inside the program, with its version; what was imported
	host TEXT,                    -- of a simulation: where the program that was traced ran, as all to `job`
	pid INTEGER,
	rank INTEGER,                 -- of `ranks` processes of one job, from 0; NULL: no launcher told
	ranks INTEGER,
	rank_source TEXT,             -- the variable that told it: 'OMPI_COMM_WORLD_RANK', ...
	job TEXT,                     -- alike in the ranks of one job: 'PMIX_NAMESPACE=...'; NULL: not known
	executable TEXT,              -- path of the program
	environment TEXT,             -- JSON object: the variables that HIP's runtimes and drivers read
	started TEXT,                 -- ISO 8601, UTC
	clock TEXT NOT NULL,          -- 'CLOCK_BOOTTIME', or 'simulated' from 0; imported: the file's
	start_ns INTEGER NOT NULL DEFAULT 0,
	end_ns INTEGER,
	ended TEXT NOT NULL DEFAULT 'running' CHECK (ended IN ('exited', 'signalled', 'running')),
	exit_status INTEGER,
	exit_signal INTEGER,
	host_watch TEXT,              -- how host accesses were seen: 'wp-async', 'uffd-sync', 'mprotect', 'none'
	filter_pages INTEGER,         -- K of the access stream
	machine TEXT,                 -- name of the machine file that was played or simulated
	machine_text TEXT,            -- its whole text
	driver TEXT,                  -- model that made the modelled rows
	driver_parameters TEXT,       -- JSON object, every parameter, defaults too
	xnack TEXT,                   -- 'on', 'off': whether devices retried its faults; NULL: they have no such switch
	xnack_source TEXT,            -- who decided that: 'HSA_XNACK=1', 'HSA_XNACK is not set', '--xnack', ...
	page_bytes INTEGER,           -- page size of the model
	memory_bytes INTEGER,         -- device memory that the program could use
	driver_version TEXT,          -- of the driver that was measured: '580.159.03'
	clocks TEXT,                  -- JSON object: of its devices while it was measured, where told
	policy TEXT                   -- simulation: the effective policy, YAML; trace: that of umtrace -P
);

CREATE TABLE device (
	device INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	arch TEXT,
	memory_bytes INTEGER,
	compute_units INTEGER,
	wave_lanes INTEGER,           -- that ran in step: page_access.requests are of such waves
	link TEXT,                    -- to the host, by its own name: 'PCIe 4.0 x16', ...; 'shared memory': none
	link_to_device_bytes_per_s REAL,
	link_to_host_bytes_per_s REAL
);

-- What each kind of record in this file is. Figures of different origin are never compared as equals,
-- nor times of different clocks. A file says of each kind that it could hold what it is, 'absent'
-- where it holds none; a kind without a row here is as good as absent. `record` is a table, or
-- 'op.time' (start_ns and end_ns of op), 'page_access.host' (those of host ops),
-- 'page_access.requests' (the columns requests and atomics), 'fault.host' (those of the host, where
-- they are of another origin than those of devices), 'allocation' (imported, or inferred from the
-- addresses that faulted and moved), 'op.inferred' (launches and waits that only times tell of:
-- umtrace --import). 'source.' before it: of the trace that a
-- simulation started from, and not in the simulation's own file.
CREATE TABLE origin (
	record TEXT PRIMARY KEY,
	origin TEXT NOT NULL CHECK (origin IN
		('measured', 'emulated', 'modelled', 'imported', 'inferred', 'absent')),
	clock TEXT NOT NULL DEFAULT 'run', -- of its _ns: 'run' (run.clock), 'simulated' (from 0), ...
	detail TEXT
) WITHOUT ROWID;

-- A place in the program that was called from `parent`, so that call stacks are a tree; NULL: the
-- caller was not recorded. Its frames are those of one address: where functions were inlined there,
-- the innermost is depth 0.
CREATE TABLE site (
	site INTEGER PRIMARY KEY,
	parent INTEGER REFERENCES site
);
CREATE TABLE frame (
	site INTEGER NOT NULL REFERENCES site,
	depth INTEGER NOT NULL,
	module TEXT NOT NULL,
	build_id TEXT,                -- of the module, hexadecimal: the file that it was
	offset_bytes INTEGER NOT NULL, -- of the return address in the module
	function TEXT,
	file TEXT,
	line INTEGER,
	inlined INTEGER NOT NULL DEFAULT 0,
	PRIMARY KEY (site, depth)
) WITHOUT ROWID;

-- Pageable memory is what HIP did not allocate and kernels used (umtrace --pageable): a mapping of the
-- program, as it was when a kernel first touched it, less what is an allocation already. Its op is the
-- 'host' op before that launch, which has what the host had written there by then; freed_op comes
-- before the first launch that finds it gone. Names are the kernel's ('[heap]', '[stack]') or a file's.
CREATE TABLE allocation (
	allocation INTEGER PRIMARY KEY,
	kind TEXT NOT NULL CHECK (kind IN ('managed', 'device', 'pinned', 'registered', 'pageable')),
	bytes INTEGER NOT NULL,       -- as asked for; it occupies whole pages
	flags INTEGER NOT NULL DEFAULT 0, -- as given to HIP; pageable: 1 initial heap, 2 initial stack
	device INTEGER,               -- current when it was made
	address INTEGER,              -- in the program
	op INTEGER,                   -- that made it
	freed_op INTEGER,             -- that freed it; NULL: never
	site INTEGER,
	name TEXT                     -- that the program gave all of it last (um_name()); else of a
	                              -- __managed__ variable, of a mapping; else of the variable that
	                              -- it was assigned to, where debug information tells: 'grid.cells'
);

-- What the program named with um_name() (umtrace.h, Kokkos Tools): bytes of an allocation, or all of
-- it, from op (kind 'name') until end_op: the um_unname() (kind 'name_end'), the next name of these
-- bytes or of some of them and some beyond, or the allocation's free. Parts may lie within parts.
-- Pages are told of an allocation alone: those of [offset_bytes, offset_bytes + bytes) belong to the
-- part in rows of ops between the two, and to each of several parts that share a page.
CREATE TABLE part (
	part INTEGER PRIMARY KEY,
	allocation INTEGER NOT NULL,
	offset_bytes INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	name TEXT NOT NULL,
	site INTEGER,                 -- of the call
	op INTEGER NOT NULL,
	end_op INTEGER                -- NULL: it never ended
);

-- What the program asked for, in program order. Where ops are of a GPU ('op.time' is measured), start_ns
-- and end_ns of what ran there are of the GPU, from its first start to its last end, else of the call.
-- In an emulated trace a 'host' op has the pages that the host touched since the one before it, whenever it
-- did in that time. It stands before each launch, copy, memset and prefetch, each free of managed memory,
-- each synchronisation with what may still run, and each beginning and end of a range, if anything was
-- touched. One before advice or an attachment has what was touched within 2 MiB of the pages that these
-- name; what was touched elsewhere by then may stand in the next one.
-- 'event_query' and 'stream_query' are queries that found the work done, and so order the host like a wait;
-- others are not kept.
-- In a measured trace the ids of calls are even; an odd id is a 'host' op, what the program itself did
-- between the end of the calls before and the next call, and stands only where rows belong to it.
CREATE TABLE op (
	op INTEGER PRIMARY KEY,
	kind TEXT NOT NULL CHECK (kind IN ('alloc', 'free', 'advise', 'prefetch', 'copy', 'memset',
		'launch', 'sync_device', 'sync_stream', 'event_record', 'event_sync', 'stream_wait',
		'stream_create', 'stream_destroy', 'attach', 'host', 'range', 'name', 'name_end',
		'profiler_start', 'profiler_stop', 'callback', 'event_query', 'stream_query')),
	flags INTEGER NOT NULL DEFAULT 0, -- 1 asynchronous, 2 non-blocking stream, 4 untraced launch (ran
	                              -- without hooks), 8 launch that was not selected, 16 not the program's
	                              -- call but umtrace -P's
	thread INTEGER,               -- 1 is the first host thread
	stream INTEGER,               -- 0 is the null stream, of which each device has one
	start_ns INTEGER,
	end_ns INTEGER,               -- NULL: never ended
	result INTEGER,               -- hipError_t; 0 success
	site INTEGER,
	allocation INTEGER,           -- acted on; of a copy, the target (NULL: memory HIP does not know)
	offset_bytes INTEGER,
	bytes INTEGER,
	source_allocation INTEGER,    -- copy
	source_offset_bytes INTEGER,
	device INTEGER,               -- target of advice and prefetch (-1 host); of what is on a stream the
	                              -- stream's; else current
	advice TEXT,                  -- 'read_mostly', 'unset_read_mostly', 'preferred_location', ...
	event INTEGER,
	value INTEGER                 -- memset pattern, hipMemcpyKind, hipMemAttach*; profiler_*: the
	                              -- system's id of the thread that it is for, 0: all; prefetch: the
	                              -- device of its stream (NULL: not known)
);

CREATE TABLE kernel (
	op INTEGER PRIMARY KEY REFERENCES op,
	name TEXT NOT NULL,           -- demangled
	symbol TEXT,                  -- mangled
	grid_x INTEGER NOT NULL, grid_y INTEGER NOT NULL, grid_z INTEGER NOT NULL,    -- groups
	block_x INTEGER NOT NULL, block_y INTEGER NOT NULL, block_z INTEGER NOT NULL, -- lanes
	lds_bytes INTEGER,
	reads INTEGER,                -- by lanes, of allocations; NULL, and so the next four:
	                              -- untraced, or the launch never ended
	writes INTEGER,
	atomics INTEGER,
	bytes_read INTEGER,           -- by lanes
	bytes_written INTEGER,
	recorded INTEGER              -- 1; 0: not selected (table selection), or hooks it has none. What it
	                              -- touched is not in this file then, nor what a driver did about that
);

-- Which launches were to be recorded in detail: umtrace --kernels, --exclude-kernels, --launches, --ranges,
-- --profile-from-start, one row each; without rows all were. Criteria of one kind are alternatives, those
-- of several kinds hold together, and a launch is left out between profiler_stop and profiler_start (of
-- its thread, or of all). --launches counts those of the run, from 1, with --kernels those of each kernel
-- by its name, selected or not. Launches that are left out have kernel.recorded 0 and run without hooks;
-- their op, name, shape and times are here like any other's, and so are all other calls, and
-- what the host touched. In a measured trace what the driver did on account of a launch that is left out is
-- not kept, nor, with --ranges or the profiler's calls, what it did beside launches outside that time.
CREATE TABLE selection (
	criterion TEXT NOT NULL,      -- 'kernels', 'exclude-kernels', 'launches', 'ranges', 'profile-from-start'
	value TEXT NOT NULL,          -- as given
	matched INTEGER               -- launches that it names (of a kernel so called, of such a number), ranges of
	                              -- such a name, profiler_start calls; NULL: the run has not ended
);

-- Which lines of which pages an op touched. `pages` pages from first_page were touched alike.
-- touch: 1 read, 2 written, 4 the first access wrote, 8 only known by page (masks are NULL), 16 atomics
-- on floating-point values, 32 those of them that an instruction does (unsafeAtomicAdd(),
-- -munsafe-fp-atomics), where compilers else make a loop of compare and swap; both since version 8.
-- requests, atomics: coalesced requests a page (distinct lines a wave and instruction), and those
-- of them that were atomic; NULL where not counted. Atomics are in both masks. Of what a host op
-- wrote it is not known whether it read it before: 4 is never set there.
CREATE TABLE page_access (
	op INTEGER NOT NULL REFERENCES op,
	allocation INTEGER NOT NULL,
	first_page INTEGER NOT NULL,
	pages INTEGER NOT NULL,
	touch INTEGER NOT NULL,
	lines_read INTEGER,
	lines_written INTEGER,
	requests INTEGER,
	atomics INTEGER,
	PRIMARY KEY (op, allocation, first_page)
) WITHOUT ROWID;

-- Which instructions of the host first read, and first wrote, the pages of a 'host' op (umtrace
-- --host-sync): pages of page_access.host, each at most once an access. An instruction that reads and
-- writes at once (x += 1) counts as a write; once written, what reads a page is not seen.
CREATE TABLE host_access (
	op INTEGER NOT NULL REFERENCES op,
	allocation INTEGER NOT NULL,
	first_page INTEGER NOT NULL,
	access_code INTEGER NOT NULL CHECK (access_code BETWEEN 0 AND 1),
	pages INTEGER NOT NULL,       -- within one 2 MiB block of the allocation
	site INTEGER,                 -- of the instruction, or of the call of a system call
	touch INTEGER NOT NULL,       -- the first of these was the how many-eth of the op, from 1
	access TEXT AS (CASE access_code WHEN 0 THEN 'read' WHEN 1 THEN 'write' END),
	PRIMARY KEY (op, allocation, first_page, access_code)
) WITHOUT ROWID;

-- The ordered access stream of a launch: zstd over the payload that spool/access_stream.h documents;
-- its format is of the schema's version.
CREATE TABLE access_chunk (
	op INTEGER NOT NULL REFERENCES op,
	chunk INTEGER NOT NULL,
	first_group INTEGER NOT NULL,
	last_group INTEGER NOT NULL,
	touches INTEGER NOT NULL,
	payload_bytes INTEGER NOT NULL, -- before zstd
	data BLOB NOT NULL,
	PRIMARY KEY (op, chunk)
) WITHOUT ROWID;

-- Page faults, of `pages` consecutive 4 KiB pages (which is what faulted, not what was then served).
-- device: who faulted. Here and below, allocation and first_page are NULL where it was memory that HIP
-- did not allocate, and where address, of the first page, is all that is known.
-- Rows of a simulation are in order: a row's faults were served one after another with none of its
-- kind between them. The modelled rows of a trace are merged by pages instead: a row's faults, one a
-- page of the model, were served between start_ns and end_ns in an order that is not kept, others
-- between them. So it is with the migrations and mappings; origin.detail says which rows are merged.
--
-- Measured rows are one a record of the driver, in the order of their times, and not merged. Drivers tell
-- addresses and times; whose they are is found when the run has ended (a file that ends early has neither):
-- allocation: where the first byte lies, of those that lived then; else the first one that lies in the
--   run. first_page counts from the page of the allocation's first byte; pages are those within it;
--   address is left out where the two tell it. A driver serves blocks beyond an allocation's end: bytes
--   are all of them.
-- op, the first of these that there is:
--   the last prefetch of these pages to that place, for what moved on account of one;
--   the call that was under way and names these pages (advice, copies, memset, attach, free), unless
--   a device faulted;
--   for a device: what ran on it then, copies and memsets of these pages first, then the launch that
--   began first; or that ended, or began, within 20 us; or the last launch of which no times are known;
--   for the host, and for a mapping while nothing ran: the 'host' op of that time.
-- A migration to a device is the device's, one to the host is the host's; an eviction is the device's
-- that it frees.
CREATE TABLE fault (
	op INTEGER,                   -- during which the fault happened
	device INTEGER NOT NULL,
	allocation INTEGER,
	first_page INTEGER,
	pages INTEGER NOT NULL,
	address INTEGER,
	faults INTEGER,
	access_code INTEGER CHECK (access_code BETWEEN 0 AND 3),
	batch INTEGER,                -- faults that a driver served together
	site INTEGER,                 -- of the host's faulting instruction, where it was told
	start_ns INTEGER NOT NULL,
	duration_ns INTEGER,
	access TEXT AS (CASE access_code WHEN 0 THEN 'read' WHEN 1 THEN 'write'
		WHEN 2 THEN 'atomic' WHEN 3 THEN 'prefetch' END),
	end_ns INTEGER AS (start_ns + duration_ns)
);

-- Data that changed its place (or was duplicated there). cause: 'prefetch' is the program's,
-- 'driver_prefetch' what a driver brings along with pages that faulted.
CREATE TABLE migration (
	op INTEGER,
	allocation INTEGER,
	first_page INTEGER,
	pages INTEGER NOT NULL,       -- that were to move, where bytes is NULL
	address INTEGER,
	bytes INTEGER,                -- that crossed the link; 0 where only the page's home changed
	source INTEGER NOT NULL,      -- device, -1 host
	destination INTEGER NOT NULL,
	cause_code INTEGER CHECK (cause_code BETWEEN 0 AND 10),
	transfers INTEGER,            -- pieces on the link
	batch INTEGER,                -- of the faults that it was for
	start_ns INTEGER NOT NULL,
	duration_ns INTEGER,
	cause TEXT AS (CASE cause_code WHEN 0 THEN 'device_fault' WHEN 1 THEN 'host_fault'
		WHEN 2 THEN 'prefetch' WHEN 3 THEN 'eviction' WHEN 4 THEN 'advice'
		WHEN 5 THEN 'duplicate' WHEN 6 THEN 'driver_prefetch'
		WHEN 7 THEN 'access_counter' WHEN 8 THEN 'thrashing'
		WHEN 9 THEN 'out_of_memory' WHEN 10 THEN 'host_unmap' END),
	end_ns INTEGER AS (start_ns + duration_ns)
);

-- Mappings that came or went without data moving.
CREATE TABLE mapping (
	op INTEGER,
	device INTEGER NOT NULL,      -- whose page table
	allocation INTEGER,
	first_page INTEGER,
	pages INTEGER NOT NULL,
	address INTEGER,
	change_code INTEGER NOT NULL CHECK (change_code BETWEEN 0 AND 3),
	cause_code INTEGER CHECK (cause_code BETWEEN 0 AND 10), -- as in migration
	batch INTEGER,
	at_ns INTEGER NOT NULL,
	change TEXT AS (CASE change_code WHEN 0 THEN 'remote' WHEN 1 THEN 'local'
		WHEN 2 THEN 'unmapped' WHEN 3 THEN 'first_touch' END),
	cause TEXT AS (CASE cause_code WHEN 0 THEN 'device_fault' WHEN 1 THEN 'host_fault'
		WHEN 2 THEN 'prefetch' WHEN 3 THEN 'eviction' WHEN 4 THEN 'advice'
		WHEN 5 THEN 'duplicate' WHEN 6 THEN 'driver_prefetch'
		WHEN 7 THEN 'access_counter' WHEN 8 THEN 'thrashing'
		WHEN 9 THEN 'out_of_memory' WHEN 10 THEN 'host_unmap' END)
);

-- Accesses that crossed the link without moving a page, per op and run of pages.
CREATE TABLE remote_access (
	op INTEGER NOT NULL,
	device INTEGER NOT NULL,      -- who accessed
	allocation INTEGER NOT NULL,
	first_page INTEGER NOT NULL,
	pages INTEGER NOT NULL,
	lines_read INTEGER NOT NULL,  -- in total over the pages
	lines_written INTEGER NOT NULL,
	requests INTEGER,
	bytes_to_device INTEGER NOT NULL, -- 64 a line read
	bytes_to_host INTEGER NOT NULL    -- 64 a line written
);

-- What a driver did beside serving faults and moving pages. 'queue_eviction': all queues of the process
-- on the device stood still, from start_ns to end_ns, until the program ends at most. 'vram_refused':
-- the pages found no room in device memory and stayed in host memory. 'fault_dropped': the driver
-- dropped `count` faults, because it had mapped something of their range a moment before; from start_ns
-- to end_ns some access or other waited, each from the drop until the driver took its fault up again
-- or mapped its page for another; waited_ns is how long all of them together did (NULL of other kinds).
-- op and device are those of the first. 'thrashing': pages went
-- to and fro; 'throttling': a processor had to wait on their account. reason: why, in the driver's own words. count: of what
-- happened alike (stops that overlap are one).
CREATE TABLE driver_event (
	op INTEGER,
	device INTEGER,
	kind TEXT NOT NULL,           -- 'queue_eviction', 'vram_refused', 'fault_dropped', 'thrashing', ...
	address INTEGER,
	reason TEXT,                  -- 'svm', 'ttm', 'duplicate', ...
	allocation INTEGER,
	first_page INTEGER,
	pages INTEGER,
	count INTEGER NOT NULL,
	start_ns INTEGER NOT NULL,
	end_ns INTEGER,
	waited_ns INTEGER
);

-- The least that any driver and policy could have done with these accesses (sim/ideal): proven lower
-- bounds. quantity: 'bytes_to_device', 'bytes_to_host' (migration and remote accesses together),
-- 'device_faults', 'host_faults' (for page_bytes, which is NULL where it does not matter).
CREATE TABLE bound (
	quantity TEXT NOT NULL,
	page_bytes INTEGER,
	value INTEGER NOT NULL
);

-- What explicit copies moved over the link: those of the program (op.kind 'copy', a row each), and those that
-- a simulation without managed memory (driver explicit_copy) makes for an op, a row each range.
CREATE TABLE copy_traffic (
	op INTEGER NOT NULL,
	allocation INTEGER,
	bytes_to_device INTEGER NOT NULL,
	bytes_to_host INTEGER NOT NULL,
	start_ns INTEGER NOT NULL,
	end_ns INTEGER NOT NULL
);

-- What went from one device's memory to another's over a link between them, and so over none to the host:
-- rows of remote_access, migration and copy_traffic do not have it. cause: 'copy' (op.kind 'copy'), or
-- 'remote_access' (a kernel on one of the two; 64 bytes a line). Where the machine has no such links bytes go
-- through the host, and stand in those tables. Since version 7.
CREATE TABLE peer_traffic (
	op INTEGER NOT NULL,
	allocation INTEGER,           -- of a copy, the target
	source INTEGER NOT NULL,      -- device
	destination INTEGER NOT NULL,
	bytes INTEGER NOT NULL,
	cause TEXT NOT NULL
);

-- Ranges that the program named (NVTX, roctx, umtrace.h; labels of Kokkos's): their ops have kind 'range', and their times. A mark
-- is one that ends where it begins.
CREATE TABLE user_range (
	op INTEGER PRIMARY KEY REFERENCES op,
	last_op INTEGER,              -- that was called before it ended; NULL: it never did
	name TEXT NOT NULL
);

-- What the file lacks of what happened, and how much of it. A run whose `ended` is 'running' lacks its
-- end besides. kind: 'outside' (accesses of a kernel outside all allocations), 'host_unwatched' (also of
-- pageable memory after its first use by a kernel: a replay takes it as left alone by the host, so that
-- what it says of traffic back to the host is the least), 'partly_unmapped' (pageable allocations that
-- lost a part of their mapping), 'host_during_kernel' (launches while other host threads ran),
-- 'unsupported' (calls that HIP was refused), 'untraced_launch', 'child' (of a fork, that used HIP),
-- 'cut_off' (no regular end), 'signal_handler' (calls within one), 'invalid_record', 'uncounted' (more
-- requests than can be counted), 'not_modelled' (requests that are not simulated), 'dropped' (records,
-- by the driver, CUPTI or a full spool), 'unknown_record' (of a kind or layout that the tap does not
-- know), 'tap_off' (the tap or a part of it did not start), 'name' (names of what is no memory of HIP's, or
-- of more than there is), 'debug_info' (of a file, which the reader did not
-- survive: its frames have no lines), 'policy' (umtrace -P: calls of a policy that were not made, and what its
-- rules could not be about, since the earlier run did not have it), ...
CREATE TABLE loss (
	op INTEGER,                   -- during which; NULL: the whole run, or not known
	device INTEGER,               -- of which; -1 host; NULL: all
	record TEXT,                  -- as in origin: rows of this are missing; NULL: of several
	kind TEXT NOT NULL,
	count INTEGER NOT NULL,
	start_ns INTEGER,             -- the time that is not covered; NULL: all of it may be
	end_ns INTEGER,
	detail TEXT
);

-- Link traffic each way by cause. The one place that adds up bytes; NULL ones are not known, so that
-- a SUM is then at least so much. Remote accesses come in requests, not in transfers.
CREATE VIEW traffic AS
	SELECT op, allocation, COALESCE(cause, 'unknown') AS cause,
		CASE WHEN source = -1 THEN bytes ELSE 0 END AS bytes_to_device,
		CASE WHEN destination = -1 THEN bytes ELSE 0 END AS bytes_to_host,
		CASE WHEN bytes = 0 THEN 0 ELSE transfers END AS transfers,
		0 AS requests
	FROM migration
	UNION ALL
	SELECT op, allocation, 'remote_access', bytes_to_device, bytes_to_host, 0, requests
	FROM remote_access
	UNION ALL
	SELECT op, allocation, 'copy', bytes_to_device, bytes_to_host, 1, 0 FROM copy_traffic;

-- Launches with their names and times, for queries by hand; of those that were not recorded no more is known.
CREATE VIEW launch AS
	SELECT op.op, kernel.name, op.stream, op.start_ns, op.end_ns,
		op.end_ns - op.start_ns AS duration_ns, kernel.reads, kernel.writes, kernel.atomics,
		CASE WHEN kernel.recorded = 0 THEN NULL ELSE COALESCE(served.faults, 0) END AS device_faults,
		kernel.recorded
	FROM op JOIN kernel USING (op)
		LEFT JOIN (SELECT op, SUM(faults) AS faults FROM fault WHERE device >= 0 GROUP BY op)
			AS served ON served.op = op.op;
