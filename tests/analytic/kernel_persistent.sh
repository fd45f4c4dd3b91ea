#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

n=262144 sweeps=4 # 1 MiB
pages=$((n * 4 / 4096))
trace t persistent --n=$n --sweeps=$sweeps
equal t "accesses" "$((sweeps * n))|$((sweeps * n))" "SELECT reads, writes FROM kernel"
equal t "one run of pages" "0|$pages|-1|-1" \
	"SELECT first_page, pages, lines_read, lines_written FROM page_access WHERE op = $launch"
equal t "every sweep is in the stream" $((2 * sweeps * pages)) \
	"SELECT SUM(touches) FROM access_chunk"

cat >half.yaml <<'END'
memory: 512KiB
END
demand half t -P half.yaml --page-size 4KiB
equal half "each sweep faults on every page" $((sweeps * pages)) "$device_faults"
equal half "bytes to the device" $((sweeps * n * 4)) "$to_device"
equal half "evicted, then read back" $((sweeps * n * 4)) "$to_host"
demand half64 t -P half.yaml --page-size 64KiB
equal half64 "each sweep faults on every 64 KiB" $((sweeps * pages / 16)) "$device_faults"
demand whole t --page-size 4KiB
equal whole "first touches only" $pages "$device_faults"
equal whole "bytes to the device" $((n * 4)) "$to_device"

# amdgpu_svm: one range, one block. A range that does not fit whole is mapped from host memory.
xnack_on on t
equal on "device faults" 1 "$device_faults"
equal on "bytes to the device" $((n * 4)) "$to_device"
equal on "bytes to the host" $((n * 4)) "$to_host"
xnack_on half_on t --memory 512KiB
equal half_on "device faults, refused" "1 1" "SELECT ($device_faults) || ' ' || ($refusals)"
xnack_off off t
for run in half_on off; do
	equal $run "migrations" 0 "$migrations"
	equal $run "lines read and written remotely" "$((64 * pages)) $((64 * pages))" \
		"$remote_lines"
done
finish
