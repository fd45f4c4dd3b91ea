#!/bin/sh
# The drop-in library against AMD's: the same functions under the same versions, and each of them is
# either implemented, and a test names it, or one of the stubs that symbols.def lists as refused, with a
# reason.
#
#   hip_symbols.sh LIBRARY SYMBOLS.DEF STUBS.o TESTS [AMD_LIBRARY]
#
# Without AMD's library the table stands in for it, since it was made from that library.
set -eu

library=$1
table=$2
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
	grep -v -e '^#' -e '^reason ' "$table"
}

exports "$library" > "$work/ours"
entries | awk '{ print $1, $2 }' | sort > "$work/table"
[ "$(grep -c hip_ "$work/table")" -eq 409 ] || fail "symbols.def has not AMD's 409 symbols" "$work/table"
compare "$work/ours" "$work/table" "exported (left) or in symbols.def (right), but not both:"

if [ -n "$amd" ] && [ -e "$amd" ]; then
	exports "$amd" > "$work/amd"
	grep -v ' UMTRACE_1$' "$work/ours" > "$work/ours_of_amd"
	compare "$work/amd" "$work/ours_of_amd" "only in AMD's library (left) or in ours (right):"
	nodes "$amd" > "$work/nodes_of_amd"
	nodes "$library" > "$work/nodes"
	compare "$work/nodes_of_amd" "$work/nodes" "version nodes of AMD's (left) and ours (right):"
fi

# The refused functions are those that the stubs define, all the others are somebody else's.
nm --defined-only "$stubs" | awk '$2 == "T" { print $3 }' | sort > "$work/stubs"
entries | awk '$3 == "refused" { print $1 }' | sort > "$work/refused"
compare "$work/stubs" "$work/refused" "a stub (left) or refused in symbols.def (right), but not both:"

# Every refusal has one of the reasons, and every reason is one of a refusal.
sed -n 's/^reason \([a-z]*\) .*/\1/p' "$table" | sort > "$work/reasons"
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
