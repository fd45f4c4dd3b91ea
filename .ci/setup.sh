# Sourced by demo.sh and test.sh: the Debian 12 packages that umtrace is built and tested with.

um_packages=(
	gcc g++ clang-15 libclang-common-15-dev # the two compilers, sanitizers, libstdc++ of HIP programs
	cmake ninja-build pkg-config
	hipcc libamdhip64-dev                   # HIP: headers, the compiler driver of AMD
	clang-tools-15 lld-15 llvm-15-dev       # umhipcc: offload bundles, linking, LLVM's C API
	libboost-context-dev                    # runtime: switching between lanes
	libsqlite3-dev libzstd-dev              # trace database, access stream
	libdw-dev                               # file and line of call sites
	libyaml-dev libjansson-dev              # policy and machine files, JSON output
	liblapacke-dev                          # umtrace calibrate: least squares
	libopenmpi-dev openmpi-bin              # umsim sweep --mpi
	libcmocka-dev sqlite3 jq                # tests; sqlite3 also in the demo
)
um_packages_of_tests=(
	chromium fonts-dejavu-core              # the report page, in tests
)

# The report page is bundled by Node.js 18 and what npm fetches; another's than Debian's will do.
um_has_node() {
	local version
	version=$(node --version 2>/dev/null) && command -v npm >/dev/null || return 1
	version=${version#v}
	[ "${version%%.*}" -ge 18 ]
}

um_is_debian_12() {
	[ -r /etc/os-release ] && command -v apt-get >/dev/null &&
		(. /etc/os-release && [ "${ID:-}" = debian ] && [ "${VERSION_ID:-}" = 12 ])
}

um_missing_packages() {
	local installed wanted=("${um_packages[@]}" "$@")
	um_has_node || wanted+=(nodejs npm)
	installed=" $(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${wanted[@]}" 2>/dev/null |
		awk '$2 == "installed" {printf "%s ", $1}')"
	for package in "${wanted[@]}"; do
		[[ $installed == *" $package "* ]] || echo "$package"
	done
}

# Installs what is missing, with the packages that it is given. Elsewhere than on Debian 12 it names the
# packages and ends the script.
um_setup() {
	if ! um_is_debian_12; then
		echo "This script installs packages on Debian 12 only. umtrace needs what they hold:" >&2
		printf '  %s\n' "${um_packages[*]} nodejs npm $*" >&2
		exit 1
	fi
	local missing sudo=
	missing=$(um_missing_packages "$@")
	[ -n "$missing" ] || return 0
	[ "$(id -u)" = 0 ] || sudo=sudo
	echo "Installing from Debian:" $missing >&2
	export DEBIAN_FRONTEND=noninteractive
	$sudo apt-get update -qq
	$sudo apt-get install -y -qq --no-install-recommends $missing >/dev/null
}
