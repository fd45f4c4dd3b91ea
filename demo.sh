#!/usr/bin/env bash
# Records a matrix product on a machine without a GPU, replays it under three policies at two page
# sizes, and shows what each would have moved. Everything it makes lies in build/demo.
set -eu
cd "$(dirname "$0")"
. .ci/setup.sh
um_setup

build() {
	cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release --log-level=WARNING >/dev/null
	ninja -C build --quiet umhipcc umhip umtrace umsim umanalyze kernels
}

say() {
	printf '\n\033[1m$ %s\033[0m\n' "$*"
	"$@"
}

# replay POLICY PAGE_SIZE: a database build/demo/POLICY-SIZE.um.db
replay() {
	umsim replay matmul.um.db -P "../../sim/policy/examples/$1.yaml" --page-size "$2" \
		-o "$1-$2.um.db" --force -q
}

# One line of the table: what crossed the link, each way, and the device faults behind it.
table_row() {
	sqlite3 "$1-$2.um.db" "
		SELECT '$1', '$2',
			(SELECT COALESCE(SUM(faults), 0) FROM fault WHERE device >= 0),
			printf('%.2f MiB', COALESCE(SUM(bytes_to_device), 0) / 1048576.0),
			printf('%.2f MiB', COALESCE(SUM(bytes_to_host), 0) / 1048576.0),
			printf('%.2f ms', (SELECT (end_ns - start_ns) / 1e6 FROM run))
		FROM traffic"
}

build
PATH=$PWD/build/bin:$PATH
mkdir -p build/demo
cd build/demo
ln -sf ../kernels/matmul matmul

say umtrace --force ./matmul --m=512 --n=512 --k=512
say umanalyze summary matmul.um.db

printf '\n\033[1mPredicted link traffic (demand paging, not checked on hardware)\033[0m\n\n'
for policy in none prefetch host; do
	for size in 4KiB 64KiB; do
		replay $policy $size
		table_row $policy $size
	done
done | awk -F '|' '
	BEGIN { f = "%-8s  %5s  %13s  %12s  %12s  %12s\n"
		printf f, "policy", "page", "device faults", "to device", "to host", "time" }
	{ printf f, $1, $2, $3, $4, $5, $6 }'
printf '\nThe traces are in build/demo; umsim replay --help and umanalyze --help say what else they tell.\n'
