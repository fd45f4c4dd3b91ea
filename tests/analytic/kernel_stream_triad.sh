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
finish
