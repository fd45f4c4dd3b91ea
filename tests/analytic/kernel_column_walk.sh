#!/usr/bin/env bash
. "$(dirname "$0")/lib.sh"

rows=64 ints=1024
matrix=1 # allocation

# pages NAME: the pages of the matrix in the order of the stream
pages() {
	"$UM_BUILD/tests/analytic/stream_dump" "$1.um.db" | awk -v a=$matrix '$2 == a {print $3}'
}

# same NAME WHAT: the order in `wanted`
same() {
	um_checks=$((um_checks + 1))
	pages "$1" | cmp -s wanted - || fail "$1: $2"
}

trace by_row column_walk --rows=$rows
for _ in $(seq $ints); do seq 0 $((rows - 1)); done >wanted
same by_row "the order is that of lanes in step"
equal by_row "requests of a page" $ints \
	"SELECT DISTINCT requests FROM page_access WHERE op = $launch AND allocation = $matrix"

trace by_column column_walk --rows=$rows --by-column
for _ in $(seq $((ints / rows))); do seq 0 $((rows - 1)); done >wanted
same by_column "down the columns: page after page"
equal by_column "requests of a page" $((ints * 4 / 64)) \
	"SELECT DISTINCT requests FROM page_access WHERE op = $launch AND allocation = $matrix"
equal by_column "same lines" "-1" \
	"SELECT DISTINCT lines_read FROM page_access WHERE op = $launch AND allocation = $matrix"

# Fewer rows than the stream's filter holds: each page once.
trace short column_walk --rows=16
seq 0 15 >wanted
same short "repeats within the filter are dropped"

# Room for half of the rows, evicting in fault order: the order of the lanes decides.
matrix_faults="$device_faults AND allocation = $matrix"
cat >half.yaml <<'END'
memory: 128KiB
END
for walk in by_row by_column; do
	demand ${walk}_half $walk -P half.yaml --page-size 4KiB
done
equal by_row_half "each step of each lane faults" $((rows * ints)) "$matrix_faults"
equal by_column_half "each column faults on each row" $ints "$matrix_faults"
finish
