#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

n=65536
pages=$((n * 4 / 4096))
bytes=$((n * 4))
operations="SELECT group_concat(kind) FROM (SELECT kind FROM op ORDER BY op)"
# As the program's head comment has it: host ops that read what a launch wrote and nobody waited for.
too_early="SELECT COUNT(DISTINCT host.op) FROM page_access AS w JOIN op AS launch ON launch.op = w.op
	JOIN page_access AS r ON r.allocation = w.allocation AND r.op > w.op JOIN op AS host ON host.op = r.op
	WHERE launch.kind = 'launch' AND w.lines_written <> 0 AND host.kind = 'host'
	AND r.first_page < w.first_page + w.pages AND w.first_page < r.first_page + r.pages
	AND NOT EXISTS (SELECT 1 FROM op AS wait WHERE wait.op BETWEEN launch.op AND host.op
	AND wait.kind IN ('sync_device', 'sync_stream', 'event_sync'))"

trace t missing_sync --n=$n
equal t "operations" "alloc,host,launch,host,sync_device,host,free" "$operations"
equal t "accesses" "$n|$n" "SELECT reads, writes FROM kernel"
equal t "pages of the host" "0 $pages 2,0 $pages 1,0 $pages 1" "SELECT group_concat(first_page || ' ' || pages
	|| ' ' || (touch & 3)) FROM (SELECT * FROM page_access JOIN op USING (op) WHERE kind = 'host' ORDER BY op)"
equal t "reads that nobody waited with" 1 "$too_early"
equal t "it ends ok" "exited|0" "SELECT ended || '|' || exit_status FROM run"
trace part missing_sync --n=$n --early-pages=10
equal part "pages read early" 10 "SELECT SUM(pages) FROM page_access WHERE op = $launch + 1"
trace sync missing_sync --n=$n --sync
equal sync "operations" "alloc,host,launch,sync_device,host,free" "$operations"
equal sync "reads that nobody waited with" 0 "$too_early"

# Whose reading of the result faults: the first one that was waited with.
for run in t sync; do
	demand ${run}4 $run --page-size 4KiB
	equal ${run}4 "device faults, host faults" "$pages $pages" \
		"SELECT ($device_faults) || ' ' || ($host_faults)"
	equal ${run}4 "bytes" "$bytes $bytes" "SELECT ($to_device) || ' ' || ($to_host)"
	equal ${run}4 "which reading faults" "$([ $run = t ] && echo "2 of 2" || echo "1 of 1")" "SELECT
		(SELECT COUNT(*) FROM op WHERE kind = 'host' AND op > $launch AND op <=
		(SELECT MAX(op) FROM fault WHERE device < 0)) || ' of ' ||
		(SELECT COUNT(*) FROM op WHERE kind = 'host' AND op > $launch)"
done
finish
