#!/usr/bin/env bash
# What replay and curve take as touches and configurations grow: Zipf(1.0) over 4 GiB of pages of
# 4 KiB, one group, driver demand. UM_BUILD is a release build; growth.sh [MOST_TOUCHES_MI], 16 by
# default, 256 for all rows. Rows of replays are left out where configurations times touches exceed
# MOST_TOUCHES_MI. Prints a table in Markdown with the machine's load, never fails. The last column is
# processor time beside that of a quarter of the touches: 4 where it grows as they do.
set -eu
export LC_ALL=C
: "${UM_BUILD:?a release build}"
most=${1:-16}
scratch=$(mktemp -d "${TMPDIR:-/tmp}/um-growth-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trace=$scratch/t.um.db
declare -A before # processor time, by configurations and how

# row TOUCHES_MI CONFIGURATIONS WHAT COMMAND...
row() {
	local touches=$1 configurations=$2 what=$3
	shift 3
	/usr/bin/time -f '%e %U %S %M' -o "$scratch/time" "$@" >/dev/null 2>"$scratch/err" || cat "$scratch/err" >&2
	local key="$configurations $what" took
	took=$(awk '{ print $2 + $3 }' "$scratch/time")
	awk -v t="$touches" -v c="$configurations" -v what="$what" -v before="${before[$key]:-0}" '{
		printf "| %d Mi | %d | %s | %.1f s | %.1f s | %d MiB | %.1f M | %s |\n", t, c, what, $1,
			$2 + $3, $4 / 1024, t * 1.048576 * c / ($2 + $3),
			before > 0 ? sprintf("%.1f", ($2 + $3) / before) : "" }' "$scratch/time"
	before[$key]=$took
}

curve() {
	"$UM_BUILD/bin/umsim" curve -q "$trace" --driver demand --format=csv "$@"
}
export -f curve
export UM_BUILD trace

echo "Processors: $(nproc); load before: $(cut -d' ' -f1 /proc/loadavg)."
echo
echo "| touches | configurations | how | time | processor | memory | touches a second of a processor | to a quarter |"
echo "|---|---|---|---|---|---|---|---|"
for mi in 1 4 16 64 256; do
	[ "$mi" -le "$most" ] || break
	rm -f "$trace"
	TMPDIR=$scratch "$UM_BUILD/bin/zipf_trace" "$trace" $((mi << 20))
	for count in 1 4 16 64 256 1024; do
		[ $((mi * count)) -le "$most" ] || break
		row "$mi" "$count" "replays, random order" bash -c "curve --evict random --from 0.5x --to 0.6x --points $count"
	done
	row "$mi" 1 "umsim replay, lru, with its database" "$UM_BUILD/bin/umsim" replay -q "$trace" \
		--driver demand --evict lru --memory 0.5x --force -o "$scratch/replayed.um.db"
	row "$mi" 1024 "one simulation, lru" bash -c "curve --evict lru --points 1024"
	row "$mi" 16 "one simulation, fifo" bash -c "curve --evict fifo --points 16"
	row "$mi" 16 "one simulation, belady" bash -c "curve --evict belady --points 16"
done
echo
echo "Load after: $(cut -d' ' -f1 /proc/loadavg)."
