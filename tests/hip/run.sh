#!/usr/bin/env bash
# run.sh NAME STATUS [ARGS...]: runs a program of this folder by itself and under umtrace. Both times
# its output must be NAME.expected (UM_BLESS=1 writes it, from the untraced run) and its status
# STATUS, and the trace must be whole and say how the program ended.
set -u
name=$1 wanted=$2
shift 2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
program=$UM_BUILD/tests/hip/$name
expected=$(dirname "$0")/$name${1:+.$1}.expected
trace=$scratch/trace.um.db
failed=0

fail() {
	echo "FAILED: $*" >&2
	failed=1
}

# outcome WHAT CMD...
outcome() {
	local what=$1 status=0
	shift
	"$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
	[ "$status" = "$wanted" ] || fail "$what: status $status, expected $wanted"
	[ "$what" = untraced ] && [ "${UM_BLESS:-}" = 1 ] && cp "$scratch/out" "$expected"
	diff -u "$expected" "$scratch/out" >&2 || fail "$what: the output differs"
	cat "$scratch/err" >&2
}

# equal WHAT WANTED SQL
equal() {
	local got
	got=$(sqlite3 "$trace" "$3") || fail "$1: the trace cannot be read"
	[ "$got" = "$2" ] || fail "$1: $got, expected $2"
}

[ -x "$program" ] || {
	echo "FAILED: $program is not built" >&2
	exit 1
}
outcome untraced "$program" "$@"
outcome traced "$UM_BUILD/bin/umtrace" -q -o "$trace" -- "$program" "$@"
equal "integrity" ok "PRAGMA integrity_check"
if [ "$wanted" -gt 128 ]; then
	equal "end" "signalled $((wanted - 128))" "SELECT ended || ' ' || exit_signal FROM run"
else
	equal "end" "exited $wanted" "SELECT ended || ' ' || exit_status FROM run"
fi
case $name in # whose handlers, threads and children meet that of the watch
own_handler | threads | fork_child | managed_memory | ends)
	outcome "with --host-sync" "$UM_BUILD/bin/umtrace" -q --host-sync -o "$scratch/sync.um.db" -- "$program" "$@"
	;;
esac
equal "launches without accesses" 0 "SELECT count(*) FROM kernel WHERE reads IS NULL"
exit $failed
