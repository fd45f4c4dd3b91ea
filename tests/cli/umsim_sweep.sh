#!/usr/bin/env bash
# umsim sweep: what is varied and how it is refused, one database whatever the threads, going on after
# a kill. The device fills 64 KiB four times (a memset is a kernel that writes); then a second program of
# many operations, whose sweep takes long enough to be killed.
. "$(dirname "$0")/lib.sh"

# Which machines there are is not this test's matter.
also 's/there are a100_pcie, .*or give a file/there are ..., or give a file/'

make_trace() { # FILE MEMSETS
	sqlite3 "$1" <"$UM_SOURCE/trace/db/schema.sql"
	sqlite3 "$1" "
		INSERT INTO run (role, tool, command, started, clock, ended, exit_status)
			VALUES ('trace', 'test', './app $2', '2026-01-01T00:00:00Z', 'none', 'exited', 0);
		INSERT INTO origin (record, origin) VALUES ('page_access', 'emulated');
		INSERT INTO allocation (allocation, kind, bytes, op) VALUES (1, 'managed', 65536, 1);
		INSERT INTO op (op, kind, allocation, offset_bytes, bytes, device)
			VALUES (1, 'alloc', 1, 0, 65536, 0);
		INSERT INTO op (op, kind, allocation, offset_bytes, bytes, device)
			WITH RECURSIVE n (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n <= $2)
			SELECT n, 'memset', 1, 0, 65536, 0 FROM n;"
}
rows() { # FILE
	for table in configuration setting not_simulated vary; do sqlite3 "$1" "SELECT * FROM $table"; done
}
make_trace app.um.db 4
mkdir p
printf 'driver: demand\nevict: lru\n' >p/lru.yaml
printf 'driver: demand\nevict: belady\n' >p/belady.yaml
printf 'driver: nvidia_uvm\nmachine: h200\n' >p/uvm.yaml

run umsim sweep --help
say "--- what is varied"
run umsim sweep app.um.db --vary memory=16KiB..64KiB/4 --vary page_size=4KiB,64KiB -P 'p/*.yaml' --dry-run
run umsim sweep app.um.db --vary memory=32KiB,0.75x,1x --vary page_size=4KiB,64KiB -P 'p/*.yaml'
run sqlite3 -header app.sweep.db "SELECT configuration, policy, memory, page_size, status, bytes_to_host FROM result WHERE status = 'done'"
run sqlite3 app.sweep.db "SELECT count(*), sum(status = 'refused'), sum(policy_text IS NULL) FROM configuration"
run umsim sweep -q app.um.db --vary driver=demand --vary memory=1x,0.5x --format=csv -o a.db
umsim sweep -q app.um.db --vary driver=demand --vary memory=1x,0.5x --format=json -o b.db >b.json
run jq -c ".origin, .accesses, .best, .vary, .configurations[1].settings, .configurations[1].in_effect.driver_validated, .configurations[1].figures.bytes_to_host" b.json

say "--- a row is a policy file"
sqlite3 app.sweep.db "SELECT policy_text FROM configuration WHERE configuration = 1" >again.yaml
run cat again.yaml
check "it gives the same again" sh -c '
	umsim replay -q app.um.db -P again.yaml --format=json >again.json &&
	test "$(jq ".[0].totals.end_ns, .[0].totals.bytes_to_host" again.json)" = \
		"$(sqlite3 -separator "
" app.sweep.db "SELECT end_ns, bytes_to_host FROM configuration WHERE configuration = 1")"'

say "--- one database whatever the threads"
for jobs in 1 2 4; do
	umsim sweep -q app.um.db --vary memory=16KiB..64KiB/13 --vary evict=lru,fifo,random,belady \
		--vary driver=demand -j $jobs -o j$jobs.db >/dev/null
	rows j$jobs.db >j$jobs.rows
done
check "-j 2 as -j 1" cmp j1.rows j2.rows
check "-j 4 as -j 1" cmp j1.rows j4.rows

