#!/usr/bin/env bash
# Ranks of a job: what their traces are called, that none writes over another's, and what umtrace says.
# Launchers are played by their variables alone.
. "$(dirname "$0")/lib.sh"

ln -s "$UM_BUILD/kernels/scale" scale
also 's/on [^ ]+, DATE/on HOST, DATE/'

# rank R N CMD...: as rank R of N under Open MPI
rank() {
	local r=$1 n=$2
	shift 2
	env OMPI_COMM_WORLD_RANK="$r" OMPI_COMM_WORLD_SIZE="$n" PMIX_NAMESPACE="${job:-job1}" "$@"
}

say "--- the default name"
run rank 0 2 umtrace ./scale --n=4096
run rank 1 2 umtrace ./scale --n=4096
run rank 0 1 umtrace -q ./scale --n=4096
run sh -c 'ls *.um.db'
run sqlite3 scale.1.um.db "SELECT rank, ranks, rank_source, job FROM run"
check "its host" test "$(sqlite3 scale.1.um.db 'SELECT host FROM run')" = "$(uname -n)"
run sh -c 'umanalyze summary scale.1.um.db | grep Recorded'
rm -f ./*.um.db

say "--- patterns"
run rank 3 4 umtrace -q -o 'a.%h.%p.%r.%%.um.db' ./scale --n=4096
check "host, process, rank" test -f "a.$(uname -n).$(sqlite3 a.*.um.db 'SELECT pid FROM run').3.%.um.db"
run umtrace -q -o 'b.%r.um.db' ./scale --n=4096
run ls b.0.um.db
run sqlite3 b.0.um.db "SELECT rank, ranks, rank_source, job FROM run"
run umtrace -o 'a.%x.um.db' ./scale
run umtrace -o '100%' ./scale
rm -f ./*.um.db

say "--- one name for several"
run rank 0 2 umtrace -q -o one.um.db ./scale --n=4096
run rank 1 2 umtrace -q -o one.um.db ./scale --n=4096
run rank 1 2 umtrace -q --force -o one.um.db ./scale --n=4096
run sqlite3 one.um.db "SELECT rank FROM run"
run env PMI_RANK=1 PMI_SIZE=2 umtrace -q --force -o one.um.db ./scale --n=4096
run sqlite3 one.um.db "SELECT rank FROM run"
# The rank itself, and another job, may replace it.
run rank 0 2 umtrace -q --force -o one.um.db ./scale --n=4096
job=job2 run rank 1 2 umtrace -q --force -o one.um.db ./scale --n=4096
run sqlite3 one.um.db "SELECT rank, job FROM run"
# Without names of jobs what is alike is taken for the same.
run env PMI_RANK=0 PMI_SIZE=2 umtrace -q -o hydra.um.db ./scale --n=4096
run env PMI_RANK=1 PMI_SIZE=2 umtrace -q --force -o hydra.um.db ./scale --n=4096
run env PMI_RANK=1 PMI_SIZE=2 umtrace -q --force -o hydra.um.db ./scale --n=2048

say "--- and at once: all but one fail, and its trace is whole"
# race OPTION...: how many of four ranks ended well
race() {
	local pids=() well=0
	for r in 0 1 2 3; do
		rank $r 4 umtrace -q "$@" -o race.um.db ./scale --n=4096 >out.$r 2>err.$r &
		pids+=($!)
	done
	for r in 0 1 2 3; do
		if wait "${pids[$r]}"; then
			well=$((well + 1))
			grep -q "scale: ok" out.$r || well=$((well + 100))
		else
			grep -q "race.um.db.*each rank needs a name of its own" err.$r || well=$((well + 100))
			[ ! -s out.$r ] || well=$((well + 100))
		fi
	done
	echo "$well"
	sqlite3 race.um.db "PRAGMA integrity_check; SELECT count(*), sum(ended = 'exited') FROM run"
}
run race
job=job3 run race --force # over what the job before it left

say "--- what launchers say that cannot be"
run env OMPI_COMM_WORLD_RANK=x PMI_RANK=4 PMI_SIZE=4 umtrace --no-model -o g.um.db ./scale --n=4096
run env OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=4 PMI_RANK=2 PMI_SIZE=4 \
	umtrace --no-model -o h.um.db ./scale --n=4096
run sqlite3 h.um.db "SELECT rank, ranks, rank_source FROM run"

say "--- given a launcher"
printf '#!/bin/sh\nshift 2\n"$@" & wait\n' >mpirun
chmod +x mpirun
run umtrace -o launcher.um.db ./mpirun -n 1 ./scale --n=4096
run umtrace -q --force -o launcher.um.db ./mpirun -n 1 ./scale --n=4096
run umtrace -o launcher2.um.db ./mpirun -n 1
finish
