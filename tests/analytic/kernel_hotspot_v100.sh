#!/usr/bin/env bash
# HotSpot 8192 on the V100s of public logs, from its emulated accesses: bytes, faults and mappings of
# six kinds of advice, and their order by time (traces/v100/README.md says what is imported, and what
# is known to be wrong).
. "$(dirname "$0")/lib.sh"

v100=$UM_SOURCE/traces/v100
mib=1048576

# of HOST CODE COLUMN: the log's.
of() {
	awk -F'\t' -v host="$1" -v code="$2" -v column="$3" \
		'/^# host/ { sub(/^# /, ""); for (i = 1; i <= NF; i++) at[$i] = i }
		 $1 == host && $2 == code { print $at[column] }' "$v100/figures.tsv"
}

replay() {
	must umsim replay -q "$v100/accesses/hotspot.8192.um.db" -o "$1.$2.um.db" --machine="$1" \
		-P "$v100/policies/$2.yaml"
}

moved() {
	echo "SELECT COALESCE(SUM(bytes), 0) FROM migration WHERE destination $1"
}

mappings() {
	echo "SELECT COUNT(*) FROM mapping WHERE change = 'remote' AND device $1"
}

# expect HOST CODE AS: the log's bytes and faults of AS.
expect() {
	local run=$1.$2 as=$3
	equal "$run" "bytes to the device" $(($(of "$1" "$as" in_MiB) * mib)) "$(moved '>= 0')"
	equal "$run" "bytes to the host" $(($(of "$1" "$as" out_MiB) * mib)) "$(moved '< 0')"
	equal "$run" "host faults" "$(of "$1" "$2" cpu_faults)" "$host_faults"
}

time_of() {
	query "$1" "SELECT end_ns - start_ns FROM op WHERE kind = 'launch'"
}

# in_order HOST CODES...: predicted times rise from each to the next.
in_order() {
	local host=$1 before=
	shift
	for code; do
		um_checks=$((um_checks + 1))
		[ -z "$before" ] || [ "$(time_of "$host.$before")" -lt "$(time_of "$host.$code")" ] ||
			fail "$host: $before is not before $code"
		before=$code
	done
}

host=v100_nvlink
for code in 11 22 33 44 55 66; do
	replay $host $code
done
for code in 11 22 33 55 66; do
	expect $host $code $code
done
# What the access counters leave with the host depends on when they are heard: 510.1 of 512 MB came.
near $host.44 "bytes to the device" $((512 * mib)) $((512 * mib / 100)) "$(moved '>= 0')"
equal $host.44 "bytes to the host" $((256 * mib)) "$(moved '< 0')"
equal $host.44 "host faults" "$(of $host 44 cpu_faults)" "$host_faults"
equal $host.44 "mappings of the device" "$(of $host 44 device_maps)" "$(mappings '>= 0')"
equal $host.33 "mappings of the host" "$(of $host 33 host_maps)" "$(mappings '< 0')"
# shellcheck disable=SC2046 # codes, one a line
in_order $host $(awk -F'\t' -v host=$host '$1 == host && $2 ~ /^[1-6].$/ { print $3, $2 }' \
	"$v100/figures.tsv" | sort -n | cut -d' ' -f2)

# PCIe: the summaries of 11, 33 and 66 have lost records, the list of events of 11 has not.
host=v100_pcie
for code in 11 33 44; do
	replay $host $code
done
expect $host 11 11e
expect $host 33 11e
expect $host 44 44
equal $host.44 "mappings of the device" "$(of $host 44 device_maps)" "$(mappings '>= 0')"
in_order $host 33 11
finish
