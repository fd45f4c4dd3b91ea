#!/usr/bin/env bash
# umanalyze findings and advise on committed traces: text, JSON, the policy file, and what they refuse.
. "$(dirname "$0")/lib.sh"

kernels=$UM_SOURCE/traces/h200/accesses/kernels
cp "$kernels/scale.4M.um.db" scale.um.db
cp "$kernels/scale.64M_prefetch.um.db" prefetch.um.db

run umanalyze findings --list
run umanalyze findings scale.um.db
run umanalyze findings prefetch.um.db
run sh -c "umanalyze findings --format=json scale.um.db | jq 'del(.findings[].changes[].cost)'"

say "--- the policy file, and what replaying it comes to"
run umanalyze advise scale.um.db -o scale.yaml
run cat scale.yaml
run umanalyze advise scale.um.db -o scale.yaml
run umanalyze advise prefetch.um.db
run umsim policy check scale.yaml scale.um.db
umsim replay -q scale.um.db -P scale.yaml -o after.um.db --format=json >after.json 2>&1
umanalyze findings --format=json scale.um.db >before.json
check "the replay ends when the finding says" sh -c '
	test "$(jq ".. | .end_ns? // empty" after.json | head -1)" = \
		"$(jq ".findings[0].changes[0].cost.end_ns" before.json)"'
say "--- of a simulation, its policy is what is changed"
run umanalyze findings after.um.db

say "--- under a policy, which the file then has too"
echo 'driver: {name: nvidia_uvm, fault_batch_count: 32}' >base.yaml
run umanalyze advise scale.um.db -P base.yaml -o over.yaml
run grep -E '^#|^  #|fault_batch_count|prefetch|before' over.yaml
umsim replay -q scale.um.db -P over.yaml -o over.um.db --format=json >over.json 2>&1
umanalyze findings -P base.yaml --format=json scale.um.db >base.json
check "the replay ends when the finding under the policy says" sh -c '
	test "$(jq ".. | .end_ns? // empty" over.json | head -1)" = \
		"$(jq ".findings[0].changes[0].cost.end_ns" base.json)"'
run umanalyze advise scale.um.db -P nowhere.yaml

say "--- measured: what kernels touch is not known"
ln -s "$UM_SOURCE/traces/h200/kernels/scale.64M_prefetch.um.db" measured.um.db
run umanalyze findings measured.um.db
ln -s "$UM_SOURCE/traces/h200/kernels/oversubscribe.cyclic.um.db" more.um.db
run umanalyze findings more.um.db
say "--- a launch without accesses"
sqlite3 prefetch.um.db ".backup some.um.db"
sqlite3 some.um.db "UPDATE kernel SET reads = NULL WHERE op = (SELECT MAX(op) FROM kernel)"
run umanalyze findings some.um.db

say "--- what cannot be"
run umanalyze findings
run umanalyze findings no.um.db
run umanalyze findings --only ping-pon scale.um.db
run umanalyze findings --xnack maybe scale.um.db
run umanalyze findings --machine nonesuch scale.um.db
run umanalyze advise "$UM_SOURCE/traces/h200/kernels/scale.64M.um.db"
finish
