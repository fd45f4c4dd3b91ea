#!/usr/bin/env bash
# The committed test set is what its script draws, a third, and nothing is named twice.
set -euo pipefail
cd "$(dirname "$0")"

bash test_set.sh | diff test_set.txt -
names=$(sed -n 's/^C("\([^"]*\)".*/\1/p' measure_list.h; sed '/^#/d; s/ .*//' kernel_runs.txt)
[ -z "$(sort <<<"$names" | uniq -d)" ]
all=$(wc -l <<<"$names")
chosen=$(wc -l <test_set.txt)
[ $((3 * chosen)) -ge "$all" ] && [ $((3 * (chosen - 1))) -lt "$all" ]
[ "$(grep -vc '^#' measure_list.h)" -ge 60 ]
