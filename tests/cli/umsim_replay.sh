#!/usr/bin/env bash
# umsim replay: its table, its JSON, the databases that it makes and what it refuses.
. "$(dirname "$0")/lib.sh"

# 1 MiB: the host writes it, an untraced launch, the device fills it (a memset is a kernel that
# writes), the host reads.
sqlite3 app.um.db <"$UM_SOURCE/trace/db/schema.sql"
sqlite3 app.um.db "
	INSERT INTO run (role, tool, command, clock, ended, exit_status)
		VALUES ('trace', 'test', './app', 'none', 'exited', 0);
	INSERT INTO origin (record, origin, detail) VALUES ('page_access', 'emulated', NULL), ('fault', 'measured', 'replaced');
	INSERT INTO site (site) VALUES (1);
	INSERT INTO frame (site, depth, module, offset_bytes, function, file, line, inlined) VALUES (1, 0, '/home/u/app', 16, 'main', '/home/u/app.hip', 42, 0);
	INSERT INTO allocation (allocation, kind, bytes, op, site) VALUES (1, 'managed', 1048576, 1, 1);
	INSERT INTO op (op, kind, allocation, offset_bytes, bytes, device, advice) VALUES
		(1, 'alloc', 1, 0, 1048576, 0, NULL), (2, 'host', NULL, NULL, NULL, NULL, NULL),
		(3, 'advise', 1, 0, 1048576, 0, 'coarse_grain'), (4, 'launch', NULL, NULL, NULL, 0, NULL),
		(5, 'memset', 1, 0, 1048576, 0, NULL), (6, 'sync_device', NULL, NULL, NULL, NULL, NULL),
		(7, 'host', NULL, NULL, NULL, NULL, NULL), (8, 'advise', 1, 0, 1048576, -1, 'accessed_by');
	UPDATE op SET flags = 4 WHERE kind = 'launch';
	INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z)
		VALUES (4, 'first(float*)', 1, 1, 1, 64, 1, 1);
	INSERT INTO page_access (op, allocation, first_page, pages, touch) VALUES
		(2, 1, 0, 256, 14), (7, 1, 0, 256, 9);"
# Textbook paging, as its own figures are easily reckoned: one fault a page.
for policy in none host; do
	echo "driver: demand" | cat - "$UM_SOURCE"/sim/policy/examples/$policy.yaml >$policy.yaml
done
cat >prefetch.yaml <<'YAML'
driver: demand
program: {advice: drop}
prefetch:
  - on: {site: "app.hip:42"}
    to: gpu0
    before: first
YAML
cat >nothing.yaml <<'YAML'
advise:
  - on: {name: tmp}
    read_mostly: true
YAML

cat >pinned.yaml <<'YAML'
advise:
  - on: {kind: managed}
    allocate_as: pinned
YAML

say "--- results"
run umsim replay app.um.db
run umsim replay -q app.um.db --xnack on -o on.um.db
run umsim replay -q app.um.db --driver demand -o demand.um.db
run umsim replay -q app.um.db -P none.yaml -P host.yaml -P prefetch.yaml --page-size 4KiB --page-size 64KiB
run umsim replay -q app.um.db --page-size 64KiB --memory 512KiB --driver demand -o small.um.db --format=json
run umsim replay -q app.um.db --driver explicit_copy -o copies.um.db
run umsim replay -q app.um.db --driver explicit_copy --memory 512KiB -o beyond.um.db
run umsim replay -q app.um.db -P pinned.yaml -o pinned.um.db
run sqlite3 pinned.um.db "SELECT * FROM bound" "SELECT * FROM origin WHERE record = 'bound'"
run sqlite3 small.um.db "SELECT * FROM bound"
say "$(printf '%s ' *.um.db)"
run sqlite3 small.um.db "SELECT role, tool, command, source, clock, end_ns > 0, ended, exit_status,
	machine, driver, driver_parameters, page_bytes, memory_bytes, policy FROM run"
