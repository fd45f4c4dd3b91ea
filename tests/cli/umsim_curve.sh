#!/usr/bin/env bash
# Curves: traffic against memory, from one simulation and by replays. The device fills 64 KiB four
# times (a memset is a kernel that writes), then half of it five times: with memory for less than all
# the first thrashes in fault order, and with memory for less than half the second does too.
. "$(dirname "$0")/lib.sh"

sqlite3 app.um.db <"$UM_SOURCE/trace/db/schema.sql"
sqlite3 app.um.db "
	INSERT INTO run (role, tool, command, clock, ended, exit_status)
		VALUES ('trace', 'test', './app', 'none', 'exited', 0);
	INSERT INTO origin (record, origin) VALUES ('page_access', 'emulated');
	INSERT INTO allocation (allocation, kind, bytes, op) VALUES (1, 'managed', 65536, 1);
	INSERT INTO op (op, kind, allocation, offset_bytes, bytes, device) VALUES
		(1, 'alloc', 1, 0, 65536, 0), (2, 'memset', 1, 0, 65536, 0), (3, 'memset', 1, 0, 65536, 0),
		(4, 'memset', 1, 0, 65536, 0), (5, 'memset', 1, 0, 65536, 0), (6, 'memset', 1, 0, 32768, 0),
		(7, 'memset', 1, 0, 32768, 0), (8, 'memset', 1, 0, 32768, 0), (9, 'memset', 1, 0, 32768, 0),
		(10, 'memset', 1, 0, 32768, 0);"
cp app.um.db prefetched.um.db
sqlite3 prefetched.um.db "INSERT INTO op (op, kind, allocation, offset_bytes, bytes, device) VALUES
	(11, 'prefetch', 1, 0, 4096, -1)"
printf 'driver: demand\n' >demand.yaml

run umsim curve app.um.db -P demand.yaml
for order in lru belady; do
	run umsim curve app.um.db -P demand.yaml --evict $order --from 0.25x --points 4
done
run umsim curve prefetched.um.db -P demand.yaml --from 16KiB --to 64KiB --points 3
run umsim curve app.um.db -P demand.yaml --evict random:3 --from 1x
run umsim curve app.um.db -P demand.yaml --evict lru --points 2 --format=json
run umsim curve app.um.db -P demand.yaml --evict lru --points 5 --format=csv
run umsim curve app.um.db --driver demand --page-size 64KiB --from 4KiB --to 2x --points 3

# Every point is what a replay with that much memory gives, and nothing is written.
replays() {
	local bytes memory
	umsim curve app.um.db -P demand.yaml --evict "$1" --points 16 --format=csv | tail -n +2 >curve.csv
	cut -d, -f1 curve.csv | while read -r bytes; do
		umsim replay -q app.um.db -P demand.yaml --evict "$1" --memory $((bytes / 1024))KiB --force --format=json |
			tr -d ' ,\n' | sed -E "s/.*\"device_faults\":([0-9]+)\"host_faults\":([0-9]+)\"bytes_to_device\":([0-9]+)\"bytes_to_host\":([0-9]+).*/$bytes,\1,\2,\3,\4\n/"
	done >replays.csv
	rm -f app.demand.*
	diff curve.csv replays.csv && test "$(wc -l <curve.csv)" = 16
}
for order in fifo lru belady random; do
	check "every point of $order is a replay's" replays $order
done
run ls

for wrong in "--points 0" "--points 1e3" "--from 2x --to 1x" "--from 3z" "--to 50%" "--format=xml" \
	"-P demand.yaml -P demand.yaml" "--driver none"; do
	run umsim curve app.um.db $wrong
done
run umsim curve
run umsim curve nothing.um.db
run umsim curve app.um.db --driver demand --to 2KiB
run umsim curve --help
finish
