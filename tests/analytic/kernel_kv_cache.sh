#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

cohorts=2 sequences=3 rounds=3 turn=8 block=4 width=128
shape="--cohorts=$cohorts --sequences=$sequences --rounds=$rounds --turn=$turn --block=$block --width=$width"
token=$((8 * width))                                  # bytes
grown=$((sequences * turn * token / 4096))            # pages of a cohort's turn
length=$((rounds * turn)) steps=$((cohorts * rounds * turn))
blocks=$((cohorts * rounds * turn / block))           # steps before which blocks are given
cache="allocation = 1" table="allocation = 2"

trace t kv_cache $shape
equal t "launches" $((2 * steps)) "SELECT COUNT(*) FROM kernel"
equal t "append" "$steps|$((sequences * width))|$((2 * sequences * width))" \
	"SELECT COUNT(*), MIN(reads), MAX(writes) FROM kernel WHERE name LIKE 'append%'"
attended=0 pages=0
for ((l = 1; l <= length; l++)); do
	attended=$((attended + cohorts * 3 * sequences * width * l))
	pages=$((pages + cohorts * sequences * $(up $((l * token)) 4096)))
done
equal t "attend" "$steps|$attended|$((sequences * width))" \
	"SELECT COUNT(*), SUM(reads), MAX(writes) FROM kernel WHERE name LIKE 'attend%'"
equal t "cache pages that attend reads" $pages "SELECT SUM(pages) FROM page_access WHERE $cache
	AND op IN (SELECT op FROM kernel WHERE name LIKE 'attend%')"
equal t "cache pages that append writes" $((steps * sequences)) "SELECT SUM(pages) FROM page_access WHERE $cache
	AND op IN (SELECT op FROM kernel WHERE name LIKE 'append%')"
equal t "the host: table before, output after, cache never" "2 $blocks 3 1" "SELECT group_concat(row, ' ') FROM
	(SELECT page_access.allocation || ' ' || COUNT(DISTINCT op) AS row FROM page_access JOIN op USING (op)
	 WHERE kind = 'host' GROUP BY page_access.allocation)"
equal t "the host's writes of the table" $blocks "SELECT COUNT(*) FROM page_access JOIN op USING (op)
	WHERE kind = 'host' AND page_access.allocation = 2 AND touch & 2"

demand d4 t --page-size 4KiB
all=$((cohorts * rounds * grown))
equal d4 "device faults: cache, table" "$all $blocks" "SELECT ($device_faults AND $cache) || ' ' ||
	($device_faults AND $table)"
equal d4 "host faults: table" $((blocks - 1)) "$host_faults AND $table"
equal d4 "bytes of the cache" 0 "SELECT COALESCE(SUM(bytes), 0) FROM migration WHERE $cache"

trace offload kv_cache $shape --offload
back=0 # blocks of all turns but the first
for ((r = 1; r < rounds; r++)); do back=$((back + cohorts * sequences * r * turn / block)); done
equal offload "prefetches to the host, to the device" "$back $back" "SELECT SUM(device = -1) || ' ' ||
	SUM(device = 0) FROM op WHERE kind = 'prefetch'"
demand offload4 offload --page-size 4KiB
equal offload4 "device faults: cache, table" "$all $blocks" "SELECT ($device_faults AND $cache) || ' ' ||
	($device_faults AND $table)"
moved=$((back * block * token))
equal offload4 "bytes of the cache, both by prefetch" "$moved $moved" "SELECT
	SUM(bytes) FILTER (WHERE destination = 0) || ' ' || SUM(bytes) FILTER (WHERE destination = -1)
	FROM migration WHERE $cache AND cause = 'prefetch'"

# Room for one cohort's cache, the table and the output: what the others left is evicted, turn by turn.
room=$((rounds * grown + 3))
demand tight t --page-size 4KiB --memory $((4 * room))KiB
demand tight_offload offload --page-size 4KiB --memory $((4 * room))KiB
equal tight "once it is full each turn evicts" $((cohorts * rounds - rounds)) "SELECT COUNT(*) FROM (SELECT DISTINCT
	(SELECT COUNT(*) FROM kernel WHERE kernel.op < migration.op) / $((2 * turn)) FROM migration
	WHERE cause = 'eviction' AND bytes > 0)"
equal tight_offload "only those of which the last turn is over" $(((cohorts - 1) * rounds * grown * 4096)) \
	"SELECT SUM(bytes) FROM migration WHERE cause = 'eviction'"
at_most tight_offload "device faults for the cache" $all "$device_faults AND $cache"
finish
