#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

mib=1048576 chunks=3
chunk=$((2 * mib))
n=$((chunk / 4)) pages=$((chunk / 4096))
for shrink in 0 1; do
	run=t$shrink
	left=$((chunks - shrink))
	trace $run vmm --chunks=$chunks --shrink=$shrink
	equal $run "allocations" "device $chunks $chunk $chunk,managed 2 8 $chunk" "SELECT group_concat(row) FROM
		(SELECT kind || ' ' || COUNT(*) || ' ' || MIN(bytes) || ' ' || MAX(bytes) AS row
		 FROM allocation GROUP BY kind ORDER BY kind)"
	equal $run "each chunk where the one before ends" $((chunks - 1)) "SELECT COUNT(*) FROM allocation AS a
		JOIN allocation AS b ON b.address = a.address + a.bytes WHERE a.kind = 'device' AND b.kind = 'device'"
	equal $run "appends: reads, writes" "$chunks|$n|$n" "SELECT COUNT(*), MIN(reads), MAX(writes) FROM kernel
		WHERE name LIKE 'append%'"
	equal $run "an append reads the buffer, writes its chunk" "$((chunks * pages)) $((chunks * pages))" "SELECT
		SUM(pages) FILTER (WHERE lines_read = -1 AND kind = 'managed') || ' ' ||
		SUM(pages) FILTER (WHERE lines_written = -1 AND kind = 'device') FROM page_access JOIN allocation
		USING (allocation) WHERE page_access.op IN (SELECT op FROM kernel WHERE name LIKE 'append%')"
	equal $run "one sum over what is left" "$((left * n)) $left" "SELECT SUM(reads) || ' ' ||
		(SELECT COUNT(DISTINCT allocation) FROM page_access JOIN allocation USING (allocation)
		 WHERE page_access.op = kernel.op AND kind = 'device') FROM kernel WHERE name LIKE 'sum_all%'"
	equal $run "chunks freed before the sum" $shrink "SELECT COUNT(*) FROM op WHERE kind = 'free'
		AND op < (SELECT op FROM kernel WHERE name LIKE 'sum_all%')"
	equal $run "all freed in the end" $((chunks + 2)) "SELECT COUNT(*) FROM op WHERE kind = 'free'"
done

demand d4 t0 --page-size 4KiB
equal d4 "device faults: buffer, sum" $((chunks * pages + 1)) "$device_faults"
equal d4 "host faults" $(((chunks - 1) * pages + 1)) "$host_faults"
equal d4 "bytes of the buffer to the device" $((chunks * chunk)) "$to_device"
finish
