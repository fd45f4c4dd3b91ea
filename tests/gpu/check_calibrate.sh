#!/usr/bin/env bash
# The H200's machine file is what tests/gpu/calibrate makes of the measurements: the same lines, with
# numbers that differ by no more than another LAPACK's rounding (1 %). And what it does not take.
set -euo pipefail
: "${UM_BUILD:?}" "${UM_SOURCE:?}"

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
umtrace=$UM_BUILD/bin/umtrace

fail() {
	echo "FAILED: $*" >&2
	exit 1
}

same() {
	awk -v other="$2" '
		function number(word) { gsub(/[^0-9.]/, "", word); return word + 0 }
		function text(word) { gsub(/[0-9.]/, "", word); return word }
		{
			if ((getline line < other) <= 0) { print FNR ": one line more"; exit 1 }
			n = split($0, a); m = split(line, b)
			for (i = 1; i <= n || i <= m; i++) {
				x = number(a[i]); y = number(b[i]); d = x > y ? x - y : y - x
				if (text(a[i]) != text(b[i]) || d > 0.01 * x + 0.05) {
					print FNR ": " $0 "\n" FNR ": " line; exit 1
				}
			}
		}
		END { if ((getline line < other) > 0) { print "lines less: " line; exit 1 } }' "$1"
}

"$UM_SOURCE/tests/gpu/calibrate" "$UM_BUILD" "$scratch/h200.yaml"
same "$UM_SOURCE/sim/machine/machines/h200.yaml" "$scratch/h200.yaml" ||
	fail "h200.yaml is not what tests/gpu/calibrate makes"

# refuses STATUS WORDS OPTION...
refuses() {
	local status=0 expected=$1 words=$2
	shift 2
	"$umtrace" calibrate "$@" >"$scratch/out" 2>"$scratch/err" </dev/null || status=$?
	if [ $status != "$expected" ] || ! grep -q -e "$words" "$scratch/err"; then
		cat "$scratch/err" >&2
		fail "expected $expected and '$words', got $status"
	fi
}

traces=$UM_SOURCE/traces/h200
"$umtrace" calibrate --help | grep -q -e --from || fail "no help"
refuses 2 'where the machine file goes'
refuses 2 'is too much' -o "$scratch/a.yaml" more
refuses 2 'from makes none' -o "$scratch/a.yaml" --from="$traces" --keep="$scratch/kept"
refuses 2 'ends in .yaml' -o "$scratch/a" --from="$traces"
refuses 2 "name is the machine's" -o "$scratch/.yaml" --from="$traces"
refuses 2 "name is the machine's" -o "$scratch/"$'n\nb.yaml' --from="$traces"
refuses 2 "name is the machine's" -o "$scratch/ä.yaml" --from="$traces"
refuses 1 'h200.yaml exists (--force replaces it)' -o "$scratch/h200.yaml" --from="$traces"
refuses 1 'nowhere/configurations.um.db' -o "$scratch/a.yaml" --from="$scratch/nowhere"
refuses 1 'nothing.txt: No such file' -o "$scratch/a.yaml" --from="$traces" --test-set=nothing.txt

