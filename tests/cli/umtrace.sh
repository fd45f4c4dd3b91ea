#!/usr/bin/env bash
# umtrace: statuses, messages, what it writes and what it does not write over.
. "$(dirname "$0")/lib.sh"

ln -s "$UM_BUILD/kernels/scale" scale

say "--- a program"
run umtrace ./scale --n=4096
run umtrace -q --force --page-size 64KiB --memory 1GiB ./scale --n=4096
run sqlite3 scale.um.db "SELECT role, command, backend, ended, exit_status, machine, driver, page_bytes, memory_bytes FROM run"
run sqlite3 scale.um.db "SELECT record, origin FROM origin"
run umtrace --force --no-model --no-requests -o other.um.db -- ./scale --n=4096
run sqlite3 other.um.db "SELECT count(*) FROM fault UNION ALL SELECT count(requests) FROM page_access"

say "--- nothing is written over"
run umtrace ./scale --n=4096
echo "my thesis" >thesis.txt
run umtrace --force -o thesis.txt ./scale
run cat thesis.txt
run umtrace -o no/such/folder/a.um.db ./scale
mkdir folder
run umtrace --force -o folder ./scale

say "--- the program's own status"
run umtrace -q -o 1.um.db sh -c 'exit 0'
run umtrace -q -o 2.um.db sh -c 'exit 7'
run umtrace -q -o 3.um.db sh -c 'kill -9 $$'
run umtrace -q -o 4.um.db sh -c 'kill -INT $$'
run sqlite3 2.um.db "SELECT ended, exit_status, exit_signal FROM run"
run sqlite3 3.um.db "SELECT ended, exit_status, exit_signal FROM run"

say "--- what is no program"
run umtrace ./no-such-program
run umtrace no-such-program
run umtrace ./thesis.txt
run umtrace ./folder
check "no trace is left behind" sh -c '! ls no-such* thesis.txt.um.db folder.um.db 2>/dev/null'

say "--- what makes no HIP call"
run umtrace /bin/echo hello
run sqlite3 echo.um.db "SELECT ended, exit_status FROM run"

echo 'int main(void) { return 3; }' | cc -static -x c - -o static
run umtrace ./static

say "--- what takes its trace away"
run umtrace -o gone.um.db sh -c 'rm gone.um.db*; exit 3'
check "no trace comes back" sh -c '! ls gone.um.db* 2>/dev/null'

say "--- the command line"
run umtrace
run umtrace --version
run umtrace --page-size 64KB ./scale
run umtrace --page-size 8KiB ./scale
run umtrace --page-size 0 ./scale
run umtrace -o "" ./scale
run umtrace ""
run umtrace --memory 0 ./scale
run umtrace --memory 1PiB ./scale
run umtrace --memory 1B ./scale
run umtrace --memory 5000B ./scale
run umtrace --memory 65GiB ./scale
run umtrace --driver magic ./scale
run umtrace --machine toaster ./scale
run umtrace --host-watch hope ./scale
run umtrace --no-such-option ./scale
finish
