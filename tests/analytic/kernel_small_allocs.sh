#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

n=270 launches=2
words=$((2044 * n / 9))
table=$(up $((16 * n)) 4096)
pool=$(up $((4 * words)) 4096)
table64=$(up $table 16)
in_launches="op IN (SELECT op FROM kernel)"

# each NAME: what is alike with and without a pool
each() {
	equal "$1" "reads of objects, and of the table by 64 lanes an object" \
		"$launches|$((words + 2 * 64 * n))|$words" \
		"SELECT COUNT(*), reads, writes FROM kernel GROUP BY reads, writes"
}

# moved NAME OBJECT_PAGES OBJECT_FAULTS TABLE_FAULTS
moved() {
	equal "$1" "device faults" $(($3 + $4)) "$device_faults"
	equal "$1" "host faults" "$3" "$host_faults"
	equal "$1" "bytes to the device" $((4096 * ($2 + table))) "$to_device"
	equal "$1" "bytes to the host" $((4096 * $2)) "$to_host"
}

trace many small_allocs --count=$n --launches=$launches
each many
equal many "allocations" $((n + 1)) "SELECT COUNT(*) FROM allocation WHERE kind = 'managed'"
equal many "pages of a launch" "$((launches * (n + table)))" \
	"SELECT SUM(pages) FROM page_access WHERE $in_launches"
demand many4 many --page-size 4KiB
moved many4 $n $n $table
demand many64 many --page-size 64KiB
moved many64 $n $n $table64

trace pool small_allocs --count=$n --launches=$launches --pool
each pool
equal pool "allocations" 2 "SELECT COUNT(*) FROM allocation WHERE kind = 'managed'"
equal pool "pages of a launch" "$((launches * (pool + table)))" \
	"SELECT SUM(pages) FROM page_access WHERE $in_launches"
demand pool4 pool --page-size 4KiB
moved pool4 $pool $pool $table
demand pool64 pool --page-size 64KiB
moved pool64 $pool "$(up $pool 16)" $table64

# amdgpu_svm: a range each, however small; the pool is one range, one block.
xnack_on many_on many
moved many_on $n $n 1
xnack_on pool_on pool
moved pool_on $pool 1 1
# Nine objects in turn have 16 bytes to 4 KiB, in lines of 64 bytes that they have to themselves.
lines=$((129 * n / 9))
table_lines=$(up $((16 * n)) 64)
pool_lines=$(up $((4 * words)) 64)
xnack_off many_off many
equal many_off "migrations" 0 "$migrations"
equal many_off "lines read and written remotely" \
	"$((launches * (lines + table_lines))) $((launches * lines))" "$remote_lines"
xnack_off pool_off pool
equal pool_off "lines read and written remotely" \
	"$((launches * (pool_lines + table_lines))) $((launches * pool_lines))" "$remote_lines"
finish