say "--- what cannot be varied so"
run umsim sweep app.um.db --vary memory
run umsim sweep app.um.db --vary memory=
run umsim sweep app.um.db --vary memory=4GiB,,8GiB
run umsim sweep app.um.db --vary memory=4..64/16
run umsim sweep app.um.db --vary memory=4GiB..64/16
run umsim sweep app.um.db --vary memory=4GiB..64GiB
run umsim sweep app.um.db --vary memory=4GiB..64GiB/0
run umsim sweep app.um.db --vary memory=4GiB..64GiB/many
run umsim sweep app.um.db --vary memory=4GiB,4096MiB
run umsim sweep app.um.db --vary memory=4KiB..8KiB/9
run umsim sweep app.um.db --vary memory=4GB
run umsim sweep app.um.db --vary memory=4GiB --vary memory=8GiB
run umsim sweep app.um.db --vary memry=4GiB
run umsim sweep app.um.db --vary advise=host
run umsim sweep app.um.db --vary driver.xnak=on
run umsim sweep app.um.db --vary driver.xnack=perhaps
run umsim sweep app.um.db --vary machine=mi250y
run umsim sweep app.um.db --vary page_size=64KB
run umsim sweep app.um.db -P 'q/*.yaml'
run umsim sweep app.um.db -P p/lru.yaml -P 'p/l*.yaml'
run umsim sweep app.um.db -P none.yaml
run umsim sweep app.um.db --vary memory=1x -j 0
run umsim sweep app.um.db --vary memory=1x --resume --force
run umsim sweep app.um.db --vary memory=1x --format=xml
run umsim sweep
run umsim sweep not.um.db --vary memory=1x

say "--- what is there already"
run umsim sweep app.um.db --vary memory=1x
run umsim sweep app.um.db --vary memory=1x --resume
run umsim sweep app.um.db --vary memory=32KiB,0.75x,1x --vary page_size=64KiB,4KiB -P 'p/*.yaml' --resume
make_trace other.um.db 5
run umsim sweep other.um.db --vary memory=32KiB,0.75x,1x --vary page_size=4KiB,64KiB -P 'p/*.yaml' --resume -o app.sweep.db
run umsim sweep app.um.db --vary memory=1x --resume -o app.um.db
run umsim sweep app.um.db --vary memory=1x --force -o app.um.db
run umsim sweep app.um.db --vary memory=1x --resume -o nowhere.db
run umsim sweep app.um.db --vary memory=1x -o no/such/folder.db
check "what is done or refused is not run again, what failed is" sh -c '
	sqlite3 app.sweep.db "UPDATE configuration SET end_ns = 1 WHERE status = \"done\";
		UPDATE configuration SET reason = NULL WHERE status = \"failed\""
	umsim sweep -q app.um.db --vary memory=32KiB,0.75x,1x --vary page_size=4KiB,64KiB -P "p/*.yaml" --resume >/dev/null
	test $? = 1
	test "$(sqlite3 app.sweep.db "SELECT count(DISTINCT end_ns), sum(reason IS NULL AND status <> \"done\") FROM configuration")" = "1|0"'
printf 'driver: demand\nevict: fifo\n' >p/lru.yaml
run umsim sweep app.um.db --vary memory=32KiB,0.75x,1x --vary page_size=4KiB,64KiB -P 'p/*.yaml' --resume

say "--- killed, and gone on with"
make_trace long.um.db 2500
long=(umsim sweep -q long.um.db --vary memory=16KiB..64KiB/13 --vary evict=lru,fifo,random --vary driver=demand -j 2)
"${long[@]}" -o whole.db >/dev/null
"${long[@]}" -o killed.db >/dev/null 2>&1 &
killed=$!
# Until a part is done and kept; where it was all done before, the kill finds nobody, and the rest holds as well.
done_of() { # FILE
	[ ! -s "$1" ] || sqlite3 "$1" "SELECT count(*) FROM configuration WHERE status = 'done'"
}
while kill -0 $killed 2>/dev/null && ! [ "$(done_of killed.db 2>/dev/null)" -gt 0 ] 2>/dev/null; do
	:
done
kill -9 $killed 2>/dev/null
wait $killed 2>/dev/null
check "the file is whole after kill -9" test "$(sqlite3 killed.db 'PRAGMA integrity_check')" = ok
echo "$(done_of killed.db) of 39 were done when it was killed" >&2
check "it is gone on with" "${long[@]}" -o killed.db --resume
rows whole.db >whole.rows
rows killed.db >killed.rows
check "as if it had not been killed" cmp whole.rows killed.rows
: >empty.db # killed as it began
check "what is empty yet is begun" "${long[@]}" -o empty.db --resume
rows empty.db >empty.rows
check "and is the same" cmp whole.rows empty.rows

say "--- a disk that is full, or read-only"
# A limit of the file's size stands for the full disk: the kernel refuses the write as it does there.
check "what fits is kept, and the message names the file" sh -c '
	(trap "" XFSZ; ulimit -f 12
	umsim sweep -q app.um.db --vary memory=16KiB..64KiB/13 --vary driver=demand -o full.db >/dev/null 2>full.err)
	test $? = 1 && grep -q "full.db" full.err'
chmod a-w killed.db
if [ "$(id -u)" != 0 ]; then
	check "read-only" sh -c '"$@" -o killed.db --resume 2>&1 | grep -q "killed.db.*read-only"' sh "${long[@]}"
fi
finish
