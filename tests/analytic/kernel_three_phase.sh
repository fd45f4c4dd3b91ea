#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

n=65536 rounds=3
bytes=$((n * 4))
trace t three_phase --n=$n --rounds=$rounds
equal t "launches" "$rounds" "SELECT COUNT(*) FROM kernel WHERE reads = $n AND writes = $n"
for size in 4 64; do
	demand d$size t --page-size ${size}KiB
	faults=$((rounds * bytes / (size * 1024)))
	equal d$size "device faults" $faults "$device_faults"
	equal d$size "host faults" $faults "$host_faults"
	equal d$size "bytes to the device" $((rounds * bytes)) "$to_device"
	equal d$size "bytes to the host" $((rounds * bytes)) "$to_host"
done

# amdgpu_svm: all in one block. Its second fault comes 2 ms after the first at the earliest.
xnack_on on t
equal on "device faults, host faults" "$rounds $rounds" \
	"SELECT ($device_faults) || ' ' || ($host_faults)"
equal on "bytes to the device" $((rounds * bytes)) "$to_device"
equal on "bytes to the host" $((rounds * bytes)) "$to_host"
at_most on "2 ms between faults" $((-2000000 * (rounds - 1))) "SELECT -($last_launch_end)"
# Two ranges, room for one: each round brings both, and the host finds the first one back already.
trace two_ranges three_phase --n=$((1 << 20)) --rounds=$rounds
xnack_on pressure_on two_ranges --memory 2MiB
equal pressure_on "device faults, host faults" "$((2 * rounds)) $rounds" \
	"SELECT ($device_faults) || ' ' || ($host_faults)"
equal pressure_on "bytes both ways" "$((rounds * 4 << 20)) $((rounds * 4 << 20))" \
	"SELECT ($to_device) || ' ' || ($to_host)"
xnack_off off t
equal off "faults and migrations" 0 \
	"SELECT (SELECT COUNT(*) FROM fault) + ($migrations)"
lines=$((rounds * bytes / 64))
equal off "lines read and written remotely" "$lines $lines" "$remote_lines"
finish
