#!/usr/bin/env bash
# A committed measured trace reads as it should.
. "$(dirname "$0")/lib.sh"

traces=$UM_SOURCE/traces/h200
run umanalyze summary "$traces/kernels/scale.64M.um.db"
finish
