#!/usr/bin/env bash
# umtrace doctor on machines that are made of files: every kind of GPU, XNACK each way, what is in the way.
. "$(dirname "$0")/lib.sh"
unset HSA_XNACK ROCR_VISIBLE_DEVICES HIP_VISIBLE_DEVICES CUDA_VISIBLE_DEVICES CUDA_HOME

put() { mkdir -p "$(dirname "$1")" && printf '%s\n' "$2" >"$1"; }
# machine NAME KERNEL
machine() { put "$1/proc/sys/kernel/osrelease" "$2"; }
# node NAME NUMBER CPUS SIMDS TARGET CAPABILITY. Bit 27 (134217728) of the last: SVM.
node() {
	put "$1/sys/class/kfd/kfd/topology/nodes/$2/gpu_id" $((4096 * $2))
	put "$1/sys/class/kfd/kfd/topology/nodes/$2/properties" "cpu_cores_count $3
simd_count $4
gfx_target_version $5
capability $6"
}
# amd NAME KERNEL TARGET CAPABILITY [NORETRY]
amd() {
	machine "$1" "$2"
	put "$1/sys/module/amdgpu/parameters/noretry" "${5:--1}"
	put "$1/dev/kfd" ""
	node "$1" 0 64 0 0 0
	node "$1" 1 0 440 "$3" "$4"
}
# checks [VARIABLE=VALUE...] NAME [PROGRAM]: its findings, less the tables below them
checks() {
	local status=0 words=()
	while [[ $1 == *=* ]]; do words+=("$1"); shift; done
	env "${words[@]}" umtrace doctor --root "$1" "${@:2}" >report || status=$?
	sed '/^$/,$d' report
	return $status
}

svm=134217728
say "--- no GPU"
machine none 6.8.0-31-generic
run umtrace doctor --root none
machine old 6.1.0-18-amd64
run checks old
put old/proc/sys/vm/unprivileged_userfaultfd 1
run checks old

say "--- MI250X"
amd mi250x 6.8.0 90010 $svm
run checks mi250x
run checks HSA_XNACK=0 mi250x
run checks HSA_XNACK=yes mi250x
run checks HSA_XNACK=1 mi250x
run env HSA_XNACK=1 umtrace doctor --root mi250x

say "--- MI300X, MI300A"
amd mi300x 6.8.0 90402 $svm
run checks HSA_XNACK=1 mi300x
amd mi300a 6.8.0 90402 $svm
node mi300a 1 24 228 90402 $svm
run checks HSA_XNACK=1 mi300a

say "--- MI100: as it was booted"
amd mi100 6.8.0 90008 $svm
run checks HSA_XNACK=1 mi100
amd mi100_retry 6.8.0 90008 $svm 0
run checks mi100_retry

say "--- RX 6800: none"
amd rx6800 6.8.0 100300 $svm
run checks HSA_XNACK=1 rx6800
run checks rx6800

say "--- one of two"
amd both 6.8.0 90010 $svm
node both 2 0 72 100300 $svm
run checks HSA_XNACK=1 both

say "--- without SVM"
amd no_svm 6.8.0 90010 0
run checks no_svm
put no_svm/boot/config-6.8.0 "CONFIG_HSA_AMD_SVM=y"
run checks no_svm
amd before_svm 5.10.0 90010 0
run checks before_svm

say "--- what is not there"
amd no_kfd 6.8.0 90010 $svm
rm no_kfd/dev/kfd
run checks no_kfd
machine no_node 6.8.0
put no_node/sys/module/amdgpu/parameters/noretry -1
run checks no_node
run checks ROCR_VISIBLE_DEVICES=0 mi250x

say "--- NVIDIA"
machine nvidia 6.8.0
put nvidia/proc/driver/nvidia/version "NVRM version: NVIDIA UNIX x86_64 Kernel Module  580.159.04  Thu Jan  1 00:00:00 UTC 2026"
run checks nvidia
put nvidia/sys/module/nvidia_uvm/version 580
put nvidia/usr/local/cuda/extras/CUPTI/lib64/libcupti.so ""
run umtrace doctor --root nvidia

say "--- a program"
cp "$UM_BUILD/kernels/scale" .
run checks none ./scale
run checks mi250x ./scale
run checks mi250x /bin/true
printf '#!/bin/sh\nexec ./scale\n' >script && chmod +x script
run checks none ./script
# object TARGET...: a program with code for these, and no more of HIP than its name
object() {
	local targets=() inputs=() t
	: >empty
	for t in "$@"; do targets+=("hipv4-amdgcn-amd-amdhsa--$t"); inputs+=(-input=empty); done
	clang-offload-bundler-15 -type=o -bundle-align=4096 -targets="$(IFS=,; echo "host-x86_64-unknown-linux,${targets[*]}")" \
		-input=empty "${inputs[@]}" -output=bundle
	printf 'int main(void) { return 0; }\n' >app.c
	printf 'int hip;\n' >hip.c
	cc -shared -o libamdhip64.so.6 -Wl,-soname,libamdhip64.so.6 hip.c
	cc -o app.o -c app.c && objcopy --add-section .hip_fatbin=bundle app.o && cc -o app app.o -Wl,--no-as-needed ./libamdhip64.so.6
}
object gfx90a:xnack+
run checks mi250x ./app
run checks HSA_XNACK=1 mi250x ./app
object gfx90a:xnack-
run checks HSA_XNACK=1 mi250x ./app
object gfx90a gfx1030
run checks HSA_XNACK=1 mi250x ./app
run checks mi300x ./app

say "--- as JSON"
run sh -c 'umtrace doctor -f json --root mi250x | jq -c "(.checks[] | [.subject, .state]), .hints_for, .records[0]"'

say "--- what is said wrongly"
run umtrace doctor a b
run umtrace doctor -f xml
run umtrace doctor ./not_there
check "on this machine" sh -c 'umtrace doctor >/dev/null; [ $? = 0 ] || [ $? = 3 ]'
finish
