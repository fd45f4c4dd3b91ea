#!/usr/bin/env bash
# umtrace calibrate without a GPU: what it refuses, and all of it with stand-ins for nvidia-smi, for
# umhipcc, and for the measuring program, which plays batches of known cost through the fake CUDA library
# (tests/fake_cuda) for umtrace to record.
set -euo pipefail
: "${UM_BUILD:?}" "${UM_SOURCE:?}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/prefix
export CUDA_HOME=$UM_BUILD/tests/fake_cuda/fake_cupti
unset CUDA_PATH CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
export ASAN_OPTIONS=detect_leaks=0:handle_segv=0:verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}

fail() {
	echo "FAILED: $*" >&2
	cat "$scratch/err" >&2 || true
	exit 1
}

# A tree as it is installed, but for its compiler driver.
mkdir -p "$prefix/bin" "$prefix/lib" "$prefix/share" "$scratch/path"
cp "$UM_BUILD/bin/umtrace" "$prefix/bin"
cp -r "$UM_BUILD/lib/umtrace" "$prefix/lib"
cp -r "$UM_BUILD/share/umtrace" "$prefix/share"
umtrace=$prefix/bin/umtrace
PATH=$scratch/path:$PATH
cd "$scratch"

# refuses STATUS WORDS OPTION...
refuses() {
	local status=0 expected=$1 words=$2
	shift 2
	"$umtrace" calibrate -q -o a.yaml "$@" >out 2>err </dev/null || status=$?
	[ $status = "$expected" ] && grep -q -e "^umtrace calibrate: .*$words" err && [ "$(wc -l <err)" = 1 ] ||
		fail "expected $expected and '$words', got $status"
	[ ! -e a.yaml ] || fail "a file was written"
}

stand_in() {
	printf '#!/bin/sh\n%s\n' "$2" >"$1"
	chmod +x "$1"
}

card() { stand_in path/nvidia-smi "echo 'NVIDIA Stand-in, 580.1.2, 4, 16, 9.0, $1'"; }
compiler() { stand_in "$prefix/bin/umhipcc" "$1"; }

command -v nvidia-smi >/dev/null || refuses 1 'there is no nvidia-smi'
stand_in path/nvidia-smi 'echo "No devices were found" >&2; exit 6'
refuses 1 'no NVIDIA GPU answers: .*No devices were found'
stand_in path/nvidia-smi 'echo "something else"'
refuses 1 'tells of no GPU: "something else'
card 1000
refuses 1 'has 1000 MiB free; 2048 are wanted'
card 100000
compiler 'echo "umhipcc: no nvcc" >&2; exit 1'
refuses 1 'cannot be built (nvcc of CUDA 12 or later is needed): .*umhipcc: no nvcc'

# What the compiler makes: the stand-in for the measuring program.
cat >measure <<'PROGRAM'
#!/usr/bin/env bash
set -eu
if [ "$1" = --device ]; then
	printf '%s\t%s\n' concurrentManagedAccess "${MIGRATES:-1}" total_bytes 17179869184 multiProcessorCount 80 \
		maxThreadsPerMultiProcessor 1536 warpSize 32 clockRate 1500000 memoryClockRate 1000000 \
		memoryBusWidth 4096 l2CacheSize 6291456
	exit
fi
[ "${BREAKS:-}" != 1 ] || { echo "measure: it breaks" >&2; exit 3; }
# name, repetition, ns in all, ns of the GPU's steps: 1 us a record of the 80 of each
steps=1000000
[ -z "${CUDA_INJECTION64_PATH:-}" ] || steps=1080000
for name in a b c d; do printf '%s\t1\t%d\t%d\n' $name $((steps + 500000)) $steps; done >"${1#--times=}"
[ -z "${CUDA_INJECTION64_PATH:-}" ] || exec "$FAKE_PROGRAM" "$SCRIPT" play
PROGRAM
chmod +x measure
export FAKE_PROGRAM=$UM_BUILD/bin/fake_program_nvtx SCRIPT=$scratch/script
compiler "for last; do :; done; cp $scratch/measure \"\$last\""

