#!/usr/bin/env bash
# The measuring script without a GPU: what it refuses, in one line, and all of it up to the point where
# it finds that the programs did not run on one. nvidia-smi is a stand-in.
set -euo pipefail
: "${UM_BUILD:?}" "${UM_SOURCE:?}"

measure=$UM_SOURCE/tests/gpu/measure
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir "$scratch/bin" "$scratch/programs"
cd "$scratch"

refuses() {
	local words=$1
	shift
	local status=0
	"$measure" "$@" >out 2>err </dev/null || status=$?
	if [ $status != 1 ] || ! grep -q "^measure: .*$words" err || [ "$(wc -l <err)" != 1 ]; then
		echo "expected '$words', got $status and:" >&2
		cat err >&2
		exit 1
	fi
}

smi() {
	printf '#!/bin/sh\ncase $* in *memory.free*) echo %s ;; *compute_cap*) echo 9.0 ;; *) echo 1 ;; esac\n' "$1" \
		>"$scratch/bin/nvidia-smi"
	chmod +x "$scratch/bin/nvidia-smi"
}

"$measure" --help | grep -q -e '--build=BUILD'
refuses 'are needed' --build="$UM_BUILD"
refuses 'is no option' --speed
refuses '1 to 99' --build="$UM_BUILD" --out=out1 --repeat=0
refuses 'umtrace is not there' --build="$scratch" --out=out2
command -v nvidia-smi >/dev/null || refuses 'no nvidia-smi' --build="$UM_BUILD" --out=out3
PATH=$scratch/bin:$PATH
smi 1000
refuses 'has 1000 MiB free' --build="$UM_BUILD" --out=out4
mkdir out5 && touch out5/kept
refuses 'is not empty' --build="$UM_BUILD" --out=out5

# Programs that run without a GPU are no measurement.
smi 100000
"$UM_BUILD/bin/umhipcc" -O1 "$UM_SOURCE/tests/gpu/measure.hip" -lroctx64 -o programs/measure
refuses 'nothing was measured: backend emulated' --build="$UM_BUILD" --programs=programs --out=out6 \
	--parts=configurations --only=read_1M --repeat=1
[ "$(cut -f1,3 out6/times.tsv | paste -sd' ')" = "untraced	read_1M off	read_1M" ]
