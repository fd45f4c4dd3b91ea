#!/usr/bin/env bash
# The committed accesses (tests/gpu/accesses) beside the committed measurements: one for each, made without
# a GPU and whole, of a program that did call by call what the measured one did.
set -euo pipefail
: "${UM_BUILD:?}" "${UM_SOURCE:?}"

cd "$UM_SOURCE"
failures=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

complain() {
	echo "FAILED: $*" >&2
	failures=$((failures + 1))
}

# Every call with its arguments and result, in order; allocations by their order, with kind and size. Not
# 'host' ops, which are no calls. The flag of a stream that does not wait for the null stream is left out
# where that stream ends: a measured trace has it only where the stream begins.
calls() {
	sqlite3 -readonly "$1" "
		WITH known AS (SELECT allocation, kind || ' ' || bytes || ' #' ||
			row_number() OVER (ORDER BY allocation) AS name FROM allocation)
		SELECT op.kind, kernel.name, grid_x, grid_y, grid_z, block_x, block_y, block_z, op.stream, op.thread,
			CASE WHEN op.kind = 'stream_destroy' THEN op.flags & ~2 ELSE op.flags END, op.result,
			target.name, op.offset_bytes, op.bytes, source.name, op.source_offset_bytes, op.device, op.advice,
			op.value, user_range.name, (SELECT COUNT(*) FROM op AS inner WHERE inner.kind <> 'host'
				AND inner.op > op.op AND inner.op <= user_range.last_op)
		FROM op LEFT JOIN kernel USING (op) LEFT JOIN user_range USING (op)
			LEFT JOIN known AS target ON target.allocation = op.allocation
			LEFT JOIN known AS source ON source.allocation = op.source_allocation
		WHERE op.kind <> 'host' ORDER BY op.op"
}

# is TRACE WANTED SQL
is() {
	local got
	got=$(sqlite3 -readonly "$1" "$3") || got="cannot be read"
	[ "$got" = "$2" ] || complain "$1: $got, expected $2"
}

check_one() {
	local measured=$1 accesses=$2
	if [ ! -f "$accesses" ]; then
		complain "$accesses is not there (tests/gpu/accesses makes it)"
		return 0
	fi
	is "$accesses" ok "PRAGMA integrity_check"
	is "$accesses" "trace emulated exited 0" \
		"SELECT role || ' ' || backend || ' ' || ended || ' ' || exit_status FROM run"
	is "$accesses" 0 "SELECT COUNT(*) FROM origin WHERE origin = 'modelled'"
	is "$accesses" emulated "SELECT origin FROM origin WHERE record = 'page_access'"
	is "$accesses" measured "SELECT origin FROM origin WHERE record = 'page_access.host'"
	is "$accesses" 0 "SELECT COUNT(*) FROM loss"
	is "$accesses" 0 "SELECT COUNT(*) FROM kernel WHERE NOT EXISTS
		(SELECT 1 FROM access_chunk WHERE access_chunk.op = kernel.op)"
	calls "$measured" >"$scratch/measured"
	calls "$accesses" >"$scratch/accesses"
	[ -s "$scratch/measured" ] || complain "$measured has no calls"
	diff "$scratch/measured" "$scratch/accesses" >"$scratch/diff" || {
		head -n 10 "$scratch/diff" >&2
		complain "$accesses: other calls than $measured"
	}
}

# What the host wrote before it gave advice stands before the advice.
check_order() {
	local range
	for range in prefhost_16M readmostly_16M accessedby_64M; do
		is "$1" "host advise" "SELECT group_concat(kind, ' ') FROM (SELECT op.kind FROM op JOIN user_range
			ON op.op > user_range.op AND op.op <= last_op AND name = '$range#1'
			WHERE kind IN ('host', 'advise') ORDER BY op.op LIMIT 2)"
	done
}

# refuses WORDS OPTIONS...
refuses() {
	local words=$1 status=0
	shift
	tests/gpu/accesses "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
	if [ "$status" != 1 ] || ! grep -q "^accesses: .*$words" "$scratch/err" || [ "$(wc -l <"$scratch/err")" != 1 ]; then
		complain "expected '$words', got $status: $(cat "$scratch/err")"
	fi
}

touched() {
	sqlite3 -readonly "$1" "SELECT kind, page_access.* FROM page_access JOIN op USING (op) ORDER BY 2, 3, 4"
}

# The script makes what was committed, with programs of this build.
check_script() {
	local name=small_allocs.pool own=$scratch/h200
	refuses 'are needed' --build="$UM_BUILD"
	refuses 'is no option' --speed
	refuses 'no folder that tests/gpu/measure made' --build="$UM_BUILD" --traces="$scratch" --machine=h200
	mkdir -p "$own/kernels"
	cp "traces/h200/kernels/$name.um.db" "$own/kernels"
	refuses "nothing is named 'scale.4M'" --build="$UM_BUILD" --traces="$own" --machine=h200 --only=scale.4M
	tests/gpu/accesses --build="$UM_BUILD" --traces="$own" --machine=h200 --programs="$UM_BUILD/kernels" \
		>"$scratch/out" || complain "tests/gpu/accesses: $(cat "$scratch/out")"
	touched "traces/h200/accesses/kernels/$name.um.db" >"$scratch/then"
	touched "$own/accesses/kernels/$name.um.db" >"$scratch/now"
	[ -s "$scratch/then" ] || complain "$name: no accesses"
	diff "$scratch/then" "$scratch/now" >&2 || complain "$name: other accesses than committed"
}

check_script
[ -d traces/h200/accesses ] || complain "there is no traces/h200/accesses"
for folder in traces/*/accesses; do
	measured=$(dirname "$folder")
	# What tests/gpu/measure made; imported logs have no such list.
	[ -e "$measured/machine.tsv" ] || continue
	while read -r trace; do
		check_one "$measured/$trace" "$folder/$trace"
	done < <(cd "$measured" && ls configurations.um.db kernels/*.um.db)
	check_order "$folder/configurations.um.db"
	"$UM_BUILD/bin/umanalyze" summary --range 'read_1M#1' "$folder/configurations.um.db" >"$scratch/summary" ||
		complain "umanalyze summary $folder/configurations.um.db"
	grep -q '^  Operations .*1 launch' "$scratch/summary" || complain "read_1M has not one launch"
	for trace in "$folder"/kernels/*.um.db; do
		[ -f "$measured/kernels/$(basename "$trace")" ] || complain "$trace: nothing was measured"
	done
done
[ "$failures" = 0 ]
