#!/usr/bin/env bash
# umanalyze summary over ranks: what is added up, which rank stands out, and what is not mixed.
. "$(dirname "$0")/lib.sh"

sqlite3 base.um.db <"$UM_SOURCE/trace/db/schema.sql"
sqlite3 base.um.db "
	INSERT INTO run (role, tool, command, executable, clock, backend, machine, driver, page_bytes, xnack,
			memory_bytes, host_watch, ranks, job, ended, exit_status, start_ns)
		VALUES ('trace', 'test', './app', '/home/u/app', 'none', 'emulated', 'mi250x', 'amdgpu_svm',
			2097152, 'on', 1073741824, 'wp-async', 6, 'PMIX_NAMESPACE=1', 'exited', 0, 1000);
	INSERT INTO origin (record, origin) VALUES ('fault', 'modelled'), ('migration', 'modelled'),
		('remote_access', 'modelled'), ('copy_traffic', 'modelled'), ('page_access', 'emulated');
	INSERT INTO site (site) VALUES (1), (2);
	INSERT INTO frame (site, depth, module, offset_bytes, function, file, line) VALUES
		(1, 0, '/home/u/app', 16, 'main', '/home/u/app.hip', 42),
		(2, 0, '/home/u/app', 32, 'make', '/home/u/app.hip', 50);
	INSERT INTO allocation (allocation, kind, bytes, op, site, name) VALUES
		(1, 'managed', 1048576, 1, 1, 'grid'), (2, 'managed', 4096, 2, 2, NULL),
		(3, 'managed', 4096, 3, 2, NULL);
	INSERT INTO op (op, kind, thread, start_ns, end_ns) VALUES (1, 'alloc', 1, 1000, 1100),
		(2, 'alloc', 1, 1100, 1200), (3, 'alloc', 1, 1200, 1300), (4, 'range', 1, 1300, 5000),
		(5, 'launch', 1, 2000, 3000), (6, 'launch', 1, 6000, 7000);
	INSERT INTO user_range VALUES (4, 5, 'step');
	INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z, reads, writes) VALUES
		(5, 'scale(float*)', 1, 1, 1, 64, 1, 1, 10, 10), (6, 'add(float*)', 1, 1, 1, 64, 1, 1, 5, 5)"

# make FILE RANK HOST MIB SQL: a rank that moved so many MiB for scale
make() {
	sqlite3 base.um.db ".backup $1"
	sqlite3 "$1" "UPDATE run SET rank = $2, host = '$3', pid = 100 + $2, end_ns = 10001000 + 1000000 * $2;
		INSERT INTO fault (op, device, allocation, first_page, pages, faults, access_code, start_ns) VALUES
			(5, 0, 1, 0, $4, $4, 0, 2100), (6, 0, 2, 0, 1, 1, 1, 6100);
		INSERT INTO migration (op, allocation, first_page, pages, bytes, source, destination, cause_code,
			transfers, start_ns) VALUES (5, 1, 0, 256, $4 * 1048576, -1, 0, 0, $4, 2200),
			(6, 2, 0, 1, 4096, -1, 0, 0, 1, 6200), (6, 3, 0, 1, 4096, 0, -1, 1, 1, 6300);
		$5"
}
for r in 0 1 2 3 4 5; do
	mib=$((r == 4 ? 40 : 10))
	make app.$r.um.db $r node$((r / 3)) $mib ""
done

say "--- all ranks of a job"
run umanalyze summary app.*.um.db
run umanalyze summary --rows=2 app.*.um.db
run sh -c "umanalyze summary --format=json app.*.um.db | jq -c '.kinds[] | [.ranks_of_job, .missing_ranks,
	(.ranks | length), .totals.migrated_to_device_bytes, .outliers, .kernels[0].name, .kernels[0].faults]'"
run sh -c "umanalyze summary --format=json app.*.um.db |
	jq -c '.kinds[0].allocations[] | [.name, .site, .ranks, .count.sum, .bytes.sum, .traffic_bytes.most_of.rank]'"
run sh -c "umanalyze summary --range=step app.*.um.db | sed -n '/^Kernels/,/^\$/p'"
run umanalyze summary --range=none app.*.um.db

say "--- ranks that are missing, ended early or badly, or know less"
make early.um.db 1 node0 10 "UPDATE run SET ended = 'running', exit_status = NULL, end_ns = NULL;
	DELETE FROM fault; DELETE FROM origin WHERE record = 'fault'"
