#!/usr/bin/env bash
# What leaving launches out saves: CPU time of launches with hooks and of those without, of one and the same
# run, in which every second one of each kernel is recorded (medians, less the first two), and of a run without
# umtrace. With the host watched, which makes kernels fault pages in anew, and without. Prints, never fails.
# UM_BUILD is a release build.
set -eu
export LC_ALL=C
: "${UM_BUILD:?a release build}"
launches=${1:-24}
program=$UM_BUILD/tests/bench/launch_times
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# median FILE KERNEL NUMBERS: those that leave that over 2, or all
median() {
	awk -v kernel="$2" -v rest="$3" '$1 == kernel && $2 > 2 && (rest == "all" || $2 % 2 == rest) { print $3 }' "$1" |
		sort -g | awk '{ v[NR] = $1 } END { print v[int((NR + 1) / 2)] }'
}
odd=()
for n in $(seq 1 2 "$launches"); do odd+=(--launches "$n"); done
"$program" "$launches" >"$scratch/untraced"
for watch in auto none; do
	"$UM_BUILD/bin/umtrace" -q --force --no-model --host-watch=$watch --kernels '*' "${odd[@]}" -o "$scratch/t.um.db" -- \
		"$program" "$launches" >"$scratch/traced"
	echo "--host-watch=$watch"
	for kernel in copy stencil row_sum compute tile_sum; do
		awk -v kernel="$kernel" -v hooked="$(median "$scratch/traced" "$kernel" 1)" \
			-v plain="$(median "$scratch/traced" "$kernel" 0)" \
			-v untraced="$(median "$scratch/untraced" "$kernel" all)" 'BEGIN {
			printf "%-10s %8.0f us with hooks  %8.0f us without (%4.1f times as fast)  %8.0f us untraced\n",
				kernel, hooked, plain, hooked / plain, untraced }'
	done
done
