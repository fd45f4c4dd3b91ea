#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

n=262144 groups=16 lanes=256
pages=$((n * 4 / 4096))
trace t grid_stride --n=$n --groups=$groups --lanes=$lanes
equal t "accesses" "$n|$n" "SELECT reads, writes FROM kernel"
equal t "page accesses" "0|$pages|-1|-1" \
	"SELECT first_page, pages, lines_read, lines_written FROM page_access WHERE op = $launch"
equal t "touches" $((pages * 2 * 4096 / (4 * lanes))) "SELECT SUM(touches) FROM access_chunk"

# Group g: page (g * lanes + k * groups * lanes) * 4 / 4096, read, then written.
"$UM_BUILD/tests/analytic/stream_dump" t.um.db >got
for ((g = 0; g < groups; g++)); do
	for ((i = g * lanes; i < n; i += groups * lanes)); do
		echo "$g 1 $((i * 4 / 4096)) r"
		echo "$g 1 $((i * 4 / 4096)) w"
	done
done >wanted
um_checks=$((um_checks + 1))
cmp -s wanted got || fail "order of the groups' touches"

demand d4 t --page-size 4KiB
equal d4 "device faults" $pages "$device_faults"
equal d4 "bytes to the device" $((n * 4)) "$to_device"
equal d4 "bytes to the host" $((n * 4)) "$to_host"
finish
