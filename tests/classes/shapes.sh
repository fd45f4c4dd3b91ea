#!/usr/bin/env bash
# The shapes of the three response classes, on a quarter of the footprint: linear falls in proportion
# to what does not fit, cliff drops once and then stays, collapse falls below a tenth.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
size_mib=8 matrix=2048
. "$here/lib.sh"
scratch=$(mktemp -d "${TMPDIR:-/tmp}/um-shapes-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
settings "$scratch"
failures=0

expect() { # TEXT awk-condition over t80, t100, ... (ns) and e100, ... (evicted bytes)
	if ! awk "BEGIN { $values exit !($2) }" </dev/null; then
		echo "FAILED: $class: $1: not ($2) where $values" >&2
		failures=$((failures + 1))
	fi
}

for class in $classes; do
	trace_class "$class" "$scratch"
	values=
	for ratio in 80 100 109 130 160; do
		IFS='|' read -r ns _ _ evicted _ <<<"$(at_ratio "$class" "$scratch" $ratio)"
		values+="t$ratio = $ns; e$ratio = $evicted; "
	done
	expect "what fits is not evicted" "e80 == 0 && e100 == 0 && t100 == t80"
	case $class in
	linear)
		expect "time grows with what is over" "t80 < t109 && t109 < t130 && t130 < t160"
		expect "and by no more than a crossing back" "t160 < 2 * t80"
		# Over the memory: 1 - 1 / 1.3 and 1 - 1 / 1.6 of the footprint.
		expect "in proportion" "(t160 - t80) / (t130 - t80) > 1.2 && (t160 - t80) / (t130 - t80) < 2.2"
		;;
	cliff)
		expect "a drop" "t80 / t109 < 0.6"
		expect "then a plateau" "t160 < 1.35 * t109"
		;;
	collapse)
		expect "below a tenth" "t80 / t109 < 0.1 && t80 / t160 < 0.1"
		;;
	esac
done
echo "$failures wrong"
[ "$failures" = 0 ]
