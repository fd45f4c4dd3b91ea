#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

children=4 depth=6
nodes=0
for ((level = depth; level >= 0; level--)); do nodes=$((nodes * children + 1)); done
edges=$((nodes - 1))
by_level() { # FROM, FACTOR: FACTOR times the nodes of each level from there on, the leaves' last
	local of=$1 level
	for ((level = $1; level <= depth; level++)); do echo $((children ** level * $2)); done
}
for shuffle in "" --shuffle; do
	run=t$shuffle
	trace "$run" bfs --children=$children --depth=$depth $shuffle
	equal "$run" "launches, reads, writes, atomics" "$((depth + 1)) $((3 * nodes + edges)) $edges $((2 * edges))" \
		"SELECT COUNT(*) || ' ' || SUM(reads) || ' ' || SUM(writes) || ' ' || SUM(atomics) FROM kernel"
	equal "$run" "nodes found by each level" "$(by_level 1 1 | tr '\n' ' ')0 " \
		"SELECT group_concat(writes || ' ', '') FROM (SELECT writes FROM kernel ORDER BY op)"
	demand "${run}4" "$run" --page-size 4KiB
	equal "${run}4" "the counter's page: device faults, host faults" "$depth $depth" \
		"SELECT SUM(device >= 0) || ' ' || SUM(device < 0) FROM fault WHERE allocation =
		 (SELECT MAX(allocation) FROM allocation)"
	equal "${run}4" "graph and distances move once" $((2 * $(up $((nodes * 4)) 4096) + $(up $((edges * 4)) 4096))) \
		"SELECT SUM(pages) FROM migration WHERE destination >= 0 AND bytes > 0 AND allocation <= 3"
done
# Pages of the offsets that each level touches.
touched="SELECT group_concat(pages, ' ') FROM (SELECT SUM(pages) AS pages FROM page_access
	WHERE allocation = 1 AND op IN (SELECT op FROM kernel) GROUP BY op ORDER BY op)"
level_pages() {
	local first=0 level count
	for ((level = 0; level <= depth; level++)); do
		count=$((children ** level))
		echo -n "$(((first + count) * 4 / 4096 - first * 4 / 4096 + 1)) "
		first=$((first + count))
	done
}
equal t "in order, each level has its own pages" "$(level_pages | sed 's/ $//')" "$touched"
all=$(up $(((nodes + 1) * 4)) 4096)
equal t--shuffle "scattered, the last levels have all" "$all $all" "SELECT group_concat(pages, ' ') FROM (SELECT SUM(pages) AS pages
	FROM page_access WHERE allocation = 1 AND op IN (SELECT op FROM kernel ORDER BY op DESC LIMIT 2) GROUP BY op)"
finish