# Folders that lack something, or have too little.
mkdir "$scratch/part"
cp "$traces/configurations.um.db" "$scratch/part"
refuses 1 'machine.tsv: No such file' -o "$scratch/a.yaml" --from="$scratch/part"
grep -v l2CacheSize "$traces/machine.tsv" >"$scratch/part/machine.tsv"
refuses 1 'no line "l2CacheSize"' -o "$scratch/a.yaml" --from="$scratch/part"
sed 's/^\(warpSize\t\).*/\1many/' "$traces/machine.tsv" >"$scratch/part/machine.tsv"
refuses 1 'machine.tsv:[0-9]*: warpSize: "many" is no whole number' -o "$scratch/a.yaml" --from="$scratch/part"
cp "$traces/machine.tsv" "$scratch/part"
refuses 1 'times.tsv: No such file' -o "$scratch/a.yaml" --from="$scratch/part"
echo 'untraced 1 read_64M' >"$scratch/part/times.tsv"
refuses 1 'times.tsv:1: no line of times' -o "$scratch/a.yaml" --from="$scratch/part"
printf 'untraced\t1\tread_64M\tsoon\t2\n' >"$scratch/part/times.tsv"
refuses 1 'times.tsv:1: "soon" and "2" are no times' -o "$scratch/a.yaml" --from="$scratch/part"
printf 'untraced\t1\tread_64M\tnan\t2\n' >"$scratch/part/times.tsv"
refuses 1 'times.tsv:1: "nan" and "2" are no times' -o "$scratch/a.yaml" --from="$scratch/part"
printf 'untraced\t1\tread_64M\t2\t1\nuntraced\t2\tread_64M\t0\t0\n' >"$scratch/part/times.tsv"
refuses 1 'part/times.tsv:2: read_64M took 0 ns, its GPU steps 0 ns: nothing was measured' -o "$scratch/a.yaml" \
	--from="$scratch/part"
: >"$scratch/part/times.tsv"
refuses 1 'part/times.tsv: what recording costs: 0 measured times are too few' -o "$scratch/a.yaml" --from="$scratch/part"
echo read_65M >"$scratch/other"
refuses 1 'other names no configuration' -o "$scratch/a.yaml" --from="$traces" --test-set="$scratch/other"
cut -f3 "$traces/times.tsv" | grep -vx -e serial_2MiB -e written_hostread2M | sort -u | sed 's/$/\r/' >"$scratch/most"
refuses 1 'batches of faults are too few: 100 are needed' -o "$scratch/a.yaml" --from="$traces" \
	--test-set="$scratch/most"
cp "$traces/times.tsv" "$scratch/part"
sed 's/^\(warpSize\t\).*/\1100/' "$traces/machine.tsv" >"$scratch/part/machine.tsv"
refuses 1 'make no machine: .*wave_lanes' -o "$scratch/a.yaml" --from="$scratch/part"
cp "$traces/machine.tsv" "$scratch/part"
sqlite3 "$scratch/part/configurations.um.db" 'UPDATE migration SET duration_ns = 0'
refuses 1 'part/configurations.um.db: transfers to the device: none took longer than 0 ns' -o "$scratch/a.yaml" \
	--from="$scratch/part"
cp "$traces/kernels/scale.4M.um.db" "$scratch/part/configurations.um.db"
refuses 1 'no trace of the measuring program' -o "$scratch/a.yaml" --from="$scratch/part"
[ ! -e "$scratch/a.yaml" ] || fail "a file was written"

# What lies beside it is left alone.
echo precious >"$scratch/a.yaml.part"
refuses 1 'a.yaml.part is in the way' -o "$scratch/a.yaml" --from="$traces"
grep -q precious "$scratch/a.yaml.part" || fail "a file that is not its own was overwritten"

# It is a machine file, of that name, with what was found.
"$umtrace" calibrate -q --from="$traces" -o "$scratch/node.yaml"
grep -q '^name: "node"$' "$scratch/node.yaml" || fail "the name"
grep -q '^# None was kept out (no --test-set)' "$scratch/node.yaml" || fail "that nothing was kept out"
! grep -q '^# None was kept out' "$scratch/h200.yaml" && grep -q '^# 34 more were kept out' "$scratch/h200.yaml" ||
	fail "what was kept out"
printf 'machine: %s\ndriver: nvidia_uvm\n' "$scratch/node.yaml" >"$scratch/policy.yaml"
"$UM_BUILD/bin/umsim" policy check "$scratch/policy.yaml" >"$scratch/out" || fail "it is not taken"

# So it is whatever the folder's name is.
ln -s "$traces" "$scratch/"$'of\nb: "c'
"$umtrace" calibrate -q --force --from="$scratch/"$'of\nb: "c' -o "$scratch/node.yaml" ||
	fail "a folder's name"
"$UM_BUILD/bin/umsim" policy check "$scratch/policy.yaml" >"$scratch/out" || fail "a folder's name"
