#!/usr/bin/env bash
# umsim machine: what machines there are, what a file may say, and whether one is right.
. "$(dirname "$0")/lib.sh"

run umsim machine list
run umsim machine keys
run sh -c 'umsim machine check h200 | sed "/^ /d"'
check "every machine is right" sh -c '
	for name in $(umsim machine list --format=json | jq -r ".[].name"); do umsim machine check $name || exit 1; done'
check "a driver that is not the machine's own" sh -c '
	umsim machine check h200 --driver demand | grep -q "^  fault_latency  *[0-9]"'
check "JSON: what the file sets, and what it does not" sh -c '
	umsim machine check h200 --format=json >j &&
	test "$(jq -c ".parameters[] | select(.name == \"batch_time\") | [.value, .of_machine]" j)" = "[\"14500ns\",true]" &&
	test "$(jq -c ".parameters[] | select(.name == \"evict_time\") | [.value == .default, .of_machine]" j)" = "[true,false]"'
check "every key has a meaning, and every file's keys are there" sh -c '
	umsim machine keys --format=json >keys && ! jq -r ".[][].help" keys | grep -qx "" &&
	for file in "$UM_SOURCE"/sim/machine/machines/*.yaml; do
		grep -oE "^[a-z_0-9]+:" $file | tr -d : | while read -r key; do
			jq -e --arg key $key ".machine | any(.key == \$key)" keys >/dev/null || { echo $key; exit 1; }
		done || exit 1
	done'
# The ranges that are listed are those that are held.
cp "$UM_SOURCE/sim/machine/machines/h200.yaml" my.yaml
refused() {
	sed -i "s|^$1: .*|$1: $2|" my.yaml
	run umsim machine check ./my.yaml
	cp "$UM_SOURCE/sim/machine/machines/h200.yaml" my.yaml
}
refused devices 17
refused memory 1MiB
refused xnack sometimes
refused l2 lots
sed -i 's/batch_time/batch_tim/' my.yaml
run umsim machine check ./my.yaml
# How devices are linked.
run sh -c 'umsim machine check mi250x_frontier_8gcd | sed -n "/^link/,/host.s memory/p"'
linked() {
	sed 's/^devices:.*/devices: 2/' "$UM_SOURCE/sim/machine/machines/a100_pcie.yaml" | grep -v '^ *#' | grep -v '^$' >linked.yaml
	printf 'topology:\n  links:\n' >>linked.yaml
	printf '    - {between: [%s], %s}\n' "$@" >>linked.yaml
	run sh -c 'umsim machine check ./linked.yaml | sed -n "/^link/,/host.s memory/p"'
}
linked 'host, switch0' 'pcie_generation: 4, pcie_lanes: 16' 'switch0, gpu0' 'bandwidth: 25GB/s' 'switch0, gpu1' 'bandwidth: 20GB/s'
linked 'host, gpu0' 'bandwidth: 25GB/s' 'host, gpu1' 'bandwidth: 0GB/s'
linked 'host, gpu0' 'bandwidth: 25GB/s'
linked 'host, switch0' 'bandwidth: 25GB/s' 'switch0, switch1' 'bandwidth: 25GB/s' 'switch1, host' 'bandwidth: 25GB/s'
echo 'name: x' >short.yaml
run umsim machine check ./short.yaml
run umsim machine check nowhere
run umsim machine check
run umsim machine list h200
run umsim machine keys --driver demand
run umsim machine show h200
finish
