#!/usr/bin/env bash
# umanalyze export: a timeline, tables and JSON, small ones in full and real ones by their sums.
. "$(dirname "$0")/lib.sh"
also 's/"(ts|dur)": (-?[0-9.]+)/"\1": \2/g'

sqlite3 app.um.db <"$UM_SOURCE/trace/db/schema.sql"
sqlite3 app.um.db "
	INSERT INTO run (role, tool, command, source, clock, backend, machine, driver, ended, start_ns, end_ns, xnack)
		VALUES ('simulation', 'test', './app \"<b>\"', 'a.um.db', 'simulated', 'emulated', 'mi250x',
			'amdgpu_svm', 'exited', 1000, 9000, 'on');
	INSERT INTO device (device, name, link) VALUES (0, 'AMD Instinct MI250X', 'PCIe 4.0 x16'), (1, 'other', NULL);
	INSERT INTO origin (record, origin) VALUES ('op.time', 'modelled'), ('migration', 'modelled'),
		('fault', 'modelled'), ('mapping', 'modelled'), ('remote_access', 'modelled'),
		('copy_traffic', 'absent'), ('driver_event', 'modelled');
	INSERT INTO site (site) VALUES (1);
	INSERT INTO frame (site, depth, module, offset_bytes, function, file, line) VALUES
		(1, 0, '/home/u/app', 16, 'main', '/home/u/app.hip', 42);
	INSERT INTO op (op, kind, thread, stream, start_ns, end_ns, result, allocation, bytes, device) VALUES
		(1, 'alloc', 1, 0, 1000, 1000, 0, 1, 1048576, 0), (2, 'alloc', 1, 0, 1000, 1100, 0, 2, 8192, 0),
		(3, 'range', 1, 0, 1100, 8000, NULL, NULL, NULL, 0), (4, 'launch', 1, 1, 2000, 4500, 0, NULL, NULL, 0),
		(5, 'launch', 1, 2, 4000, 6000, 0, NULL, NULL, 1), (6, 'sync_device', 1, 0, 2000, 6000, 0, NULL, NULL, 0),
		(7, 'host', NULL, NULL, 6000, 7000, NULL, NULL, NULL, 0), (8, 'free', 1, 0, 8000, 8100, 0, 1, NULL, 0),
		(9, 'launch', 1, 2, 8100, NULL, NULL, NULL, NULL, 1);
	INSERT INTO allocation (allocation, kind, bytes, op, freed_op, site, name) VALUES
		(1, 'managed', 1048576, 1, 8, 1, 'a \"quoted\", ' || char(10) || 'name'),
		(2, 'device', 8192, 2, NULL, NULL, NULL);
	INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z) VALUES
		(4, 'void um::step<float>(float*)', 16, 1, 1, 64, 1, 1), (5, 'fill(int*)', 16, 1, 1, 64, 1, 1),
		(9, 'fill(int*)', 16, 1, 1, 64, 1, 1);
	INSERT INTO user_range (op, last_op, name) VALUES (3, 7, '</script>');
	INSERT INTO migration (op, allocation, first_page, pages, bytes, source, destination, cause_code, transfers,
		start_ns, duration_ns) VALUES (4, 1, 0, 128, 524288, -1, 0, 0, 2, 2100, 500),
		(4, 1, 128, 128, 524288, -1, 0, 6, 1, 2500, 500), (5, 1, 0, 256, 1048576, 0, 1, 2, 1, 4100, 800),
		(7, 1, 0, 64, 262144, 1, -1, 1, 4, 6100, 400), (5, 1, 64, 64, 262144, 1, -1, 3, 1, 6600, NULL);
	INSERT INTO fault (op, device, allocation, first_page, pages, faults, access_code, batch, site, start_ns, duration_ns)
		VALUES (4, 0, 1, 0, 128, 1, 0, 1, NULL, 2050, 600), (7, -1, 1, 0, 64, 1, 1, 2, 1, 6050, 500);
	INSERT INTO driver_event (op, device, kind, reason, count, start_ns, end_ns) VALUES
		(5, 1, 'queue_eviction', 'svm', 1, 4050, 4080);
	INSERT INTO loss (kind, count, detail) VALUES ('child', 1, 'of a fork');"
