#!/usr/bin/env bash
# A database of the schema's first version, which lacked tables and columns, is read as one of today's
# without rows and values in them.
. "$(dirname "$0")/lib.sh"

sqlite3 app.um.db <"$UM_SOURCE/trace/db/schema.sql"
sqlite3 app.um.db "
	INSERT INTO run (role, tool, command, clock, ended, exit_status)
		VALUES ('trace', 'test', './app', 'none', 'exited', 0);
	INSERT INTO origin (record, origin) VALUES ('page_access', 'emulated');
	INSERT INTO allocation (allocation, kind, bytes, op) VALUES (1, 'managed', 1048576, 1);
	INSERT INTO op (op, kind, allocation, offset_bytes, bytes, device) VALUES
		(1, 'alloc', 1, 0, 1048576, 0), (2, 'host', NULL, NULL, NULL, NULL),
		(3, 'memset', 1, 0, 1048576, 0), (4, 'sync_device', NULL, NULL, NULL, NULL),
		(5, 'host', NULL, NULL, NULL, NULL);
	INSERT INTO page_access (op, allocation, first_page, pages, touch) VALUES
		(2, 1, 0, 256, 14), (5, 1, 0, 256, 9);"
mkdir old new
cp app.um.db new
sqlite3 app.um.db "DROP TABLE driver_event; DROP TABLE bound; DROP TABLE user_range; DROP TABLE host_access; DROP TABLE peer_traffic;
	ALTER TABLE run DROP COLUMN xnack_source; ALTER TABLE run DROP COLUMN driver_version;
	ALTER TABLE run DROP COLUMN clocks; ALTER TABLE run DROP COLUMN rank_source;
	ALTER TABLE run DROP COLUMN job; ALTER TABLE fault DROP COLUMN site; PRAGMA user_version = 1"
mv app.um.db old

both() {
	(cd new && "$@") >new.out && (cd old && "$@") >old.out && test -s new.out && cmp new.out old.out
}
check "its summary is the same" both umanalyze summary app.um.db
check "as JSON too" both umanalyze summary --format=json app.um.db
check "its replay is the same" both umsim replay -q --driver demand app.um.db -o result.um.db
check "and makes a database of today's version" test "$(sqlite3 old/result.um.db 'PRAGMA user_version')" = 8
check "which can be read" umanalyze summary old/result.um.db
check "the older file is as it was" test "$(sqlite3 old/app.um.db 'PRAGMA user_version')" = 1
finish
