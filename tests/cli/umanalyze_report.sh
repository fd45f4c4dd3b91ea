#!/usr/bin/env bash
# umanalyze report: the file, and how the tool says what goes wrong. What the page shows is tested in tests/browser.
. "$(dirname "$0")/lib.sh"

also 's/[0-9.]+ KiB; open/SIZE; open/'
also 's/reads up to [0-9]+/reads up to N/'
sqlite3 app.um.db <"$UM_SOURCE/trace/db/schema.sql"
sqlite3 app.um.db "INSERT INTO run (role, tool, command, clock, backend)
	VALUES ('trace', 'test', './app', 'none', 'emulated')"

if umanalyze report app.um.db -q -o probe.html 2>&1 | grep -q UM_WEB=OFF; then
	check "a build without the page says so" [ ! -e probe.html ]
	exit 0
fi
rm probe.html
run umanalyze report app.um.db
run umanalyze report app.um.db
run umanalyze report app.um.db --force -q
run umanalyze report app.um.db app.um.db -o two.html
run ls
check "its data are JSON" sh -c 'sed -n "s/.*<script type=.application.json. id=.data.>\(.*\)<.script>$/\1/p" two.html |
	jq -e ".schema == 1 and (.runs | length) == 2 and .runs[0].axis.empty"'
check "it may be read by whom the umask lets" sh -c 'umask 027; umanalyze report app.um.db -q -o mask.html &&
	[ "$(stat -c %a mask.html)" = 640 ]'

say "--- what goes wrong"
run umanalyze report nowhere.um.db
echo "not a database" >text.um.db
run umanalyze report text.um.db
: >empty.um.db
run umanalyze report empty.um.db
sqlite3 app.um.db ".backup future.um.db" && sqlite3 future.um.db "PRAGMA user_version = 99"
run umanalyze report app.um.db future.um.db -o future.html
run umanalyze report app.um.db -o nowhere/page.html
run umanalyze report
run umanalyze report a b c d e f g h i
check "nothing half is left" sh -c '! ls | grep -E "future.html|page.html|\.html\."'
run umanalyze report --help
finish
