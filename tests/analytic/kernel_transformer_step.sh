#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

layers=3 tokens=16 width=64 steps=2
shape="--layers=$layers --tokens=$tokens --width=$width --steps=$steps"
td=$((tokens * width)) dd=$((width * width)) tdd=$((tokens * width * width))
weights=$((4 * dd / 4096)) activations=$((4 * td / 4096)) # pages of one
all_weights=$((layers * weights))
# The order in which they are allocated.
of_weights="allocation = 1" of_gradients="allocation = 2" of_targets="allocation = 4"

for plain in "" --plain; do
	run=t$plain
	trace "$run" transformer_step $shape $plain
	equal "$run" "launches, reads, writes" "$(cat <<-END
		backward_input $((steps * (layers - 1))) $((2 * tdd)) $td
		backward_weights $((steps * layers)) $((2 * tdd)) $dd
		forward $((steps * layers)) $((2 * tdd)) $td
		loss $steps $((2 * td)) $td
		update $((steps * layers)) $((2 * dd)) $dd
	END
	)" "SELECT base || ' ' || COUNT(*) || ' ' || MIN(reads) || ' ' || MAX(writes)
		FROM (SELECT *, substr(name, 1, instr(name || '(', '(') - 1) AS base FROM kernel) GROUP BY base"
	equal "$run" "pages that the host reads of the gradients" $((steps * all_weights)) "SELECT SUM(pages)
		FROM page_access JOIN op USING (op) WHERE kind = 'host' AND page_access.$of_gradients AND touch & 1"
	demand "${run}4" "$run" --page-size 4KiB
done
equal t "prefetches" "$((steps * layers)) $((steps * all_weights * 4096))" \
	"SELECT COUNT(*) || ' ' || SUM(bytes) FROM op WHERE kind = 'prefetch'"
equal t "advice of a step" "$(printf '%s ' accessed_by accessed_by accessed_by unset_accessed_by \
	unset_accessed_by unset_accessed_by read_mostly)unset_read_mostly" "SELECT group_concat(advice, ' ') FROM
	(SELECT advice FROM op WHERE kind = 'advise' ORDER BY op LIMIT 8)"
equal t--plain "none" 0 "SELECT COUNT(*) FROM op WHERE kind IN ('advise', 'prefetch')"

in_update="op IN (SELECT op FROM kernel WHERE name LIKE 'update%')"
equal t4 "faults for weights: device, host" "0 $all_weights" \
	"SELECT ($device_faults AND $of_weights) || ' ' || ($host_faults AND $of_weights)"
equal t--plain4 "faults for weights: device, host" "$all_weights $all_weights" \
	"SELECT ($device_faults AND $of_weights) || ' ' || ($host_faults AND $of_weights)"
equal t4 "targets: mapped, not moved" "0 0 $((64 * steps * activations))" "SELECT ($device_faults AND $of_targets)
	|| ' ' || (SELECT COUNT(*) FROM migration WHERE $of_targets AND bytes > 0)
	|| ' ' || (SELECT SUM(lines_read) FROM remote_access WHERE $of_targets)"
equal t--plain4 "targets: moved" "$((steps * activations))" "$device_faults AND $of_targets"
equal t--plain4 "gradients in the update: device faults, host faults" "$((steps * all_weights)) $((steps * all_weights))" \
	"SELECT ($device_faults AND $of_gradients AND $in_update) || ' ' || ($host_faults AND $of_gradients)"
equal t4 "gradients in the update: device faults" 0 "$device_faults AND $of_gradients AND $in_update"
finish
