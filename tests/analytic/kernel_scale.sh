#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

n=65536                 # floats
pages=$((n * 4 / 4096)) # 64
bytes=$((n * 4))

trace t scale --n=$n
equal t "allocation" "managed|$bytes" "SELECT kind, bytes FROM allocation"
equal t "lanes' accesses" "$n|$n|0|$bytes|$bytes" \
	"SELECT reads, writes, atomics, bytes_read, bytes_written FROM kernel"
# All 64 lines of each page: -1 is the full mask. 4 lines a wave of 64 lanes, read and written.
equal t "page accesses of the launch" "0|$pages|3|-1|-1|128|0" \
	"SELECT first_page, pages, touch, lines_read, lines_written, requests, atomics
	 FROM page_access WHERE op = $launch"
equal t "host before" "0|$pages|2" \
	"SELECT first_page, pages, touch & 3 FROM page_access WHERE op < $launch"
equal t "host after" "0|$pages|1" \
	"SELECT first_page, pages, touch & 3 FROM page_access WHERE op > $launch"
equal t "host masks are not known" "8|1" \
	"SELECT MIN(touch & 8), MAX(lines_read IS NULL) FROM page_access WHERE op <> $launch"
equal t "operations" "alloc,host,launch,sync_device,host,free" \
	"SELECT group_concat(kind) FROM (SELECT kind FROM op ORDER BY op)"

# The rows that umtrace itself fills in come from the same model.
equal t "modelled faults" $pages "$device_faults"
equal t "origin of accesses and faults" "emulated,modelled" \
	"SELECT group_concat(origin) FROM (SELECT origin FROM origin
	 WHERE record IN ('page_access', 'fault') ORDER BY record DESC)"

for size in 4 64 2048; do
	demand d$size t --page-size ${size}KiB
	wanted=$(((bytes + size * 1024 - 1) / (size * 1024)))
	equal d$size "device faults" $wanted "$device_faults"
	equal d$size "host faults" $wanted "$host_faults"
	equal d$size "bytes to the device" $bytes "$to_device"
	equal d$size "bytes to the host" $bytes "$to_host"
done

trace part scale --n=$n --host-pages-read=10
demand part4 part --page-size 4KiB
equal part4 "bytes to the device" $bytes "$to_device"
equal part4 "only what the host reads comes back" $((10 * 4096)) "$to_host"

trace prefetch scale --n=$n --prefetch
for size in 4 64; do
	demand prefetch$size prefetch --page-size ${size}KiB
	equal prefetch$size "device faults" 0 "$device_faults"
	equal prefetch$size "bytes to the device" $bytes "$to_device"
	equal prefetch$size "by prefetch" $bytes \
		"SELECT SUM(bytes) FROM migration WHERE cause = 'prefetch'"
	equal prefetch$size "bytes to the host" $bytes "$to_host"
done

trace host scale --n=$n --advise=preferred-host
for size in 4 64; do
	demand host$size host --page-size ${size}KiB
	equal host$size "migrations" 0 "$migrations"
	equal host$size "lines read and written remotely" "$((64 * pages)) $((64 * pages))" \
		"$remote_lines"
	equal host$size "bytes to the device" $bytes "$to_device"
	equal host$size "bytes to the host" $bytes "$to_host"
done

# amdgpu_svm with XNACK: a block of 2 MiB moves, here all of it; what the host reads first comes back
# with its block. Two blocks of one range: the second fault waits until the first is 2 ms old.
xnack_on on t
equal on "device faults, host faults" "1 1" "SELECT ($device_faults) || ' ' || ($host_faults)"
equal on "bytes to the device" $bytes "$to_device"
equal on "bytes to the host" $bytes "$to_host"
equal on "queues never stop" 0 "$stops"
xnack_on part_on part
equal part_on "a page that the host reads brings its block" $bytes "$to_host"
trace two_blocks scale --n=$((1 << 20))
xnack_on two_blocks_on two_blocks
equal two_blocks_on "device faults, host faults" "2 2" \
	"SELECT ($device_faults) || ' ' || ($host_faults)"
equal two_blocks_on "bytes to the device" $((4 << 20)) "$to_device"
at_most two_blocks_on "2 ms between blocks" -2000000 \
	"SELECT start_ns - end_ns FROM op WHERE kind = 'launch'"
# With room for 2 MiB the blocks are ranges of their own, and the second drives the first out.
xnack_on pressure_on two_blocks --memory 2MiB
equal pressure_on "device faults, host faults" "2 1" \
	"SELECT ($device_faults) || ' ' || ($host_faults)"
equal pressure_on "evicted" $((2 << 20)) \
	"SELECT SUM(bytes) FROM migration WHERE cause = 'eviction'"
equal pressure_on "bytes both ways" "$((4 << 20)) $((4 << 20))" \
	"SELECT ($to_device) || ' ' || ($to_host)"
xnack_on prefetch_on prefetch
equal prefetch_on "device faults" 0 "$device_faults"
equal prefetch_on "bytes to the device" $bytes "$to_device"
equal prefetch_on "bytes to the host" $bytes "$to_host"
xnack_on host_on host
equal host_on "mapped by a fault" 1 "$device_faults"

# Without XNACK nothing moves: mapped from host memory, until it is prefetched. That and the way back
# stop the queues.
xnack_off off t
xnack_off host_off host
for run in host_on off host_off; do
	equal $run "migrations" 0 "$migrations"
	equal $run "lines read and written remotely" "$((64 * pages)) $((64 * pages))" \
		"$remote_lines"
	equal $run "queues never stop" 0 "$stops"
done
equal off "faults" 0 "SELECT COUNT(*) FROM fault"
xnack_off prefetch_off prefetch
equal prefetch_off "device faults, host faults" "0 1" \
	"SELECT ($device_faults) || ' ' || ($host_faults)"
equal prefetch_off "bytes to the device" $bytes "$to_device"
equal prefetch_off "bytes to the host" $bytes "$to_host"
equal prefetch_off "all of it moved" "0 0" "$remote_lines"
equal prefetch_off "queues stop for both" 2 "$stops"
at_most prefetch_off "for 1 ms at least" -1000000 \
	"SELECT start_ns - end_ns FROM driver_event WHERE kind = 'queue_eviction'
	 ORDER BY start_ns LIMIT 1"
equal prefetch_off "the second until the program ends" 1 \
	"SELECT MAX(end_ns) = (SELECT MAX(end_ns) FROM op) FROM driver_event"

# A policy file does the same to the program without the advice.
cat >host.yaml <<'END'
advise:
  - on: {kind: managed}
    preferred_location: host
END
demand policy t -P host.yaml --page-size 4KiB
equal policy "migrations" 0 "$migrations"
equal policy "lines read and written remotely" "$((64 * pages)) $((64 * pages))" "$remote_lines"

# A last page of 100 floats: 400 bytes, 7 lines.
trace partial scale --n=$((n + 100))
equal partial "whole pages, then 7 lines" "0|$pages|-1|-1|128 $pages|1|127|127|14" \
	"SELECT group_concat(row, ' ') FROM (SELECT first_page || '|' || pages || '|' || lines_read
	 || '|' || lines_written || '|' || requests AS row FROM page_access WHERE op = $launch
	 ORDER BY first_page)"
demand partial4 partial --page-size 4KiB
equal partial4 "a page moves whole" $(((pages + 1) * 4096)) "$to_device"
trace partial_host scale --n=$((n + 100)) --advise=preferred-host
demand partial_host4 partial_host --page-size 4KiB
equal partial_host4 "only the lines it has" "$((64 * pages + 7)) $((64 * pages + 7))" "$remote_lines"
finish
