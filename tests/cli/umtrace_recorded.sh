#!/usr/bin/env bash
# What CUPTI told on a real card, told again by the stand-ins: the trace of that holds the same sums.
. "$(dirname "$0")/lib.sh"

fakes=$UM_BUILD/tests/fake_cuda
export CUDA_HOME=$fakes/fake_cupti
unset CUDA_PATH CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
ln -s "$UM_BUILD/bin/fake_program" program

# The stand-in says of any address that it was told of no more that 64 KiB of managed memory lie there.
sums() {
	sqlite3 "$1" "SELECT 'migration', source, cause, count(*), sum(bytes) FROM migration GROUP BY source, cause;
		SELECT 'fault', device, access, count(*), sum(faults) FROM fault GROUP BY device, access;
		SELECT 'kernel', symbol, grid_x, block_x, count(*) FROM kernel GROUP BY symbol, grid_x, block_x;
		SELECT 'allocation', kind, bytes, count(*) FROM allocation WHERE kind = 'managed' AND bytes <> 65536 GROUP BY kind, bytes;
		SELECT 'op', kind, count(*) FROM op WHERE kind IN ('launch', 'prefetch', 'sync_device', 'free') GROUP BY kind;
		SELECT 'loss', kind, count FROM loss"
}

for name in scale.4M scale.64M_prefetch three_phase.4M matmul.256; do
	say "--- $name"
	card=$UM_SOURCE/traces/h200/kernels/$name.um.db
	"$UM_SOURCE/tests/fake_cuda/recorded.sh" "$card" > script
	umtrace -q --force --faults=all -o app.um.db ./program script play
	sums "$card" > card.txt
	sums app.um.db > again.txt
	check "the same sums as on the card" diff -u card.txt again.txt
	run cat again.txt
done
finish
