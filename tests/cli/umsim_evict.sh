#!/usr/bin/env bash
# Eviction orders: what a replay says of one that is not the driver's own, and what its database
# keeps. The device fills 64 KiB four times (a memset is a kernel that writes) with memory for 32.
. "$(dirname "$0")/lib.sh"

sqlite3 app.um.db <"$UM_SOURCE/trace/db/schema.sql"
sqlite3 app.um.db "
	INSERT INTO run (role, tool, command, clock, ended, exit_status)
		VALUES ('trace', 'test', './app', 'none', 'exited', 0);
	INSERT INTO allocation (allocation, kind, bytes, op) VALUES (1, 'managed', 65536, 1);
	INSERT INTO op (op, kind, allocation, offset_bytes, bytes, device) VALUES
		(1, 'alloc', 1, 0, 65536, 0), (2, 'memset', 1, 0, 65536, 0), (3, 'memset', 1, 0, 65536, 0),
		(4, 'memset', 1, 0, 65536, 0), (5, 'memset', 1, 0, 65536, 0);"
for order in driver fifo lru random belady; do
	printf 'driver: demand\nmemory: 32KiB\nevict: %s\n' $order >$order.yaml
done
echo 'evict_seed: 7' >>random.yaml

run umsim replay -q app.um.db -P driver.yaml -P fifo.yaml -P lru.yaml -P random.yaml -P belady.yaml
run umsim policy check random.yaml
run umsim policy check fifo.yaml
for order in fifo random; do
	run sh -c "umsim replay -q app.um.db -P $order.yaml --force --format=json | grep -A 4 '\"evict\"'"
	run sqlite3 app.$order.um.db "SELECT detail FROM origin WHERE record = 'fault'" "SELECT policy FROM run"
done
check "the same seed draws the same" sh -c '
	umsim replay -q app.um.db -P random.yaml -o again.um.db >/dev/null &&
	test "$(sqlite3 again.um.db "SELECT * FROM migration")" = "$(sqlite3 app.random.um.db "SELECT * FROM migration")"'
echo 'evict_seed: 8' >other.yaml && grep -v seed random.yaml >>other.yaml
check "another seed draws otherwise" sh -c '
	umsim replay -q app.um.db -P other.yaml >/dev/null &&
	test "$(sqlite3 app.other.um.db "SELECT * FROM migration")" != "$(sqlite3 app.random.um.db "SELECT * FROM migration")"'
finish