# Four configurations of 40 batches, 0.4 ms apart: 300 us and 1 us a page, with two transfers of 2 us and 80 ns
# a page.
awk 'BEGIN {
	print "resource 1 0x5000"
	split("a b c d", names, " ")
	for (c = 1; c <= 4; c++) {
		base = sprintf("0x7f%d000000000", c)
		print "nvtx 8 s:" names[c] "#1"
		print "call 371 context=0x5000 P:" base " z:67108864 u:1"
		print "sleep 60"
		for (b = 0; b < 40; b++) {
			at = 50000000 - b * 400000; pages = 1 + b % 4; along = 4 + b % 3 * 4
			to = at - 300000 - pages * 1000
			page = sprintf("0x7f%d%09x", c, b * 2097152)
			rest = sprintf("0x7f%d%09x", c, b * 2097152 + 32768)
			print "activity 25 104 u@4:4 z@8:1 z@16:now-" at " z@24:now-" to " z@32:" page " u@40:0 u@44:0 u@56:1"
			print "activity 25 104 u@4:1 z@8:" pages * 4096 " z@16:now-" at - 150000 " z@24:now-" at - 152000 - pages * 80 " z@32:" page " u@40:0xffffffff u@44:0 u@56:2"
			print "activity 25 104 u@4:1 z@8:" along * 4096 " z@16:now-" at - 155000 " z@24:now-" at - 157000 - along * 80 " z@32:" rest " u@40:0xffffffff u@44:0 u@56:3"
		}
		for (b = 0; b < 10; b++) {
			at = 30000000 - b * 400000
			page = sprintf("0x7f%d%09x", c, b * 2097152)
			print "activity 25 104 u@4:3 z@8:0x1000 z@16:now-" at " z@32:" page " u@40:0xffffffff u@44:0 u@56:1"
			print "activity 25 104 u@4:2 z@8:" (b % 3 + 1) * 4096 " z@16:now-" at - 150000 " z@24:now-" at - 152000 - b % 3 * 80 " z@32:" page " u@40:0 u@44:0xffffffff u@56:2"
		}
		print "nvtx 11"
	}
}' >script

MIGRATES=0 refuses 1 'does not migrate pages on demand'
BREAKS=1 refuses 1 'ended with status 3: measure: it breaks'

"$umtrace" calibrate -o node.yaml --keep=kept >out 2>err || fail "it does not run"
[ "$(wc -l <kept/times.tsv)" = 36 ] || fail "times of 3 modes, 3 times 4 configurations"
grep -q 'measuring, 3 of 3, all' err || fail "it does not tell what it does"
has() { grep -Eq -- "$1" node.yaml || { cat node.yaml; fail "no line like: $1"; }; }
has '^device_name: "NVIDIA Stand-in" '
has '^compute_units: 80 '
has '^waves_per_unit: 48 '
has '^memory: 16384MiB '
has '^  name: "PCIe 4.0 x16" '
has '^  to_device_record: 1us '
# Each batch has one of the first five, which cannot be told apart here: 300 us, less the transfers of 2 us,
# and 1 us a page; what the script's own time adds is less than a tenth.
awk '$1 ~ /^(batch|block|new_block|unmap|interrupt)_time:$/ { us += $2 ~ /ns/ ? $2 / 1000 : $2 }
	$1 == "page_time:" { page = $2 ~ /ns/ ? $2 / 1000 : $2 }
	END { exit !(us > 270 && us < 320 && page > 0.8 && page < 1.1) }' node.yaml ||
	{ cat node.yaml; fail "batches of 300 us and 1 us a page"; }
# The measurements that were kept give the same.
"$umtrace" calibrate -q -o again.yaml --from=kept 2>err || fail "not from what was kept"
diff <(sed '1d; s/^name:.*//' node.yaml) <(sed '1d; s/^name:.*//' again.yaml) >err || fail "another file"
[ -z "$(ls -d "${TMPDIR:-/tmp}"/umtrace-calibrate-* 2>/dev/null)" ] || fail "something is left behind"
refuses 1 'kept: File exists' --keep=kept
