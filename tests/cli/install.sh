#!/usr/bin/env bash
# An installed tree that was moved works, with nothing in the environment but PATH.
. "$(dirname "$0")/lib.sh"

check "install" cmake --install "$UM_BUILD" --prefix "$PWD/first"
mv first moved
bare() { env -i PATH=/usr/bin:/bin "$@"; }
cp "$UM_SOURCE"/kernels/scale.hip "$UM_SOURCE"/kernels/kernel_common.h .

check "compile" bare moved/bin/umhipcc -O2 scale.hip -o scale
check "run" bare ./scale --n=4096
printf '#include <roctracer/roctx.h>\nint main(void) { return roctxRangePush("x"); }\n' >use.c
check "roctx" bare moved/bin/umhipcc use.c -lroctx64 -o use
check "which runs" bare ./use
check "trace" bare moved/bin/umtrace -q --xnack on -o scale.um.db -- ./scale --n=4096
check "replay" bare moved/bin/umsim replay scale.um.db -o replayed.um.db
check "summary of a trace" bare moved/bin/umanalyze summary scale.um.db
check "summary of a replay" bare moved/bin/umanalyze summary replayed.um.db
check "the launch is there" test "$(sqlite3 scale.um.db 'SELECT reads FROM kernel')" = 4096
check "the faults are there" test "$(sqlite3 replayed.um.db \
	'SELECT SUM(faults) FROM fault WHERE device = 0')" -gt 0

# Its own files alone: the build tree is not asked. Debug information may name it.
cp -r moved stripped
find stripped -type f -exec strip --strip-debug {} + 2>strip.log
check "no path of the build tree" sh -c "! grep -rlF '$UM_BUILD' stripped"
for tool in umhipcc umtrace umsim umanalyze; do
	check "$tool --help" bare moved/bin/$tool --help
	check "$tool --version" bare moved/bin/$tool --version
done
finish
