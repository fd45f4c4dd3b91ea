#!/usr/bin/env bash
# Which launches are recorded in detail: a part of a program that was selected is the same as that part of a
# whole trace, the rest is marked, and everybody who shows it says so.
. "$(dirname "$0")/lib.sh"

program=$UM_BUILD/tests/hip/selected

# is TEXT DB WANTED SQL
is() {
	local got
	got=$(sqlite3 -readonly "$2.um.db" "$4")
	check "$1 ($got, expected $3)" test "$got" = "$3"
}
# trace NAME OPTIONS... [-- WORDS...]: the program's output must be that of an untraced run
trace() {
	local name=$1
	shift
	check "traced: $*" sh -c 'umtrace -o "$0".um.db "$@" >"$0".out 2>"$0".err' "$name" "$@"
	check "its output is as untraced" cmp "$name.out" untraced.out
}
# Launch by launch, in their order: what it was, and, of those recorded in $1, all that they touched.
launches="SELECT op, ROW_NUMBER() OVER (ORDER BY op) AS n, name, recorded, grid_x, block_x, reads, writes,
	atomics, bytes_read, bytes_written FROM kernel"
content() {
	sqlite3 -readonly "$1.um.db" "ATTACH '$2.um.db' AS part;
		CREATE TEMP TABLE wanted AS SELECT n FROM (SELECT ROW_NUMBER() OVER (ORDER BY op) AS n, recorded
			FROM part.kernel) WHERE recorded;
		CREATE TEMP TABLE launched AS ${launches/kernel/main.kernel};
		SELECT n, name, grid_x, block_x, reads, writes, atomics, bytes_read, bytes_written
			FROM launched WHERE n IN wanted ORDER BY n;
		SELECT n, allocation, first_page, pages, touch, lines_read, lines_written, requests,
			main.page_access.atomics FROM main.page_access JOIN launched USING (op) WHERE n IN wanted ORDER BY 1, 2, 3;
		SELECT n, chunk, first_group, last_group, touches, payload_bytes, hex(data)
			FROM main.access_chunk JOIN launched USING (op) WHERE n IN wanted ORDER BY 1, 2"
}
# same NAME LAUNCHES: of those that are recorded all is as in the whole trace, and the others are marked
same() {
	is "launches recorded" "$1" "$2" "SELECT group_concat(n) FROM ($launches) WHERE recorded"
	content full "$1" >wanted.txt
	content "$1" "$1" >got.txt
	check "there is something" test -s wanted.txt
	check "what they touched, and in which order, is as in the whole trace" cmp wanted.txt got.txt
	is "of the others nothing is known" "$1" 0 "SELECT COUNT(*) FROM kernel WHERE NOT recorded AND (reads IS NOT
		NULL OR bytes_written IS NOT NULL OR op IN (SELECT op FROM page_access) OR op IN (SELECT op FROM
		access_chunk))"
	is "they are marked" "$1" 0 "SELECT COUNT(*) FROM kernel JOIN op USING (op) WHERE recorded = (flags & 8 <> 0)
		OR recorded = (flags & 4 <> 0)"
	is "it is no loss" "$1" 0 "SELECT COUNT(*) FROM loss WHERE kind IN ('untraced_launch', 'invalid_record')"
	is "every call is there" "$1" "$calls" "SELECT group_concat(kind || ':' || COALESCE(bytes, '')) FROM
		(SELECT * FROM op WHERE kind NOT IN ('host', 'profiler_start', 'profiler_stop') ORDER BY op)"
	is "and what the host touched" "$1" "$host" "$host_sql"
}

host_sql="SELECT group_concat(allocation || ':' || first_page || '+' || pages || '=' || touch) FROM (SELECT
	page_access.* FROM page_access JOIN op USING (op) WHERE kind = 'host' ORDER BY op, page_access.allocation,
	first_page)"

"$program" >untraced.out
trace full "$program" all
is "whole, without a selection" full "17|17|0" \
	"SELECT COUNT(*), SUM(recorded), (SELECT COUNT(*) FROM selection) FROM kernel"
calls=$(sqlite3 full.um.db "SELECT group_concat(kind || ':' || COALESCE(bytes, '')) FROM (SELECT * FROM op
	WHERE kind <> 'host' ORDER BY op)")
host=$(sqlite3 full.um.db "$host_sql")

