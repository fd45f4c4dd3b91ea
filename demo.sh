#!/usr/bin/env bash
# Records a matrix product on a machine without a GPU and shows what three policies at two page sizes
# would have moved. What it makes lies in build/demo.
set -euo pipefail
cd "$(dirname "$0")"
. .ci/setup.sh
um_setup

cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release --log-level=WARNING >/dev/null
ninja -C build --quiet umhipcc umhip umwrap umtrace umsim umanalyze kernels | sed '/no work to do/d'

mkdir -p build/demo
cd build/demo
ln -sf ../kernels/matmul matmul
ln -sfn ../share/umtrace/policies policies
PATH=$PWD/../bin:$PATH

show() {
	printf '\n$ %s\n' "$*"
	"$@"
}

show umtrace --force ./matmul --m=512 --n=512 --k=512
show umanalyze summary matmul.um.db
show umsim replay matmul.um.db -P policies/none.yaml -P policies/prefetch.yaml \
	-P policies/host.yaml --page-size 4KiB --page-size 64KiB --force -q
printf '\nThese tables are the predicted link traffic. The traces are in build/demo.\n'
