#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

# Lanes of a row of tiles that lie on the grid: the head comment's L.
lanes_on_grid() {
	local size=$1 height=$2 inner=$((16 - 2 * $2)) sum=0 tile first end
	for ((tile = 0; tile * inner < size; tile++)); do
		first=$((tile * inner - height)) end=$((tile * inner - height + 16))
		sum=$((sum + (end > size ? size : end) - (first < 0 ? 0 : first)))
	done
	echo $sum
}

uvm() {
	local name=$1 from=$2
	shift 2
	must umsim replay "$from.um.db" -o "$name.um.db" --driver=nvidia_uvm "$@"
}

size=1024 height=2 iterations=2
pages=$((size * size / 1024)) bytes=$((4 * size * size))
lanes=$(lanes_on_grid $size $height)
trace t hotspot --size=$size --iterations=$iterations --height=$height
equal t "accesses of the launch" "1|$((2 * lanes * lanes))|$((size * size))" \
	"SELECT COUNT(*), MIN(reads), MAX(writes) FROM kernel"
equal t "pages read, and written" "$((2 * pages))|$pages" \
	"SELECT SUM(pages) FILTER (WHERE touch & 1), SUM(pages) FILTER (WHERE touch & 2)
	 FROM page_access WHERE op = $launch"
equal t "all lines of both inputs" "-1" \
	"SELECT DISTINCT lines_read FROM page_access WHERE op = $launch AND touch & 1"
equal t "all lines of the result" "-1" \
	"SELECT DISTINCT lines_written FROM page_access WHERE op = $launch AND touch & 2"

# Rodinia's scheme: what one launch makes of H steps, several make of H each.
inner=$(lanes_on_grid 300 3)
trace steps hotspot --size=300 --iterations=7 --height=3
equal steps "launches, and reads of each" "3|$((2 * inner * inner))|$((2 * inner * inner))" \
	"SELECT COUNT(*), MIN(reads), MAX(reads) FROM kernel"

# nvidia_uvm: blocks of 2 MiB, each filled and read by the host in order.
blocks=$((bytes / 2097152))
for machine in v100_pcie v100_nvlink; do
	uvm base_$machine t --machine=$machine
	equal base_$machine "bytes to the device" $((2 * bytes)) "$to_device"
	equal base_$machine "bytes to the host" $bytes "$to_host"
	equal base_$machine "host faults" $((6 * 3 * blocks)) "$host_faults"
done

# By code: bytes to the device, to the host and accessed remotely (0: none).
expect() {
	local code=$1 machine=$2 in=$3 out=$4
	[ -e t$code.um.db ] || trace t$code hotspot --size=$size --advice=$code --compare=none
	uvm d$code$machine t$code --machine=$machine
	equal d$code$machine "migrated to the device" "$in" "$migrated_to_device"
	equal d$code$machine "migrated to the host" "$out" \
		"SELECT COALESCE(SUM(bytes), 0) FROM migration WHERE destination < 0"
}
expect 22 v100_pcie $((2 * bytes)) $bytes
expect 33 v100_pcie $((2 * bytes)) $bytes
expect 33 v100_nvlink $((2 * bytes)) 0 # the host reads the result where it is
expect 44 v100_pcie 0 $bytes
expect 55 v100_pcie 0 0
expect 66 v100_nvlink $((2 * bytes)) 0
trace explicit hotspot --size=$size --advice=00
demand copies explicit
equal copies "device faults" 0 "$device_faults"
equal copies "copied to the device" $((2 * bytes)) "$to_device"
equal copies "copied to the host" $bytes "$to_host"
finish
