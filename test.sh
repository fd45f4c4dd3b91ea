#!/usr/bin/env bash
# Builds with gcc and with clang, warnings as errors, and runs every test. clang's build has
# AddressSanitizer and UBSan in the tools and unit tests (never in what runs inside a program).
set -euo pipefail
cd "$(dirname "$0")"
. .ci/setup.sh
um_setup "${um_packages_of_tests[@]}"

jobs=$(nproc)
passed=0
failed=0

# build_and_test FOLDER CC cmake-options...
build_and_test() {
	local folder=$1 compiler=$2 log
	shift 2
	log=$folder/ctest.log
	echo "== $compiler: $folder"
	cmake -S . -B "$folder" -G Ninja -DCMAKE_C_COMPILER="$compiler" -DUM_WERROR=ON "$@" \
		--log-level=WARNING >/dev/null
	ninja -C "$folder" --quiet
	ctest --test-dir "$folder" -j "$jobs" --output-on-failure --timeout 600 2>&1 | tee "$log" || true
	passed=$((passed + $(grep -cE 'Test +#[0-9]+: .* Passed ' "$log" || true)))
	failed=$((failed + $(grep -cE 'Test +#[0-9]+: .*(\*\*\*|Not Run)' "$log" || true)))
	grep -q 'tests passed' "$log" || failed=$((failed + 1))
}

build_and_test build-gcc gcc -DCMAKE_BUILD_TYPE=Release -DUM_SANITIZE=OFF
build_and_test build-clang clang-15 -DCMAKE_BUILD_TYPE=RelWithDebInfo -DUM_SANITIZE=ON
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
