#!/usr/bin/env bash
# The policies of each line of choices.txt are of one program: they differ in advice, prefetches, and how
# the program allocates and copies, and in nothing else. No configuration that could be there is left out.
set -euo pipefail
cd "$(dirname "$0")"

# A configuration or run without what is a policy: its name, a tab, the rest.
programs() {
	sed -nE 's/^C\("([^"]*)", ([0-9]+, [0-9]+), "(.*)"\)$/\1\t\2 \3/p' measure_list.h |
		sed -E 's/ (un)?advise-[^ ]*| prefetch-[^ ]*//g'
	sed '/^#/d; s/ /\t/' kernel_runs.txt |
		sed -E 's/ --(prefetch|advise)(=[^ ]*)?| --(copies|pool|faults)//g'
}

list=$(mktemp)
trap 'rm -f "$list"' EXIT
programs | LC_ALL=C sort >"$list"
awk -F'\t' -v status=0 '
	FILENAME != "choices.txt" { program[$1] = $2; next }
	/^#/ || !NF { next }
	{
		n = split($0, word, /:? +/)
		for (i = 2; i <= n; i++) {
			if (!(word[i] in program)) { print word[i] ": not measured"; status = 1 }
			if (program[word[i]] != program[word[2]]) {
				print word[i] " is another program than " word[2]; status = 1
			}
			if (word[i] in listed) { print word[i] ": twice"; status = 1 }
			listed[word[i]] = 1
		}
		if (n < 3) { print word[1] ": one policy is no choice"; status = 1 }
	}
	END {
		for (name in program)
			count[program[name]]++
		for (name in program)
			if (name !~ /[.]/ && count[program[name]] > 1 && !(name in listed)) {
				print name ": left out"; status = 1
			}
		exit status
	}' "$list" choices.txt
