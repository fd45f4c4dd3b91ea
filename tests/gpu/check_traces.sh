#!/usr/bin/env bash
# The committed measurements: each README.md is what the figures say, the figures are what the traces
# say, and what is known to be exact is exact in every repetition.
set -euo pipefail
: "${UM_BUILD:?}" "${UM_SOURCE:?}"

cd "$UM_SOURCE"
failures=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

complain() {
	echo "FAILED: $*" >&2
	failures=$((failures + 1))
}

# The lines of a trace's figures, as figures.tsv has them for the repetition that was kept.
figures_of() {
	sqlite3 -readonly -separator $'\t' "$1" <tests/gpu/figures.sql | sed "s/^\*\t/$2\t/"
}

check_trace() {
	local folder=$1 trace=$2 name=$3
	"$UM_BUILD/bin/umanalyze" summary "$trace" >"$scratch/summary" || complain "umanalyze summary $trace"
	[ "$(sqlite3 -readonly "$trace" "SELECT backend || ended || (SELECT COUNT(*) FROM origin
		WHERE origin NOT IN ('measured', 'absent')) FROM run")" = cuptiexited0 ] ||
		complain "$trace: not measured, or not to its end"
	figures_of "$trace" "$name" >"$scratch/now"
	# A run has a dot in its name, a configuration has none.
	awk -F'\t' -v name="$name" '$1 == "all" && $2 == 1 && (name == $3 || name == "" && $3 !~ /[.]/)' \
		"$folder/figures.tsv" | cut -f3- >"$scratch/then"
	diff "$scratch/then" "$scratch/now" >&2 || complain "$trace: other figures than figures.tsv has"
}

check_folder() {
	local folder=$1 trace
	tests/gpu/report "$folder" | diff "$folder/README.md" - >&2 || complain "$folder/README.md"
	check_trace "$folder" "$folder/configurations.um.db" ''
	for trace in "$folder"/kernels/*.um.db; do
		check_trace "$folder" "$trace" "$(basename "$trace" .um.db)"
	done
	[ ! -s "$folder/losses.tsv" ] || complain "$folder: losses"
}

# exact FIGURE COLUMN VALUE NAME...: in every repetition and mode (CPU faults: under --faults=all)
exact() {
	local column=$1 value=$2 name
	shift 2
	for name; do
		awk -F'\t' -v name="$name" -v column="$column" -v value="$value" '
			$3 == name && (column != 10 || $1 == "all") && $column != value { wrong++ }
			$3 == name { seen++ }
			END { exit wrong || !seen }' traces/h200/figures.tsv ||
			complain "traces/h200: column $column of $name is not always $value"
	done
}

# What does not depend on which lane came first: bytes, and the records of what is served page by page.
# The driver's rules: a page faulted alone brings 64 KiB in two records; each fault's block of 2 MiB
# doubles what it brings; prefetches go by 2 MiB; the host's faults bring 64 KiB to 1 MiB, six a block.
check_h200() {
	local mib=$((1 << 20))
	exact 4 $((64 * mib)) read_64M write_64M serial_64KiB serial_16KiB serial_4KiB prefetch_both_64M \
		readmostly_64M prefgpu_64M
	exact 6 $((64 * mib)) read_64M write_64M prefetch_both_64M prefgpu_64M
	exact 6 $((2 * mib)) written_hostread2M
	exact 7 64 written_hostread2M
	exact 7 384 read_64M write_64M prefgpu_64M
	exact 4 0 firsttouch_write_64M firsttouch_read_64M prefetch_untouched_64M prefhost_accessedby_64M \
		prefhost_64M accessedby_64M
	exact 4 $((2 * mib)) serial_2MiB sparse_2M_64M
	exact 5 64 serial_2MiB sparse_2M_64M
	exact 4 $((8 * mib)) serial_512KiB sparse_512K_64M
	exact 5 256 serial_512KiB sparse_512K_64M
	exact 4 $((32 * mib)) serial_128KiB sparse_128K_64M
	exact 5 1024 serial_128KiB sparse_128K_64M
	exact 5 384 serial_64KiB serial_16KiB serial_4KiB
	exact 8 0 prefetch_both_64M prefetch_untouched_64M prefhost_accessedby_64M accessedby_64M
	exact 5 32 prefetch_both_64M
	exact 7 32 prefetch_both_64M
	exact 11 32 accessedby_64M
	exact 10 384 read_64M write_64M prefgpu_64M
	exact 10 192 serial_2MiB readmostly_64M prefetch_both_64M
}

for folder in traces/*/; do
	# What tests/gpu/measure made; imported logs have no such list.
	[ -e "$folder/machine.tsv" ] || continue
	check_folder "${folder%/}"
done
[ ! -d traces/h200 ] || check_h200
[ "$failures" = 0 ]
