#!/usr/bin/env bash
# What is selected of a program on a GPU, with stand-ins for NVIDIA's libraries: launches keep their times, and
# what the driver did for those that are not selected is left out.
. "$(dirname "$0")/lib.sh"

fakes=$UM_BUILD/tests/fake_cuda
export CUDA_HOME=$fakes/fake_cupti
unset CUDA_PATH CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
ln -s "$UM_BUILD/bin/fake_program_nvtx" program
cp "$UM_SOURCE/tests/cli/selected.script" script
also 's/, driver [0-9.]+:/:/'

kept() {
	sqlite3 "$1.um.db" "SELECT kernel.name, recorded, flags, (SELECT SUM(faults) FROM fault WHERE
			fault.op = kernel.op) FROM kernel JOIN op USING (op) ORDER BY op;
		SELECT CASE WHEN device < 0 THEN 'host' ELSE 'gpu' END || ' faults ' || SUM(faults) FROM fault GROUP BY device;
		SELECT cause || ' from ' || source || ': ' || SUM(bytes) FROM migration GROUP BY cause, source;
		SELECT 'maps ' || COUNT(*) || ', thrashing ' || (SELECT COUNT(*) FROM driver_event) FROM mapping"
}
# trace NAME OPTIONS...; then what is kept: of launches, faults, bytes by cause, the rest
trace() {
	local name=$1
	shift
	say "--- $*"
	check "traced: $*" sh -c 'umtrace --faults=all -o "$0".um.db "$@" ./program script play 2>"$0".err' "$name" "$@"
	run sed -e '/^ \|recorded\|--\|selected/!d' "$name.err"
	run kept "$name"
	check "each kernel has the times of the GPU" test "$(sqlite3 "$name.um.db" "SELECT COUNT(*) FROM kernel
		JOIN op USING (op) WHERE end_ns - start_ns = 200000")" = 3
	check "a host op has what the host did" test "$(sqlite3 "$name.um.db" "SELECT COUNT(*) FROM op WHERE kind = 'host'
		AND op NOT IN (SELECT op FROM fault UNION SELECT op FROM migration UNION SELECT op FROM mapping UNION
		SELECT op FROM driver_event)")" = 0
	check "every call is there" test "$(sqlite3 "$name.um.db" "SELECT COUNT(*) FROM op WHERE kind <> 'host'")" = 15
	check "nothing is wrong with it" test "$(sqlite3 "$name.um.db" "SELECT COUNT(*) FROM loss")" = 0
}

trace on --profile-from-start=on
trace kernels --kernels first
trace excluded --exclude-kernels 'fir*'
trace launches --launches 2..
trace each --kernels first --launches 2
trace ranges --ranges 'st*'
trace off --profile-from-start=off
trace never --ranges nothing

say "--- a whole trace, and what people are told"
sed '/^call 30[89]/d' script >whole
run sh -c 'umtrace -q --faults=all -o whole.um.db ./program whole play; sqlite3 whole.um.db "SELECT SUM(recorded), (SELECT SUM(faults) FROM fault), (SELECT SUM(bytes) FROM migration) FROM kernel"'
run sh -c "umanalyze summary kernels.um.db | sed -n '/^  Selected/p; /^Kernels/,/^Allocations/p'"
run sh -c "umanalyze ops -k launch,profiler_start,profiler_stop kernels.um.db | sed 's/ = ok.*//; s/^ *[0-9]* //'"
for name in whole ranges; do
	umanalyze summary --format=json --range step $name.um.db |
		jq '[.kernels[] | del(.duration_ns, .shortest_ns, .longest_ns)], .traffic, .faults' >$name.json
done
check "the range is as in the whole trace" cmp whole.json ranges.json
check "it is something" grep -q '"faults": 3' ranges.json
sed 's/_Z5firstPf/sum_up/g' script >of_both
check "accesses" umtrace -q --machine=h200 --kernels 'sum*' -o accesses.um.db "$UM_BUILD/tests/hip/selected" all
check "measured" umtrace -q --faults=all --kernels second -o card.um.db ./program of_both play
run sh -c "umsim check accesses.um.db --against card.um.db --machine=h200 | grep -A1 '^of .*launches'"
run sh -c "umsim check accesses.um.db --against card.um.db --machine=h200 --format=json | jq -c '[.launches_not_recorded, .against[0].launches_not_recorded]'"
finish
