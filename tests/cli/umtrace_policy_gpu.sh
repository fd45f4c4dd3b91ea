#!/usr/bin/env bash
# umtrace -P of a program on a GPU, with stand-ins for NVIDIA's libraries: what the driver is asked for and
# when, what the trace says of it, and the program's own hints, which stay where the driver cannot be kept
# from them.
. "$(dirname "$0")/lib.sh"
# Where the debug information of the stand-in says that its source is, which depends on the build.
also 's#([A-Za-z./]*\.\./|SOURCE/)tests/fake_cuda#tests/fake_cuda#'

fakes=$UM_BUILD/tests/fake_cuda
export CUDA_HOME=$fakes/fake_cupti
unset CUDA_PATH CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
ln -s "$UM_BUILD/bin/fake_program_nvtx" program
cp "$UM_SOURCE/tests/cli/measured.script" script

# asked POLICY: under it
asked() {
	rm -f calls.txt
	run env FAKE_CUDA_CALLS=calls.txt umtrace --force -q --baseline program.um.db -P "$1" -o applied.um.db \
		./program script play exit=5
	run cat calls.txt
	run sqlite3 -readonly applied.um.db "SELECT kind, flags, stream, allocation, offset_bytes, bytes, device, advice FROM op
		WHERE kind IN ('launch', 'advise', 'prefetch', 'stream_create') ORDER BY op"
	run sqlite3 -readonly applied.um.db "SELECT detail FROM loss WHERE kind = 'policy'"
}

umtrace -q -o program.um.db ./program script play exit=5
say "# advice at the allocations, prefetches before the launch on its stream and on one of ours"
cat >both.yaml <<'E'
advise:
  - on: {index: 1}
    preferred_location: gpu0
    accessed_by: [host]
  - on: {index: 2}
    at: {before: "scale*", nth: 1}
    read_mostly: true
  - on: {index: 2}
    at: {before: "scale*", nth: 1}
    coarse_grain: true
prefetch:
  - {on: {index: 1, range: [64KiB, 128KiB]}, to: gpu0, before: "scale*"}
  - {on: {index: 2}, to: host, before: "scale*", stream: own}
E
asked both.yaml
say "# the program's own prefetch left out, by a driver that reads parameters again and by one that does not"
cat >drop.yaml <<'E'
program: {prefetch: drop}
E
FAKE_CUDA_READS_AGAIN=1 asked drop.yaml
asked drop.yaml
say "# another kind of memory: no trace of a GPU shows what the host touches, and the driver makes it"
cat >device.yaml <<'E'
advise:
  - {on: {index: 1}, allocate_as: device}
E
run umtrace --force --baseline program.um.db -P device.yaml -o applied.um.db ./program script play exit=5
finish