run umanalyze export --format=perfetto app.um.db
run umanalyze export --format=json app.um.db
for table in transfers faults kernels allocations ranges traffic loss driver_event access_chunk; do
	run sh -c "umanalyze export --format=csv --table=$table app.um.db | tr -d '\r'"
done
check "lines end in CR LF" sh -c 'umanalyze export --format=csv app.um.db | head -1 | od -c | grep -q "\\\\r  *\\\\n"'

say "--- the model's records in a trace have another clock"
sqlite3 app.um.db ".backup trace.um.db" && sqlite3 trace.um.db "UPDATE run SET role = 'trace';
	UPDATE origin SET origin = 'emulated' WHERE record = 'op.time';
	UPDATE origin SET clock = 'simulated' WHERE record <> 'op.time'"
run sh -c "umanalyze export --format=perfetto trace.um.db | jq -c '[.traceEvents[] | .cat // empty] | unique'"
run sh -c "umanalyze export --format=json trace.um.db | jq -c '.devices[0].migrations.host_to_device, .summary'"

say "--- real ones: as many bytes as the file has, no slice over another on a track"
traces=$UM_SOURCE/traces/h200
overlaps='[.traceEvents[] | select(.ph == "X" and .cat != "call" and .cat != "range")] | group_by([.pid, .tid]) |
	map(sort_by(.ts) | [., .[1:]] | transpose | map(select(.[1] and .[0].ts + .[0].dur > .[1].ts + 0.0005)) |
	length) | add'
for file in "$traces/kernels/jacobi2d.32M.um.db" "$traces/kernels/three_phase.32M.um.db"; do
	bytes=$(sqlite3 "$file" 'SELECT SUM(bytes) FROM migration')
	umanalyze export --format=perfetto --force -o timeline.json "$file"
	umanalyze export --format=json --force -o all.json "$file"
	check "bytes of the timeline" [ "$(jq '[.traceEvents[] | select(.cat == "transfer") | .args.bytes] | add' timeline.json)" = "$bytes" ]
	check "slices of a track" [ "$(jq "$overlaps" timeline.json)" = 0 ]
	check "bytes of the rows" [ "$(jq '[.transfers[].bytes] | add' all.json)" = "$bytes" ]
	check "bytes by cause" [ "$(jq '[.traffic[] | select(.cause != "copy") | .bytes_to_device + .bytes_to_host] | add' all.json)" = "$bytes" ]
	check "bytes of devices" [ "$(jq '[.devices[].migrations[].total_size_bytes] | add' all.json)" = "$bytes" ]
	check "triggers" [ "$(jq '.summary.migration_triggers | add' all.json)" = "$(jq '[.devices[].migrations[].count] | add' all.json)" ]
	check "what is left on the device" [ "$(jq '[.traceEvents[] | select(.ph == "C")] | last | .args.bytes' timeline.json)" = 0 ]
done

say "--- files"
run umanalyze export --format=csv -o out.csv app.um.db
run umanalyze export --format=csv -o out.csv app.um.db
run umanalyze export --format=csv -o out.csv --force app.um.db
run umanalyze export --format=csv -o app.um.db --force app.um.db
run umanalyze export --format=csv -o . --force app.um.db
run umanalyze export --format=csv -o nowhere/out.csv app.um.db
run umanalyze export --format=csv --table=wrong -o not.csv app.um.db
check "nothing is left of it" [ ! -e not.csv -a ! -e not.csv.partial ]
check "a full disk" sh -c '! umanalyze export --format=json app.um.db >/dev/full'

say "--- the command line"
run umanalyze export
run umanalyze export app.um.db
run umanalyze export --format=perfeto app.um.db
run umanalyze export --format=xml app.um.db
run umanalyze export --format=csv --table=fault_s app.um.db
run umanalyze export --format=json --table=fault app.um.db
run umanalyze export --format=csv app.um.db app.um.db
run umanalyze export --help
finish
