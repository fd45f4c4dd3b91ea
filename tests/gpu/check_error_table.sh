#!/usr/bin/env bash
# error_table, with two committed traces as if each were a repetition of one program.
set -euo pipefail
: "${UM_BUILD:?}" "${UM_SOURCE:?}"

cd "$UM_SOURCE"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failures=0
traces=traces/h200/kernels accesses=traces/h200/accesses/kernels

complain() {
	echo "FAILED: $*" >&2
	failures=$((failures + 1))
}

# line QUANTITY: of the one program, without the prediction and the error
line() {
	awk -F'\t' -v OFS='\t' -v what="$1" '$1 == "scale.64M" && $2 == what { print $3, $4, $5 }' \
		"$scratch/table.tsv"
}

# expect QUANTITY MEASURED LEAST MOST
expect() {
	[ "$(line "$1")" = "$(printf '%s\t%s\t%s' "$2" "$3" "$4")" ] ||
		complain "$1: $(line "$1") instead of $2 $3 $4"
}

# what_it_says WORDS ARGUMENTS...: it fails and says so
what_it_says() {
	local words=$1
	shift
	if tests/gpu/error_table "$@" >/dev/null 2>"$scratch/said"; then
		complain "error_table $*: no failure"
	fi
	grep -qF -- "$words" "$scratch/said" || complain "error_table $*: $(cat "$scratch/said")"
}

mkdir "$scratch/measured" "$scratch/accesses" "$scratch/none"
for name in all.1 gpu.1 gpu.2; do
	cp "$traces/scale.64M.um.db" "$scratch/measured/$name.scale.64M.um.db"
done
cp "$traces/scale.64M_prefetch.um.db" "$scratch/measured/gpu.3.scale.64M.um.db"
what_it_says "there is no all.1.PROGRAM.um.db" "$UM_BUILD" "$scratch/none" "$scratch/accesses"
what_it_says "accesses/scale.64M.um.db is not there" "$UM_BUILD" "$scratch/measured" "$scratch/accesses"

cp "$accesses/scale.64M.um.db" "$scratch/accesses"
tests/gpu/error_table "$UM_BUILD" "$scratch/measured" "$scratch/accesses" >"$scratch/table.tsv" ||
	complain "error_table"
[ "$(head -n 1 "$scratch/table.tsv" | cut -f 1,2,6,7)" = $'program\tquantity\tpredicted\terror_percent' ] ||
	complain "the first line: $(head -n 1 "$scratch/table.tsv")"
# The median of three and the spread; the host's faults are of --faults=all alone.
records=$(sqlite3 "$traces/scale.64M.um.db" "SELECT COUNT(*) FROM migration WHERE destination >= 0")
fewer=$(sqlite3 "$traces/scale.64M_prefetch.um.db" "SELECT COUNT(*) FROM migration WHERE destination >= 0")
faults=$(sqlite3 "$traces/scale.64M.um.db" "SELECT COUNT(*) FROM fault WHERE device < 0")
expect records_to_device "$records" "$fewer" "$records"
expect cpu_faults "$faults" "$faults" "$faults"
awk -F'\t' '$3 == 0 && $6 == 0 { exit 1 }' "$scratch/table.tsv" || complain "lines of nothing"
tests/gpu/error_table "$UM_BUILD" "$scratch/measured" "$scratch/accesses" markdown >"$scratch/table.md" ||
	complain "error_table markdown"
grep -q '^| test | bytes to device | 1 |' "$scratch/table.md" || complain "markdown has no summary of the test set"
[ "$failures" = 0 ]
