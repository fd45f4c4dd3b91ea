#!/usr/bin/env bash
# umtrace -P: what the program does under a policy is what was predicted. A replay of a trace that was made
# under the policy, as the program then was, moves byte for byte and faults as often as a replay of the trace
# without it under the policy. Results, output and exit status stay, however the program ends.
. "$(dirname "$0")/lib.sh"

figures="SELECT cause, SUM(bytes_to_device), SUM(bytes_to_host), SUM(transfers), SUM(requests) FROM traffic
	GROUP BY cause;
	SELECT device < 0, SUM(faults) FROM fault GROUP BY 1;
	SELECT kind, SUM(count) FROM driver_event GROUP BY 1"

policy() {
	cat >"$1.yaml"
}
# baseline NAME PROGRAM ARGUMENTS...
baseline() {
	local name=$1
	shift
	umtrace -q --no-model -o "$name.um.db" "$@" >"$name.out" 2>"$name.err"
	echo $? >"$name.status"
}
# replays TRACE WANTED OPTIONS...: its figures with and without XNACK
replays() {
	local xnack trace=$1 into=$2
	shift 2
	: >"$into"
	for xnack in on off; do
		umsim replay "$trace" --xnack $xnack -q --force -o replay.um.db "$@" >/dev/null || return
		sqlite3 -readonly replay.um.db "$figures" >>"$into"
	done
}
# applies NAME POLICY PROGRAM ARGUMENTS...
applies() {
	local name=$1 policy=$2 status=0
	shift 2
	umtrace -q --no-model --force -P "$policy.yaml" --baseline "$name.um.db" -o applied.um.db "$@" \
		>applied.out 2>applied.err || status=$?
	check "$name under $policy: its output is as before" cmp "$name.out" applied.out
	check "$name under $policy: and its messages" cmp "$name.err" applied.err
	check "$name under $policy: and its status" test "$status" = "$(cat "$name.status")"
}
# calls NAME POLICY WANTED
calls() {
	local got
	got=$(sqlite3 -readonly applied.um.db "SELECT COUNT(*) FROM op WHERE flags & 16 AND kind <> 'stream_create'")
	check "$1 under $2: calls of ours ($got, expected $3)" test "$got" = "$3"
}
# comes_true NAME POLICY CALLS PROGRAM ARGUMENTS...
comes_true() {
	local name=$1 policy=$2 calls=$3 got
	shift 3
	applies "$name" "$policy" "$@"
	check "predicted" replays "$name.um.db" predicted.txt -P "$policy.yaml"
	check "achieved" replays applied.um.db achieved.txt
	check "$name under $policy: there is something" test -s predicted.txt
	check "$name under $policy: what is applied moves what was predicted" diff predicted.txt achieved.txt
	calls "$name" "$policy" "$calls"
	got=$(sqlite3 -readonly applied.um.db "SELECT detail FROM loss WHERE kind = 'policy'")
	check "$name under $policy: all came as planned ($got)" test -z "$got"
}

policy advice <<'E'
advise:
  - on: {kind: managed}
    preferred_location: gpu0
    accessed_by: [host, gpu0]
  - on: {kind: managed, larger_than: 64KiB}
    at: {before: "*", nth: 1}
    read_mostly: true
  - on: {kind: managed, index: 1}
    at: {before: "*", nth: 1}
    coarse_grain: true
E
policy prefetch <<'E'
prefetch:
  - {on: {kind: managed}, to: gpu0, before: "*", ahead: 1}
  - {on: {kind: managed, range: [0, 256KiB]}, to: host, before: "*", nth: 1}
E
policy own <<'E'
advise:
  - {on: {kind: managed}, preferred_location: host}
prefetch:
  - {on: {kind: managed, range: [64KiB, 1MiB]}, to: gpu0, before: "*", ahead: 2, stream: own}
E
policy drop <<'E'
program: {advice: drop, prefetch: drop}
advise:
  - {on: {kind: managed}, accessed_by: [gpu0]}
E
policy pinned <<'E'
advise:
  - {on: {kind: managed}, allocate_as: pinned}
