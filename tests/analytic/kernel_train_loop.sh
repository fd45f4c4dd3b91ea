#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

batches=4 samples=32 features=1024 epochs=2 passes=3
shape="--batches=$batches --samples=$samples --features=$features --epochs=$epochs --passes=$passes"
batch=$((samples * features * 4)) weights=$((features * 4))
pages=$((batch / 4096)) weight_pages=$((weights / 4096))
steps=$((epochs * batches))
trace none train_loop $shape --prefetch=none
equal none "accesses of each step" \
	"$steps|$((passes * samples * features + features))|$features" \
	"SELECT COUNT(*), MIN(reads), MAX(writes) FROM kernel GROUP BY reads, writes"
equal none "each batch in its turn" "$(for ((i = 0; i < steps; i++)); do
	echo -n "$((i % batches * pages)) $pages $((64 * passes))|"
done)" "SELECT group_concat(first_page || ' ' || pages || ' ' || requests || '|', '') FROM
	(SELECT * FROM page_access WHERE allocation = 1 AND lines_read = -1
	 AND op IN (SELECT op FROM kernel) ORDER BY op)"
equal none "weights are read, then written" "3|$((steps * weight_pages))" \
	"SELECT touch, SUM(pages) FROM page_access WHERE allocation = 2
	 AND op IN (SELECT op FROM kernel) GROUP BY touch"

moved=$((batches * batch + weights))
for size in 4 64; do
	demand none$size none --page-size ${size}KiB
	equal none$size "device faults" \
		$(($(up $((batches * batch)) $((size * 1024))) + $(up $weights $((size * 1024))))) \
		"$device_faults"
	equal none$size "all in the first epoch" 0 \
		"SELECT COUNT(*) FROM fault WHERE device >= 0
		 AND op IN (SELECT op FROM kernel ORDER BY op LIMIT $steps OFFSET $batches)"
	equal none$size "bytes to the device" $moved "$to_device"
	equal none$size "weights come back" $weights "$to_host"
done

# prefetched NAME OPTIONS...: what does not depend on the stream
prefetched() {
	local name=$1
	shift
	trace "$name" train_loop $shape "$@"
	demand "${name}4" "$name" --page-size 4KiB
	equal "${name}4" "device faults" 0 "$device_faults"
	equal "${name}4" "bytes to the device" $moved "$to_device"
	equal "${name}4" "by prefetch" $moved "SELECT SUM(bytes) FROM migration WHERE cause = 'prefetch'"
}
prefetched same --prefetch=same
prefetched other --prefetch=other
equal same "prefetches" $((steps + 1)) "SELECT COUNT(*) FROM op WHERE kind = 'prefetch'"
equal same "streams" 1 "SELECT COUNT(DISTINCT stream) FROM op WHERE kind IN ('prefetch', 'launch')"
equal other "streams" 2 "SELECT COUNT(DISTINCT stream) FROM op WHERE kind IN ('prefetch', 'launch')"

# When the last step ends, by the figures of mi250x.yaml (28.8 GB/s and 2.7 us of the link, 1638.4 GB/s,
# 6 us a launch): one after the other on one stream; on two the link works while a step is computed.
link() { echo $((2700 + $(up $((10 * $1)) 288))); }
step=$((6000 + $(up $((10 * 4 * (passes * samples * features + 2 * features))) 16384)))
longer=$(($(link $batch) > step ? $(link $batch) : step))
tolerance=$((2 * steps)) # rounded up to whole ns
near same4 "steps and prefetches take turns" \
	$(($(link $weights) + batches * $(link $batch) + steps * step)) $tolerance "$last_launch_end"
near other4 "a step hides the prefetch of the next batch" \
	$(($(link $weights) + $(link $batch) + (batches - 1) * longer + step +
		(epochs - 1) * batches * step)) $tolerance "$last_launch_end"

# Steps longer than a prefetch: all but the first batch is hidden.
prefetched long --prefetch=other --passes=24
step=$((6000 + $(up $((10 * 4 * (24 * samples * features + 2 * features))) 16384)))
[ $step -gt $(link $batch) ] || fail "a step of $step ns is not long"
near long4 "all of it is hidden" $(($(link $weights) + $(link $batch) + steps * step)) $tolerance \
	"$last_launch_end"

# amdgpu_svm with XNACK: without prefetches the first batch's fault brings its block, which holds all of
# them; prefetches move one batch each, and run beside a launch.
xnack_on none_on none
equal none_on "device faults: samples, weights" 2 "$device_faults"
for run in none same other; do
	[ $run = none ] || xnack_on ${run}_on $run
	equal ${run}_on "bytes to the device" $moved "$to_device"
	equal ${run}_on "weights come back" "$weights 1" "SELECT ($to_host) || ' ' || ($host_faults)"
	equal ${run}_on "queues never stop" 0 "$stops"
done
for run in same other; do
	equal ${run}_on "device faults" 0 "$device_faults"
done
at_most other_on "another stream is faster" $(($(query same_on "$last_launch_end") - 1)) \
	"$last_launch_end"

# Without XNACK each prefetch stops the queues, also where nothing is left to move: the first of all
# and the weights' are one stop, as is batch 1 on another stream; one more when the host reads weights.
xnack_off none_off none
equal none_off "migrations" 0 "$migrations"
equal none_off "lines read and written remotely" \
	"$((steps * (pages + weight_pages) * 64)) $((steps * weight_pages * 64))" "$remote_lines"
for run in same other; do
	xnack_off ${run}_off $run
	equal ${run}_off "bytes to the device" $moved "$to_device"
	equal ${run}_off "weights come back" "$weights 1" "SELECT ($to_host) || ' ' || ($host_faults)"
	equal ${run}_off "nothing remote" "0 0" "$remote_lines"
done
equal same_off "queue stops" $((steps + 1)) "$stops"
equal other_off "queue stops" $steps "$stops"
finish
