#!/usr/bin/env bash
# umsim sweep --mpi: the same database whatever the ranks; a rank that dies ends them all and loses nothing that
# was done; ranks that do not mean the same say so.
. "$(dirname "$0")/lib.sh"

# Where it is built without, that is all there is to say.
if [ ! -e "$UM_BUILD/lib/umtrace/umsim_mpi.so" ]; then
	sqlite3 app.um.db <"$UM_SOURCE/trace/db/schema.sql"
	check "it says that it was built without" sh -c \
		'umsim sweep --mpi app.um.db 2>&1 | grep -q "built without Open MPI"'
	finish
fi

# Open MPI's own launcher, by its own name where another MPI is installed beside it.
mpirun=$(command -v mpirun.openmpi || command -v mpirun)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_btl=self,vader,tcp
# What Open MPI keeps until the end is not ours.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0
ranks() { # N CMD...
	local count=$1
	shift
	"$mpirun" --oversubscribe -n "$count" "$@"
}

make_trace() { # FILE MEMSETS
	sqlite3 "$1" <"$UM_SOURCE/trace/db/schema.sql"
	sqlite3 "$1" "
		INSERT INTO run (role, tool, command, started, clock, ended, exit_status)
			VALUES ('trace', 'test', './app $2', '2026-01-01T00:00:00Z', 'none', 'exited', 0);
		INSERT INTO origin (record, origin) VALUES ('page_access', 'emulated');
		INSERT INTO allocation (allocation, kind, bytes, op) VALUES (1, 'managed', 65536, 1);
		INSERT INTO op (op, kind, allocation, offset_bytes, bytes, device)
			VALUES (1, 'alloc', 1, 0, 65536, 0);
		INSERT INTO op (op, kind, allocation, offset_bytes, bytes, device)
			WITH RECURSIVE n (n) AS (SELECT 2 UNION ALL SELECT n + 1 FROM n WHERE n <= $2)
			SELECT n, 'memset', 1, 0, 65536, 0 FROM n;"
}
rows() { # FILE
	for table in configuration setting not_simulated vary; do sqlite3 "$1" "SELECT * FROM $table"; done
}
make_trace app.um.db 2000
make_trace other.um.db 5
# page_size 64KiB with less memory fails; nvidia_uvm refuses 4KiB.
sweep=(umsim sweep -q --vary memory=16KiB..64KiB/7 --vary page_size=4KiB,64KiB
	--vary driver=demand,nvidia_uvm --vary evict=driver,lru)
"${sweep[@]}" app.um.db -o alone.db >alone.txt 2>alone.err
status=$?
rows alone.db >alone.rows
check "alone, some fail" test $status = 1
for count in 1 3; do
	ranks $count "${sweep[@]}" --mpi app.um.db -o n$count.db >n$count.txt 2>n$count.err
	check "$count ranks have the same status" test $? = $status
	rows n$count.db >n$count.rows
	check "$count ranks write the same" cmp alone.rows n$count.rows
	check "$count ranks print the same" cmp alone.txt n$count.txt
done

# A rank that is not the first, when a part is done and kept.
done_of() { # FILE
	[ ! -s "$1" ] || sqlite3 "$1" "SELECT count(*) FROM configuration WHERE status <> 'waiting'"
}
begun=$(sqlite3 alone.db "SELECT count(*) FROM configuration WHERE policy_text IS NULL")
ranks 3 sh -c '[ "$OMPI_COMM_WORLD_RANK" != 2 ] || echo $$ >rank2.pid; exec "$@"' sh \
	"${sweep[@]}" --mpi app.um.db -o dead.db >dead.txt 2>dead.err &
while kill -0 $! 2>/dev/null && ! [ "$(done_of dead.db 2>/dev/null)" -gt "$begun" ] 2>/dev/null; do
	:
done
kill -9 "$(cat rank2.pid)" 2>/dev/null
wait $!
died=$?
check "a rank that died is told" sh -c 'test '$died' != 0 && grep -q "signal 9\|non-zero status" dead.err'
check "what was done is there" test "$(done_of dead.db)" -gt "$begun"
"${sweep[@]}" app.um.db -o dead.db --resume >/dev/null 2>&1
rows dead.db >dead.rows
check "it is gone on with, without ranks" cmp alone.rows dead.rows

# Two programs of one job.
"$mpirun" --oversubscribe -n 1 "${sweep[@]}" --mpi app.um.db -o two.db : \
	-n 1 "${sweep[@]}" --mpi other.um.db -o two.db >two.txt 2>two.err
check "another trace on a rank is refused" test $? = 2
check "and told" grep -q "umsim: rank 1 has another trace" two.err
"$mpirun" --oversubscribe -n 1 "${sweep[@]}" --mpi app.um.db -o none.db : \
	-n 1 "${sweep[@]}" --mpi nowhere.um.db -o none.db >none.txt 2>none.err
check "a rank without the trace is told" grep -q "umsim: rank 1: nowhere.um.db: no such file" none.err
ranks 2 "${sweep[@]}" --mpi app.um.db -o n1.db >there.txt 2>there.err
check "results that are there are not overwritten" sh -c \
	'test '$?' = 1 && test "$(grep -c "n1.db exists" there.err)" = 1'
finish
