#!/usr/bin/env bash
# The JSON that umanalyze writes: every member has its place in analyzer/render/README.md.
. "$(dirname "$0")/lib.sh"

readme=$UM_SOURCE/analyzer/render/README.md
traces=$UM_SOURCE/traces/h200
umsim replay -q "$traces/findings/accesses/ping_pong.faulty.um.db" -o sim.um.db >out 2>&1 || cat out >&2

# section NAME: of the README, with what stands before the first.
section() {
	sed -n "/^## JSON/,/^### /p; /^### $1\$/,/^### /p" "$readme"
}

# members WITHOUT: the names, each once; not those below what is a row of a table.
members() {
	jq -r --arg without "$1" '[paths | map(select(type == "string")) | select(length > 0)
		| select(.[0:1] - ($without | split(" ")) != [] or length == 1) | .[-1]] | unique[]'
}

# documented SECTION WITHOUT COMMAND...
documented() {
	local name=$1 without=$2 member
	shift 2
	"$@" | members "$without" >members || say "FAILED: $*"
	section "$name" >section
	test -s members || say "FAILED: no members: $*"
	while read -r member; do
		grep -q "\`$member\(\[\]\)\?\`" section || say "$name: no word about $member"
	done <members
	say "$name: looked at"
}

documented findings "" umanalyze findings -q --format=json "$traces/findings/accesses/over_fetch.faulty.um.db"
documented diff "" umanalyze diff --format=json "$traces/findings/measured/ping_pong.faulty.um.db" sim.um.db
documented summary "run devices origins losses traffic" umanalyze summary --format=json sim.um.db
documented summary "run devices origins losses traffic" umanalyze summary --format=json \
	"$traces/kernels/oversubscribe.cyclic.um.db"
documented ops "" sh -c "umanalyze ops --format=json $traces/findings/accesses/over_fetch.faulty.um.db | jq -s ."
finish
