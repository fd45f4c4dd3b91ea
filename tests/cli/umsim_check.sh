#!/usr/bin/env bash
# umsim check: a prediction beside measurements that were written by hand, what is compared and what is
# not, limits, folders, and what is refused. The program: the host writes 2 MiB, which are prefetched,
# filled by the device and read by the host.
. "$(dirname "$0")/lib.sh"

# A machine with round figures, so that times are this test's own.
cat >card.yaml <<'END'
name: card
device_name: "NVIDIA H200"
arch: sm_90
devices: 1
memory: 1GiB
compute_units: 4
waves_per_unit: 64
wave_lanes: 32
clock_khz: 1000000
memory_clock_khz: 1000000
memory_bus_bits: 1024
l2: 1MiB
memory_bandwidth: 1000GB/s
launch: 1us
xnack: always
link: {name: test link, to_device: 50GB/s, to_host: 50GB/s, latency: 1us, remote_request: 64B, remote_requests_per_s: 1000000}
END

database() {
	sqlite3 "$1" <"$UM_SOURCE/trace/db/schema.sql"
	sqlite3 "$1" "$2"
}

program="
	INSERT INTO op (op, kind, allocation, offset_bytes, bytes, device, start_ns, end_ns) VALUES
		(2, 'range', NULL, NULL, NULL, 0, 0, 900000), (4, 'alloc', 1, 0, 2097152, 0, 1, 2),
		(5, 'host', NULL, NULL, NULL, NULL, 2, 3), (6, 'prefetch', 1, 0, 2097152, 0, 100, 200),
		(8, 'sync_device', NULL, NULL, NULL, 0, 200, 300),
		(10, 'memset', 1, 0, 2097152, 0, 300, 400),
		(12, 'sync_device', NULL, NULL, NULL, 0, 400, 500),
		(13, 'host', NULL, NULL, NULL, NULL, 500, 900000);
	INSERT INTO user_range VALUES (2, 13, 'all of it#1');
	INSERT INTO allocation (allocation, kind, bytes, op, name) VALUES (1, 'managed', 2097152, 4, 'x');"
database accesses.um.db "
	INSERT INTO run (role, tool, command, clock, ended, exit_status)
		VALUES ('trace', 'test', './app', 'none', 'exited', 0);
	INSERT INTO origin (record, origin) VALUES ('page_access', 'emulated');
	$program
	INSERT INTO page_access (op, allocation, first_page, pages, touch, lines_read, lines_written)
		VALUES (5, 1, 0, 512, 2, 0, -1), (13, 1, 0, 512, 1, -1, 0);"

# measured NAME RECORDS: as many pieces to the device
measured() {
	database "$1" "
		INSERT INTO run (role, tool, command, backend, clock, ended, exit_status)
			VALUES ('trace', 'test', './app', 'cupti', 'CLOCK_BOOTTIME', 'exited', 0);
		INSERT INTO device (device, name) VALUES (0, 'NVIDIA H200');
		INSERT INTO origin (record, origin) VALUES ('migration', 'measured'), ('fault', 'measured'),
			('fault.host', 'absent'), ('mapping', 'measured'), ('op.time', 'measured'),
			('remote_access', 'absent'), ('copy_traffic', 'measured');
		$program
		WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < $2 - 1)
		INSERT INTO migration (op, allocation, first_page, pages, bytes, source, destination,
			cause_code, transfers, start_ns, duration_ns)
			SELECT 6, 1, i, 512 / $2, 2097152 / $2, -1, 0, 2, 1, 1000 + i * 50000, 44000 / $2 FROM n;
		INSERT INTO migration (op, allocation, first_page, pages, bytes, source, destination,
			cause_code, transfers, start_ns, duration_ns)
			VALUES (13, 1, 0, 512, 2097152, 0, -1, 1, 6, 800000, 60000);"
}
measured one.um.db 1
measured two.um.db 2
measured four.um.db 4

