#!/usr/bin/env bash
# Prints the test set: a third of all configurations and runs, to which no model is ever fitted. They
# are the first third in the order of a hash of the seed and the name. test_set.txt is what this
# printed before any model was fitted; names that come later are drawn in a list of their own.
set -euo pipefail
cd "$(dirname "$0")"

seed=20261130 # the day of the draw

names() {
	sed -n 's/^C("\([^"]*\)".*/\1/p' measure_list.h
	sed '/^#/d; s/ .*//' kernel_runs.txt
}

names | while read -r name; do
	echo "$(printf '%s %s' "$seed" "$name" | sha256sum | cut -c1-16) $name"
done | LC_ALL=C sort | head -n $((($(names | wc -l) + 2) / 3)) | cut -d' ' -f2 | LC_ALL=C sort
