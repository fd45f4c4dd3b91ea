#!/bin/sh
# The drop-in library against AMD's: the same functions under the same versions, those of newer ones
# too, and each of them is either implemented, and a test names it, or one of the stubs that symbols.def
# or symbols_newer.def lists as refused, with a reason. What programs of HIP 6 and 7 load has them all.
#
#   hip_symbols.sh LIBRARIES RUNTIME_SOURCES STUBS.o TESTS [AMD_LIBRARY]
#
# Without AMD's library the table stands in for it, since it was made from that library.
set -eu

library=$1/libamdhip64.so.5
table=$2/symbols.def
newer=$2/symbols_newer.def
folder=$1
stubs=$3
tests=$4
amd=${5-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
LC_ALL=C
export LC_ALL

# Lines of `file` are wrong: says so, and which (the first of them).
fail()
{
	echo "hip_symbols: $1" >&2
	head -n 20 "$2" >&2
	failed=1
}

# "name version" of each symbol that is defined, without the version nodes themselves.
exports()
{
	objdump -T "$1" | awk 'NF > 5 && !/\*UND\*/ {
		version = $(NF - 1); gsub(/[()]/, "", version)
		if (version ~ /^(hip_|UMTRACE_)/ && version != $NF) print $NF, version }' | sort
}

# "node parent" of each version node.
nodes()
{
	readelf --version-info --wide "$1" | awk '
		/Name:/ && /Index:/ { node = $NF; print node }
		/Parent 1:/ { print node, $NF }' | grep hip_ | sort
}

# Lines that only one of two sorted files has.
compare()
{
	comm -3 "$1" "$2" > "$work/difference"
	[ ! -s "$work/difference" ] || fail "$3" "$work/difference"
}

entries()
{
	cat "$table" "$newer" | grep -v -e '^#' -e '^reason '
}

exports "$library" > "$work/ours"
entries | awk '{ print $1, $2 }' | sort > "$work/table"
grep ' hip_' "$table" | grep -v '^[#r]' | awk '{ print $1, $2 }' | sort > "$work/table_of_5"
[ "$(grep -c . "$work/table_of_5")" -eq 409 ] ||
	fail "symbols.def has not AMD's 409 symbols" "$work/table_of_5"
compare "$work/ours" "$work/table" "exported (left) or in a table (right), but not both:"

# By their other names: the same functions, and where they really are.
grep -v ' UMTRACE_1$' "$work/table" > "$work/table_of_newer"
for major in 6 7; do
	exports "$folder/libamdhip64.so.$major" > "$work/of_$major"
	compare "$work/of_$major" "$work/table_of_newer" "in libamdhip64.so.$major (left) or in a table (right):"
	readelf -d "$folder/libamdhip64.so.$major" | grep -q 'FILTER.*libamdhip64.so.5' ||
		fail "libamdhip64.so.$major leaves nothing to libamdhip64.so.5" "$work/of_$major"
done

if [ -n "$amd" ] && [ -e "$amd" ]; then
	exports "$amd" > "$work/amd"
	compare "$work/amd" "$work/table_of_5" "only in AMD's library (left) or in symbols.def (right):"
	nodes "$amd" > "$work/nodes_of_amd"
	nodes "$library" | awk '{ split($1, v, "_"); if (v[2] <= 5.2) print }' > "$work/nodes"
	compare "$work/nodes_of_amd" "$work/nodes" "version nodes of AMD's (left) and ours (right):"
fi

# The refused functions are those that the stubs define, all the others are somebody else's.
nm --defined-only "$stubs" | awk '$2 == "T" { print $3 }' | sort > "$work/stubs"
entries | awk '$3 == "refused" { print $1 }' | sort > "$work/refused"
compare "$work/stubs" "$work/refused" "a stub (left) or refused in a table (right), but not both:"

# Every refusal has one of the reasons, and every reason is one of a refusal.
sed -n 's/^reason \([a-z]*\) .*/\1/p' "$table" "$newer" | sort > "$work/reasons"
entries | awk '$3 == "refused" { print $5 }' | sort -u > "$work/given"
compare "$work/reasons" "$work/given" "a reason (left) or given in a refusal (right), but not both:"

# Names in the tests of the runtime and in the programs that it runs.
cat "$tests"/unit/runtime/*.[ch] "$tests"/hip/*.hip "$tests"/../kernels/*.hip |
	grep -oE '[A-Za-z_][A-Za-z_0-9]*' | sort -u > "$work/named"
entries | awk '$3 == "here" && $1 !~ /^um_/ { print $1 }' | sort > "$work/here"
comm -23 "$work/here" "$work/named" > "$work/untested"
[ ! -s "$work/untested" ] || fail "implemented, but no test names them:" "$work/untested"

refused=$(grep -c . "$work/refused")
echo "hip_symbols: $(grep -c . "$work/ours") symbols, $refused of them refused"
exit $failed
