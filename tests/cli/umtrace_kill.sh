#!/usr/bin/env bash
# Whoever is killed: the trace can be read, and the program is not dragged along.
. "$(dirname "$0")/lib.sh"

program="$UM_BUILD/kernels/matmul --m=700 --n=700 --k=700"

# eventually TEXT COMMAND: within 20 seconds
eventually() {
	local text=$1 i
	shift
	for i in $(seq 200); do
		"$@" >/dev/null 2>&1 && return
		sleep 0.1
	done
	check "$text" "$@"
}

value() {
	[ -s "$1" ] && sqlite3 -readonly "$1" "$2" 2>/dev/null
}

has_launch() {
	[ "$(value "$1" 'SELECT count(*) FROM op WHERE kind = '"'launch'")" = 1 ]
}

child_of() {
	tr -d ' ' <"/proc/$1/task/$1/children"
}

spool_of() {
	grep -o '/dev/shm/umtrace-[^ ]*' "/proc/$1/maps" | head -1
}

# --- the program is killed
umtrace -q -o program.um.db $program >program.out 2>&1 &
umtrace=$!
eventually "the trace can be read while the program runs" has_launch program.um.db
check "it says that it runs" test "$(value program.um.db 'SELECT ended FROM run')" = running
kill -9 $(child_of $umtrace)
wait $umtrace
check "status of a killed program" test $? = 137
check "it says how it ended" test "$(value program.um.db 'SELECT ended, exit_signal FROM run')" = "signalled|9"
check "what is missing is said" test "$(value program.um.db "SELECT count(*) FROM loss WHERE kind = 'cut_off'")" = 1
check "one file" test ! -e program.um.db-wal
check "whole" test "$(value program.um.db 'PRAGMA integrity_check')" = ok

# --- umtrace is killed
umtrace -q -o umtrace.um.db $program >umtrace.out 2>&1 &
umtrace=$!
eventually "a launch" has_launch umtrace.um.db
child=$(child_of $umtrace)
spool=$(spool_of $umtrace)
kill -9 $umtrace
wait $umtrace 2>/dev/null
eventually "the program goes on to its end" grep -q "matmul: ok" umtrace.out
eventually "and ends" test ! -e /proc/$child
check "no spool is left" test -n "$spool" -a ! -e "$spool"
check "the trace can be read" umanalyze summary umtrace.um.db
check "it says that it ends early" test "$(value umtrace.um.db 'SELECT ended FROM run')" = running
check "it is in use by nobody" umtrace -q --force -o umtrace.um.db true

# --- signals that go to umtrace alone
umtrace -q -o term.um.db $program >term.out 2>&1 &
umtrace=$!
eventually "a launch" has_launch term.um.db
kill -TERM $umtrace
wait $umtrace
check "SIGTERM is passed on" test $? = 143
check "and the trace says so" test "$(value term.um.db 'SELECT ended, exit_signal FROM run')" = "signalled|15"

umtrace -q -o stop.um.db $program >stop.out 2>&1 &
umtrace=$!
eventually "a launch" has_launch stop.um.db
child=$(child_of $umtrace)
kill -STOP $child $umtrace
sleep 0.3
check "stopped" grep -q "State:.T" /proc/$child/status
kill -CONT $umtrace $child
wait $umtrace
check "and continued" test $? = 0
check "traced to its end" test "$(value stop.um.db 'SELECT count(*) FROM kernel')" = 1

# --- a second umtrace does not take the first one's file
umtrace -q -o busy.um.db $program >busy.out 2>&1 &
umtrace=$!
eventually "a launch" has_launch busy.um.db
umtrace -q --force -o busy.um.db true 2>busy.err
check "refused" test $? = 125
check "with the reason" grep -q "in use by process $umtrace" busy.err
kill -TERM $umtrace
wait $umtrace
finish
