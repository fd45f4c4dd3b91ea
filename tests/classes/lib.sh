# Sourced by the scripts of this folder: what each class of program does as its footprint passes the
# size of the device's memory.
#
# The footprint is fixed and the machine scaled: one GCD of an MI250X with so much memory that the
# footprint is RATIO percent of it. amdkfd's largest range is a 32nd of the memory, between 2 MiB and
# 1 GiB: below 128 MiB of memory all ranges have 2 MiB, and 20 to 60 of them fill it, as 64 of 1 GiB
# fill the card's. What does not shrink by itself is scaled with them:
#   compute units     6 of 110, by the square root: a matrix of a 700th of the bytes has a 26th of the
#                     columns, and the same share of them is in flight
#   duplicate_window, fault_service, launch   by 512, as a range is
# Kernel 6.6 stands for the time of the published runs (ROCm 5.4): a fault moves the whole range.
#
#   settings FOLDER [ORDER]    writes the driver's policy there; another eviction order than its own
#   trace_class NAME FOLDER    its program under umtrace -> FOLDER/NAME.um.db
#   at_ratio NAME FOLDER RATIO its figures at RATIO percent, one line (see figures_sql)
: "${UM_BUILD:?the build folder}"
export LC_ALL=C
PATH=$UM_BUILD/bin:$PATH

classes="linear cliff collapse"

settings() {
	cat >"$1/driver.yaml" <<-YAML
	driver: {name: amdgpu_svm, xnack: on, kernel: "6.6", duplicate_window: 4us, fault_service: 200ns}
	YAML
	[ -z "${2:-}" ] || echo "evict: $2" >>"$1/driver.yaml"
}

program_of() {
	case $1 in
	linear) echo "stream_triad --operation=triad --repetitions=1 --n=$((size_mib * 1048576 / 8))" ;;
	cliff) echo "jacobi2d --iterations=4 --columns=1024 --rows=$((size_mib * 256))" ;;
	collapse) echo "matmul --m=64 --n=$matrix --k=$matrix" ;;
	esac
}

trace_class() {
	local words
	read -ra words <<<"$(program_of "$1")"
	umtrace -q --no-model -o "$2/$1.um.db" -- "$UM_BUILD/kernels/${words[0]}" "${words[@]:1}" >/dev/null
}

footprint() {
	sqlite3 "$1" "SELECT SUM(bytes) FROM allocation WHERE kind = 'managed'"
}

# ns from the first launch to the end of the last; bytes to the device, to the host, evicted until
# then; device faults.
figures_sql="WITH kernels AS (SELECT MIN(start_ns) AS start, MAX(end_ns) AS stop FROM op WHERE kind = 'launch'),
	moved AS (SELECT * FROM migration, kernels WHERE start_ns < stop AND bytes > 0)
SELECT (SELECT stop - start FROM kernels),
	COALESCE((SELECT SUM(bytes) FROM moved WHERE destination >= 0), 0),
	COALESCE((SELECT SUM(bytes) FROM moved WHERE source >= 0), 0),
	COALESCE((SELECT SUM(bytes) FROM moved WHERE cause = 'eviction'), 0),
	COALESCE((SELECT SUM(faults) FROM fault WHERE device >= 0), 0)"

at_ratio() {
	local trace=$2/$1.um.db result=$2/result.um.db memory
	memory=$(($(footprint "$trace") * 100 / $3))
	sed -E -e "s/^memory: .*/memory: ${memory}B/" -e 's/^compute_units: .*/compute_units: 6/' \
		-e 's/^launch: .*/launch: 12ns/' "$UM_BUILD/share/umtrace/machines/mi250x.yaml" >"$2/machine.yaml"
	umsim replay -q "$trace" --machine "$2/machine.yaml" -P "$2/driver.yaml" -o "$result" --force >/dev/null
	sqlite3 "$result" "$figures_sql"
}
