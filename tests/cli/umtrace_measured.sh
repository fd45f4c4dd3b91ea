#!/usr/bin/env bash
# A program on a GPU, with stand-ins for NVIDIA's libraries: what umtrace says, what the trace holds, its
# summaries, and what is in the way.
. "$(dirname "$0")/lib.sh"

fakes=$UM_BUILD/tests/fake_cuda
export CUDA_HOME=$fakes/fake_cupti
unset CUDA_PATH CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
ln -s "$UM_BUILD/bin/fake_program_nvtx" program
cp "$UM_SOURCE/tests/cli/measured.script" script
also 's/[0-9.]+ GB\/s/RATE/'
also 's/(fake_program\.c):[0-9]+/\1:LINE/'
also 's/ on [^ ]+, DATE/ on HOST, DATE/'
also 's/, driver [0-9.]+:/:/'
also 's/(Driver +)NVIDIA [0-9.]+/\1version not recorded/'

say "--- a measured run"
run umtrace --faults=all -o app.um.db ./program script play exit=5
run umanalyze summary app.um.db
run umanalyze summary --range 'st*' app.um.db
run umanalyze summary --range other app.um.db
check "nothing in it is modelled or emulated" test "$(sqlite3 app.um.db "SELECT count(*) FROM origin WHERE origin NOT IN ('measured', 'absent')")" = 0
check "each record has its op" test "$(sqlite3 app.um.db "SELECT (SELECT count(*) FROM fault WHERE op IS NULL) + (SELECT count(*) FROM migration WHERE op IS NULL) + (SELECT count(*) FROM mapping WHERE op IS NULL)")" = 0
# json QUERY: of the summary
json() { umanalyze summary -f json app.um.db | jq -c "$1"; }
say "--- as JSON"
run json '.transfers[] | select(.count > 0) | del(.duration_ns)'
run json '.kernels[] | {name, launches, faults, migrated_to_device_bytes, migrated_to_host_bytes, remote_mappings}'
run json '.ranges[] | {name, times, launches, device_faults, host_faults, migrated_to_device_bytes, migrated_to_host_bytes}'
run json '.host_fault_lines | length'
run json '[.run.backend, .run.driver, .run.xnack, .run.machine]'

say "--- as a umtrace that was killed leaves it"
cp app.um.db early.um.db
sqlite3 early.um.db "UPDATE run SET ended = 'running', end_ns = NULL;
	UPDATE fault SET op = NULL, allocation = NULL; UPDATE mapping SET op = NULL, allocation = NULL;
	UPDATE migration SET op = NULL, allocation = NULL; DELETE FROM op WHERE kind = 'host'"
run sh -c 'umanalyze summary early.um.db | sed -n "/^ .Recorded/,/Machine/p; /^Ranges/,/^Losses/p"'

say "--- less of it"
run umtrace --force -o app.um.db ./program script play
run umanalyze summary app.um.db
run umtrace --force --faults=off --machine mi300x --xnack on --page-size 64KiB -o app.um.db ./program script play
run umtrace --force --faults=some -o app.um.db ./program script play
run umsim replay app.um.db

say "--- what is in the way"
run env CUDA_INJECTION64_PATH=/opt/profiler.so umtrace --force -o app.um.db ./program script play
run env FAKE_CUPTI_SUBSCRIBE=39 FAKE_CUPTI_OTHER=nsys umtrace --force -o app.um.db ./program script play

say "--- a program without a GPU"
run umtrace -q --force -o app.um.db "$UM_BUILD/kernels/scale" --n=4096
run umtrace --force --faults=gpu -o app.um.db "$UM_BUILD/kernels/scale" --n=4096
finish
