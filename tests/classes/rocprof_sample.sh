#!/usr/bin/env bash
# kernels/unified_memory as driver amdgpu_svm would have it, beside the sample output that
# rocprof-sys's documentation shows for its own example: rocprof_sample.sh BUILD_FOLDER
# kernels/README.md holds the result and explains the differences.
#
# A migration is counted as the kernel reports it: one each fault that moved something and one each
# prefetch of a range, in bytes of the block or range that was to move, with data or not.
set -euo pipefail
UM_BUILD=$(cd "${1:?the build folder}" && pwd)
PATH=$UM_BUILD/bin:$PATH
scratch=$(mktemp -d "${TMPDIR:-/tmp}/um-sample-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"
options="-s 32 -p 256 -i 4"

umtrace -q --no-model -o prefetched.um.db -- "$UM_BUILD/kernels/unified_memory" $options >/dev/null
umtrace -q --no-model -o faulting.um.db -- "$UM_BUILD/kernels/unified_memory" $options --faults >/dev/null

# Pages born on the device came in a migration too. A prefetch is of one range: each allocation lies
# in one of 1 GiB.
born="(SELECT COALESCE(SUM(pages), 0) FROM mapping WHERE change = 'first_touch' AND device >= 0)"
device_faults="(SELECT COALESCE(SUM(faults), 0) FROM fault WHERE device >= 0)"
host_faults="(SELECT COALESCE(SUM(faults), 0) FROM fault WHERE device < 0)"
moved_by_prefetch() { # COMPARISON of the target device with 0
	echo "(SELECT COUNT(DISTINCT op) FROM (SELECT op FROM migration WHERE cause = 'prefetch' AND destination $1 0
		UNION SELECT op FROM mapping JOIN op USING (op) WHERE change = 'first_touch' AND op.kind = 'prefetch'
		AND mapping.device $1 0))"
}
figures="SELECT $device_faults + $(moved_by_prefetch '>='),
	((SELECT COALESCE(SUM(pages), 0) FROM migration WHERE destination >= 0) + $born) / 256.0,
	(SELECT COALESCE(SUM(bytes), 0) FROM migration WHERE destination >= 0) / 1048576.0,
	$host_faults + $(moved_by_prefetch '<'),
	(SELECT COALESCE(SUM(bytes), 0) FROM migration WHERE source >= 0) / 1048576.0,
	$device_faults, $host_faults, $(moved_by_prefetch '>=') + $(moved_by_prefetch '<')"

predict() { # TRACE KERNEL
	echo "driver: {name: amdgpu_svm, xnack: on, kernel: \"$2\"}" >driver.yaml
	umsim replay -q "$1.um.db" --machine mi300x -P driver.yaml -o result.um.db --force >/dev/null
	sqlite3 result.um.db "$figures"
}

{
	# ROCm/rocm-systems, projects/rocprofiler-systems/docs/how-to/unified-memory-profiling.rst: of a
	# gfx950, imported. 33 faults: 30 of the GPU, 2 of the CPU and 1 prefetch, by its triggers.
	echo "36|412.8125||32|62.0|30|2|1"
	predict prefetched 6.8
	predict faulting 6.8
	predict faulting 6.6
} | awk -F'|' '
	{ for (i = 1; i <= NF; i++) cell[i, NR] = $i == "" ? "-" : $i }
	END {
		split("migrations to the GPU|MB, as reported|MB that crossed the link|migrations to the host|MB|" \
		      "by faults of the GPU|by faults of the CPU|by prefetches", label, "|")
		printf "%-26s%12s%12s%12s%12s\n", "", "sample", "predicted:", "faulting", "faulting"
		printf "%-26s%12s%12s%12s%12s\n", "kernel", "(imported)", "6.8", "6.8", "6.6"
		for (i = 1; i <= 8; i++) {
			printf "%-26s", label[i]
			for (n = 1; n <= 4; n++) printf "%12s", cell[i, n] == "-" ? "-" : cell[i, n] + 0
			print ""
		}
	}'
