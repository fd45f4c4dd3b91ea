#!/usr/bin/env bash
# The line behind each first touch of the host (umtrace --host-sync): every way to touch memory in
# host_sync.hip, built in two ways. The program does what it does untraced, and touches the same pages as
# without --host-sync.
set -eu
: "${UM_BUILD:?the build folder}" "${UM_SOURCE:?the source folder}"
export LC_ALL=C
here=$UM_SOURCE/tests/attribution
work=$(mktemp -d "${TMPDIR:-/tmp}/um-host-sync-test-XXXXXX")
trap 'rm -rf "$work"' EXIT
cp "$here/host_sync.hip" "$work"
cd "$work"
PATH=$UM_BUILD/bin:$PATH

fail() {
	echo "FAILED: $1" >&2
	exit 1
}

# Lines by their tags; the user's stack of each run of pages, its library frames left out.
tags=$(sed -n '/\/\/ [a-z:_-]*$/{=;s/.*\/\/ //p}' host_sync.hip | paste - - |
	awk -F'\t' '{ printf "s#host_sync.hip:%s\\b#[%s]#g;", $1, $2 }')
accesses() {
	sqlite3 trace.um.db "
		WITH RECURSIVE stack (op, allocation, first_page, access_code, site, level) AS (
			SELECT op, allocation, first_page, access_code, site, 0 FROM host_access
			UNION ALL
			SELECT op, allocation, first_page, access_code, site.parent, level + 1
				FROM stack JOIN site USING (site) WHERE site.parent IS NOT NULL)
		SELECT op, allocation, first_page, pages, access, (SELECT group_concat(place, ' < ') FROM (
				SELECT file || ':' || line AS place FROM stack JOIN frame USING (site)
				WHERE stack.op = of.op AND stack.allocation = of.allocation
				AND stack.first_page = of.first_page AND stack.access_code = of.access_code
				AND file LIKE '%host_sync.hip' ORDER BY level, depth))
		FROM host_access AS of ORDER BY allocation, first_page, op, access_code" |
		awk -F'|' '{ if (!($1 in number)) number[$1] = ++n; $1 = "" $5 } { print }' OFS='|' |
		sed -E "s#[^ |]*/##g; $tags" | cut -d'|' -f2-4,5,6 | sed 's/|\(read\|write\)|/ \1 /; s/|/ /g'
}

for level in 0 2; do
	umhipcc -O$level -g host_sync.hip -o host_sync
	./host_sync >untraced
	umtrace -q --force -o plain.um.db -- ./host_sync >out
	cmp untraced out || fail "-O$level: its output differs under umtrace"
	umtrace -q --force --host-sync -o trace.um.db -- ./host_sync >out
	cmp untraced out || fail "-O$level: its output differs under --host-sync"
	accesses >"accesses.$level"
	[ "$(sqlite3 trace.um.db "SELECT host_watch FROM run")" = mprotect ] || fail "not by mprotect"
	# The same pages, read or written, as by another watch.
	for db in plain trace; do
		sqlite3 $db.um.db "SELECT allocation, first_page, pages, touch FROM page_access
			WHERE op IN (SELECT op FROM op WHERE kind = 'host')" >$db.pages
	done
	diff -u plain.pages trace.pages >&2 || fail "-O$level: other pages than without --host-sync"
	[ "$(sqlite3 trace.um.db "SELECT SUM(pages) FROM page_access WHERE op IN
		(SELECT op FROM op WHERE kind = 'host') AND NOT EXISTS (SELECT 1 FROM host_access AS h
		WHERE h.op = page_access.op AND h.allocation = page_access.allocation AND h.site IS NOT NULL
		AND h.first_page <= page_access.first_page)" )" = "" ] || fail "-O$level: pages without a site"
done
if [ "${UM_BLESS:-}" = 1 ]; then
	cp accesses.0 "$here/host_sync.golden"
fi
diff -u "$here/host_sync.golden" accesses.0 >&2 || fail "-O0: other lines"
diff -u "$here/host_sync.golden" accesses.2 >&2 || fail "-O2: other lines"
# Whose pages came back, in the summary.
HSA_XNACK=1 umtrace -q --force --host-sync -o trace.um.db -- ./host_sync >out
umanalyze summary --format=json trace.um.db | jq -e '
	[.host_lines[] | select(.migrated_to_host_bytes > 0)] as $back |
	($back | length) == 2 and ([$back[].migrated_to_host_bytes] | add) ==
		.traffic.host_fault.bytes_to_host' >/dev/null ||
	fail "the summary does not have what came back by line"
umanalyze summary trace.um.db | grep -q 'host_sync.hip:[0-9]* *sum *#1 data' || fail "no line in the summary"