make signal.um.db 2 node0 10 "UPDATE run SET ended = 'signalled', exit_status = NULL, exit_signal = 9;
	INSERT INTO loss (kind, count) VALUES ('cut_off', 1)"
run umanalyze summary early.um.db signal.um.db app.5.um.db

say "--- what cannot be added up is shown apart"
kinds() {
	umanalyze summary "$@" | grep -E 'kinds|differ|^---|^[0-9]+ (of|run|rank)|MISSING'
}
make off.um.db 0 node0 10 "UPDATE run SET xnack = 'off'"
run kinds app.0.um.db off.um.db app.1.um.db
make machine.um.db 1 node0 10 "UPDATE run SET machine = 'mi300x', machine_text = 'other'"
run kinds app.0.um.db machine.um.db
make job.um.db 1 node0 10 "UPDATE run SET job = 'PMIX_NAMESPACE=2'"
run kinds app.0.um.db job.um.db
make measured.um.db 1 node0 10 "UPDATE run SET backend = 'cupti', machine = NULL, driver = NULL, xnack = NULL,
	driver_version = '580.1'; UPDATE origin SET origin = 'measured'"
run kinds app.0.um.db measured.um.db
make sim.um.db 1 node0 10 "UPDATE run SET role = 'simulation', source = 'app.1.um.db', policy = 'x: y'"
run kinds app.0.um.db sim.um.db
make alone.um.db NULL node0 10 "UPDATE run SET ranks = NULL, job = NULL, rank = NULL, end_ns = 11001000"
make alone2.um.db NULL node0 20 "UPDATE run SET ranks = NULL, job = NULL, rank = NULL, end_ns = 11001000"
run kinds app.0.um.db alone.um.db
run umanalyze summary alone.um.db alone2.um.db

# Memory as a multiple of what each rank has is alike.
multiple() {
	make "$1" "$2" node0 10 "UPDATE run SET role = 'simulation', memory_bytes = $3,
		policy = 'machine: mi250x' || char(10) || 'memory: $3KiB # $4' || char(10) || 'evict: driver'"
}
multiple half0.um.db 0 1000 0.5x
multiple half1.um.db 1 2000 0.5x
multiple most2.um.db 2 2000 0.9x
run kinds half0.um.db half1.um.db most2.um.db

# Figures of some launches, and of all.
for r in 1 2; do
	make selected$r.um.db $r node0 10 "INSERT INTO selection (criterion, value) VALUES ('kernels', 'scale*');
		UPDATE kernel SET recorded = (op = 5)"
done
run kinds app.0.um.db selected1.um.db
run sh -c "umanalyze summary selected[12].um.db | grep Selection"
# Parts of pools by their names.
for r in 0 1; do
	make pool$r.um.db $r node0 10 "INSERT INTO part (part, allocation, offset_bytes, bytes, name, op)
		VALUES (1, 1, 0, 524288, 'kv', 1), (2, 1, 524288, 4096, 'weights', 1)"
done
run sh -c "umanalyze summary pool[01].um.db | sed -n '/^Parts/,\$p'"
run sh -c "umanalyze summary --format=json pool[01].um.db | jq -c '.kinds[0].parts[] | [.name, .ranks, .bytes.sum]'"
# Where the launcher names no job, that is said.
make hydra0.um.db 0 node0 10 "UPDATE run SET job = NULL, started = '2026-01-01T10:00:00Z'"
make hydra1.um.db 1 node0 10 "UPDATE run SET job = NULL, started = '2026-01-01T10:00:03Z'"
run sh -c "umanalyze summary hydra0.um.db hydra1.um.db | sed '/^\$/,\$d'"
ln -s "$UM_SOURCE"/traces/h200/kernels/gather.*.um.db .
run sh -c "umanalyze summary gather.*.um.db | sed -n '1,/^Allocations/p'"

say "--- what is refused"
make twice.um.db 1 node0 10 ""
run umanalyze summary app.1.um.db twice.um.db
run sh -c "umanalyze summary app.0.um.db ./app.0.um.db | head -1"
run sh -c "umanalyze summary app.0.um.db nowhere.um.db app.1.um.db | head -1"
echo "no database" >text.um.db
run umanalyze summary text.um.db nowhere.um.db
run sh -c 'umanalyze summary app.0.um.db nowhere.um.db >/dev/null'
finish
