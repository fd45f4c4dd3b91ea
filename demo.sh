#!/usr/bin/env bash
# Records a matrix product on a machine without a GPU and shows what AMD's driver would have done with
# its memory: without XNACK, with it, and with a prefetch. What it makes lies in build/demo.
set -euo pipefail
cd "$(dirname "$0")"
. .ci/setup.sh
um_setup

echo "building into build/: minutes the first time"
cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release --log-level=WARNING >/dev/null
ninja -C build --quiet umhipcc umtrace umsim umanalyze kernels | sed '/no work to do/d'

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
show umsim replay matmul.um.db -P policies/xnack_off.yaml -P policies/xnack_on.yaml \
	-P policies/prefetch.yaml --force -q
show umanalyze report matmul.um.db matmul.xnack_off.um.db matmul.xnack_on.um.db matmul.prefetch.um.db \
	-o report.html --force -q
cat <<'END'

xnack_off  what AMD's driver does by default: pages stay with the host, and the kernel reads and
           writes them over the link, as often as its caches lose them
xnack_on   HSA_XNACK=1: the first touch of a block of 2 MiB faults, and the block comes over
prefetch   everything comes over before the launch, also what the kernel only writes

Predicted by a model of the driver, not measured. The traces are in build/demo; all of it as a page
for a browser:
END
echo "$PWD/report.html"
