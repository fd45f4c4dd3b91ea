#!/usr/bin/env bash
# umsim policy check: what is refused and where, and what a rule is about in a trace.
. "$(dirname "$0")/lib.sh"

say "--- refused"
for policy in "$UM_SOURCE"/tests/cli/bad_policies/*.yaml; do
	cp "$policy" .
	run umsim policy check "$(basename "$policy")"
done
run umsim policy check nowhere.yaml
run umsim policy check .
head -c 2000000 /dev/zero | tr '\0' '#' >huge.yaml
run umsim policy check huge.yaml

say "--- taken"
cp "$UM_SOURCE"/sim/policy/examples/*.yaml .
for policy in none host prefetch xnack_off xnack_on; do
	run umsim policy check $policy.yaml
done

say "--- against a trace"
sqlite3 app.um.db <"$UM_SOURCE/trace/db/schema.sql"
sqlite3 app.um.db "
	INSERT INTO run (role, tool, command, clock) VALUES ('trace', 'test', './app', 'none');
	INSERT INTO site (site) VALUES (1);
	INSERT INTO frame (site, depth, module, offset_bytes, function, file, line, inlined) VALUES (1, 0, '/home/u/app', 16, 'main', '/home/u/app.hip', 42, 0);
	INSERT INTO allocation (allocation, kind, bytes, op, site, name) VALUES
		(1, 'managed', 1048576, 1, 1, NULL), (2, 'managed', 65536, 2, 1, 'tmp'), (3, 'device', 4096, 3, 1, NULL);
	INSERT INTO op (op, kind) VALUES (1, 'alloc'), (2, 'alloc'), (3, 'alloc'), (4, 'launch'), (5, 'launch');
	INSERT INTO kernel (op, name, grid_x, grid_y, grid_z, block_x, block_y, block_z) VALUES
		(4, 'void step<float>(float*)', 1, 1, 1, 64, 1, 1), (5, 'void step<float>(float*)', 1, 1, 1, 64, 1, 1);"
run umsim policy check prefetch.yaml app.um.db
cat >rules.yaml <<'YAML'
advise:
  - on: {site: "app.hip:42", larger_than: 64KiB}
    at: {before: step}
    preferred_location: host
    accessed_by: [gpu0]
  - on: {name: tmp}
    read_mostly: true
YAML
run umsim policy check rules.yaml app.um.db
cat >nothing.yaml <<'YAML'
advise:
  - on: {name: tmp}
    read_mostly: true
  - on: {name: "temp*"}
    read_mostly: true
YAML
run umsim policy check nothing.yaml app.um.db
cat >never.yaml <<'YAML'
prefetch:
  - on: {name: tmp}
    to: gpu0
    before: step
    nth: 3
YAML
run umsim policy check never.yaml app.um.db
run umsim policy check --format=json rules.yaml app.um.db
run umsim policy check rules.yaml rules.yaml

say "--- drivers"
run umsim policy drivers
check "drivers as JSON" sh -c "umsim policy drivers --format=json | grep -q '\"name\": \"amdgpu_svm\"'"

say "--- the command line"
run umsim policy
run umsim policy chek none.yaml
run umsim policy check
run umsim policy check --format=xml none.yaml
run umsim policy check none.yaml app.um.db app.um.db
run umsim policy drivers none.yaml
finish
