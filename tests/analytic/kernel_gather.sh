#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

rows=16384 width=16 # a line each: 1 MiB
table=$((rows * width * 4))
pages=$((table / 4096))
in_table="op = $launch AND allocation = 1"
table_faults="$device_faults AND allocation = 1"
table_bytes="SELECT SUM(bytes) FROM migration WHERE allocation = 1 AND destination >= 0"

# Fewer lookups than pages, and more.
for lookups in 64 1024; do
	touched=$((lookups < pages ? lookups : pages))
	lines=$((lookups * width / 16))
	uniform=uniform$lookups
	trace $uniform gather --rows=$rows --lookups=$lookups
	equal $uniform "accesses" "$((2 * width * lookups))|$((width * lookups))" \
		"SELECT reads, writes FROM kernel"
	equal $uniform "pages of the table, requests" "$touched|$lines" \
		"SELECT SUM(pages), SUM(pages * requests) FROM page_access WHERE $in_table"
	demand ${uniform}_4 $uniform --page-size 4KiB
	equal ${uniform}_4 "device faults for the table" $touched "$table_faults"
	equal ${uniform}_4 "bytes of the table" $((4096 * touched)) "$table_bytes"
	demand ${uniform}_64 $uniform --page-size 64KiB
	units=$((lookups < pages / 16 ? lookups : pages / 16))
	equal ${uniform}_64 "device faults for the table" $units "$table_faults"
	equal ${uniform}_64 "bytes of the table" $((65536 * units)) "$table_bytes"
	# amdgpu_svm: one block of 2 MiB holds the table, however few rows are read.
	xnack_on ${uniform}_on $uniform
	equal ${uniform}_on "device faults: table, indices, result" 3 "$device_faults"
	equal ${uniform}_on "bytes of the table" $table "$table_bytes"
	xnack_on ${uniform}_on64 $uniform --page-size 64KiB
	equal ${uniform}_on64 "device faults for the table" $units "$table_faults"
	equal ${uniform}_on64 "bytes of the table" $((65536 * units)) "$table_bytes"
	xnack_off ${uniform}_off $uniform
	equal ${uniform}_off "migrations" 0 "$migrations"
	equal ${uniform}_off "bytes of the table by lines" $((64 * lines)) \
		"SELECT SUM(bytes_to_device) FROM remote_access WHERE allocation = 1"
	for advice in preferred-host accessed-by; do
		remote=${uniform}_$advice
		trace $remote gather --rows=$rows --lookups=$lookups --advise=$advice
		demand ${remote}_4 $remote --page-size 4KiB
		equal ${remote}_4 "table faults" "$([ $advice = accessed-by ] && echo 0 || echo $touched)" \
			"$table_faults"
		xnack_on ${remote}_on $remote
		equal ${remote}_on "a fault maps the block" 1 "$table_faults"
		for run in ${remote}_4 ${remote}_on; do
			equal $run "bytes of the table by lines" $((64 * lines)) \
				"SELECT SUM(bytes_to_device) FROM remote_access WHERE allocation = 1"
		done
	done
done

# Rows of four lines.
trace wide gather --rows=4096 --lookups=64 --width=64
equal wide "lines of a page" 4 \
	"SELECT DISTINCT requests FROM page_access WHERE $in_table"

lookups=1024
trace clustered gather --rows=$rows --lookups=$lookups --pattern=clustered
equal clustered "pages of the table, all lines" "$((lookups * width / 1024))|-1" \
	"SELECT SUM(pages), MAX(lines_read) FROM page_access WHERE $in_table"
demand clustered4 clustered --page-size 4KiB
equal clustered4 "bytes of the table" $((lookups * width * 4)) "$table_bytes"

# Zipf's law, anew: how many lookups each rank gets, and on which pages the ranks that get any are.
trace skewed gather --rows=$rows --lookups=$lookups --pattern=skewed
cat >zipf.awk <<'END_AWK'
function reversed(value, bits,   out) {
	for (; bits > 0; bits--) { out = out * 2 + value % 2; value = int(value / 2) }
	return out + 0
}
BEGIN {
	for (r = 0; r < rows; r++) sum += 1 / (r + 1)
	for (g = 0; g < lookups; g++) {
		while ((g + 0.5) / lookups * sum >= upto) upto += 1 / ++ranks
		row = reversed(ranks - 1, log(rows) / log(2) + 0.5 - (log(rows) / log(2) + 0.5) % 1)
		distinct += !(row in seen); seen[row]
		page = int(row / 64); pages += !(page in on); on[page]
	}
	print pages "|" distinct
}
END_AWK
zipf=$(awk -v rows=$rows -v lookups=$lookups -f zipf.awk)
bits() { # of an SQL expression
	echo "(WITH RECURSIVE bit(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM bit WHERE i < 63)
		SELECT SUM($1 >> i & 1) FROM bit)"
}
equal skewed "pages and rows that are looked up" "$zipf" \
	"SELECT SUM(pages), SUM(pages * $(bits lines_read)) FROM page_access WHERE $in_table"
demand skewed4 skewed --page-size 4KiB
equal skewed4 "device faults for the table" "${zipf%|*}" "$table_faults"

trace prefetch gather --rows=$rows --lookups=64 --prefetch
demand prefetch4 prefetch --page-size 4KiB
equal prefetch4 "a prefetch brings all of the table" $table "$table_bytes"
finish
