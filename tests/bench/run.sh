#!/usr/bin/env bash
# Every benchmark of a release build, then the sizes of traces: run.sh BUILD_FOLDER [long]
set -eu
UM_BUILD=$(cd "${1:?the folder of a release build}" && pwd)
export UM_BUILD
here=$(dirname "$0")
for bench in "$UM_BUILD"/bin/*_bench; do
	printf '\n== %s\n' "$(basename "$bench")"
	"$bench"
done
printf '\n== calls\n'
"$here/calls.sh"
printf '\n== sizes\n'
"$here/sizes.sh" ${2:+"$2"}
printf '\n== selection\n'
"$here/selection.sh"
printf '\n== report\n'
"$here/report.sh"
