#!/usr/bin/env bash
# XNACK on every surface: what a program is told, what its trace says, and a replay of it.
. "$(dirname "$0")/lib.sh"

ln -s "$UM_BUILD/tests/hip/properties" properties
ln -s "$UM_BUILD/kernels/scale" scale
unset HSA_XNACK

# traced WHAT CMD...: what the program printed, and who decided
traced() {
	say "--- $1"
	shift
	run "$@"
	run sqlite3 x.um.db "SELECT machine, xnack, xnack_source FROM run"
}
trace=(umtrace -q --force -o x.um.db)

say "--- without umtrace"
run ./properties
run env HSA_XNACK=1 ./properties

traced "each process chooses" "${trace[@]}" ./properties
traced "it does" env HSA_XNACK=1 "${trace[@]}" ./properties
traced "nothing but 0 and 1 counts" env HSA_XNACK=on "${trace[@]}" ./properties
traced "the program's environment is what counts" "${trace[@]}" env HSA_XNACK=1 ./properties
traced "so with the shell's" env HSA_XNACK=1 "${trace[@]}" sh -c 'HSA_XNACK=0 ./properties'
traced "or its own main()" "${trace[@]}" ./properties 1
traced "an option" "${trace[@]}" --xnack on ./properties
traced "over the environment" env HSA_XNACK=1 "${trace[@]}" --xnack off ./properties
traced "which the program may change" "${trace[@]}" --xnack on env -u HSA_XNACK ./properties
traced "the host reaches device memory" "${trace[@]}" --machine mi250x_frontier ./properties
traced "an APU" env HSA_XNACK=1 "${trace[@]}" --machine mi300a ./properties
traced "as amdgpu was loaded" env HSA_XNACK=1 "${trace[@]}" --machine mi100 ./properties
traced "where HSA_XNACK has no say" env HSA_XNACK=on "${trace[@]}" --machine mi100 ./properties
traced "as it would be loaded" "${trace[@]}" --machine mi100 --xnack on ./properties
traced "and not for this process" env HSA_XNACK=0 "${trace[@]}" --machine mi100 --xnack on ./properties
traced "never" "${trace[@]}" --machine rx7900xtx ./properties
traced "no such switch" "${trace[@]}" --machine h200 ./properties

say "--- what cannot be"
run umtrace --force --machine rx7900xtx --xnack on ./properties
run umtrace --force --machine h200 --xnack off ./properties
run umtrace --force --xnack maybe ./properties

say "--- first lines"
umtrace -q --force -o off.um.db ./scale --n=4096
umtrace -q --force --xnack on -o on.um.db ./scale --n=4096
first_lines() { "$@" 2>&1 | sed -n 1,2p; }
for db in off on; do
	run first_lines umanalyze summary $db.um.db
	umanalyze summary --format json $db.um.db >summary.json
	run sqlite3 :memory: "SELECT json_extract(readfile('summary.json'), '\$.xnack', '\$.run.xnack', '\$.run.xnack_source')"
	run first_lines umsim replay -q --force $db.um.db
	run sqlite3 $db.program.um.db "SELECT xnack, xnack_source FROM run"
done

say "--- a replay under another"
printf 'driver: {name: amdgpu_svm, xnack: on}\n' >on.yaml
replay=(umsim replay -q --force off.um.db -o y.um.db)
for with in "--xnack on" "-P on.yaml" "-P on.yaml --xnack off" "--machine mi100" \
	"--machine mi300a" "--machine mi300a --driver demand" "--machine h200"; do
	run first_lines "${replay[@]}" $with
done
echo "driver: demand" >demand.yaml
echo "machine: h200" >h200.yaml
: >default.yaml
run sh -c 'umsim replay -q --force off.um.db -P default.yaml -P demand.yaml -P on.yaml -P h200.yaml --page-size 64KiB 2>&1 | sed "/^$/,\$d"'
say "--- a policy that names its machine is checked with the trace's"
for machine in mi250x mi210 mi100; do
	echo "machine: $machine" >machine.yaml
	run umsim policy check machine.yaml on.um.db
	run first_lines umsim replay -q --force on.um.db -o y.um.db -P machine.yaml
done
say "--- cannot be"
run "${replay[@]}" --machine rx7900xtx --xnack on
run "${replay[@]}" --driver demand --xnack on
run "${replay[@]}" --xnack perhaps
finish
