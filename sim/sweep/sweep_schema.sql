-- The results of umsim sweep, version 1: one SQLite file, a row a configuration, to be queried by hand.
--
--   sqlite3 app.sweep.db "SELECT * FROM result ORDER BY end_ns LIMIT 5"
--   sqlite3 app.sweep.db "SELECT policy_text FROM configuration WHERE configuration = 7" >best.yaml
--   umsim replay app.um.db -P best.yaml         the same configuration again, with all its rows
--
-- Every figure is modelled: what the driver model makes of the trace's accesses (sweep.accesses says how
-- those were had). configuration.driver_validated says whether that model was ever held against hardware.
-- Bytes are bytes, times nanoseconds, and what is not known or does not apply is NULL.
-- Rows of configuration, setting and not_simulated depend on the trace and on what was varied alone, not on
-- how many threads or ranks there were.

PRAGMA application_id = 0x554d5357; -- "UMSW"
PRAGMA user_version = 1;

-- One row: what was swept.
CREATE TABLE sweep (
	tool TEXT NOT NULL,
	command TEXT NOT NULL,     -- the first; others may have gone on with --resume
	started TEXT NOT NULL,     -- UTC
	trace TEXT NOT NULL,       -- its path then
	trace_identity TEXT NOT NULL, -- what tells it from other traces: --resume takes no other
	origin TEXT NOT NULL CHECK (origin = 'modelled'), -- of all figures here
	accesses TEXT NOT NULL,    -- origin of what was replayed: emulated, inferred, imported
	host_time INTEGER NOT NULL, -- 1: the host took as long between its calls as in the trace
	configurations INTEGER NOT NULL
);

-- The keys that were varied, in the order of the command line, and their values.
CREATE TABLE vary (
	axis INTEGER NOT NULL,     -- from 1
	key TEXT NOT NULL,         -- of a policy file
	n INTEGER NOT NULL,        -- from 1
	value TEXT NOT NULL,
	PRIMARY KEY (axis, n)
) WITHOUT ROWID;

-- Machine files as they were.
CREATE TABLE machine_file (
	machine_file INTEGER PRIMARY KEY,
	name TEXT NOT NULL,
	text TEXT NOT NULL UNIQUE
);

CREATE TABLE configuration (
	configuration INTEGER PRIMARY KEY, -- from 1
	policy TEXT NOT NULL,      -- file it is made of, less folder and .yaml; program: none
	status TEXT NOT NULL CHECK (status IN ('waiting', 'done', 'refused', 'failed')),
	reason TEXT,               -- why it was refused or failed
	-- What was in effect; NULL where it was refused. Sizes as they came out: multiples in bytes.
	machine TEXT,
	machine_file INTEGER REFERENCES machine_file,
	driver TEXT,
	driver_parameters TEXT,    -- JSON, each with its unit
	driver_validated TEXT,     -- "not checked on hardware", or against what it was
	xnack TEXT,                -- on, off; NULL: the machine has no such switch
	xnack_source TEXT,         -- who decided
	page_bytes INTEGER,
	memory_bytes INTEGER,      -- that the program may use, of each device
	footprint_bytes INTEGER,   -- where memory is a multiple of it
	evict TEXT,                -- who leaves a full device; NULL: the driver has no order
	hypothetical TEXT,         -- why no driver does so; NULL: it is the driver's own
	policy_text TEXT,          -- as a policy file that gives the same
	-- What came of it; NULL until it is done.
	end_ns INTEGER,            -- when the program ends, as umsim replay has it
	device_faults INTEGER,
	host_faults INTEGER,
	bytes_to_device INTEGER,   -- over links, whatever for
	bytes_to_host INTEGER,
	fault_to_device INTEGER,   -- of these bytes, by cause
	fault_to_host INTEGER,
	duplicate_to_device INTEGER,
	duplicate_to_host INTEGER,
	prefetch_to_device INTEGER,
	prefetch_to_host INTEGER,
	eviction_to_device INTEGER,
	eviction_to_host INTEGER,
	advice_to_device INTEGER,
	advice_to_host INTEGER,
	remote_to_device INTEGER,  -- each line once for each launch, as with a cache that keeps all
	remote_to_host INTEGER,
	copy_to_device INTEGER,
	copy_to_host INTEGER,
	remote_requests INTEGER,   -- of 64 bytes: what remote access is without a cache
	remote_lines_uncounted INTEGER, -- lines whose requests are not known
	link_to_device_ns INTEGER, -- how long the links were taken
	link_to_host_ns INTEGER,
	queue_evictions INTEGER,
	queues_stopped_ns INTEGER,
	dropped_faults INTEGER,
	dropped_waited_ns INTEGER, -- by accesses, added up
	dropped_ns INTEGER         -- during which any waited
);

-- What a configuration has of the keys that were varied, in the words of the command line. The view result,
-- made with the file, is table configuration with a column for each.
CREATE TABLE setting (
	configuration INTEGER NOT NULL REFERENCES configuration,
	key TEXT NOT NULL,
	value TEXT NOT NULL,
	PRIMARY KEY (configuration, key)
) WITHOUT ROWID;

-- What a configuration asked for, or the program, and the model does not do.
CREATE TABLE not_simulated (
	configuration INTEGER NOT NULL REFERENCES configuration,
	what TEXT NOT NULL,
	why TEXT NOT NULL,
	PRIMARY KEY (configuration, what, why)
) WITHOUT ROWID;