trace kernels --kernels 'heat::*' "$program" all
same kernels 1,4,7,10,13
trace name --kernels 'spread<unsigned int>' --kernels sum_up --kernels 'heat::spread' "$program" all
same name 1,3,4,6,7,9,10,12,13,15
trace excluded --exclude-kernels 'copy_back' --exclude-kernels 'sum*' "$program" all
same excluded 1,4,7,10,13
trace launches --launches 3..5 --launches 16.. --launches 1 "$program" all
same launches 1,3,4,5,16,17
trace each --kernels 'copy*' --kernels 'sum*' --launches ..2 "$program" all
same each 2,3,5,6
trace range --ranges 'step 2' "$program" all
same range 7,8,9
trace started --ranges 'all*' --exclude-kernels 'heat*' "$program" all
same started 2,3,5,6,8,9,11,12,14,15,16
trace thread --ranges 'other thread' --ranges spread "$program" all
same thread 1,4,7,10,13,17
trace both --ranges 'step [23]' --kernels 'copy*' --launches 4.. "$program" all
same both 11

# The program's own switch: hipProfilerStart and Stop, and roctxProfilerPause of one thread.
trace stops "$program"
same stops 1,2,3,4,5,6,7,8,9,10,11,12,17
trace off --profile-from-start=off "$program"
same off 7,8,9,10,11,12,17
is "its calls are there" off "profiler_start:0,profiler_stop:0,profiler_start:0" \
	"SELECT group_concat(kind || ':' || value) FROM (SELECT * FROM op WHERE kind LIKE 'profiler%' AND value = 0
	ORDER BY op)"
is "and of one thread" off "profiler_stop,profiler_start" \
	"SELECT group_concat(kind) FROM (SELECT * FROM op WHERE kind LIKE 'profiler%' AND value ORDER BY op)"
trace on --profile-from-start=on --ranges 'step 3' --ranges 'step 4' "$program"
same on 10,11,12

# Calls of the range are those of the whole trace, as people see them.
for name in full range; do
	umanalyze ops --range 'step 2' --kind host,launch,range,sync_device --format=json $name.um.db |
		jq -c '.[] | [.op, .kind, .thread, .stream, .result, .kernel, .range, .recorded]' >$name.ops
done
check "ops of the range" cmp full.ops range.ops
check "ops are not empty" grep -q launch range.ops
for name in full range; do
	umanalyze summary --range 'step 2' --format=json $name.um.db |
		jq '.selection.launches, [.kernels[] | [.name, .launches, .recorded, .reads, .writes, .requests]]' >$name.sum
done
check "summary of the range" sh -c 'tail -n +2 full.sum >a; tail -n +2 range.sum >b; cmp a b'

# What people are told.
also 's#[^ ]*/tests/hip/selected#PROGRAM#g'
summarise() {
	umanalyze summary --format=json "$1.um.db" | jq -c '.selection, (.kernels[] | [.name[0:12], .launches,
		.recorded, .reads, .faults, .remote_to_device_bytes != null, .extrapolated_reads,
		.extrapolated_requests != null])'
}
run summarise each
run summarise stops
run sh -c "umanalyze summary each.um.db | sed -n '/^  Selected/p; /^Kernels/,/^Allocations/p' | head -20"
run sh -c "umanalyze ops -k launch both.um.db | sed -n '10,12s/ = ok.*//p'"
run sh -c "umanalyze ops -k launch -f json both.um.db | jq -c '[.[].recorded]'"
run sh -c "umsim replay -q each.um.db -o each.sim.um.db | grep -A1 'not in it'"
run sh -c "umsim replay -q --force each.um.db -o each.sim.um.db --format=json | jq '.[0].launches, .[0].launches_not_recorded'"
run sh -c "umanalyze summary each.sim.um.db | grep Selected"
run grep recorded each.err

# A selection that holds for nothing says what there was.
trace none --kernels 'nothing*' --ranges 'step' --launches 100.. --exclude-kernels 'foo' "$program" all
run sed -n '/selected/p; /--/p' none.err
check "no launch is recorded" test "$(sqlite3 none.um.db 'SELECT SUM(recorded) FROM kernel')" = 0
trace never --profile-from-start=off "$program" all
run sed -n '/selected/p; /--/p' never.err

# What cannot be.
for wrong in --kernels= --kernels=a[b '--kernels=a\' --ranges= --launches=0 --launches=5..3 --launches=.. --launches=1...2 \
	--launches=a --launches=-3 --launches=18446744073709551616 --profile-from-start=maybe; do
	run umtrace "$wrong" true
done
check "too long" sh -c '! umtrace --kernels="$(printf "%03000d" 0)" true 2>long.err'
run head -1 long.err
finish
