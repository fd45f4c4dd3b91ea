#!/usr/bin/env bash
# umtrace --pageable on a program whose memory moves, goes and is shared.
. "$(dirname "$0")/lib.sh"

program=$UM_BUILD/tests/hip/pageable

value() {
	sqlite3 -readonly "$1.um.db" "$2"
}

# is TEXT WANTED SQL
is() {
	local got
	got=$(value on "$3")
	check "$1 ($got, expected $2)" test "$got" = "$2"
}

"$program" >untraced.out
umtrace -q --pageable --xnack on -o on.um.db "$program" >on.out
check "status as untraced" test $? = 0
check "output as untraced" cmp untraced.out on.out
is "whole" ok "PRAGMA integrity_check"
is "every record is right" 0 "SELECT COUNT(*) FROM loss WHERE kind = 'invalid_record'"
is "modelled" amdgpu_svm "SELECT driver FROM run"
# 64 reads and as many writes of the variable, and nothing else, stay outside
is "what stays outside" 128 "SELECT SUM(count) FROM loss WHERE kind = 'outside'"
is "accesses lie in their allocations" 0 \
	"SELECT COUNT(*) FROM page_access JOIN allocation USING (allocation)
	 WHERE (first_page + page_access.pages - 1) * 4096 >= bytes"
is "nothing is used after it was freed" 0 \
	"SELECT COUNT(*) FROM page_access JOIN allocation USING (allocation) WHERE page_access.op > freed_op"
is "no two live at one place" 0 \
	"SELECT COUNT(*) FROM allocation AS a JOIN allocation AS b ON a.allocation < b.allocation
	 AND a.kind = 'pageable' AND b.kind = 'pageable' AND (a.freed_op IS NULL OR a.freed_op > b.op)
	 AND a.address < b.address + b.bytes AND b.address < a.address + a.bytes
	 WHERE (SELECT COUNT(*) FROM loss WHERE kind = 'partly_unmapped') = 0"
is "buffers that went away are freed" 1 \
	"SELECT COUNT(*) >= 4 FROM allocation WHERE kind = 'pageable' AND freed_op"
is "registered memory counts as that while it is" 1 \
	"SELECT COUNT(*) FROM page_access JOIN allocation USING (allocation)
	 JOIN kernel ON kernel.op = page_access.op WHERE kind = 'registered'"
is "heap and stack migrate nothing" 0 \
	"SELECT COUNT(*) FROM migration JOIN allocation USING (allocation) WHERE kind = 'pageable' AND flags"

# Without it all is counted and nothing recorded.
umtrace -q -o off.um.db "$program" >off.out
check "output as untraced" cmp untraced.out off.out
check "no allocation" test "$(value off "SELECT COUNT(*) FROM allocation WHERE kind = 'pageable'")" = 0
check "the loss says what to do" test \
	"$(value off "SELECT MIN(detail LIKE '%--pageable records it') FROM loss WHERE kind = 'outside'")" = 1

# XNACK off: the recording is there, the model says that the program would end.
umtrace --pageable --xnack off -o xnack.um.db "$program" >/dev/null 2>xnack.err
check "XNACK off is said" grep -q "without XNACK no fault is served" xnack.err
check "also where no model does" grep -q "takes XNACK (--xnack on)" xnack.err
check "and recorded all the same" test \
	"$(value xnack "SELECT COUNT(*) > 0 FROM allocation WHERE kind = 'pageable'")" = 1
finish
