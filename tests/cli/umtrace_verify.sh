#!/usr/bin/env bash
# umtrace verify: the prediction beside what came of it, with and without a GPU (whose libraries are
# stand-ins); a change that was missed is exit status 3.
. "$(dirname "$0")/lib.sh"

fakes=$UM_BUILD/tests/fake_cuda
export CUDA_HOME=$fakes/fake_cupti TMPDIR=$PWD
unset CUDA_PATH CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
cp "$UM_BUILD/kernels/jacobi2d" .
ln -s "$UM_BUILD/bin/fake_program_nvtx" on_gpu
cp "$UM_SOURCE/tests/cli/measured.script" script
# The stand-in's clock says nothing.
also '/^time .*(missed|as predicted)/s/.*/time LINE/'

cat >prefetch.yaml <<'E'
driver: {xnack: on}
prefetch:
  - {on: {name: "arrays*"}, to: gpu0, before: "jacobi2d*", nth: 1}
E
cat >remote.yaml <<'E'
advise:
  - {on: {index: 1}, preferred_location: host, accessed_by: [gpu0]}
  - {on: {index: 2}, preferred_location: host, accessed_by: [gpu0]}
E
say "# without a GPU"
run umtrace verify -P prefetch.yaml --repeat 2 ./jacobi2d
run sh -c "umtrace verify -P prefetch.yaml --repeat 1 --format json ./jacobi2d 2>/dev/null |
	jq -c '.missed, .achieved, (.figures | map_values([.predicted.change, .achieved.change]) | del(.time_ns))'"
check "no trace is left" test -z "$(ls -d umtrace-verify-* 2>/dev/null)"
run sh -c "umtrace verify -P prefetch.yaml --repeat 1 --keep kept ./jacobi2d >kept.txt"
run ls kept
say "# on one: a trace of the accesses is needed, and this is of another program, so that nothing comes true"
run umtrace verify -P remote.yaml --repeat 1 ./on_gpu script play
umtrace -q --machine=h200 --no-model ./jacobi2d >/dev/null
run umtrace verify -P remote.yaml --repeat 2 --accesses jacobi2d.um.db --machine h200 ./on_gpu script play
say "# what cannot be"
run umtrace verify ./jacobi2d
run umtrace verify -P prefetch.yaml
run umtrace verify -P prefetch.yaml --tolerance some ./jacobi2d
run umtrace verify -P prefetch.yaml ./is_not_there
finish
