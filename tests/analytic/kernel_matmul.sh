#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

m=100 n=130 k=70 tile=16
a=$((m * k * 4)) b=$((k * n * 4)) c=$((m * n * 4))
pa=$(up $a 4096) pb=$(up $b 4096) pc=$(up $c 4096)
shape="--m=$m --n=$n --k=$k"

trace t matmul $shape
equal t "accesses" "$((m * k * $(up $n $tile) + k * n * $(up $m $tile)))|$((m * n))|0" \
	"SELECT reads, writes, atomics FROM kernel"
equal t "shape" "$(up $n $tile)|$(up $m $tile)|1|$tile|$tile|1|$((2 * tile * tile * 4))" \
	"SELECT grid_x, grid_y, grid_z, block_x, block_y, block_z, lds_bytes FROM kernel"
equal t "A and B are read, C is written" "1 $pa 1|2 $pb 1|3 $pc 6" \
	"SELECT group_concat(row, '|') FROM (SELECT allocation || ' ' || SUM(pages) || ' ' ||
	 MAX(touch) AS row FROM page_access WHERE op = $launch GROUP BY allocation)"
equal t "only C is read by the host after" "3|$pc|1" \
	"SELECT allocation, SUM(pages), MAX(touch & 3) FROM page_access WHERE op > $launch"

demand d4 t --page-size 4KiB
equal d4 "device faults" $((pa + pb + pc)) "$device_faults"
equal d4 "bytes to the device" $((4096 * (pa + pb))) "$to_device"
equal d4 "bytes to the host" $((4096 * pc)) "$to_host"
demand d64 t --page-size 64KiB
equal d64 "device faults" $(($(up $a 65536) + $(up $b 65536) + $(up $c 65536))) "$device_faults"
equal d64 "bytes to the device" $((4096 * (pa + pb))) "$to_device"

trace prefetch matmul $shape --prefetch
demand prefetch4 prefetch --page-size 4KiB
equal prefetch4 "device faults" $pc "$device_faults"
equal prefetch4 "bytes to the device" $((4096 * (pa + pb))) "$to_device"

trace advise matmul $shape --advise
demand advise4 advise --page-size 4KiB
equal advise4 "bytes to the device" $((4096 * (pa + pb))) "$to_device"
equal advise4 "bytes to the host" $((4096 * pc)) "$to_host"

trace copies matmul $shape --copies
demand copies4 copies --page-size 4KiB
equal copies4 "device faults" 0 "$device_faults"
equal copies4 "bytes to the device" $((a + b)) "$to_device"
equal copies4 "bytes to the host" $c "$to_host"
xnack_on copies_on copies
equal copies_on "faults" 0 "SELECT COUNT(*) FROM fault"
equal copies_on "bytes both ways" "$((a + b)) $c" "SELECT ($to_device) || ' ' || ($to_host)"

# amdgpu_svm: a block for each of the three.
for run in t prefetch advise; do
	xnack_on ${run}_on $run
	equal ${run}_on "bytes to the device" $((4096 * (pa + pb))) "$to_device"
	equal ${run}_on "bytes to the host" $((4096 * pc)) "$to_host"
	equal ${run}_on "host faults" 1 "$host_faults"
done
equal t_on "device faults" 3 "$device_faults"
equal prefetch_on "device faults" 1 "$device_faults"
equal advise_on "device faults" 3 "$device_faults"
equal advise_on "read-mostly does nothing, and that is told" 1 \
	"SELECT COUNT(*) FROM loss WHERE kind = 'not_modelled' AND detail LIKE '%read_mostly%'"
xnack_off off t
equal off "migrations" 0 "$migrations"
equal off "lines read and written remotely" "$(($(up $a 64) + $(up $b 64))) $(up $c 64)" \
	"$remote_lines"
xnack_off prefetch_off prefetch
equal prefetch_off "A and B by prefetch, the mapping of C stays" \
	"$((4096 * (pa + pb))) 0 $(up $c 64)" "SELECT ($migrated_to_device) || ' ' || ($remote_lines)"
finish
