#!/usr/bin/env bash
# The committed measured traces read as they should: a kernel's run, a configuration by its range.
. "$(dirname "$0")/lib.sh"

traces=$UM_SOURCE/traces/h200
run umanalyze summary "$traces/kernels/scale.64M.um.db"
run umanalyze summary --range "read_64M*" "$traces/configurations.um.db"
run umanalyze summary --range 'read_64M*' "$traces/configurations.um.db"
finish