run sqlite3 small.um.db "SELECT * FROM origin" "SELECT * FROM frame" "SELECT * FROM allocation" \
	"SELECT device, name, link FROM device" "SELECT op, kind, end_ns >= start_ns FROM op" \
	"SELECT op, kind, count, detail FROM loss" \
	"SELECT op, device, first_page, pages, faults, access FROM fault" \
	"SELECT op, cause, source, first_page, pages, bytes, transfers FROM migration" \
	"PRAGMA integrity_check"

say "--- what a policy asks and the driver ignores"
cat >asks.yaml <<'YAML'
advise:
  - on: {kind: managed}
    read_mostly: true
    coarse_grain: true
YAML
sed '1i driver: demand' asks.yaml >asks_demand.yaml
run sh -c "umsim replay -q app.um.db -P asks.yaml -P asks_demand.yaml | grep 'not simulated'"
run sh -c "umsim replay -q app.um.db --force -P asks.yaml --format=json | grep -A1 '\"what\"'"
run sqlite3 app.asks.um.db "SELECT kind, detail FROM loss"

say "--- what a policy asks for memory that is not managed"
cp app.um.db device.um.db
sqlite3 device.um.db "INSERT INTO allocation (allocation, kind, bytes, op, site) VALUES (2, 'device', 65536, 3, 1), (3, 'device', 65536, 3, 1)"
cat >device.yaml <<'YAML'
advise:
  - on: {kind: device}
    preferred_location: gpu0
  - on: {kind: managed}
    read_mostly: true
prefetch:
  - on: {site: "app.hip:42"}
    to: gpu0
    before: first
YAML
sed 's/preferred_location: gpu0/allocate_as: pinned/; /^prefetch/,$d' device.yaml >elsewhere.yaml
run sh -c "umsim replay -q device.um.db -P device.yaml -P elsewhere.yaml | grep -A1 'not simulated'"
run sh -c "umsim replay -q device.um.db --force -P device.yaml --format=json | grep -A1 '\"what\"'"
run sqlite3 device.device.um.db "SELECT kind, detail FROM loss"
sqlite3 device.um.db "UPDATE allocation SET kind = 'pageable' WHERE kind = 'device'"
sed 's/kind: device/kind: pageable/' device.yaml >pageable.yaml
run sh -c "umsim replay -q device.um.db --driver demand -P pageable.yaml | grep -A1 'pageable.yaml:'"

say "--- fewer faults than the ideal's"
run sh -c "umsim replay -q app.um.db --force -P prefetch.yaml --page-size 64KiB | grep -A3 '^to the'"
run sh -c "umsim replay -q app.um.db --force -P prefetch.yaml --page-size 64KiB --format=json | grep -A4 over_ideal"

say "--- memory"
cp app.um.db limited.um.db
sqlite3 limited.um.db "UPDATE run SET machine = 'mi250x', memory_bytes = 524288"
# what a note and the stored run say of it
memory() {
	run sh -c 'umsim replay -q --driver demand --force "$@" -o memory.um.db | grep -E "^(machine|memory)"' sh "$@"
	run sqlite3 memory.um.db "SELECT memory_bytes, policy LIKE '%memory: %' FROM run"
}
echo "memory: 0.75x" >part.yaml
memory limited.um.db
memory limited.um.db --machine mi210
memory limited.um.db --memory 768KiB
memory limited.um.db -P part.yaml
memory limited.um.db -P part.yaml --memory 0.5x
run umsim replay -q limited.um.db --driver demand --memory 1x --memory 0.5x --evict random:7
run umsim policy check part.yaml limited.um.db
run umsim policy check part.yaml
run umsim replay -q limited.um.db --memory 50%
run umsim replay -q limited.um.db --memory 0x
run umsim replay -q limited.um.db --memory 0.001x
run umsim replay -q limited.um.db --memory 1e3x
run umsim replay -q limited.um.db --memory 100000x
run umsim replay -q limited.um.db --evict lru:7
run umsim replay -q limited.um.db --evict random:x
run umsim replay -q limited.um.db --evict oldest

