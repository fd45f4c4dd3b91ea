#!/usr/bin/env bash
# Managed memory beside explicit copies on the same traces: break_even.sh BUILD_FOLDER [MACHINE]
# Where they break even by size, and by the share of the memory that the data take.
set -euo pipefail
UM_BUILD=$(cd "${1:?the build folder}" && pwd)
machine=${2:-mi250x}
PATH=$UM_BUILD/bin:$PATH
export LC_ALL=C
scratch=$(mktemp -d "${TMPDIR:-/tmp}/um-break-even-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

declare -A policies=(
	[faults]='driver: {name: amdgpu_svm, xnack: on}'
	[remote]='driver: {name: amdgpu_svm, xnack: off}'
	[pinned]='driver: {name: explicit_copy, host_memory: pinned}'
	[pageable]='driver: {name: explicit_copy, host_memory: pageable}'
)
columns="faults remote pinned pageable"
for name in $columns; do
	echo "${policies[$name]}" >"$name.yaml"
done

trace() {
	umtrace -q --no-model --force -o app.um.db -- "$UM_BUILD/kernels/stream_triad" --operation=triad \
		--repetitions="$repetitions" --n=$(($1 * 128)) >/dev/null
}

# Ends in us, in the order of the columns; "-": such a program cannot be, as it is refused.
ends() {
	local name end
	for name in $columns; do
		end=$(umsim replay -q --force --format=json --machine "$machine" "$@" app.um.db -P "$name.yaml" \
			2>/dev/null | jq -r '.[0].totals.end_ns / 1000') || true
		echo "${end:--}"
	done | paste -sd' '
}

row() { # LABEL ENDS: and which is the first
	local label=$1
	shift
	awk -v label="$label" -v columns="$columns" 'BEGIN { split(columns, name, " ") } {
		best = 0
		for (i = 1; i <= 4; i++)
			if ($i != "-" && (!best || $i + 0 < $best + 0))
				best = i
		printf "%10s", label
		for (i = 1; i <= 4; i++)
			printf "%12s", $i == "-" ? "-" : sprintf("%.0f us", $i)
		printf "   %s\n", name[best]
	}' <<<"$*"
}

heading() {
	printf '%10s' "$1"
	printf '%12s' $columns
	printf '   first\n'
}

for repetitions in 1 16; do
	printf 'stream_triad, %d repetitions, on %s: until the end, by the size of its three arrays\n' \
		$repetitions "$machine"
	heading KiB
	for kib in 48 384 3072 12288 49152; do
		trace $((kib / 3))
		row $kib "$(ends)"
	done
	echo
done

repetitions=4
trace 4096
printf 'stream_triad, 12 MiB, %d repetitions: by the share of the memory that they take\n' $repetitions
heading share
for share in 25 50 90 100 110 150; do
	row $share% "$(ends --memory "$(awk -v share=$share 'BEGIN { printf "%.4gx", 100 / share }')")"
done
