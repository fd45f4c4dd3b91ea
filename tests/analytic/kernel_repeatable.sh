#!/usr/bin/env bash
# Two runs give the same trace but for times, process and place.
. "$(dirname "$0")/lib.sh"

# Everything that a trace says, less what may differ.
dump() {
	local table columns
	for table in $(query "$1" "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name"); do
		columns=$(query "$1" "SELECT group_concat('quote(' || name || ')', ' || '','' || ')
			FROM pragma_table_info('$table') WHERE name NOT LIKE '%\_ns' ESCAPE '\'
			AND name NOT IN ('pid', 'started', 'host', 'address')")
		echo "== $table"
		query "$1" "SELECT $columns FROM $table"
	done
}

twice() {
	local program=$1
	shift
	for run in first second; do
		rm -f $run.um.db
		trace $run "$program" "$@"
		dump $run | sed "s#-o [a-z]*\.um\.db##" >$run.txt
	done
	um_checks=$((um_checks + 1))
	cmp -s first.txt second.txt || {
		fail "$program $* differs"
		diff first.txt second.txt | head -20 >&2
	}
}

twice scale --n=100000
twice matmul --m=100 --n=130 --k=70 --prefetch --advise
twice grid_stride
twice random_touch --touches=65536 --bytes=16777216
twice train_loop
twice small_allocs --count=300
finish
