#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

n=16384 bins=64 launches=2
apart_pages() { up $((bins * $1)) 4096; }
for apart in 64 256; do
	pages=$(apart_pages $apart)
	for scope in system device; do
		run=t$apart$scope
		trace $run atomics_fine_grained --n=$n --bins=$bins --apart=$apart --launches=$launches --scope=$scope
		equal $run "accesses of each launch" "$launches|0|0|$n|$n" \
			"SELECT COUNT(*), SUM(reads), SUM(writes), MIN(atomics), MAX(atomics) FROM kernel"
		equal $run "pages and requests" "$pages $((n / 64 * bins))" "SELECT SUM(pages) || ' ' || SUM(pages * requests)
			FROM page_access WHERE op = (SELECT MIN(op) FROM kernel)"
		equal $run "all of them atomics" $n "SELECT SUM(pages * atomics) FROM page_access
			WHERE op = (SELECT MIN(op) FROM kernel)"
	done
	run=t${apart}system
	equal $run "one managed allocation" "managed $((bins * apart))" \
		"SELECT kind || ' ' || bytes FROM allocation"
	demand d$apart $run --page-size 4KiB
	equal d$apart "device faults, host faults" "$((launches * pages)) $((launches * pages))" \
		"SELECT ($device_faults) || ' ' || ($host_faults)"
	trace host$apart atomics_fine_grained --n=$n --bins=$bins --apart=$apart --advise=preferred-host
	demand host_d$apart host$apart --page-size 4KiB
	equal host_d$apart "nothing moves" 0 "$migrations"
	equal host_d$apart "remote lines" "$((2 * bins)) $((2 * bins))" "$remote_lines"
done

for kind in fine:device:1 coarse:device:0 pinned:pinned:0; do
	IFS=: read -r what of flags <<<"$kind"
	trace $what atomics_fine_grained --n=$n --memory=$what --launches=$launches
	equal $what "its allocation" "$of $flags" "SELECT kind || ' ' || flags FROM allocation"
	[ $of = device ] && copies=$((1 + 2 * launches)) || copies=0
	equal $what "copies" $copies "SELECT COUNT(*) FROM op WHERE kind = 'copy'"
	equal $what "atomics" $((launches * n)) "SELECT SUM(atomics) FROM kernel"
done
finish
