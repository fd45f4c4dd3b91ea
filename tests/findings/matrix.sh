#!/usr/bin/env bash
# Every twin, faulty and corrected, with every finding over it. The head comment of a twin says:
#   Finding: KIND         the faulty one has it, at the line with the comment FINDING
#   Trace: OPTIONS        of umtrace
#   Expect: JQ            of that finding, as umanalyze findings --format=json has it; must be true
#   Traffic: exact        the corrected one, traced, has the traffic that the finding predicts
# A corrected twin has no finding at all. Arguments: the twins to look at; default: all.
set -u
export LC_ALL=C
: "${UM_BUILD:?the build folder}" "${UM_SOURCE:?the source folder}"

twins=$UM_SOURCE/tests/findings/twins
scratch=$(mktemp -d "${TMPDIR:-/tmp}/um-findings-XXXXXX")
trap 'rm -rf "$scratch"' EXIT
cd "$scratch" || exit 1
PATH=$UM_BUILD/bin:$PATH
failures=0

fail() {
	echo "FAILED: $*" >&2
	failures=$((failures + 1))
}

# head NAME KEY
head_of() {
	sed -n "s/^ \* $2: //p" "$twins/$1.hip"
}

# look NAME faulty|corrected: NAME.KIND.json
look() {
	local options
	options=$(head_of "$1" Trace)
	# shellcheck disable=SC2086
	umtrace -q $options -o "$1.$2.um.db" -- "$UM_BUILD/twins/$1" "$2" >"$1.$2.out" 2>&1 ||
		fail "$1 $2 does not run: $(cat "$1.$2.out")"
	umanalyze findings --format=json "$1.$2.um.db" >"$1.$2.json" 2>"$1.$2.err" ||
		fail "$1 $2: $(cat "$1.$2.err")"
}

# The finding of that kind, at its line; nothing if there is none.
found() {
	local line
	line=$(grep -n FINDING "$twins/$1.hip" | grep -v '^\([0-9]*\): \*' | head -1 | cut -d: -f1)
	jq --arg kind "$2" --argjson line "$line" '[.findings[:.shown][]
		| select(.kind == $kind and .at.line <= $line and .at.line >= $line - 1)][0] // empty' \
		"$1.faulty.json"
}

traffic='{to_device: .bytes_to_device, to_host: .bytes_to_host, device_faults, host_faults}'

check() {
	local name=$1 kind expect finding predicted traced
	look "$name" faulty
	look "$name" corrected
	kind=$(head_of "$name" Finding)
	expect=$(head_of "$name" Expect)
	finding=$(found "$name" "$kind")
	if [ -z "$finding" ]; then
		fail "$name: no $kind at its line, but $(jq -c '[.findings[] |
			{kind, verdict, line: .at.line, also}]' "$name.faulty.json")"
	else
		[ "$(jq "$expect" <<<"$finding")" = true ] || fail "$name: not $expect: $finding"
	fi
	jq -e '.findings[:.shown] | length == 0' "$name.corrected.json" >"$scratch/out" ||
		fail "$name corrected has findings: $(jq -c '[.findings[:.shown][] |
			{kind, line: .at.line, saved: .changes[0].saved_ns,
			 bytes: .changes[0].saved_bytes}]' "$name.corrected.json")"
	[ "$(head_of "$name" Traffic)" = exact ] || return
	predicted=$(jq -c ".changes[0].cost | $traffic" <<<"$finding")
	traced=$(jq -c ".baseline | $traffic" "$name.corrected.json")
	[ "$predicted" = "$traced" ] || fail "$name: predicted $predicted, traced $traced"
}

[ $# -gt 0 ] || set -- $(cd "$twins" && ls ./*.hip | sed 's#^\./##; s#\.hip$##')
for twin in "$@"; do
	check "$twin"
done
echo "$# twins, $failures failures"
[ "$failures" = 0 ]
