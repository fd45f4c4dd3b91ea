#!/usr/bin/env bash
# umanalyze summary: what is no trace, and how the tool says so.
. "$(dirname "$0")/lib.sh"

sqlite3 app.um.db <"$UM_SOURCE/trace/db/schema.sql"
sqlite3 app.um.db "INSERT INTO run (role, tool, command, clock, backend)
	VALUES ('trace', 'test', './app', 'none', 'emulated')"
run umanalyze summary app.um.db
run umanalyze summary --format=json app.um.db

say "--- what fits to try next"
# next WHAT SQL: the last line of a summary of such a trace
next() {
	sqlite3 app.um.db ".backup $1.um.db"
	sqlite3 $1.um.db "UPDATE run SET machine = 'mi250x', xnack = 'off', command = './app ''a b''';
		INSERT INTO op (op, kind) VALUES (1, 'alloc'), (2, 'launch');
		INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z)
			VALUES (2, 'scale(float*)', 1, 1, 1, 64, 1, 1); $2"
	run sh -c "umanalyze summary $1.um.db | tail -1"
}
memory="INSERT INTO allocation (allocation, kind, bytes, op) VALUES"
outside="INSERT INTO loss (op, kind, count, detail) VALUES (2, 'outside', 64, 'scale: not HIP''s')"
next managed "$memory (1, 'device', 4096, 1), (2, 'managed', 4096, 1); $outside"
next pageable "$memory (1, 'device', 4096, 1), (2, 'pageable', 4096, 1); $outside"
next pageable_on "$memory (1, 'pageable', 4096, 1); UPDATE run SET xnack = 'on'"
next outside "$memory (1, 'device', 4096, 1); $outside"
next device "$memory (1, 'device', 4096, 1); UPDATE run SET machine = 'mi300x'"

say "--- losses, a line each kernel and reason"
sqlite3 outside.um.db "INSERT INTO loss (op, kind, count, detail) VALUES (NULL, 'child', 2, 'forked'),
	(9, 'outside', 36, 'scale: not HIP''s'), (4, 'outside', 5, 'other: not HIP''s'),
	(7, 'outside', 1000, 'scale: not HIP''s'), (5, 'child', 1, NULL)"
run sh -c "umanalyze summary outside.um.db | sed -n '/^Losses/,/^\$/p'"

say "--- what is no trace"
run umanalyze summary nowhere.um.db
run umanalyze summary .
echo "not a database" >text.um.db
run umanalyze summary text.um.db
: >empty.um.db
run umanalyze summary empty.um.db
sqlite3 other.um.db "CREATE TABLE t (a)"
run umanalyze summary other.um.db
sqlite3 app.um.db ".backup future.um.db" && sqlite3 future.um.db "PRAGMA user_version = 99"
run umanalyze summary future.um.db
head -c 8192 app.um.db >cut.um.db
run umanalyze summary cut.um.db
sqlite3 app.um.db ".backup unfinished.um.db" && sqlite3 unfinished.um.db "DELETE FROM run"
run umanalyze summary unfinished.um.db
sqlite3 app.um.db ".backup less.um.db" && sqlite3 less.um.db "DROP TABLE fault"
run umanalyze summary less.um.db

say "--- the command line"
run umanalyze
run umanalyze sumary app.um.db
run umanalyze summary
run umanalyze summary --format=xml app.um.db
run umanalyze summary --rows=many app.um.db
run umanalyze summary app.um.db app.um.db
run umanalyze --help
run umanalyze --version
finish
