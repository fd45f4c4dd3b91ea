#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

room=32 passes=3 # pages; twice as many are used
pages=$((2 * room))
memory=$((room * 4))KiB
pages_of() {
	"$UM_BUILD/tests/analytic/stream_dump" "$1.um.db" | awk '$4 == "r" {print $3}'
}

# same NAME: the order in `wanted`
same() {
	um_checks=$((um_checks + 1))
	pages_of "$1" | cmp -s wanted - || fail "$1: order of pages"
}

# fifo_faults NAME PAGES ROOM: what a memory of so many units of so many pages that gives up what came
# first has to fetch, by hand.
fifo_faults() {
	pages_of "$1" | awk -v pages="$2" -v room="$3" '{unit = int($1 / pages)}
	!(unit in there) {
		if (++faults > room) delete there[queue[faults - room]]
		queue[faults] = unit; there[unit]
	} END {print faults}'
}

# The footprint is twice what the device is said to have.
for pattern in cyclic sweep strided random; do
	trace $pattern oversubscribe --percent=200 --passes=$passes --pattern=$pattern
	equal $pattern "footprint" $((pages * 4096)) "SELECT bytes FROM allocation"
	equal $pattern "accesses of each pass" "$passes|$((64 * pages))|$((64 * pages))" \
		"SELECT COUNT(*), reads, writes FROM kernel GROUP BY reads, writes"
	equal $pattern "all lines, read then written" "3 -1 -1" \
		"SELECT DISTINCT touch || ' ' || lines_read || ' ' || lines_written FROM page_access
		 WHERE op IN (SELECT op FROM kernel)"
done
for _ in $(seq $passes); do seq 0 $((pages - 1)); done >wanted
same cyclic
for _ in $(seq $passes); do for i in $(seq 0 15); do seq "$i" 16 $((pages - 1)); done; done >wanted
same strided
for ((pass = 0; pass < passes; pass++)); do
	[ $((pass % 2)) = 0 ] && seq 0 $((pages - 1)) || seq $((pages - 1)) -1 0
done >wanted
same sweep

mix() {
	local x=$1
	x=$(((x ^ x >> 16) * 0x85ebca6b & 0xffffffff))
	x=$(((x ^ x >> 13) * 0xc2b2ae35 & 0xffffffff))
	echo $((x ^ x >> 16))
}
# The stream's filter drops a page that was touched just before, so only which pages is known.
for ((pass = 0; pass < passes; pass++)); do
	drawn=$(for ((i = 0; i < pages; i++)); do
		echo $(($(mix $((pass * pages + i))) % pages))
	done | sort -nu | tr '\n' ' ')
	equal random "pages of pass $pass" "${drawn% }" \
		"WITH RECURSIVE page(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM page WHERE i < $pages)
		 SELECT group_concat(i, ' ') FROM (SELECT i FROM page JOIN page_access
			ON i >= first_page AND i < first_page + pages
			WHERE op = (SELECT op FROM kernel ORDER BY op LIMIT 1 OFFSET $pass) ORDER BY i)"
done

# faults NAME WANTED: 4 KiB, each fault brings a page and in the end as many have gone
faults() {
	demand "$1_4" "$1" --page-size 4KiB --memory $memory
	equal "$1_4" "device faults" "$2" "$device_faults"
	equal "$1_4" "bytes to the device" $((4096 * $2)) "$to_device"
	equal "$1_4" "bytes to the host" $((4096 * $2)) "$to_host"
}
faults cyclic $((passes * pages))
faults strided $((passes * pages))
faults sweep $((pages + (passes - 1) * (pages - room)))
faults random "$(fifo_faults random 1 $room)"

demand cyclic64 cyclic --page-size 64KiB --memory $memory
equal cyclic64 "device faults" $((passes * pages / 16)) "$device_faults"
demand strided64 strided --page-size 64KiB --memory $memory
equal strided64 "device faults" $((passes * pages)) "$device_faults"
equal strided64 "sixteenfold bytes" $((65536 * passes * pages)) "$to_device"

demand whole cyclic --page-size 4KiB --memory $((pages * 4))KiB
equal whole "with room: first touches only" $pages "$device_faults"

# amdgpu_svm: ranges of 2 MiB, a block each, of which half fit; memory is given up by the range.
memory=4MiB
ranges=4 range=$((2 << 20))
room=$((ranges / 2)) pages=$((ranges * 512))
for pattern in cyclic sweep strided random; do
	trace big_$pattern oversubscribe --percent=200 --passes=$passes --pattern=$pattern
	xnack_on ${pattern}_on big_$pattern --memory $memory
done
# came NAME FAULTS: each brings its range, and in the end as many have gone
came() {
	equal "$1" "device faults" "$2" "$device_faults"
	equal "$1" "bytes to the device" $((range * $2)) "$to_device"
	equal "$1" "bytes to the host" $((range * $2)) "$to_host"
}
came cyclic_on $((passes * ranges))
came sweep_on $((ranges + (passes - 1) * (ranges - room)))
came strided_on $((16 * passes * ranges))
came random_on "$(fifo_faults big_random 512 $room)"

# A prefetch of all of it moves the last range first and leaves the first ones there.
trace big_prefetch oversubscribe --percent=200 --passes=$passes --prefetch
xnack_on prefetch_on big_prefetch --memory $memory
faults=$((passes * ranges - room))
equal prefetch_on "device faults" $faults "$device_faults"
equal prefetch_on "bytes to the device" $((range * (ranges + faults))) "$to_device"
equal prefetch_on "bytes to the host" $((range * (ranges + faults))) "$to_host"

# Without XNACK what is not there is mapped from host memory: 64 bytes a line and pass.
xnack_off off big_cyclic --memory $memory
equal off "migrations" 0 "$migrations"
equal off "lines read and written remotely" "$((passes * pages * 64)) $((passes * pages * 64))" \
	"$remote_lines"
xnack_off prefetch_off big_prefetch --memory $memory
equal prefetch_off "device faults" 0 "$device_faults"
equal prefetch_off "the prefetch moves all of it" $((range * ranges)) "$migrated_to_device"
lines=$((passes * (pages - 512 * room) * 64))
equal prefetch_off "lines read and written remotely" "$lines $lines" "$remote_lines"
equal prefetch_off "evicted, and read by the host" $((range * ranges)) \
	"SELECT SUM(bytes) FROM migration WHERE destination < 0"
finish
