#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

devices=4 rows=8 iterations=3 columns=1024
all=$((devices * rows)) halos=$((2 * (devices - 1)))
# traced NAME MACHINE OPTIONS...
traced() {
	local name=$1 gpus=$2
	shift 2
	must umtrace -q --driver=demand --machine=$gpus -o "$name.um.db" -- \
		"$UM_BUILD/kernels/multi_gpu" --rows=$rows --iterations=$iterations "$@"
}
for share in managed advised peer copy; do
	traced $share mi250x_4gcd --share=$share
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

# What the GPUs have of each other crosses the links between them: borders alone, each way.
border=$((halos * iterations * 4096))
between="SELECT COALESCE(SUM(bytes), 0) || ' ' || COALESCE(MAX(ABS(source - destination)), 0) FROM peer_traffic"
for share in peer copy; do
	equal $share "GPU to GPU, neighbours alone" "$border 1" "$between"
	equal $share "how" "$([ $share = peer ] && echo remote_access || echo copy) $((halos * iterations))" "SELECT
		cause || ' ' || COUNT(*) FROM peer_traffic GROUP BY cause"
	equal $share "all else is from and to the host" "$((all * 4096)) $((all * 4096))" \
		"SELECT ($to_device) || ' ' || ($to_host)"
done

# amdgpu_svm with XNACK: advised, a part goes to the GPU that it prefers, once, and its neighbours read its
# borders there; without advice whole blocks follow who touches them, by way of the host.
must umsim replay advised.um.db -o advised_on.um.db --driver=amdgpu_svm --xnack=on
equal advised_on "moved to the GPUs: what the host wrote" $((all * 4096)) "$migrated_to_device"
equal advised_on "and back" $((all * 4096)) "$to_host"
equal advised_on "GPU to GPU, neighbours alone" "$border 1" "$between"
must umsim replay managed.um.db -o managed_on.um.db --driver=amdgpu_svm --xnack=on
at_most managed_on "without advice more moves" -1 "SELECT $((all * 4096)) - SUM(bytes) FROM migration
	WHERE destination >= 0"
equal managed_on "nothing is accessed on another GPU" "0 0" "$between"
# A machine without links between GPUs: through the host.
sed "/^peer_link:/,/remote_requests_per_s/d" "$UM_SOURCE/sim/machine/machines/mi250x_4gcd.yaml" >no_links.yaml
for share in peer copy; do
	must umsim replay $share.um.db -o ${share}_far.um.db --machine=./no_links.yaml
	equal ${share}_far "GPU to GPU" "0 0" "$between"
	equal ${share}_far "by the host's links" $((all * 4096 + border)) "$to_device"
done

# Fewer GPUs than it used cannot play it.
um_checks=$((um_checks + 1))
umsim replay peer.um.db -o few.um.db --machine=mi250x 2>err && fail "four GPUs' memory on one"
grep -q "allocation 3 is on device 1; machine mi250x has 1" err || fail "$(cat err)"

# One GPU: no neighbours.
traced one mi250x
equal one "pages read" $((iterations * rows)) "SELECT SUM(pages) FROM page_access
	WHERE op IN (SELECT op FROM kernel) AND touch & 1"
finish
