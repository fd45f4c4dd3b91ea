#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

devices=4 rows=8 iterations=3 columns=1024
for size in 1 4; do
	sed "s/^devices: .*/devices: $size/" "$UM_SOURCE/sim/machine/machines/mi250x.yaml" >$size.yaml
done
all=$((devices * rows)) halos=$((2 * (devices - 1)))
# traced NAME GPUS OPTIONS...
traced() {
	local name=$1 gpus=$2
	shift 2
	must umtrace -q --driver=demand --machine=./$gpus.yaml -o "$name.um.db" -- \
		"$UM_BUILD/kernels/multi_gpu" --rows=$rows --iterations=$iterations "$@"
}
for share in managed advised peer copy; do
	traced $share $devices --share=$share
	equal $share "a stream on each device" "0 1 2 3" "SELECT group_concat(device, ' ') FROM
		(SELECT device FROM op WHERE kind = 'stream_create' ORDER BY op)"
	equal $share "launches of each device" "0 $iterations|1 $iterations|2 $iterations|3 $iterations" \
		"SELECT group_concat(row, '|') FROM (SELECT device || ' ' || COUNT(*) AS row FROM op
		 WHERE kind = 'launch' GROUP BY device)"
	equal $share "reads, writes" "$((iterations * (3 * all - 2) * columns)) $((iterations * all * columns))" \
		"SELECT SUM(reads) || ' ' || SUM(writes) FROM kernel"
	equal $share "pages read, and written" "$((iterations * (all + halos))) $((iterations * all))" "SELECT
		SUM(pages) FILTER (WHERE touch & 1) || ' ' || SUM(pages) FILTER (WHERE touch & 2)
		FROM page_access WHERE op IN (SELECT op FROM kernel)"
done
equal managed "allocations" "managed $((all * 4096)),managed $((all * 4096))" \
	"SELECT group_concat(kind || ' ' || bytes) FROM allocation"
equal advised "advice" "accessed_by $((2 * halos)),preferred_location $((2 * devices))" "SELECT
	group_concat(row) FROM (SELECT advice || ' ' || COUNT(*) AS row FROM op WHERE kind = 'advise' GROUP BY advice)"
for share in peer copy; do
	extra=$([ $share = copy ] && echo 2 || echo 0)
	equal $share "allocations of each device" "$(for d in 0 1 2 3; do
		echo -n "device $d 2 $(((rows + extra) * 4096))|"; done)" "SELECT group_concat(row || '|', '') FROM (SELECT
		kind || ' ' || device || ' ' || COUNT(*) || ' ' || MAX(bytes) AS row FROM allocation GROUP BY kind, device)"
done
equal peer "copies: from and to the host" $((2 * devices)) "SELECT COUNT(*) FROM op WHERE kind = 'copy'"
equal copy "and borders, between devices" $((2 * devices + halos * iterations)) \
	"SELECT COUNT(*) FROM op WHERE kind = 'copy'"
equal copy "a border's copy is of its stream's device" 0 "SELECT COUNT(*) FROM op JOIN op AS made
	ON made.stream = op.stream AND made.kind = 'stream_create' WHERE op.kind = 'copy' AND op.device <> made.device"

# One GPU: no neighbours.
traced one 1
equal one "pages read" $((iterations * rows)) "SELECT SUM(pages) FROM page_access
	WHERE op IN (SELECT op FROM kernel) AND touch & 1"
finish
