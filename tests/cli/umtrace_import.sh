#!/usr/bin/env bash
# umtrace --import of each format: what is in the trace, that it adds up to what the file has, and what is refused.
. "$(dirname "$0")/lib.sh"
. "$UM_SOURCE/tests/cli/import_files.sh"

q() { sqlite3 "$1" "$2"; }
# sums TRACE: bytes to the device and to the host, faults of devices and the host
sums() {
	q "$1" "SELECT (SELECT COALESCE(SUM(bytes), 0) FROM migration WHERE source = -1), (SELECT COALESCE(SUM(bytes), 0) FROM migration
		WHERE destination = -1), (SELECT COALESCE(SUM(faults), 0) FROM fault WHERE device >= 0), (SELECT COALESCE(SUM(faults), 0)
		FROM fault WHERE device = -1), (SELECT COUNT(*) FROM op WHERE kind = 'launch')"
}
is() { [ -n "$1" ] && [ "$1" = "$2" ] || { echo "$1 is not $2"; return 1; }; }
origins() { q "$1" "SELECT record, origin FROM origin WHERE origin != 'absent' ORDER BY origin, record"; }

say "--- nvprof"
make_nvprof hotspot.log
run umtrace --import hotspot.log
check "its sums" is "$(sums hotspot.um.db)" "2097152|65536|345|2|2"
run umanalyze summary hotspot.um.db
run umanalyze ops hotspot.um.db
run umsim replay --machine v100_nvlink -q hotspot.um.db
run origins hotspot.um.db

say "--- HSA_SVM_PROFILE of ROCr"
make_svm hmm.log
run umtrace --import hmm.log -o svm.um.db
check "its sums" is "$(sums svm.um.db)" "6291456|2097152|2|0|2"
run umanalyze summary svm.um.db
run umsim replay --machine mi250x --xnack on -q svm.um.db
run origins svm.um.db

say "--- rocprof-sys: totals"
make_totals unified_memory-1.json
run umtrace --import unified_memory-1.json
check "its sums" is "$(sums unified_memory-1.um.db)" "432865280|65011712|0|0|0"
run q unified_memory-1.um.db "SELECT kind, reason, count FROM driver_event"
run umanalyze summary unified_memory-1.um.db
run umsim replay -q unified_memory-1.um.db

say "--- Nsight Systems"
make_nsys profile.sqlite
run umtrace --import profile.sqlite
check "its sums" is "$(sums profile.um.db)" "1245184|65536|12|2|1"
run umanalyze summary profile.um.db
run umsim replay --machine h200 -q profile.um.db
make_nsys old.sqlite old
run umtrace -q --import old.sqlite
check "its sums, of an older version" is "$(sums old.um.db)" "1245184|65536|12|2|1"

say "--- rocpd"
make_rocpd guid.db _0a1b2c3d
run umtrace --import guid.db
check "its sums" is "$(sums guid.um.db)" "6291456|2097152|1|0|1"
run umanalyze summary guid.um.db
run umanalyze ops guid.um.db
run umsim replay --machine mi250x --xnack on -q guid.um.db
make_rocpd plain.db ""
run umtrace -q --import plain.db
check "the same without suffixes" is "$(sums plain.um.db)" "$(sums guid.um.db)"
make_rocpd nested.db _1 nested
run umtrace -q --import nested.db
check "the same where kfd is nested" is "$(sums nested.um.db)" "$(sums guid.um.db)"

say "--- exported as rocpd and imported again"
for one in guid svm profile hotspot; do
	umanalyze export -f rocpd -o $one.rocpd $one.um.db 2>/dev/null
	umtrace -q --import $one.rocpd -o $one.again.um.db
	# Of the host's faults rocpd knows none.
	check "sums of $one" is "$(sums $one.again.um.db)" "$(sums $one.um.db | awk -F'|' -v OFS='|' '{ $4 = 0; print }')"
done
run umanalyze export -f rocpd -o again.db guid.um.db
run q again.db "SELECT tag, value FROM rocpd_metadata WHERE tag IN ('schema_version', 'umtrace.origin.fault', 'umtrace.origin.page_access')"
run q again.db "SELECT s.string, n.string, e.extdata FROM rocpd_region AS r JOIN rocpd_event AS e ON e.id = r.event_id JOIN rocpd_string AS n ON n.id =
	r.name_id JOIN rocpd_string AS s ON s.id = e.category_id WHERE s.string LIKE 'KFD%' ORDER BY r.start"
run q again.db "SELECT kernel_name, display_name, k.start, k.end, grid_size_x, workgroup_size_x FROM rocpd_kernel_dispatch AS k JOIN
	rocpd_info_kernel_symbol AS s ON s.id = k.kernel_id"
check "two files have names of their own" test "$(q again.db "SELECT value FROM rocpd_metadata WHERE tag = 'guid'")" != \
	"$(q svm.rocpd "SELECT value FROM rocpd_metadata WHERE tag = 'guid'")"
run umanalyze export -f rocpd -o foreign.rocpd none.um.db
check "a database does not go to a terminal" sh -c '! script -qec "umanalyze export -f rocpd guid.um.db" /dev/null | grep -q SQLite'

say "--- what is said wrongly"
run umtrace --import
run umtrace --import hotspot.log ./app
run umtrace --xnack on --import hotspot.log
run umtrace --import hotspot.log
run umtrace --import none.log
run umtrace --import .

say "--- what cannot be read"
printf 'no format that there is\n' >other.txt
run umtrace --import other.txt
: >empty.log
run umtrace --import empty.log
head -c 4000 /dev/zero >zero.bin
run umtrace --import zero.bin
run umtrace --import hotspot.um.db
sqlite3 foreign.db 'CREATE TABLE t (a)'
run umtrace --import foreign.db
head -c 3000 profile.sqlite >cut.sqlite
run umtrace --import cut.sqlite
sed '$d' hotspot.log | head -c 2000 >cut.log
run umtrace --import cut.log
sed 's/64.000000KB/many/' hotspot.log >wrong.log
run umtrace --import wrong.log
sed 's/567.26ms/never/' hotspot.log >time.log
run umtrace --import time.log
cat hotspot.log hotspot.log >two.log
run umtrace --import two.log
head -4 hotspot.log >no.log
run umtrace --import no.log
sed 's/GPU0(0x55d0c0)->CPU/GPU0->/' hmm.log >wrong_hmm.log
run umtrace --import wrong_hmm.log
head -c 700 hmm.log >cut_hmm.log
run umtrace --import cut_hmm.log
sed 's/"count": 36/"count": -36/' unified_memory-1.json >wrong.json
run umtrace --import wrong.json
head -c 500 unified_memory-1.json >cut.json
run umtrace --import cut.json
cp guid.db two.db
sqlite3 two.db "INSERT INTO rocpd_info_process_0a1b2c3d VALUES (2, 1, 4712, './app 129')"
run umtrace --import two.db
cp guid.db wrong.db
sqlite3 wrong.db "UPDATE rocpd_event_0a1b2c3d SET extdata = '{' WHERE id = 1"
run umtrace --import wrong.db
cp guid.db gone.db
sqlite3 gone.db "DROP TABLE rocpd_info_agent_0a1b2c3d"
run umtrace --import gone.db
cp profile.sqlite wrong.sqlite
sqlite3 wrong.sqlite "UPDATE CUPTI_ACTIVITY_KIND_KERNEL SET end = 1"
run umtrace --import wrong.sqlite
check "nothing is left of them" sh -c '! ls | grep -E "^(cut|wrong|time|two|no|gone|other|foreign)[a-z_]*\.um\.db|partial"'
finish
