#!/usr/bin/env bash
# How large a trace may be. tests/bench/sizes.sh prints the same figures, of larger programs too.
. "$(dirname "$0")/lib.sh"

mib=1048576
# size NAME LIMIT_MIB PROGRAM ARGS...
size() {
	local name=$1 limit=$2 got
	shift 2
	trace "$name" "$@"
	got=$(stat -c %s "$name.um.db")
	um_checks=$((um_checks + 1))
	echo "$*: $got bytes"
	[ "$got" -le $((limit * mib)) ] || fail "$*: $got bytes, at most $limit MiB"
	rm -f "$name.um.db"
}

size sweep 2 scale --n=$((256 * mib))
size matmul 8 matmul --m=1000 --n=1000 --k=1000
size random 8 random_touch
finish