E
policy device <<'E'
advise:
  - {on: {kind: managed, index: 1}, allocate_as: device}
E
policy parts <<'E'
advise:
  - {on: {name: kv}, preferred_location: gpu0}
  - {on: {name: weights}, read_mostly: true}
prefetch:
  - {on: {name: activations}, to: gpu0, before: "forward*"}
  - {on: {name: logits}, to: host, before: "project*", nth: 2}
E

k=$UM_BUILD/kernels
baseline jacobi2d "$k/jacobi2d" --prefetch
comes_true jacobi2d advice 9 "$k/jacobi2d" --prefetch
comes_true jacobi2d prefetch 10 "$k/jacobi2d" --prefetch
comes_true jacobi2d own 10 "$k/jacobi2d" --prefetch
comes_true jacobi2d drop 2 "$k/jacobi2d" --prefetch
left=$(sqlite3 -readonly applied.um.db "SELECT COUNT(*) FROM op WHERE kind = 'prefetch'")
check "none of its own prefetches ($left)" test "$left" = 0
comes_true jacobi2d pinned 0 "$k/jacobi2d" --prefetch
kinds=$(sqlite3 -readonly applied.um.db "SELECT group_concat(kind) FROM allocation")
check "both are pinned ($kinds)" test "$kinds" = pinned,pinned
line=$(sqlite3 -readonly jacobi2d.um.db "SELECT line FROM op JOIN frame USING (site) WHERE kind = 'prefetch' LIMIT 1")
policy without <<E
program: {without: ["jacobi2d.hip:$line"]}
E
comes_true jacobi2d without 0 "$k/jacobi2d" --prefetch
baseline hotspot "$k/hotspot" --advice=44
comes_true hotspot drop 3 "$k/hotspot" --advice=44
baseline train_loop "$k/train_loop" --prefetch=other
comes_true train_loop own 18 "$k/train_loop" --prefetch=other
comes_true train_loop prefetch 34 "$k/train_loop" --prefetch=other
baseline multi_gpu "$k/multi_gpu"
comes_true multi_gpu advice 9 "$k/multi_gpu"
baseline named_pools "$k/named_pools"
comes_true named_pools parts 7 "$k/named_pools"

# However it ends.
hip=$UM_BUILD/tests/hip
policy ends <<'E'
advise:
  - {on: {kind: managed}, preferred_location: gpu0}
prefetch:
  - {on: {kind: managed}, to: gpu0, before: "*", ahead: 1, stream: own}
E
for how in return _exit abort kill; do
	baseline "$how" "$hip/ends" "$how"
	applies "$how" ends "$hip/ends" "$how"
	calls "$how" ends 2
done
for program in fork_child threads own_handler; do
	baseline $program "$hip/$program"
	applies $program ends "$hip/$program"
	check "$program: something was applied" \
		test "$(sqlite3 -readonly applied.um.db "SELECT COUNT(*) FROM op WHERE flags & 16")" -gt 1
done

# What cannot be, and what did not come.
cp "$k/jacobi2d" . || exit
say "# without a trace of an earlier run, with a rule that matches nothing, and where a trace proves too little"
run umtrace -P own.yaml ./jacobi2d
policy nothing <<'E'
prefetch:
  - {on: {name: other}, to: gpu0, before: "*"}
E
run umtrace -P nothing.yaml --baseline jacobi2d.um.db ./jacobi2d
run umtrace -P device.yaml --baseline jacobi2d.um.db ./jacobi2d --prefetch
run umtrace --baseline jacobi2d.um.db ./jacobi2d
say "# of another run: fewer launches, no prefetches, other sizes"
also 's/(: )[0-9.]+ (MiB|KiB)$/\1BYTES/'
run umtrace --no-model -P advice.yaml --baseline jacobi2d.um.db ./jacobi2d
run umtrace --no-model --force -P own.yaml --baseline jacobi2d.um.db ./jacobi2d --iterations=2
run umtrace --no-model --force -P own.yaml --baseline jacobi2d.um.db ./jacobi2d --iterations=6 --rows=100
run umtrace --no-model --force -P advice.yaml --baseline jacobi2d.um.db ./jacobi2d --rows=100
finish
