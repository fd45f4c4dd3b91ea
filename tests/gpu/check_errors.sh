#!/usr/bin/env bash
# No prediction of a measured trace is further off than errors.tsv beside the traces says. An error may
# grow by TOLERANCE points of a percent; one that is within the card's own spread is none.
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

# The lines of both, by configuration and quantity; exit status 1 if one is worse or gone.
compare() {
	awk -F'\t' -v TOLERANCE=1 '
		function size(error) { return error == "-" ? 0 : error == "inf" ? 1e9 : error < 0 ? -error : error + 0 }
		FNR == 1 { file++; next }
		file == 1 { then_off[$1, $3] = size($8); next }
		{
			seen[$1, $3] = 1
			if (!(($1, $3) in then_off)) {
				print $1 " " $3 ": is not in errors.tsv"; added++
			} else if (!$9 && size($8) > then_off[$1, $3] + TOLERANCE) {
				print $1 " " $3 ": predicted " $4 ", measured " $5 ": off by " $8 " %, was " \
					then_off[$1, $3] " %"; worse++
			} else if (size($8) < then_off[$1, $3] - TOLERANCE)
				better++
		}
		END {
			for (key in then_off)
				if (!(key in seen)) {
					split(key, part, SUBSEP)
					print part[1] " " part[2] ": is predicted no more"; gone++
				}
			print worse + 0 " worse, " better + 0 " better, " added + 0 " new, " gone + 0 " gone"
			if (better || added)
				print "tests/gpu/errors BUILD FOLDER keeps what has become better"
			exit worse || gone || added
		}' "$1" "$2"
}

checked=0
for folder in traces/*/; do
	folder=${folder%/}
	# What tests/gpu/measure made; imported logs have no such list.
	[ -e "$folder/machine.tsv" ] || continue
	checked=$((checked + 1))
	"$UM_BUILD/bin/umsim" check -q --all "$folder" --test-set=tests/gpu/test_set.txt --format=tsv \
		>"$scratch/now" || complain "$folder: umsim check"
	compare "$folder/errors.tsv" "$scratch/now" || complain "$folder: errors.tsv"
	# Every trace that was measured is compared.
	for trace in "$folder"/*.um.db "$folder"/*/*.um.db; do
		case $trace in "$folder"/accesses/*) continue ;; esac
		[ -e "$folder/accesses/${trace#"$folder"/}" ] || complain "$trace: no accesses"
	done
done
[ "$checked" != 0 ] || complain "traces: nothing was measured"
[ "$failures" = 0 ]
