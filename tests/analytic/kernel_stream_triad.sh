#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

n=32768 r=2 # 256 KiB an array
bytes=$((n * 8))
pages=$((bytes / 4096))
trace t stream_triad --n=$n --repetitions=$r
equal t "allocations" "3|$((3 * bytes))" "SELECT COUNT(*), SUM(bytes) FROM allocation"
equal t "accesses of a repetition" "$n $n|$n $n|$((2 * n)) $n|$((2 * n)) $n" \
	"SELECT group_concat(row, '|') FROM
	 (SELECT reads || ' ' || writes AS row FROM kernel ORDER BY op LIMIT 4)"
equal t "accesses" "$((4 * r))|$((6 * r * n))|$((4 * r * n))" \
	"SELECT COUNT(*), SUM(reads), SUM(writes) FROM kernel"
equal t "all pages of what each operation uses" \
	"copy:1r 3w|scale:2w 3r|add:1r 2r 3w|triad:1w 2r 3r" \
	"SELECT group_concat(row, '|') FROM
	 (SELECT replace(name, substr(name, instr(name, '(')), '') || ':' ||
		(SELECT group_concat(allocation || CASE touch WHEN 1 THEN 'r' ELSE 'w' END, ' ')
		 FROM page_access WHERE op = kernel.op AND first_page = 0 AND pages = $pages
			AND COALESCE(NULLIF(lines_read, 0), lines_written) = -1 AND requests = 64) AS row
	  FROM kernel ORDER BY op LIMIT 4)"

for size in 4 64; do
	demand d$size t --page-size ${size}KiB
	faults=$((3 * bytes / (size * 1024)))
	equal d$size "device faults" $faults "$device_faults"
	equal d$size "in the first repetition" $faults \
		"SELECT SUM(faults) FROM fault WHERE device >= 0
		 AND op IN (SELECT op FROM kernel ORDER BY op LIMIT 3)"
	equal d$size "host faults" $faults "$host_faults"
	equal d$size "bytes to the device" $((3 * bytes)) "$to_device"
	equal d$size "bytes to the host" $((3 * bytes)) "$to_host"
done

trace prefetch stream_triad --n=$n --repetitions=$r --prefetch
demand prefetch4 prefetch --page-size 4KiB
equal prefetch4 "device faults" 0 "$device_faults"
equal prefetch4 "bytes to the device" $((3 * bytes)) "$to_device"

trace host stream_triad --n=$n --repetitions=$r --advise=preferred-host
demand host4 host --page-size 4KiB
equal host4 "migrations" 0 "$migrations"
equal host4 "lines read and written remotely" "$((6 * r * pages * 64)) $((4 * r * pages * 64))" \
	"$remote_lines"

# Twice what the memory holds: each repetition brings all three arrays, and more of them more.
trace one stream_triad --n=$n --repetitions=3 --operation=triad
demand half one --page-size 64KiB --memory $((3 * bytes / 2 / 1024))KiB
equal half "each repetition faults on every page" $((3 * 3 * bytes / 65536)) "$device_faults"
equal half "bytes to the device" $((3 * 3 * bytes)) "$to_device"
equal half "evicted, then read back" $((3 * 3 * bytes)) "$to_host"

# amdgpu_svm: a range and a block for each array, brought whole when it is touched first.
xnack_on on t
equal on "device faults, host faults" "3 3" "SELECT ($device_faults) || ' ' || ($host_faults)"
equal on "bytes to the device" $((3 * bytes)) "$to_device"
equal on "bytes to the host" $((3 * bytes)) "$to_host"
# Room for one array: each triad brings all three, one after the other, since all groups are in flight.
xnack_on half_on one --memory $((3 * bytes / 2 / 1024))KiB
equal half_on "device faults" $((3 * 3)) "$device_faults"
equal half_on "bytes to the device" $((3 * 3 * bytes)) "$to_device"
equal half_on "bytes to the host" $((3 * 3 * bytes)) "$to_host"
xnack_on prefetch_on prefetch
equal prefetch_on "device faults" 0 "$device_faults"
equal prefetch_on "bytes to the device" $((3 * bytes)) "$to_device"
xnack_on host_on host
equal host_on "device faults" 3 "$device_faults"
xnack_off off t
for run in host_on off; do
	equal $run "migrations" 0 "$migrations"
	equal $run "lines read and written remotely" \
		"$((6 * r * pages * 64)) $((4 * r * pages * 64))" "$remote_lines"
done
xnack_off prefetch_off prefetch
equal prefetch_off "bytes to the device" $((3 * bytes)) "$to_device"
equal prefetch_off "nothing remote" "0 0" "$remote_lines"
equal prefetch_off "queues stop on the way there and on the way back" 2 "$stops"
finish
