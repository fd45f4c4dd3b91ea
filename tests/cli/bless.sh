#!/usr/bin/env bash
# What lib.sh blesses: a transcript, but none in which a program was not there.
. "$(dirname "$0")/lib.sh"

mkdir -p tests/golden
cp "$UM_SOURCE/tests/cli/lib.sh" tests

# blessed NAME LINE: whether a test of that line gets a golden
blessed() {
	printf '%s\n' '. "$(dirname "$0")/lib.sh"' "$2" finish >"tests/$1.sh"
	UM_BLESS=1 bash "tests/$1.sh" && [ -s "tests/golden/$1.txt" ]
}

# refused NAME LINE: it fails, says why, and leaves the golden as it was
refused() {
	echo before >"tests/golden/$1.txt"
	! blessed "$1" "$2" 2>message && grep -q "not built" message &&
		[ "$(cat "tests/golden/$1.txt")" = before ]
}

check "a transcript" blessed whole "run umsim --version"
check "a program that is not there by intention" blessed intended "run umtrace ./no-such-program"
check "a link to a program that is not built" \
	refused linked 'ln -s "$UM_BUILD/kernels/no_such" scale; run umtrace ./scale'
check "a program in the build folder" refused direct 'run "$UM_BUILD/kernels/no_such"'
check "a command" refused command "run no_such_tool"
finish
