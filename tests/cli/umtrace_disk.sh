#!/usr/bin/env bash
# No room for the trace: the program runs to its end, the trace holds what there was room for, and
# a message says so.
. "$(dirname "$0")/lib.sh"

program="$UM_BUILD/kernels/random_touch"

# checks of $1.um.db after its umtrace ended with $2
lost() {
	check "$1: status" test "$2" = 0
	check "$1: the program ran" grep -q "random_touch: ok" "$1.out"
	check "$1: the reason" grep -q "$3" "$1.err"
	check "$1: what it means" grep -q "goes on untraced; the trace ends here" "$1.err"
	check "$1: one message" test "$(grep -c '^umtrace' "$1.err")" = 2
	check "$1: can be read" umanalyze summary "$4"
	check "$1: says that it ends early" test "$(sqlite3 "$4" "SELECT (SELECT ended FROM run) = 'running' OR
		(SELECT count(*) FROM loss WHERE kind = 'cut_off')")" = 1
}

mkdir small
if mount -t tmpfs -o size=1m tmpfs small 2>/dev/null; then
	umtrace -q -o small/a.um.db $program >full.out 2>full.err
	lost full $? "no space left" small/a.um.db
	umount small
fi

# Root writes into any folder, but not into a file system that is read-only.
mkdir locked
chmod a-w locked
mount -t tmpfs -o ro tmpfs locked 2>/dev/null && mounted=1 || mounted=
if touch locked/probe 2>/dev/null; then
	echo "not tested: no folder here is read-only to this user"
else
	umtrace -q -o locked/a.um.db $program >locked.out 2>locked.err
	check "read-only: status" test $? = 125
	check "read-only: reason" grep -qE \
		"locked/a.um.db cannot be written: (Permission denied|Read-only file system)" locked.err
	check "read-only: the program was not started" test ! -s locked.out
fi
[ -z "$mounted" ] || umount locked
finish
