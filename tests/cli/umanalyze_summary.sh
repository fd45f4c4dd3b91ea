#!/usr/bin/env bash
# umanalyze summary: what is no trace, and how the tool says so.
. "$(dirname "$0")/lib.sh"

sqlite3 app.um.db <"$UM_SOURCE/trace/db/schema.sql"
sqlite3 app.um.db "INSERT INTO run (role, tool, command, clock, backend)
	VALUES ('trace', 'test', './app', 'none', 'emulated')"
run umanalyze summary app.um.db
run umanalyze summary --format=json app.um.db

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
