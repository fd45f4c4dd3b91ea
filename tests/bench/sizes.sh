#!/usr/bin/env bash
# Sizes of traces against their limits, and what tracing costs in time: prints, never fails.
# UM_BUILD is a release build; `sizes.sh long` adds the 2048^3 product.
set -eu
export LC_ALL=C
: "${UM_BUILD:?a release build}"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
trace=$scratch/t.um.db

seconds() {
	local start end
	start=$(date +%s%N)
	"$@" >/dev/null 2>&1
	end=$(date +%s%N)
	awk -v ns=$((end - start)) 'BEGIN { printf "%.2f", ns / 1e9 }'
}

# row WHAT LIMIT_MIB PROGRAM ARGS...
row() {
	local what=$1 limit=$2 plain traced
	shift 2
	set -- "$UM_BUILD/kernels/$1" "${@:2}"
	rm -f "$trace"
	plain=$(seconds "$@")
	traced=$(seconds "$UM_BUILD/bin/umtrace" -q -o "$trace" -- "$@")
	sqlite3 "$trace" "SELECT SUM(reads + writes + atomics) FROM kernel" |
		awk -v what="$what" -v limit="$limit" -v plain="$plain" -v traced="$traced" \
			-v bytes="$(stat -c %s "$trace")" '{
			printf "%-28s %8.2f MiB of %2d MiB  (%.2f)  %12d accesses  untraced %6.2f s  traced %6.2f s  (%.1fx)\n",
				what, bytes / 1048576, limit, bytes / 1048576 / limit, $1, plain, traced,
				(plain > 0 ? traced / plain : 0) }'
}

row "1 GiB sweep" 2 scale --n=268435456
row "1 GiB grid-stride sweep" 2 grid_stride --n=268435456
row "tiled matmul 1000^3" 8 matmul --m=1000 --n=1000 --k=1000
row "1 M touches over 256 MiB" 8 random_touch
row "1 M touches over 1 GiB" 8 random_touch --bytes=1073741824
if [ "${1:-}" = long ]; then
	row "tiled matmul 2048^3" 32 matmul --m=2048 --n=2048 --k=2048
fi
