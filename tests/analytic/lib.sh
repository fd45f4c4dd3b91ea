# Sourced by the end-to-end tests here: each builds on a real program of kernels/, traced and
# replayed, and holds what came out against a closed form (the program's head comment derives it).
#
#   trace NAME PROGRAM ARGS...     kernels/PROGRAM under umtrace -> NAME.um.db; $memory: its device's
#   demand NAME TRACE OPTIONS...   umsim replay of driver demand, TRACE.um.db -> NAME.um.db
#   xnack_on NAME TRACE OPTIONS... of amdgpu_svm with XNACK, blocks of 2 MiB unless --page-size
#   xnack_off NAME TRACE OPTIONS...
#   equal NAME WHAT WANTED SQL     one value of NAME.um.db
#   near NAME WHAT WANTED BY SQL   the same, at most BY more or less
#   at_most NAME WHAT LIMIT SQL    the same, an upper bound
#   up BYTES UNIT                  how many units hold so many bytes
#   finish                         last line of every test
set -u
export LC_ALL=C
: "${UM_BUILD:?the build folder}" "${UM_SOURCE:?the source folder}"

um_scratch=$(mktemp -d "${TMPDIR:-/tmp}/um-analytic-XXXXXX")
um_failures=0
um_checks=0
trap 'rm -rf "$um_scratch"' EXIT
cd "$um_scratch" || exit 1
PATH=$UM_BUILD/bin:$PATH

# Values that several tests ask for.
device_faults="SELECT COALESCE(SUM(faults), 0) FROM fault WHERE device >= 0"
host_faults="SELECT COALESCE(SUM(faults), 0) FROM fault WHERE device < 0"
to_device="SELECT COALESCE(SUM(bytes_to_device), 0) FROM traffic"
to_host="SELECT COALESCE(SUM(bytes_to_host), 0) FROM traffic"
migrated_to_device="SELECT COALESCE(SUM(bytes), 0) FROM migration WHERE destination >= 0"
migrations="SELECT COUNT(*) FROM migration WHERE bytes > 0"
remote_lines="SELECT COALESCE(SUM(lines_read), 0) || ' ' || COALESCE(SUM(lines_written), 0) FROM remote_access"
stops="SELECT COUNT(*) FROM driver_event WHERE kind = 'queue_eviction'"
refusals="SELECT COALESCE(SUM(count), 0) FROM driver_event WHERE kind = 'vram_refused'"
launch="(SELECT op FROM kernel)"
last_launch_end="SELECT MAX(end_ns) FROM op WHERE kind = 'launch'"

fail() {
	echo "FAILED: $*" >&2
	um_failures=$((um_failures + 1))
}

must() {
	local status=0
	"$@" >"$um_scratch/out" 2>&1 </dev/null || status=$?
	[ "$status" = 0 ] && return
	fail "status $status: $*"
	cat "$um_scratch/out" >&2
}

trace() {
	local name=$1 program=$2
	shift 2
	must umtrace -q --driver=demand ${memory:+--memory=$memory} -o "$name.um.db" -- \
		"$UM_BUILD/kernels/$program" "$@"
}

demand() {
	local name=$1 from=$2
	shift 2
	must umsim replay "$from.um.db" -o "$name.um.db" --driver=demand "$@"
}

up() {
	echo $((($1 + $2 - 1) / $2))
}

xnack_on() {
	local name=$1 from=$2
	shift 2
	must umsim replay "$from.um.db" -o "$name.um.db" --driver=amdgpu_svm --xnack=on "$@"
}

xnack_off() {
	local name=$1 from=$2
	shift 2
	must umsim replay "$from.um.db" -o "$name.um.db" --driver=amdgpu_svm --xnack=off "$@"
}

query() {
	sqlite3 "$1.um.db" "$2"
}

equal() {
	local got
	got=$(query "$1" "$4")
	um_checks=$((um_checks + 1))
	[ "$got" = "$3" ] || fail "$1: $2: $got, expected $3"
}

near() {
	local got
	got=$(query "$1" "$5")
	um_checks=$((um_checks + 1))
	[ -n "$got" ] && [ $((got - $3)) -le "$4" ] && [ $(($3 - got)) -le "$4" ] ||
		fail "$1: $2: $got, expected $3, give or take $4"
}

at_most() {
	local got
	got=$(query "$1" "$4")
	um_checks=$((um_checks + 1))
	[ -n "$got" ] && [ "$got" -le "$3" ] || fail "$1: $2: $got, at most $3"
}

finish() {
	echo "$um_checks values, $um_failures wrong"
	[ "$um_failures" = 0 ] && [ "$um_checks" -gt 0 ]
	exit
}
