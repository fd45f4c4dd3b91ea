#!/usr/bin/env bash
# The three response classes in one table and one plot: run.sh BUILD_FOLDER [FOLDER]
# FOLDER (default: the current one) receives response_classes.svg. Needs gnuplot for the plots.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
UM_BUILD=$(cd "${1:?the build folder}" && pwd)
into=$(cd "${2:-.}" && pwd)
size_mib=32 matrix=4096
. "$here/lib.sh"

ratios="80 90 95 100 103 106 109 120 130 140 150 160"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/um-classes-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
for class in $classes; do
	trace_class "$class" "$scratch"
	bytes=$(footprint "$scratch/$class.um.db")
	settings "$scratch"
	for ratio in $ratios; do
		echo "$class|$ratio|$bytes|$(at_ratio "$class" "$scratch" "$ratio")"
	done >>"$scratch/figures"
	base=$(awk -F'|' -v class="$class" '$1 == class { print $4; exit }' "$scratch/figures")
	for order in lru random belady; do
		settings "$scratch" $order
		at_ratio "$class" "$scratch" 109 | awk -F'|' -v base="$base" '{ printf "%10.3f", base / $1 }'
	done >"$scratch/$class.orders"
	rm "$scratch/$class.um.db"
done

awk -F'|' -f "$here/table.awk" "$scratch/figures"
printf '\nThroughput at 109 %% under other eviction orders (hypothetical: no driver has them)\n'
printf '%-8s%10s%10s%10s%10s\n' "" own lru random belady
for class in $classes; do
	awk -F'|' -v class="$class" '$1 == class { base = base ? base : $4 }
		$1 == class && $2 == 109 { printf "%-8s%10.3f", class, base / $4 }' "$scratch/figures"
	cat "$scratch/$class.orders"
	echo
done
if ! command -v gnuplot >/dev/null; then
	echo "no plot: gnuplot is not installed (Debian: gnuplot-nox)"
	exit
fi
awk -F'|' '$1 != class { if (class) printf "\n\n"; class = $1; base = $4 } { print $2, base / $4 }' \
	"$scratch/figures" >"$scratch/plot"
gnuplot -e "data='$scratch/plot'; svg='$into/response_classes.svg'" "$here/plot.gp"
