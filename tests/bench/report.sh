#!/usr/bin/env bash
# Large traces: umanalyze summary of some of 10 million rows beside a bare scan of the same tables, and the report of one of
# a million migrations: its size, and how long a browser takes to show it. report.sh (UM_BUILD) [ROWS] [MIGRATIONS]
# On a machine that does something else too, the time of a processor is the one to look at.
set -eu
: "${UM_BUILD:?the folder of a release build}"
here=$(cd "$(dirname "$0")" && pwd)
scratch=$(mktemp -d "${TMPDIR:-/tmp}/um-report-bench-XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# seconds CMD...: processor time and elapsed time of the quickest of three
seconds() {
	local best=
	for _ in 1 2 3; do
		local line
		line=$({ TIMEFORMAT='%U %S %R'; time "$@" >/dev/null 2>&1; } 2>&1 | awk '{print $1 + $2, $3}')
		best=$(printf '%s\n%s\n' "$best" "$line" | grep . | sort -n | head -1)
	done
	echo "$best"
}

# made FILE MIGRATIONS FAULTS ACCESSES: a measured trace of 500 launches, 200 allocations, 20 ranges
made() {
	sqlite3 "$1" <"$here/../../trace/db/schema.sql"
	sqlite3 "$1" <<END
PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;
BEGIN;
INSERT INTO run (role, tool, command, clock, end_ns, ended, exit_status, backend)
	VALUES ('trace', 'bench', './app', 'CLOCK_BOOTTIME', 10000000000, 'exited', 0, 'cupti');
INSERT INTO origin (record, origin) VALUES ('op.time', 'measured'), ('migration', 'measured'), ('fault', 'measured');
INSERT INTO device (device, name) VALUES (0, 'a GPU');
INSERT INTO site VALUES (1, NULL);
INSERT INTO frame (site, depth, module, offset_bytes, function, file, line) VALUES (1, 0, '/app', 1, 'main', '/src/app.hip', 42);
CREATE TEMP TABLE n AS WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 999) SELECT i FROM n;
INSERT INTO allocation (allocation, kind, bytes, op, site, name)
	SELECT i + 1, 'managed', 67108864, i + 1, 1, 'array_' || i FROM n WHERE i < 200;
INSERT INTO op (op, kind, start_ns, end_ns, site) SELECT i + 1, 'alloc', i, i, 1 FROM n WHERE i < 200;
INSERT INTO op (op, kind, stream, start_ns, end_ns, site)
	SELECT 1000 + i, 'launch', i % 4, i * 20000000, i * 20000000 + 15000000, 1 FROM n WHERE i < 500;
INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z)
	SELECT 1000 + i, 'kernel_' || (i % 12) || '(float*)', 1, 1, 1, 64, 1, 1 FROM n WHERE i < 500;
INSERT INTO op (op, kind, start_ns, end_ns) SELECT 2000 + i, 'range', i * 500000000, (i + 1) * 500000000 FROM n WHERE i < 20;
INSERT INTO user_range SELECT 2000 + i, 2000 + i, 'phase ' || (i % 5) FROM n WHERE i < 20;
INSERT INTO migration (op, allocation, first_page, pages, bytes, source, destination, cause_code, transfers, start_ns, duration_ns)
	SELECT 1000 + (k * 500) / $2, 1 + (k / 40) % 200, k * 16 % 16384, 16, 65536, (k % 3 = 0) - 1, -(k % 3 = 0),
		CASE WHEN k % 3 = 0 THEN 1 WHEN k % 5 = 0 THEN 0 ELSE 6 END, 1, k * (10000000000 / $2), 4000
	FROM (SELECT a.i * 10000 + b.i * 10 + c.i AS k FROM n AS a, n AS b, n AS c WHERE c.i < 10 AND a.i * 10000 < $2) WHERE k < $2;
INSERT INTO fault (op, device, allocation, first_page, pages, access_code, batch, start_ns, duration_ns)
	SELECT 1000 + (k * 500) / $3, -(k % 4 = 0), 1 + (k / 40) % 200, k * 16 % 16384, 16, k % 2, k / 64, k * (10000000000 / $3), 20000
	FROM (SELECT a.i * 10000 + b.i * 10 + c.i AS k FROM n AS a, n AS b, n AS c WHERE c.i < 10 AND a.i * 10000 < $3) WHERE k < $3;
INSERT INTO page_access (op, allocation, first_page, pages, touch, lines_read, lines_written, requests, atomics)
	SELECT 1000 + k / 20000, 1 + k % 200, k / 200 % 16384, 1, 3, -1, -1, 4, 0
	FROM (SELECT a.i * 10000 + b.i * 10 + c.i AS k FROM n AS a, n AS b, n AS c WHERE c.i < 10 AND a.i * 10000 < $4)
	WHERE k < $4 AND k < 10000000 ON CONFLICT DO NOTHING;
COMMIT;
END
}

scan="SELECT SUM(bytes), SUM(cause_code), COUNT(*) FROM migration; SELECT SUM(pages), COUNT(*) FROM fault;
	SELECT SUM(pages), COUNT(*) FROM page_access"

# summary WHAT MIGRATIONS FAULTS ACCESSES
summary() {
	local file=$scratch/rows.um.db scan_cpu scan_elapsed summary_cpu summary_elapsed
	made "$file" "$2" "$3" "$4"
	read -r scan_cpu scan_elapsed < <(seconds sqlite3 "$file" "$scan")
	read -r summary_cpu summary_elapsed < <(seconds "$UM_BUILD/bin/umanalyze" summary "$file")
	awk -v what="$1" -v rows="$(($2 + $3 + $4))" -v bytes="$(stat -c %s "$file")" -v sc="$scan_cpu" -v se="$scan_elapsed" \
		-v uc="$summary_cpu" -v ue="$summary_elapsed" 'BEGIN {
		printf "summary of %.1f M rows, %s (%.0f MiB): %.2f s of a processor, %.2f s elapsed\n", rows / 1e6, what, bytes / 2^20, uc, ue
		printf "  bare scan of the same tables: %.2f s of a processor, %.2f s elapsed; ratio %.2f\n", sc, se, uc / sc }'
	rm "$file"
}

rows=${1:-10000000}
summary "most of them migrations" $((rows * 6 / 10)) $((rows * 3 / 10)) $((rows / 10))
summary "migrations" "$rows" 0 0
summary "faults" 0 "$rows" 0
summary "page_access" 0 0 "$rows"

migrations=${2:-1000000}
made "$scratch/app.um.db" "$migrations" $((migrations / 4)) 1000
read -r report_cpu report_elapsed < <(seconds "$UM_BUILD/bin/umanalyze" report -q --force -o "$scratch/app.html" "$scratch/app.um.db")
awk -v n="$migrations" -v bytes="$(stat -c %s "$scratch/app.html")" -v c="$report_cpu" -v e="$report_elapsed" 'BEGIN {
	printf "report of %.1f M migrations: %.2f s of a processor, %.2f s elapsed; the page is %.2f MiB\n", n / 1e6, c, e, bytes / 2^20 }'
if [ -d "$here/../browser/node_modules" ]; then
	node "$here/../browser/load.mjs" "$scratch/app.html"
fi
