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
finish
