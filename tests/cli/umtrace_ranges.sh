#!/usr/bin/env bash
# Ranges of roctx in the trace of a program without a GPU, and how a program is linked with them.
. "$(dirname "$0")/lib.sh"

program=$UM_BUILD/tests/hip/ranges

# is TEXT WANTED SQL
is() {
	local got
	got=$(sqlite3 -readonly ranges.um.db "$3")
	check "$1 ($got, expected $2)" test "$got" = "$2"
}

"$program" >untraced.out
check "traced" umtrace -q --xnack on --machine=mi250x -o ranges.um.db "$program"
is "whole" ok "PRAGMA integrity_check"
is "every record is right" 0 "SELECT COUNT(*) FROM loss WHERE kind IN ('invalid_record', 'child')"
is "each in its order" "host kernel outer inner moment across second mine theirs" \
	"SELECT group_concat(name, ' ') FROM (SELECT name FROM user_range ORDER BY op LIMIT 9)"
is "each is an op" 13 "SELECT COUNT(*) FROM user_range JOIN op USING (op) WHERE kind = 'range' AND site"
is "each at its place in the program" 13 "SELECT COUNT(*) FROM op JOIN frame USING (site)
	WHERE op.kind = 'range' AND depth = 0 AND module LIKE '%/ranges'"
is "one is left open" "never ended" \
	"SELECT name FROM user_range JOIN op USING (op) WHERE last_op IS NULL AND end_ns IS NULL"
is "a mark takes no time" moment "SELECT group_concat(name) FROM user_range JOIN op USING (op)
	WHERE start_ns = end_ns AND last_op = op"
is "those of the other thread" theirs \
	"SELECT group_concat(name) FROM user_range JOIN op USING (op) WHERE thread = 2"
is "the launch of two ranges" "inner outer" "SELECT group_concat(name, ' ') FROM (SELECT name FROM user_range
	WHERE (SELECT MAX(op) FROM kernel) BETWEEN op AND last_op ORDER BY name)"
is "strange bytes are readable" 1 \
	"SELECT COUNT(*) FROM user_range WHERE name LIKE 'caf_ \"<&>_'"
is "an empty name" 1 "SELECT COUNT(*) FROM user_range WHERE name = ''"
is "a long name is cut" 511 "SELECT MAX(length(name)) FROM user_range"

# What the host touched lies on the right side of a beginning and of an end.
if [ "$(sqlite3 ranges.um.db 'SELECT host_watch FROM run')" != none ]; then
	is "pages before, in and after a range" "0+1 1+2 3+3" "SELECT group_concat(first_page || '+' || pages, ' ')
		FROM (SELECT * FROM page_access JOIN op USING (op) WHERE kind = 'host' ORDER BY op)"
	is "those in it" 1 "SELECT first_page FROM page_access JOIN user_range
		ON page_access.op BETWEEN user_range.op AND last_op WHERE name = 'host'"
	check "as summary has them" test "$(umanalyze summary -f json --range=host ranges.um.db |
		jq '[.allocations[].host_touched_pages] | add')" = 2
fi

# summary of them, of a trace and of a simulation
check "summary" sh -c "umanalyze summary ranges.um.db >summary.txt"
check "they are listed" grep -q "^ *outer  *1 .* 1 " summary.txt
check "summary --range" sh -c "umanalyze summary --range=kern* ranges.um.db >range.txt"
check "as JSON" sh -c "umanalyze summary --format=json --range=kern* ranges.um.db >range.json"
check "its launch alone" grep -q '"launches": 1' range.json
check "no such range" sh -c "! umanalyze summary --range=none ranges.um.db 2>none.err"
check "says which there are" grep -q "'host', 'kernel'" none.err

# simulated: the same ranges, on the simulation's clock
check "replay" umsim replay -q --force ranges.um.db -o sim.um.db
same() {
	local trace sim
	trace=$(sqlite3 -readonly ranges.um.db "$2") sim=$(sqlite3 -readonly sim.um.db "$2")
	check "$1 ($sim, in the trace $trace)" test "$sim" = "$trace"
}
same "all of them" "SELECT group_concat(op || ' ' || COALESCE(last_op, '-') || ' ' || name) FROM user_range"
same "with their ops" "SELECT COUNT(*) FROM user_range JOIN op USING (op) WHERE kind = 'range'"
same "open ones" "SELECT name FROM user_range JOIN op USING (op) WHERE end_ns IS NULL"
check "one within another ends first" test "$(sqlite3 -readonly sim.um.db "SELECT inner.start_ns >= outer.start_ns
	AND inner.end_ns <= outer.end_ns AND outer.end_ns > outer.start_ns FROM (SELECT start_ns, end_ns FROM op
	JOIN user_range USING (op) WHERE name = 'outer') AS outer, (SELECT start_ns, end_ns FROM op
	JOIN user_range USING (op) WHERE name = 'inner') AS inner")" = 1
check "on its clock" test "$(sqlite3 -readonly sim.um.db "SELECT MAX(start_ns) <= (SELECT end_ns FROM run)
	FROM op JOIN user_range USING (op)")" = 1
check "summary --range of it" sh -c "umanalyze summary --format=json --range=kern* sim.um.db >sim.json"
check "its launch alone" grep -q '"launches": 1' sim.json
check "no range has a result" test "$(umanalyze ops --kind=range ranges.um.db sim.um.db 2>&1 | grep -c ' = ')" = 0

# C, C++ and HIP; either name of the header
# use SOURCE HEADER [LIBRARY]
use() {
	printf '#include <%s>\nint main(void) { return roctxRangePush("c") + roctxRangePop(); }\n' "$2" >"$1"
	check "$1 with $2" umhipcc -O0 "$1" -l"${3:-roctx64}" -o use
	check "it runs" ./use
	check "it is traced" umtrace -q --force -o use.um.db ./use
	check "with its range" test "$(sqlite3 use.um.db 'SELECT name FROM user_range')" = c
}
use use.c roctx.h
use use.cpp roctx.h
use use.hip roctracer/roctx.h
use use.hip rocprofiler-sdk-roctx/roctx.h rocprofiler-sdk-roctx
check "not without the library" sh -c "! umhipcc -O0 use.hip -o unlinked 2>/dev/null"

# Where AMD's header and library are, the program has those; under umtrace it has ours.
mkdir -p amd/roctracer
printf '#include_next <roctracer/roctx.h>\n#define OF_AMD 1\n' >amd/roctracer/roctx.h
cat >amd/roctx.c <<'END'
#include <stdio.h>
int roctxRangePushA(const char *name) { return printf("AMD's: %s\n", name); }
int roctxRangePop(void) { return 0; }
END
cc -shared -fPIC amd/roctx.c -Wl,-soname,libroctx64.so.4 \
	-Wl,--version-script="$UM_SOURCE/trace/runtime/roctx/roctx.map" -o amd/libroctx64.so.4
printf '#include <roctracer/roctx.h>\n#ifndef OF_AMD\n#error not of AMD\n#endif\n%s\n' \
	'int main() { roctxRangePush("x"); roctxRangePop(); }' >of_amd.hip
check "AMD's header comes first" umhipcc -isystem amd of_amd.hip -lroctx64 -o of_amd
check "AMD's library" test "$(LD_LIBRARY_PATH=amd ./of_amd)" = "AMD's: x"
check "ours under umtrace" test -z "$(LD_LIBRARY_PATH=amd umtrace -q -o of_amd.um.db ./of_amd)"
check "which is traced" test "$(sqlite3 of_amd.um.db 'SELECT name FROM user_range')" = x
finish
