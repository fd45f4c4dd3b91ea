#!/usr/bin/env bash
# The committed measurements of twins: figures.tsv is what the kept traces say, and the README's table is what the
# replays say now, but for the predicted time, of which the sign is held. UM_BLESS=1 writes the table anew.
set -euo pipefail
: "${UM_BUILD:?}" "${UM_SOURCE:?}"

cd "$UM_SOURCE/tests/findings"
folder=$UM_SOURCE/traces/h200/findings
scratch=$(mktemp -d "${TMPDIR:-/tmp}/um-measured-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

for trace in "$folder"/*.um.db; do
	name=$(basename "$trace" .um.db)
	printf '%s\t%s\t1\t%s\n' "${name%.*}" "${name##*.}" \
		"$(sqlite3 -readonly -separator $'\t' "$trace" <measured.sql)"
done | sort >"$scratch/now"
awk -F'\t' '$3 == 1' "$folder/figures.tsv" | sort | diff - "$scratch/now" >&2

[ "$(sqlite3 -readonly "$folder/ping_pong.faulty.um.db" "SELECT backend || ended FROM run")" = cuptiexited ]

./measured "$folder" >"$scratch/table"
if [ -n "${UM_BLESS:-}" ]; then
	sed -i -e '/^<!-- table -->$/,/^<!-- end -->$/{/^<!--/!d}' -e "/^<!-- table -->$/r $scratch/table" "$folder/README.md"
fi
# Without the fifth column.
without_times() {
	awk -F'|' -v OFS='|' 'NF > 5 { $6 = "" } { print }'
}
sed -n '/^<!-- table -->$/,/^<!-- end -->$/{/^<!--/!p}' "$folder/README.md" | without_times >"$scratch/readme"
without_times <"$scratch/table" | diff "$scratch/readme" - >&2
echo "$(wc -l <"$scratch/now") traces"
