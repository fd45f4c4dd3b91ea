#!/usr/bin/env bash
# What is no trace, a damaged or a newer one: each command of umanalyze says so and what it is, and fails.
. "$(dirname "$0")/lib.sh"
also 's/of [0-9]+ bytes/of N bytes/; s/up to [0-9]+\)/up to N)/'

sqlite3 good.um.db <"$UM_SOURCE/trace/db/schema.sql"
sqlite3 good.um.db "
	INSERT INTO run (role, tool, command, clock, backend) VALUES ('trace', 'test', './app', 'none', 'emulated');
	INSERT INTO origin (record, origin) VALUES ('op.time', 'emulated'), ('migration', 'modelled'),
		('fault', 'modelled');
	INSERT INTO op (op, kind, allocation, bytes) VALUES (1, 'alloc', 1, 4096), (2, 'launch', NULL, NULL);
	INSERT INTO allocation (allocation, kind, bytes, op) VALUES (1, 'managed', 4096, 1);
	INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z)
		VALUES (2, 'k()', 1, 1, 1, 64, 1, 1);
	INSERT INTO migration (op, allocation, first_page, pages, bytes, source, destination, start_ns)
		VALUES (2, 1, 0, 1, 4096, -1, 0, 0)"
echo "not a database" >text.um.db
: >empty.um.db
mkdir folder.um.db
sqlite3 foreign.um.db "CREATE TABLE t (a)"
sqlite3 good.um.db ".backup future.um.db" && sqlite3 future.um.db "PRAGMA user_version = 99"
head -c 8192 good.um.db >cut.um.db
sqlite3 good.um.db ".backup no_run.um.db" && sqlite3 no_run.um.db "DELETE FROM run"
sqlite3 good.um.db ".backup no_table.um.db" && sqlite3 no_table.um.db "DROP TABLE migration"
sqlite3 good.um.db ".backup no_name.um.db" && sqlite3 no_name.um.db "PRAGMA writable_schema = ON;
	UPDATE sqlite_master SET sql = replace(sql, 'name TEXT NOT NULL', 'name TEXT') WHERE name = 'kernel'"
sqlite3 no_name.um.db "UPDATE kernel SET name = NULL"

# A command is "NAME ARGUMENTS" with FILE where the trace goes. What they say is told once, with how many say so.
commands=("summary FILE" "summary --format=json FILE" "summary good.um.db FILE" "ops FILE" "ops --format=json FILE"
	"findings FILE" "findings --format=json FILE" "advise FILE"
	"diff FILE good.um.db" "diff good.um.db FILE" "diff --format=json FILE FILE"
	"export --format=perfetto -o out FILE" "export --format=csv -o out FILE" "export --format=json -o out FILE")
for file in nowhere text empty folder foreign future cut no_run no_table no_name; do
	say "--- $file"
	for command in "${commands[@]}"; do
		status=0
		# shellcheck disable=SC2086
		umanalyze ${command//FILE/$file.um.db} >/dev/null 2>err || status=$?
		head -1 err | sed "s/\$/ [exit $status]/" >>said
		[ -s err ] || echo "nothing: umanalyze $command [exit $status]" >>said
		check "$file: nothing is written by $command" [ "$status" = 0 -o ! -e out -a ! -e out.partial ]
		rm -f out out.partial
	done
	run sh -c "sort said | uniq -c; rm said"
done
say "--- a pattern whose set does not end"
for pattern in '[' 'pool[!]' 'a\\['; do
	status=0
	umanalyze summary -s "$pattern" good.um.db >/dev/null 2>err || status=$?
	head -1 err | sed "s/\$/ [exit $status]/" >said
	[ -s said ] || echo "taken: $pattern [exit $status]" >said
	run cat said
done
say "--- counts beyond what can be added up"
sqlite3 good.um.db ".backup counts.um.db" && sqlite3 counts.um.db "
	UPDATE allocation SET bytes = 8192;
	INSERT INTO page_access (op, allocation, first_page, pages, touch, lines_read, lines_written, requests, atomics)
		VALUES (2, 1, 0, 2, 1, 1, 0, 1, 9223372036854775807)"
for command in "summary" "findings" "advise" "export --format=json -o out"; do
	check "$command ends well" umanalyze $command counts.um.db
	rm -f out
done
say "--- times that cannot be"
sqlite3 good.um.db ".backup times.um.db" && sqlite3 times.um.db "
	UPDATE op SET start_ns = -9223372036854775807, end_ns = 5 WHERE op = 2;
	UPDATE op SET start_ns = 5, end_ns = 6 WHERE op = 1"
run umanalyze report -o out.html times.um.db
finish
