#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

pages=1536 # of the large buffer: 6 MiB
managed=16
ints=$((pages * 1024)) managed_ints=$((managed * 1024))
outside=$((2 * (ints + 3 * 64)))
touches=$((ints + managed_ints + 3 * 64))

# pageable NAME OPTIONS... -- ARGS...
pageable() {
	local name=$1
	shift
	must umtrace -q --pageable -o "$name.um.db" "$@"
}

program=$UM_BUILD/kernels/stack_and_heap
arguments=(--pages=$pages --managed-pages=$managed)

# --- without --pageable ---
trace off stack_and_heap "${arguments[@]}"
equal off "loss" "outside|$outside|1" \
	"SELECT kind, count, detail LIKE 'add\_one(places): %--pageable records it' ESCAPE '\' FROM loss"
equal off "lanes' accesses" "$managed_ints|$managed_ints" "SELECT reads, writes FROM kernel"
equal off "allocations" "managed" "SELECT group_concat(kind) FROM allocation"
equal off "operations" "alloc,host,launch,sync_device,host,free" \
	"SELECT group_concat(kind) FROM (SELECT kind FROM op ORDER BY op)"

# --- with it ---
pageable on --no-model -- "$program" "${arguments[@]}" --launches=2
first="(SELECT MIN(op) FROM kernel)"
last="(SELECT MAX(op) FROM kernel)"
equal on "loss" "host_unwatched" "SELECT group_concat(kind) FROM loss"
equal on "lanes' accesses" "$touches|$touches" "SELECT DISTINCT reads, writes FROM kernel"
equal on "heap and stack" "[heap]|1 [stack]|2" \
	"SELECT group_concat(name || '|' || flags, ' ') FROM (SELECT name, flags FROM allocation
	 WHERE kind = 'pageable' AND flags ORDER BY flags)"
large="(SELECT allocation FROM page_access JOIN allocation USING (allocation)
	WHERE kind = 'pageable' AND page_access.op = $last GROUP BY 1 ORDER BY SUM(pages) DESC LIMIT 1)"
equal on "large buffer" "0||1" "SELECT flags, name, bytes > $((pages * 4096)) FROM allocation
	WHERE allocation = $large"
# 16 bytes into the first page to 16 bytes into the last: all lines, then one.
equal on "its pages, consecutive" "$((pages + 1))|$((pages + 1))" \
	"SELECT SUM(pages), MAX(first_page + pages) - MIN(first_page) FROM page_access
	 WHERE op = $last AND allocation = $large"
equal on "its lines" "-1|-1|$pages 1|1|1" \
	"SELECT group_concat(row, ' ') FROM (SELECT lines_read || '|' || lines_written || '|' || SUM(pages)
	 AS row FROM page_access WHERE op = $last AND allocation = $large GROUP BY lines_read ORDER BY 1)"
for name in '[heap]' '[stack]'; do
	equal on "a page of $name with four lines" "1|3|0" \
		"SELECT pages, touch, (lines_read = lines_written) AND
		 lines_read NOT IN (15 << 0, 15 << 4, 15 << 8, 15 << 12, 15 << 16, 15 << 20, 15 << 24,
		 15 << 28, 15 << 32, 15 << 36, 15 << 40, 15 << 44, 15 << 48, 15 << 52, 15 << 56, 15 << 60)
		 FROM page_access JOIN allocation USING (allocation)
		 WHERE page_access.op = $last AND name = '$name'"
done
equal on "the global's four lines elsewhere" "1" \
	"SELECT COUNT(*) FROM page_access JOIN allocation USING (allocation)
	 WHERE page_access.op = $last AND kind = 'pageable' AND flags = 0 AND allocation <> $large"
# What the host had written: every page that the kernel touches, before the first launch, not again.
equal on "all was there before" "0" \
	"SELECT COUNT(*) FROM page_access AS touched WHERE op = $first AND NOT EXISTS
	 (SELECT 1 FROM page_access AS host WHERE host.op < $first AND host.touch & 3 = 2
	  AND host.allocation = touched.allocation AND host.first_page <= touched.first_page)"
