#!/usr/bin/env bash
# Builds sites.hip in one way, traces it, and compares the stack of every call with the golden file:
# run.sh VARIANT. The stacks are the same however it was built: what was inlined counts as a call.
# UM_BLESS=1 with the variant O0 writes the golden file anew.
set -eu
: "${UM_BUILD:?the build folder}" "${UM_SOURCE:?the source folder}"
export LC_ALL=C
variant=$1
here=$UM_SOURCE/tests/attribution
work=$(mktemp -d "${TMPDIR:-/tmp}/um-attribution-XXXXXX")
trap 'rm -rf "$work"' EXIT
cp "$here"/sites.h "$here"/sites.hip "$here"/sites_library.hip "$work"
cd "$work"
PATH=$UM_BUILD/bin:$PATH

link=() shared=no scopes=
case $variant in
O0) options=(-O0 -g) ;;
O2) options=(-O2 -g) ;;
no_pie) options=(-O2 -g -gz -fno-pie) link=(-no-pie) ;;
shared) options=(-O3 -g -gdwarf-4) shared=yes ;;
split) options=(-O2 -g -gsplit-dwarf) ;;
split_O0) options=(-O0 -g -gsplit-dwarf -gdwarf-4) ;;
# Of what was inlined, such tables do not say which class it is of.
lines) options=(-O2 -gline-tables-only) scopes='s/um::(allocator<float>|buffer)::|solver:://' ;;
*) echo "no such variant: $variant" >&2; exit 2 ;;
esac

build() {
	if [ $shared = yes ]; then
		umhipcc "${options[@]}" -fPIC -shared sites_library.hip -o libsites.so
		umhipcc "${options[@]}" sites.hip -L. -lsites -Wl,-rpath,"$work" -o sites
	else
		umhipcc "${options[@]}" -c sites_library.hip -o sites_library.o
		umhipcc "${options[@]}" -c sites.hip -o sites.o
		umhipcc "${options[@]}" "${link[@]}" sites.o sites_library.o -o sites
	fi
}

fail() {
	echo "FAILED: $variant: $1" >&2
	exit 1
}
count() { sqlite3 sites.um.db "SELECT count(*) FROM $1"; }

run() {
	umtrace -q --force --no-model -o sites.um.db -- ./sites
	[ "$(count "op WHERE site IS NULL")" = "$(count "op WHERE kind = 'host'")" ] ||
		fail "calls without a site"
	[ "$(count "frame WHERE module = '' OR offset_bytes = 0")" = 0 ] ||
		fail "frames without a place"
}

# A line of the source by its tag; calls in order, each with its stack, innermost first.
tags=$(for file in sites.h sites.hip sites_library.hip; do
	sed -n "/\/\/ [a-z]*:/{=;s/.*\/\/ //p}" $file | paste - - | sed "s/^/$file:/"
done | awk -F'\t' '{ printf "s#\\b%s\\b#[%s]#g;", $1, $2 }')
stacks() {
	sqlite3 sites.um.db "
		WITH RECURSIVE stack (op, site, level) AS (
			SELECT op, site, 0 FROM op WHERE kind <> 'host'
			UNION ALL
			SELECT op, site.parent, level + 1 FROM stack JOIN site USING (site)
				WHERE site.parent IS NOT NULL)
		SELECT op, (SELECT kind FROM op AS o WHERE o.op = part.op), group_concat(place, ' < ')
			FROM (SELECT op, level, depth, $1 AS place FROM stack JOIN frame USING (site)
				WHERE $2 ORDER BY op, level, depth) AS part
			GROUP BY op ORDER BY op" |
		sed -E "s#[^ ]*/##g; $tags" | awk -F'|' '{ printf "%-14s %s\n", $2, $3 }'
}

# What the C++ library has in between is not the same everywhere.
compare() {
	run
	stacks "function || ' ' || file || ':' || line" \
		"file LIKE '%/sites%' AND function NOT LIKE '%hip_module_ctor'" >out
	if [ "${UM_BLESS:-}" = 1 ] && [ "$variant" = O0 ]; then
		cp out "$here/stacks.golden"
	fi
	sed -E "$scopes" "$here/stacks.golden" | diff -u - out >&2 || fail "stacks differ: $1"
}

names() {
	sqlite3 sites.um.db "SELECT printf('%-8s %s', kind, COALESCE(name, '-')) FROM allocation
		ORDER BY allocation"
}

# What is a member of something on the heap has the name of the pointer that is found first.
compare_names() {
	names | sed -E 's/[a-z_]+->//' >names
	if [ "${UM_BLESS:-}" = 1 ] && [ "$variant" = O0 ]; then
		cp names "$here/names.golden"
	fi
	if [ "$variant" = lines ]; then
		sed -E '/managed_variable/!s/ [^ ]+$/ -/' "$here/names.golden" >expected
	else
		cp "$here/names.golden" expected
	fi
	diff -u expected names >&2 || fail "names differ: $1"
}

build
compare "as it was built"
compare_names "as it was built"
case $variant in
O0)
	# However often a place calls, it is one place.
	[ "$(count "op WHERE kind = 'free' AND site = (SELECT site FROM op WHERE kind = 'free'
		ORDER BY op DESC LIMIT 1)")" = 7 ] || fail "one place of frees is several"
	;;
O2)
	objcopy --only-keep-debug sites sites.debug
	strip -g sites
	objcopy --add-gnu-debuglink=sites.debug sites
	compare "with the debug information in a file of its own"
	mv sites.debug elsewhere
	# Functions without lines: what was not inlined.
	run
	[ "$(count "frame WHERE file IS NOT NULL AND module LIKE '%/sites'")" = 0 ] || fail "lines"
	stacks "function" "module LIKE '%/sites' AND function <> '_start'" >out
	grep -q 'out_parameter(float\*\*, unsigned long) < main$' out || fail "no symbols"
	strip sites
	run
	[ "$(count "op WHERE kind <> 'host' AND NOT EXISTS
		(SELECT 1 FROM frame WHERE frame.site = op.site AND module LIKE '%/sites')")" = 0 ] ||
		fail "stripped: a call without module and offset"
	[ "$(sqlite3 sites.um.db "SELECT count(DISTINCT offset_bytes) FROM frame
		WHERE module LIKE '%/sites'")" -gt 30 ] || fail "stripped: offsets are missing"
	;;
split | split_O0)
	llvm-dwp-15 -e sites -o sites.dwp
	rm ./*.dwo
	compare "with a package alone"
	compare_names "with a package alone"
	objcopy --only-keep-debug sites sites.debug
	strip -g sites
	objcopy --add-gnu-debuglink=sites.debug sites
	mv sites.dwp sites.debug.dwp
	compare "with a package beside the file of debug information"
	# One that is damaged is as good as none: lines, but nothing of what was inlined.
	head -c 3000 sites.debug.dwp >cut
	mv cut sites.debug.dwp
	run
	[ "$(count "frame WHERE module LIKE '%/sites' AND line IS NOT NULL")" -gt 10 ] ||
		fail "no lines beside a damaged package"
	[ "$(count "frame WHERE module LIKE '%/sites' AND inlined")" = 0 ] || fail "a damaged package is read"
	;;
esac
