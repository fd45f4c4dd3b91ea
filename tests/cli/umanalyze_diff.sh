#!/usr/bin/env bash
# umanalyze diff: two databases beside each other, what is compared and what is not.
. "$(dirname "$0")/lib.sh"

# A short name: columns are as wide as paths, and cut.
traces=h200
ln -s "$UM_SOURCE/traces/h200" $traces
say "--- measured and predicted"
umsim replay "$traces/accesses/kernels/small_allocs.each.um.db" --machine=h200 -q -o predicted.um.db >err 2>&1 ||
	cat err >&2
ln -s "$traces/kernels/small_allocs.each.um.db" measured.um.db
run umanalyze diff --rows=3 measured.um.db predicted.um.db
say "--- the same twice"
run umanalyze diff measured.um.db measured.um.db
say "--- a trace without a driver and its simulation"
ln -s "$traces/accesses/kernels/small_allocs.each.um.db" accesses.um.db
run umanalyze diff --rows=1 accesses.um.db predicted.um.db

say "--- before and after a change: an allocation that became a device's, one more, a kernel less"
# program FILE KIND ROWS: two allocations and a kernel
program() {
	sqlite3 "$1" <"$UM_SOURCE/trace/db/schema.sql"
	sqlite3 "$1" "INSERT INTO run (role, tool, command, clock, backend, machine, driver, ended)
			VALUES ('trace', 'test', './app \$(x) <b>', 'CLOCK_BOOTTIME', 'emulated', 'mi250x',
				'amdgpu_svm', 'exited');
		INSERT INTO device (device, name) VALUES (0, 'AMD Instinct MI250X');
		INSERT INTO origin (record, origin, clock) VALUES ('op.time', 'emulated', 'run'),
			('migration', 'modelled', 'simulated'), ('fault', 'modelled', 'simulated'),
			('mapping', 'modelled', 'simulated'), ('remote_access', 'modelled', 'simulated'),
			('copy_traffic', 'modelled', 'simulated');
		INSERT INTO op (op, kind, result, allocation, bytes, start_ns, end_ns) VALUES
			(1, 'alloc', 0, 1, 1048576, 10, 20), (2, 'alloc', 0, 2, 8192, 20, 30),
			(4, 'launch', 0, NULL, NULL, 40, 50), (5, 'launch', 0, NULL, NULL, 50, 70);
		INSERT INTO allocation (allocation, kind, bytes, op, name) VALUES
			(1, '$2', 1048576, 1, 'tmp'), (2, 'managed', 8192, 2, NULL);
		INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z) VALUES
			(4, 'void um::step<float>(float*)', 16, 1, 1, 64, 1, 1),
			(5, 'fill(int*)', 16, 1, 1, 64, 1, 1);
		$3"
}
program before.um.db managed "
	INSERT INTO migration (op, allocation, first_page, pages, bytes, source, destination, cause_code, transfers,
		start_ns, duration_ns) VALUES (4, 1, 0, 256, 1048576, -1, 0, 0, 1, 100, 50),
		(NULL, 2, 0, 2, 8192, 0, -1, 1, 1, 100, 50), (5, 1, 0, 256, 1048576, 0, -1, 3, 1, 200, 50);
	INSERT INTO fault (op, device, allocation, first_page, pages, faults, access_code, start_ns) VALUES
		(4, 0, 1, 0, 256, 1, 0, 100), (NULL, -1, 2, 0, 2, 1, 0, 100)"
program after.um.db device "
	INSERT INTO op (op, kind, result, allocation, bytes) VALUES (3, 'alloc', 0, 3, 4096);
	INSERT INTO allocation (allocation, kind, bytes, op) VALUES (3, 'pinned', 4096, 3);
	INSERT INTO remote_access (op, device, allocation, first_page, pages, lines_read, lines_written, requests,
		bytes_to_device, bytes_to_host) VALUES (5, 0, 3, 0, 1, 64, 0, 64, 4096, 0);
	DELETE FROM kernel WHERE op = 4; DELETE FROM op WHERE op = 4"
run umanalyze diff before.um.db after.um.db
run umanalyze diff --format=json before.um.db after.um.db
say "--- from device to device"
sqlite3 before.um.db ".backup peers.um.db" && sqlite3 peers.um.db "
	INSERT INTO origin (record, origin, clock) VALUES ('peer_traffic', 'modelled', 'simulated');
	INSERT INTO peer_traffic (op, allocation, source, destination, bytes, cause) VALUES
		(4, 1, 0, 1, 65536, 'copy'), (5, 1, 1, 0, 4096, 'remote_access')"
sqlite3 peers.um.db ".backup fewer.um.db" && sqlite3 fewer.um.db "DELETE FROM peer_traffic WHERE cause = 'copy'"
run umanalyze diff peers.um.db fewer.um.db
run sh -c "umanalyze export --format=csv --table=traffic peers.um.db | tr -d '\\r'"
say "--- another device, an early end, records lost, sizes that are not told"
sqlite3 before.um.db ".backup other.um.db" && sqlite3 other.um.db "UPDATE device SET name = 'AMD Instinct MI300X';
	UPDATE run SET ended = 'running'; UPDATE migration SET bytes = NULL WHERE cause_code = 0;
	INSERT INTO loss (kind, count) VALUES ('dropped', 12)"
run umanalyze diff before.um.db other.um.db

say "--- as a test"
run umanalyze diff --rows=1 --max-change=bytes=0%,counts=0% measured.um.db measured.um.db
run sh -c "umanalyze diff --max-change=bytes=50%,launches=50% before.um.db after.um.db >out"
run sh -c "umanalyze diff --max-change=moved_bytes_to_device=100%,launches=50% before.um.db after.um.db >out"
run sh -c "umanalyze diff --max-change=kernel_ns=5% before.um.db after.um.db >out"
run umanalyze diff --max-change=byte=1% before.um.db after.um.db
run umanalyze diff --max-change=bytes=1 before.um.db after.um.db

say "--- the command line"
run umanalyze diff
run umanalyze diff before.um.db
run umanalyze diff before.um.db after.um.db after.um.db
run umanalyze diff --format=xml before.um.db after.um.db
run umanalyze diff before.um.db nowhere.um.db
run umanalyze diff nowhere.um.db before.um.db
sqlite3 before.um.db ".backup less.um.db" && sqlite3 less.um.db "UPDATE migration SET bytes = -1"
run umanalyze diff before.um.db less.um.db
run umanalyze diff --help
finish