say "--- memory that HIP did not allocate"
cp app.um.db heap.um.db
sqlite3 heap.um.db "INSERT INTO loss (op, kind, count) VALUES (4, 'outside', 1000), (4, 'outside', 234)"
run sh -c "umsim replay -q heap.um.db | grep '^not in it'"
sqlite3 heap.um.db "UPDATE allocation SET kind = 'pageable'"
run sh -c "umsim replay -q --xnack on --force heap.um.db | grep '^not in it'"
run umsim replay -q heap.um.db --memory 1x

say "--- one of several fails"
echo "driver: {name: amdgpu_svm, xnack: off}" >off.yaml
echo "driver: {name: amdgpu_svm, xnack: on}" >on.yaml
run umsim replay --force heap.um.db -P off.yaml -P on.yaml --page-size 64KiB
run sh -c "umsim replay -q --force heap.um.db -P off.yaml -P on.yaml --format=json 2>/dev/null | grep '\"policy\"'"
run umsim replay -q --force heap.um.db -P off.yaml --page-size 4KiB --page-size 2MiB
echo "memory: 90GiB" >large.yaml
run umsim replay -q --force heap.um.db -P on.yaml -P large.yaml
check "what was known before left nothing behind" test ! -e heap.large.um.db
sqlite3 app.um.db ".backup there.um.db"
run umsim replay -q there.um.db -P on.yaml -o there.on.um.db
run umsim replay -q there.um.db -P none.yaml -P on.yaml
check "so did a name that is taken" test ! -e there.none.um.db

say "--- refused"
cp app.um.db kept.um.db
run umsim replay -q app.um.db
run umsim replay -q app.um.db -o app.um.db --force
run umsim replay -q app.um.db -o both.um.db -P none.yaml -P host.yaml
run umsim replay -q app.um.db -P none.yaml -P ./none.yaml --force
run umsim replay -q app.um.db -P nothing.yaml
run umsim replay -q app.um.db --page-size 64KB
run umsim replay -q app.um.db --page-size 8KiB
run umsim replay -q app.um.db --page-size 0
run umsim replay -q app.um.db --memory 0
run umsim replay -q app.um.db --memory 1B
run umsim replay -q app.um.db -o none.yaml --force
run sh -c 'umsim replay -q app.um.db --force >/dev/full'
run umsim replay -q app.um.db --driver best
run umsim replay -q app.um.db --machine nosuch
run umsim replay -q app.um.db --memory 1TiB -o big.um.db
run umsim replay -q app.um.db --format=xml
run umsim replay -q nowhere.um.db
run umsim replay -q none.yaml
run umsim replay
run umsim
run umsim repaly app.um.db
run umsim nothing
head -c 30000 app.um.db >cut.um.db
run umsim replay -q cut.um.db
sqlite3 kept.um.db "UPDATE page_access SET pages = 300 WHERE op = 7"
run umsim replay -q kept.um.db -o broken.um.db
sqlite3 damaged.um.db ".restore app.um.db" "PRAGMA ignore_check_constraints = 1" \
	"UPDATE run SET ended = 'never'"
run umsim replay -q damaged.um.db -o broken.um.db
sqlite3 damaged.um.db "UPDATE run SET ended = 'exited', machine_text = 'name: ['"
run umsim replay -q damaged.um.db -o broken.um.db
sqlite3 runs.um.db ".restore app.um.db" "PRAGMA ignore_check_constraints = 1" \
	"INSERT INTO run (id, role, tool, command, clock, machine_text) VALUES (2, 'trace', 'x', 'x', 'x', 'name: [')"
check "a damaged file's second run is passed over" umsim replay -q runs.um.db -o two.um.db
check "no database is left of what failed" test ! -e broken.um.db -a ! -e app.nothing.um.db
umsim replay -q app.um.db --driver demand -o kept_result.um.db
cp kept_result.um.db before.um.db
check "a replay that fails is refused" sh -c '! umsim replay -q app.um.db --driver demand --page-size 64KiB --memory 4KiB -o kept_result.um.db --force'
check "and leaves the result of an earlier one" cmp kept_result.um.db before.um.db
check "and nothing half made" sh -c '! ls *.partial'
check "an existing database is replaced" umsim replay -q app.um.db --force
check "the trace is as it was" test "$(sqlite3 app.um.db 'SELECT COUNT(*) FROM op')" = 8
finish