run umsim check accesses.um.db --machine=card.yaml --against one.um.db
run umsim check accesses.um.db --machine=card.yaml --against two.um.db --against one.um.db --against four.um.db
run umsim check accesses.um.db --machine=card.yaml --against four.um.db --max-error=bytes=0%,records=20%
run umsim check accesses.um.db --machine=card.yaml --against four.um.db --against one.um.db --max-error=records=20%
run sh -c 'umsim check accesses.um.db --machine=card.yaml --against one.um.db --max-error=cpu_faults=1% >table'
check "quantities as the table calls them" sh -c '
	umsim check accesses.um.db --machine=card.yaml --against one.um.db >t \
		"--max-error=Bytes to device=0%,remote maps, bytes=0%,records in=0%,kernel time=5%" &&
	! umsim check accesses.um.db --machine=card.yaml --against one.um.db "--max-error=records to host=1%" >t'
check "JSON is JSON, and has the figures" sh -c '
	umsim check accesses.um.db --machine=card.yaml --against one.um.db --against four.um.db --format=json >j &&
	test "$(jq -c "[.total.records_to_device | .predicted, .measured, .least, .most, .error, .within_spread]" j)" = "[1,2.5,1,4,-0.6,true]" &&
	test "$(jq -c "[.ranges[0].name, .allocations[0].name, .total.cpu_faults.measured]" j)" = "[\"all of it#1\",\"x #1 managed 2 MiB\",null]"'

say "--- another program, another machine ---"
cp one.um.db other.um.db
sqlite3 other.um.db "UPDATE op SET bytes = 1048576 WHERE kind = 'prefetch';
	INSERT INTO op (op, kind, allocation, offset_bytes, bytes, device, advice)
		VALUES (9, 'advise', 1, 0, 2097152, -1, 'preferred_location');"
run umsim check accesses.um.db --machine=card.yaml --against other.um.db --max-error=bytes=1%
check "allowed, it is only said" sh -c '
	umsim check accesses.um.db --machine=card.yaml --against other.um.db --max-error=bytes=1% --allow-other-calls |
		grep -q "^not the same program"'
check "JSON says which of the repetitions, and of each figure" sh -c '
	umsim check accesses.um.db --machine=card.yaml --against one.um.db --against other.um.db --format=json >j &&
	test "$(jq -c "[.same_program, .total.bytes_to_device.same_program, (.differences | length)]" j)" = "[false,false,1]" &&
	test "$(jq -c ".differences[0] | [.trace, .only_in_accesses, .only_measured]" j)" = "[\"other.um.db\",1,2]" &&
	umsim check accesses.um.db --machine=card.yaml --against one.um.db --format=json |
		jq -e ".same_program and .total.bytes_to_device.same_program and (.differences == [])"'
