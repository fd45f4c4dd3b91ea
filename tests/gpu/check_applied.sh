#!/usr/bin/env bash
# traces/h200/applied: the README.md is what the figures say, the figures are what the traces that are kept
# say, what was applied has not come to be predicted otherwise, and the README's sums are as good as they were.
set -euo pipefail
: "${UM_BUILD:?}" "${UM_SOURCE:?}"

cd "$UM_SOURCE"
folder=traces/h200/applied
failures=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

complain() {
	echo "FAILED: $*" >&2
	failures=$((failures + 1))
}

cp "$folder/figures.tsv" "$scratch"
tests/gpu/applied --out="$scratch"
cmp "$folder/README.md" "$scratch/README.md" || complain "README.md is not that of figures.tsv: tests/gpu/applied --out=$folder"

tests/gpu/applied --build="$UM_BUILD" --measured="$folder/measured" --accesses="$folder/accesses" --out="$scratch"
# Measured figures to the last digit, predicted bytes within 1 %, predicted times within 25 %.
awk -F'\t' '
	/^#/ { next }
	NR == FNR { kept[$1, $2] = $0; next }
	{
		if (split(kept[$1, $2], was, "\t") < 15) { print $1 " " $2 ": is not in figures.tsv"; bad = 1; next }
		for (i = 3; i <= 15; i++) {
			predicted = i == 4 || i == 8 || i == 12
			far = $i > was[i] ? $i - was[i] : was[i] - $i
			if (far > (i == 12 ? 0.25 : predicted ? 0.01 : 0) * was[i]) {
				print $1 " " $2 ": column " i " is " $i ", was " was[i]; bad = 1
			}
		}
		compared++
	}
	END { exit bad || compared < 6 }' "$folder/figures.tsv" "$scratch/figures.tsv" || complain "the figures"

for trace in "$folder"/measured/*.um.db; do
	marked=$(sqlite3 -readonly "$trace" "SELECT COUNT(*) FROM op WHERE flags & 16")
	case $trace in
	*.base.*) [ "$marked" = 0 ] || complain "$trace: calls of ours without a policy" ;;
	*) [ "$marked" -gt 0 ] || complain "$trace: no call of ours" ;;
	esac
done
[ "$failures" = 0 ]
