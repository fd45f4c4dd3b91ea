#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

weights=12 kv=24 activations=4 steps=3
shape="--weights=$weights --kv=$kv --activations=$activations --steps=$steps"
trace plain named_pools $shape
equal plain "parts" "activations $steps|kv 1|logits $steps|weights 1" "SELECT group_concat(n, '|') FROM
	(SELECT name || ' ' || COUNT(*) AS n FROM part GROUP BY name ORDER BY name)"
equal plain "activations and logits have one place" 1 \
	"SELECT COUNT(DISTINCT offset_bytes || ' ' || bytes) FROM part WHERE name IN ('activations', 'logits')"
equal plain "each ends before the next begins" 0 "SELECT COUNT(*) FROM part AS a JOIN part AS b
	USING (offset_bytes) WHERE a.op < b.op AND a.end_op >= b.op"
equal plain "named by who asked for them" 0 "SELECT COUNT(*) FROM part JOIN frame USING (site)
	WHERE file NOT LIKE '%/named_pools.hip'"

# summary NAME: of NAME.um.db, made once
summary() {
	[ -f "$1.json" ] || umanalyze summary -f json "$1.um.db" >"$1.json"
	cat "$1.json"
}
# parts NAME: of NAME.um.db, "name times bytes touched faults host-faults in out shared" as pages
parts() {
	summary "$1" | jq -r '.allocations[0].parts[] | [.name, .times, .bytes, .touched_bytes,
		.device_faults, .host_faults, .migrated_to_device_bytes / 4096, .migrated_to_host_bytes / 4096,
		.host_touched_pages, .shared_pages] | map(tostring) | join(" ")'
}
# row NAME PART WANTED...
row() {
	local name=$1 part=$2 got
	shift 2
	got=$(parts "$name" | grep "^$part ")
	um_checks=$((um_checks + 1))
	[ "$got" = "$part $*" ] || fail "$name: $got, expected $part $*"
}
page=4096
all=$((steps * activations)) # pages of the activations, or the logits, of all steps
demand plain4 plain --page-size 4KiB
#   part        times  bytes                   touched                 faults   host in out host-pages shared
row plain weights     1      $((weights * page))     $((weights * page))     $weights 0 $weights 0 $weights 0
row plain kv          1      $((kv * page))          $((kv * page))          $kv 0 0 0 0 0
row plain activations $steps $((activations * page)) $((activations * page)) $all 0 $((all - activations)) 0 0 0
row plain logits      $steps $((activations * page)) $((activations * page)) 0 $all 0 $all $all 0
row plain4 weights     1      $((weights * page))     0 $weights 0 $weights 0 0 0
row plain4 kv          1      $((kv * page))          0 $kv 0 0 0 0 0
row plain4 activations $steps $((activations * page)) 0 $all 0 $((all - activations)) 0 0 0
row plain4 logits      $steps $((activations * page)) 0 0 $all 0 $all 0 0
equal plain4 "of the whole" $((weights + kv + all)) "$device_faults"

# The sums of the parts are the allocation's: each page lies in one.
total() { # NAME FIELD
	summary "$1" | jq ".allocations[0] | ([.parts[].$2] | add) == .$2"
}
for field in device_faults host_faults migrated_to_device_bytes migrated_to_host_bytes; do
	um_checks=$((um_checks + 1))
	[ "$(total plain4 $field)" = true ] || fail "the parts' $field are not the pool's"
done

# With a tail every part begins within a page, and kv's last one goes to the host with the logits.
trace tail named_pools $shape --tail=256
all=$((steps * (activations + 1)))
row tail weights     1      $((weights * page + 256)) $((weights * page + 256)) $((weights + 1)) 0 $((weights + 1)) 0 \
	$((weights + 1)) 1
row tail kv          1      $((kv * page))            $((kv * page)) $((kv + steps)) $steps $steps $steps \
	$((1 + steps)) 2
row tail activations $steps $((activations * page))   $((activations * page)) $all 0 $((all - activations - 1)) 0 0 1
row tail logits      $steps $((activations * page))   $((activations * page)) 0 $all 0 $all $all 1

# A policy means a part: weights prefetched, logits left with the host.
cat >rules.yaml <<'END'
advise:
  - {on: {name: logits}, preferred_location: host, accessed_by: [gpu0]}
prefetch:
  - {on: {name: weights}, to: gpu0, before: forward, nth: 1}
END
must umsim replay plain.um.db -P rules.yaml --driver=demand --page-size=4KiB -o rules.um.db
row rules weights 1 $((weights * page)) 0 0 0 $weights 0 0 0
equal rules "the prefetch is of the weights alone" "0 $weights" \
	"SELECT first_page || ' ' || SUM(pages) FROM migration WHERE cause = 'prefetch'"
equal rules "kv faults as before" $kv "SELECT SUM(faults) FROM fault WHERE device >= 0
	AND first_page BETWEEN $weights AND $((weights + kv - 1))"
equal rules "logits never move to the GPU" 0 "SELECT COALESCE(SUM(bytes), 0) FROM migration
	WHERE destination = 0 AND op IN (SELECT op FROM kernel WHERE name LIKE 'project%')"

cat >range.yaml <<'END'
prefetch:
  - {on: {name: weights, range: [4KiB, 12KiB]}, to: gpu0, before: forward, nth: 1}
END
must umsim replay tail.um.db -P range.yaml --driver=demand --page-size=4KiB -o range.um.db
equal range "a range within a part" "1 2" \
	"SELECT MIN(first_page) || ' ' || SUM(pages) FROM migration WHERE cause = 'prefetch'"
finish