sqlite3 other.um.db "UPDATE device SET memory_bytes = 4294967296, compute_units = 8, link = 'test link'"
run sh -c 'umsim check accesses.um.db --machine=card.yaml --against other.um.db | grep -A1 ^warning'
check "an AMD machine, and accesses traced for one" sh -c '
	cp accesses.um.db mi.um.db && sqlite3 mi.um.db "INSERT INTO device (device, name, compute_units, wave_lanes)
		VALUES (0, \"AMD Instinct\", 110, 64)" && sqlite3 other.um.db "UPDATE device SET wave_lanes = 32" &&
	umsim check mi.um.db --machine=mi250x --against other.um.db >t &&
	grep -q "^warning: machine mi250x is not the card" t &&
	grep -q "^warning: the driver is not the one that was measured: amdgpu_svm" t &&
	grep -q "^warning: the accesses were traced for another card" t && grep -q "waves of 64 lanes" t'

say "--- a folder ---"
mkdir -p card/runs card/accesses/runs
cp one.um.db card/runs/a.um.db
cp two.um.db card/runs/b.um.db
cp four.um.db card/runs/lonely.um.db
cp accesses.um.db card/accesses/runs/a.um.db
cp accesses.um.db card/accesses/runs/b.um.db
for run in a b; do # as runs, without ranges
	sqlite3 card/runs/$run.um.db "DELETE FROM user_range"
done
printf 'gpu\t%s\tb\t2097152\t%s\t2097152\t6\t0\t0\t0\t0\t104000\t0\t0\n' 1 2 2 3 3 1 >card/figures.tsv
echo b >test_set
echo 'program: a b' >choices
run umsim check --all card --machine=card.yaml --test-set=test_set --choices=choices
run umsim check -q --all card --machine=card.yaml --test-set=test_set --format=tsv
run sh -c 'umsim check -q --all card --machine=card.yaml --test-set=test_set --choices=choices --format=markdown | grep -E "^.-|bytes|^By|program"'
run sh -c 'umsim check -q --all card --machine=card.yaml --test-set=test_set --max-error=bytes=1%,time=9%/9% >t; echo $?'
run sh -c 'umsim check --all card --machine=card.yaml --test-set=test_set --max-error=bytes=1%,time=9%/5%,records=1% >t 2>e; echo $?; grep -v "left out" e'
check "another program is in no summary" sh -c '
	cp -r card others && sqlite3 others/runs/b.um.db "UPDATE op SET bytes = 4096 WHERE kind = \"memset\"" &&
	umsim check --all others --machine=card.yaml >t 2>e && grep -q "runs/b.um.db: not the same program" e &&
	grep -q "\"!\": of another program than was measured, and in no summary: 1 of 2" t && grep -q "bytes to device  *1 " t'
check "JSON of a folder" sh -c '
	umsim check -q --all card --machine=card.yaml --test-set=test_set --choices=choices --format=json >j &&
	test "$(jq -c "[.summaries.test.records_to_device | .count, .within_spread, .worst]" j)" = "[1,1,\"b\"]" &&
	test "$(jq -c "[.entries[].set]" j)" = "[\"training\",\"test\"]"'

check "a folder that is a link, of links" sh -c '
	cp -r card linked && mv linked/runs/a.um.db elsewhere.um.db && ln -s ../../elsewhere.um.db linked/runs/a.um.db &&
	ln -s linked link && umsim check -q --all card --machine=card.yaml --format=tsv >one &&
	umsim check -q --all link --machine=card.yaml --format=tsv >two && test -s two && cmp one two'
check "a list with carriage returns" sh -c '
	printf "program: a b\r\n" >returns && umsim check -q --all card --machine=card.yaml --choices=returns | grep -q program'

say "--- refused ---"
run umsim check accesses.um.db
run umsim check --against one.um.db
run umsim check accesses.um.db --machine=card.yaml --against no.um.db
run umsim check accesses.um.db --machine=card.yaml --against accesses.um.db
run umsim check one.um.db --against one.um.db
run umsim check accesses.um.db --machine=card.yaml --against one.um.db --max-error=speed=1%
run umsim check accesses.um.db --machine=card.yaml --against one.um.db --format=tsv
run umsim check accesses.um.db --against one.um.db --machine=h2000
run umsim check accesses.um.db --all card
run umsim check --all card --machine=card.yaml --max-error=bytes=1%,cpu_faults=1% -q --format=tsv
run umsim check accesses.um.db --machine=card.yaml --against one.um.db --max-error=bytes=1%/5%
run umsim check accesses.um.db --machine=card.yaml --against one.um.db --allow-other-calls
run umsim check --all card/runs
run umsim check --all card/none
run umsim check --all card --machine=card.yaml --test-set=none
echo 'no colon' >bad
run umsim check --all card --machine=card.yaml --choices=bad
echo 'gpu	1' >card/figures.tsv
run umsim check -q --all card --machine=card.yaml
check "the machine is the measured device's" sh -c '
	umsim check accesses.um.db --against one.um.db | grep "on machine h200"'
sqlite3 one.um.db "UPDATE device SET name = 'NVIDIA Unheard-of'"
run umsim check accesses.um.db --against one.um.db
check "a machine that is named serves" umsim check accesses.um.db --against one.um.db --machine=h200
umsim replay -q accesses.um.db --machine=h200 -o predicted.um.db >/dev/null
run umsim check accesses.um.db --machine=card.yaml --against predicted.um.db
run umsim check predicted.um.db --against two.um.db
sqlite3 two.um.db "DELETE FROM user_range; UPDATE allocation SET bytes = 1"
run umsim check accesses.um.db --machine=card.yaml --against two.um.db
finish
