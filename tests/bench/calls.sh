#!/usr/bin/env bash
# What a launch and an allocation cost more with a call stack than without: calls.sh [CALLS]. UM_BUILD is the
# folder of a release build. A call's stack costs what its frames do, so that two depths tell what none
# would cost. Fails when a stack of 32 frames costs 3 us a call or more, or when sites grow with calls.
set -eu
: "${UM_BUILD:?the build folder}"
calls=${1:-200000}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
PATH=$UM_BUILD/bin:$PATH
umhipcc -O2 "$(dirname "$0")/calls.hip" -o "$work/calls"
cd "$work"
# The trace is as large as the calls are many: a rate, not a file, is what is asked for.
./calls "$calls" | sed 's/^/untraced /' >figures
umtrace -q --force --no-model --host-watch=none -o calls.um.db -- ./calls "$calls" | sed 's/^/traced /' >>figures
sites=$(sqlite3 calls.um.db "SELECT count(*) FROM site")
ops=$(sqlite3 calls.um.db "SELECT count(*) FROM op WHERE kind IN ('launch', 'alloc', 'free')")
awk -v sites="$sites" -v ops="$ops" '
	{ ns[$1, $2, $3] = $4; kind[$2] = 1 }
	END {
		printf "%-18s %10s %10s %10s %10s %8s  CPU ns a call, 2 and 32 frames deep\n",
			"", "untraced", "traced, 2", "traced, 32", "of stack", "ratio"
		for (k in kind) {
			frame = (ns["traced", k, 32] - ns["traced", k, 2]) / 30
			stack = 32 * frame
			printf "%-18s %10d %10d %10d %10d %7.2fx\n", k, ns["untraced", k, 32], ns["traced", k, 2],
				ns["traced", k, 32], stack, ns["traced", k, 32] / (ns["traced", k, 32] - stack)
			calls = k ~ /\+/ ? 2 : 1
			if (stack / calls >= 3000) bad = 1
		}
		printf "%d sites of %d calls\n", sites, ops
		if (sites > 200) bad = 1
		print bad ? "over the limit" : "within the limit: 3,000 ns more a call"
		exit bad
	}' figures
