#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

n=16384 jobs=6 slots=2
pages=$((n * 4 / 4096))
trace t event_polling --n=$n --jobs=$jobs --slots=$slots
equal t "streams, launches, events" "$slots $jobs $jobs" "SELECT SUM(kind = 'stream_create') || ' ' ||
	SUM(kind = 'launch') || ' ' || SUM(kind = 'event_record') FROM op"
equal t "nothing waits" 0 "SELECT COUNT(*) FROM op WHERE kind IN
	('sync_device', 'sync_stream', 'event_sync', 'stream_wait')"
equal t "accesses of a job" "$jobs|$n|$n" "SELECT COUNT(*), MIN(reads), MAX(writes) FROM kernel"
equal t "pages read, and written" "$((jobs * pages)) $((jobs * pages))" "SELECT
	SUM(pages) FILTER (WHERE touch = 1) || ' ' || SUM(pages) FILTER (WHERE touch = 6) FROM page_access
	WHERE op IN (SELECT op FROM kernel)"
equal t "the host writes inputs, reads results" "$((jobs * pages)) $((jobs * pages))" "SELECT
	SUM(pages) FILTER (WHERE touch & 3 = 2) || ' ' || SUM(pages) FILTER (WHERE touch & 3 = 1)
	FROM page_access JOIN op USING (op) WHERE kind = 'host'"

demand d4 t --page-size 4KiB
moved=$((4096 * pages * (2 * jobs - slots)))
equal d4 "device faults" $((2 * jobs * pages)) "$device_faults"
equal d4 "host faults" $(((2 * jobs - slots) * pages)) "$host_faults"
equal d4 "bytes" "$moved $moved" "SELECT ($to_device) || ' ' || ($to_host)"
finish
