#!/usr/bin/env bash
# The limits of limits.txt, held against errors.tsv (which check_errors.sh holds against this build).
set -euo pipefail
: "${UM_SOURCE:?}"

cd "$UM_SOURCE"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# hold FOLDER: a line for each limit, "kept" or "broken"; exit status 1 if one is that must not.
hold() {
	awk '
		function size(error) { return error == "inf" ? 1e9 : error < 0 ? -error : error + 0 }
		function sort_in(n, value,    i) {
			for (i = n; i > 0 && sorted[i] > value; i--)
				sorted[i + 1] = sorted[i]
			sorted[i + 1] = value
		}
		function quantile(n, q,    rank) {
			rank = q * n
			rank = int(rank) + (rank > int(rank))
			return n ? sorted[rank ? rank : 1] : 0
		}
		function matches(name, pattern) {
			return pattern ~ /^!/ ? name !~ substr(pattern, 2) : name ~ pattern
		}
		FILENAME ~ /limits.txt$/ {
			if (/^#/ || !NF) next
			if (NF != 6 || $1 !~ /^(must|aim)$/ || $5 !~ /^(median|ninetieth|beyond)$/) {
				print "limits.txt:" FNR ": not a limit"; status = 1; exit
			}
			state[++limits] = $1; set[limits] = $2; names[limits] = $3; quantity[limits] = $4
			statistic[limits] = $5; limit[limits] = $6
			next
		}
		FNR == 1 || $8 == "-" { next }
		{ rows++; name[rows] = $1; of[rows] = $2; what[rows] = $3; some[rows] = $4 > 0 || $5 > 0
		  off[rows] = size($8); within[rows] = $9 }
		END {
			for (l = 1; l <= limits && !status; l++) {
				n = 0; worst = ""; broken = 0; value = 0
				for (r = 1; r <= rows; r++) {
					if (of[r] != set[l] || what[r] != quantity[l] ||
					    !matches(name[r], names[l]) || !some[r])
						continue
					sort_in(n++, off[r])
					if (statistic[l] == "beyond" && !within[r] && off[r] > limit[l]) {
						broken++
						worst = worst " " name[r] " " off[r] " %"
					}
				}
				if (statistic[l] != "beyond") {
					value = quantile(n, statistic[l] == "median" ? 0.5 : 0.9)
					broken = value > limit[l]
					worst = " " value " %"
				}
				if (!n) { broken = 1; worst = " nothing of it was compared" }
				print (broken ? "broken" : "kept") " (" state[l] "): " set[l] " " names[l] " " \
					quantity[l] " " statistic[l] " " limit[l] " %:" worst " of " n
				if (broken && state[l] == "must") failed = 1
			}
			exit status || failed
		}' tests/gpu/limits.txt "$1/errors.tsv"
}

status=0
for folder in traces/*/; do
	[ ! -e "$folder/errors.tsv" ] || hold "${folder%/}" || status=1
done
exit $status