equal on "pages of the large buffer that were there" "1" \
	"SELECT SUM(pages) >= $((pages + 1)) FROM page_access WHERE op < $first AND allocation = $large"
equal on "nothing between the launches" "0" \
	"SELECT COUNT(*) FROM page_access WHERE op > $first AND op < $last"
equal on "made by a host op before the launch" "host|1" \
	"SELECT DISTINCT op.kind, op.op < $first FROM allocation JOIN op USING (op)
	 WHERE allocation.kind = 'pageable'"
equal on "never freed" "0" "SELECT COUNT(*) FROM allocation WHERE kind = 'pageable' AND freed_op"

# --- replayed: demand leaves it all on the host ---
pageable one --driver demand -- "$program" "${arguments[@]}"
all_lines=$((64 * pages + 1 + 3 * 4))
demand one_demand one --page-size 4KiB
equal one_demand "only managed memory faults" $managed "$device_faults"
equal one_demand "lines read and written remotely" "$all_lines $all_lines" "$remote_lines"

# --- amdgpu_svm with XNACK: heap and stack stay, the large buffer migrates by blocks of 2 MiB ---
xnack_on one_on one --page-size 2MiB
equal one_on "remote: heap and stack" "[heap] [stack]" \
	"SELECT group_concat(name, ' ') FROM (SELECT DISTINCT name FROM remote_access
	 JOIN allocation USING (allocation) ORDER BY flags)"
equal one_on "their lines" "8 8" "$remote_lines"
blocks=$(query one "SELECT (address + 4096 * MAX(first_page + pages) - 1 >> 21) -
	(address + 4096 * MIN(first_page) >> 21) + 1 FROM page_access JOIN allocation USING (allocation)
	WHERE page_access.op = (SELECT op FROM kernel) AND allocation = (SELECT allocation FROM page_access
	 JOIN allocation USING (allocation) WHERE kind = 'pageable' GROUP BY 1 ORDER BY SUM(pages) DESC LIMIT 1)")
one_large="(SELECT allocation FROM migration WHERE destination = 0 GROUP BY 1 ORDER BY SUM(bytes) DESC
	LIMIT 1)"
equal one_on "blocks of the large buffer" "$blocks" \
	"SELECT SUM(transfers) FROM migration WHERE destination = 0 AND allocation = $one_large"
equal one_on "a fault for each" "$blocks" \
	"SELECT SUM(faults) FROM fault WHERE device = 0 AND allocation = $one_large"
equal one_on "all that it holds moves" "1" \
	"SELECT SUM(bytes) >= $(((pages + 1) * 4096)) FROM migration WHERE allocation = $one_large"
equal one_on "heap and stack move nothing" 0 "SELECT COUNT(*) FROM migration
	JOIN allocation USING (allocation) WHERE flags AND kind = 'pageable'"

# --- policies select it by kind and by name ---
cat >host.yaml <<'END'
advise:
  - on: {kind: pageable}
    preferred_location: host
  - on: {name: '[heap]'}
    preferred_location: gpu0
END
xnack_on policy one --page-size 2MiB -P host.yaml
equal policy "of pageable memory only the heap moves" "[heap]" \
	"SELECT group_concat(DISTINCT name) FROM (SELECT COALESCE(name, 'large') AS name FROM migration
	 JOIN allocation USING (allocation) WHERE kind = 'pageable' AND destination = 0)"

# --- XNACK off: such a program ends on the hardware ---
um_checks=$((um_checks + 1))
umsim replay one.um.db -o one_off.um.db --driver=amdgpu_svm --xnack=off 2>message && fail "XNACK off replays"
grep -q "without XNACK no fault is served" message || fail "XNACK off says: $(cat message)"
finish
