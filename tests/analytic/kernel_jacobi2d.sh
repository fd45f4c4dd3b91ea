#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

rows=64 columns=1024 iterations=4 wave=64
cells=$(((rows - 2) * (columns - 2)))
trace t jacobi2d --rows=$rows --columns=$columns --iterations=$iterations
equal t "accesses of each launch" "$iterations|$((4 * cells))|$cells" \
	"SELECT COUNT(*), MIN(reads), MAX(writes) FROM kernel GROUP BY reads, writes"
first="(SELECT MIN(op) FROM kernel)"
equal t "pages read, and written" "$rows|$((rows - 2))" \
	"SELECT SUM(pages) FILTER (WHERE touch = 1), SUM(pages) FILTER (WHERE touch = 6)
	 FROM page_access WHERE op = $first"
equal t "all lines" "-1" \
	"SELECT DISTINCT CASE touch WHEN 1 THEN lines_read ELSE lines_written END
	 FROM page_access WHERE op = $first"
equal t "requests of a page amid others" $((4 * 64 + 2 * (columns / wave - 1))) \
	"SELECT requests FROM page_access WHERE op = $first AND touch = 1
	 AND first_page <= 2 AND first_page + pages > 2"
equal t "the arrays change places" "1 2 1 2" \
	"SELECT group_concat(allocation, ' ') FROM
	 (SELECT DISTINCT op, allocation FROM page_access
	  WHERE touch = 1 AND op IN (SELECT op FROM kernel) ORDER BY op)"

demand d4 t --page-size 4KiB
equal d4 "device faults by launch" "$((2 * rows - 2)) 2" \
	"SELECT group_concat(faults, ' ') FROM (SELECT SUM(faults) AS faults FROM fault
	 WHERE device >= 0 GROUP BY op ORDER BY op)"
equal d4 "bytes to the device" $((2 * rows * 4096)) "$to_device"
equal d4 "bytes to the host" $((rows * 4096)) "$to_host"
demand d64 t --page-size 64KiB
equal d64 "device faults" $((2 * rows / 16)) "$device_faults"
equal d64 "bytes to the device" $((2 * rows * 4096)) "$to_device"

trace prefetch jacobi2d --rows=$rows --iterations=$iterations --prefetch
demand prefetch4 prefetch --page-size 4KiB
equal prefetch4 "device faults" 0 "$device_faults"
equal prefetch4 "bytes to the device" $((2 * rows * 4096)) "$to_device"

# The cliff: 64 KiB less than both arrays, and every iteration brings both anew.
demand cliff t --page-size 64KiB --memory $(((2 * rows - 16) * 4))KiB
at_most d64 "with room: launches that move anything" 1 \
	"SELECT COUNT(DISTINCT op) FROM migration WHERE destination >= 0 AND bytes > 0"
equal cliff "without: all of them" $iterations \
	"SELECT COUNT(DISTINCT op) FROM migration WHERE destination >= 0 AND bytes > 0"

# amdgpu_svm: each array is one block. With room for one, every launch brings the one it writes.
array=$((rows * 4096))
xnack_on on t
equal on "device faults by launch" "2" \
	"SELECT group_concat(faults, ' ') FROM (SELECT SUM(faults) AS faults FROM fault
	 WHERE device >= 0 GROUP BY op ORDER BY op)"
equal on "bytes to the device" $((2 * array)) "$to_device"
equal on "bytes to the host" $array "$to_host"
xnack_on cliff_on t --memory $((2 * rows * 4 - 4))KiB
equal cliff_on "device faults" $((iterations + 1)) "$device_faults"
equal cliff_on "bytes to the device" $(((iterations + 1) * array)) "$to_device"
equal cliff_on "bytes to the host" $(((iterations + 1) * array)) "$to_host"
xnack_off off t
equal off "migrations" 0 "$migrations"
equal off "lines read and written remotely" \
	"$((iterations * rows * 64)) $((iterations * (rows - 2) * 64))" "$remote_lines"
finish
