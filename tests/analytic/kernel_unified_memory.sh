#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

s=2 i=5
w=$((131072 * s)) p=$((256 * s))
to_gpu=$((i / 2))              # iterations of scenario 6 on the device
back=$(((i + 1) / 2 - 1))      # on the host, but the first
managed="cause <> 'copy'"

trace t unified_memory -s $s -i $i
equal t "launches" $((5 + to_gpu)) "SELECT COUNT(*) FROM kernel"
equal t "reads" $((2 * w)) "SELECT SUM(reads) FROM kernel"
equal t "writes" $(((3 + to_gpu) * w)) "SELECT SUM(writes) FROM kernel"
equal t "atomics" $((2 * w)) "SELECT SUM(atomics) FROM kernel"
equal t "pages that the host wrote" $(((3 + 1 + back) * p)) "SELECT SUM(pages)
	FROM page_access JOIN op USING (op) WHERE op.kind = 'host' AND touch & 2"
equal t "pages that the host read and did not write" 10 "SELECT SUM(pages)
	FROM page_access JOIN op USING (op) WHERE op.kind = 'host' AND touch & 3 = 1"

demand d t --page-size 4KiB
equal d "to the device" $(((2 + to_gpu) * p * 4096)) "SELECT SUM(bytes_to_device) FROM traffic WHERE $managed"
equal d "to the host" $(((1 + 8 + (2 + back) * p) * 4096)) "SELECT SUM(bytes_to_host) FROM traffic WHERE $managed"
equal d "device faults" $p "$device_faults"
equal d "host faults" 9 "$host_faults"

trace f unified_memory -s $s -i $i --faults
demand df f --page-size 4KiB
equal df "to the device" $(((2 + to_gpu) * p * 4096)) "SELECT SUM(bytes_to_device) FROM traffic WHERE $managed"
equal df "to the host" $(((1 + 8 + (2 + back) * p) * 4096)) "SELECT SUM(bytes_to_host) FROM traffic WHERE $managed"
equal df "device faults" $(((4 + to_gpu) * p)) "$device_faults"
equal df "host faults" $((9 + (1 + back) * p)) "$host_faults"

# Under amdgpu_svm: blocks of 2 MiB move by faults, whole allocations by prefetch; what is nowhere is
# born on the device without a copy.
s=32 blocks=16 p=$((256 * s))
trace u unified_memory -s $s -i $i
trace uf unified_memory -s $s -i $i --faults
for name in u uf; do
	xnack_on x$name $name
	equal x$name "to the device" $(((2 + to_gpu) * p * 4096)) "SELECT SUM(bytes_to_device) FROM traffic WHERE $managed"
	equal x$name "to the host" $((2 * 2097152 + (2 + back) * p * 4096)) "SELECT SUM(bytes_to_host) FROM traffic WHERE $managed"
done
equal xu "device faults" $blocks "$device_faults"
equal xu "host faults" 2 "$host_faults"
equal xuf "device faults" $(((4 + to_gpu) * blocks)) "$device_faults"
equal xuf "host faults" $((2 + (1 + back) * blocks)) "$host_faults"

trace all unified_memory -s 1 -p 32 -i 2 --all
demand da all
xnack_on xa all
xnack_off xoff all
equal xa "every launch is there" "$(query all "SELECT COUNT(*) FROM kernel")" "SELECT COUNT(*) FROM kernel"
equal da "every launch is there" "$(query all "SELECT COUNT(*) FROM kernel")" "SELECT COUNT(*) FROM kernel"
finish
