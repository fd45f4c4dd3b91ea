#!/usr/bin/env bash
# umanalyze ops: the calls of a trace in order, what is chosen of them, and whose lines they are.
. "$(dirname "$0")/lib.sh"

sqlite3 app.um.db <"$UM_SOURCE/trace/db/schema.sql"
sqlite3 app.um.db "
	INSERT INTO run (role, tool, command, clock, start_ns) VALUES ('trace', 'test', './app', 'none', 1000);
	INSERT INTO site (site, parent) VALUES (1, NULL), (2, 1), (3, 1), (4, 1), (5, 4);
	INSERT INTO frame (site, depth, module, offset_bytes, function, file, line, inlined) VALUES
		(1, 0, '/home/u/app', 16, 'main', '/home/u/app.hip', 42, 0),
		(2, 0, '/home/u/app', 32, 'pool::get', '/home/u/pool.h', 7, 0),
		(3, 0, '/home/u/app', 48, 'step', '/home/u/app.hip', 12, 1),
		(3, 1, '/home/u/app', 48, 'run_all', '/home/u/app.hip', 20, 0),
		(4, 0, '/home/u/libx.so', 64, NULL, NULL, NULL, 0),
		(5, 0, '/home/u/libx.so', 80, 'x_free', NULL, NULL, 0);
	INSERT INTO allocation (allocation, kind, bytes, op, site, name) VALUES
		(1, 'managed', 1048576, 1, 2, NULL), (2, 'device', 4096, 2, 1, 'many[0]');
	INSERT INTO op (op, kind, flags, thread, stream, start_ns, end_ns, result, site, allocation, offset_bytes,
			bytes, source_allocation, source_offset_bytes, device, advice, event, value) VALUES
		(1, 'alloc', 0, 1, 0, 2000, 2500, 0, 2, 1, 0, 1048576, NULL, NULL, 0, NULL, NULL, NULL),
		(2, 'alloc', 0, 1, 0, 2600, 2700, 0, 1, 2, 0, 4096, NULL, NULL, 0, NULL, NULL, NULL),
		(3, 'alloc', 0, 2, 0, 2700, 2800, 2, 1, NULL, 0, 99999999999, NULL, NULL, 0, NULL, NULL, NULL),
		(4, 'range', 0, 1, 0, 2900, 9000, NULL, 1, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL),
		(5, 'advise', 0, 1, 0, 3000, 3010, 0, 1, 1, 4096, 8192, NULL, NULL, -1, 'preferred_location', NULL, NULL),
		(6, 'prefetch', 1, 1, 1, 3100, 3200, 0, 1, 1, 0, 1048576, NULL, NULL, 0, NULL, NULL, NULL),
		(7, 'host', 0, 1, NULL, 3200, 3300, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
		(8, 'launch', 1, 1, 1, 3300, NULL, NULL, 3, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL),
		(9, 'copy', 0, 1, 0, 3400, 3500, 0, 3, 2, 0, 512, 1, 64, 0, NULL, NULL, 3),
		(10, 'memset', 0, 1, 0, 3600, 3700, 0, 3, 2, 0, 512, NULL, NULL, 0, NULL, NULL, 255),
		(11, 'event_record', 0, 1, 1, 3700, 3701, 0, 1, NULL, NULL, NULL, NULL, NULL, 0, NULL, 3, NULL),
		(12, 'stream_wait', 0, 1, 0, 3702, 3703, 0, 1, NULL, NULL, NULL, NULL, NULL, 0, NULL, 3, NULL),
		(13, 'stream_create', 2, 1, 2, 3704, 3705, 0, 1, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL),
		(14, 'sync_device', 0, 2, 0, 3706, 3800, 719, 1, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, NULL),
		(15, 'free', 0, 1, 0, 3900, 3910, 0, 5, 2, 0, 4096, NULL, NULL, 0, NULL, NULL, NULL);
	INSERT INTO user_range (op, last_op, name) VALUES (4, 9, 'phase ' || char(10) || '1');
	INSERT INTO kernel (op, name, symbol, grid_x, grid_y, grid_z, block_x, block_y, block_z, lds_bytes) VALUES
		(8, 'void um::step<float>(float*)', '_Z4stepIfEvPT_', 16, 1, 1, 64, 1, 1, 1024);"
run umanalyze ops app.um.db
run umanalyze ops --stacks --kind=free,launch app.um.db

say "--- chosen"
run umanalyze ops --kind=host app.um.db
run umanalyze ops --kernel='um::step' app.um.db
run umanalyze ops --allocation='many[0]' app.um.db
run umanalyze ops --allocation=1 --kind=copy app.um.db
run umanalyze ops --stream=1 app.um.db
run umanalyze ops --thread=2 app.um.db
run umanalyze ops --range='phase*' --kind=launch,memset,sync_device app.um.db
run umanalyze ops --failed app.um.db
run umanalyze ops --skip-frames='step' --kind=launch app.um.db
run umanalyze ops --skip-frames='pool::*' --kind=alloc app.um.db
run umanalyze ops --kernel=nothing app.um.db

say "--- json"
run umanalyze ops --format=json --kind=launch,stream_create app.um.db
run umanalyze ops --format=json --kernel=nothing app.um.db

say "--- refused"
run umanalyze ops --kind=launches app.um.db
run umanalyze ops --stream=x app.um.db
run umanalyze ops --skip-frames= app.um.db
run umanalyze ops --range=nothing app.um.db
run umanalyze ops nowhere.um.db
run umanalyze ops
finish
