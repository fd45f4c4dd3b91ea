# Sourced by each test in this folder. A test is a transcript: `run` prints a command and what came
# of it, and `finish` compares the whole with golden/NAME.txt. What differs from run to run (times,
# process ids, paths) is replaced first. UM_BLESS=1 writes the golden anew, unless a program that the
# test needs was not there.
#
#   run CMD...          the command, its output, its stderr behind "! ", its status if not 0
#   say TEXT            a line of the test's own
#   check TEXT CMD...   "TEXT: ok", or FAILED (the command's output goes to stderr); not a golden's matter
#   also SED            a further replacement for this test
#   finish              last line of every test
#
# A test starts in an empty folder of its own, with the tools of UM_BUILD first in PATH.
set -u
export LC_ALL=C
: "${UM_BUILD:?the build folder}" "${UM_SOURCE:?the source folder}"

um_name=$(basename "$0" .sh)
um_golden=$(cd "$(dirname "$0")" && pwd)/golden/$um_name.txt
um_scratch=$(mktemp -d "${TMPDIR:-/tmp}/um-$um_name-XXXXXX")
um_transcript=$um_scratch/transcript
um_failures=0
um_also=()
trap 'chmod -R u+w "$um_scratch"; rm -rf "$um_scratch"' EXIT
mkdir "$um_scratch/work"
cd "$um_scratch/work" || exit 1
PATH=$UM_BUILD/bin:$PATH
: >"$um_transcript"

also() {
	um_also+=(-e "$1")
}

# Column widths follow the values, so runs of blanks and rules shrink as well.
normalise() {
	sed -E \
		-e "s#$um_scratch/work#WORK#g" -e "s#$UM_BUILD#BUILD#g" -e "s#$UM_SOURCE#SOURCE#g" \
		-e 's/\b[0-9][0-9.,]* ?(ns|us|ms|s|µs)\b/TIME/g' \
		-e 's/\b(pid|process) [0-9]+/\1 PID/g' \
		-e 's/[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z/DATE/g' \
		"${um_also[@]}" \
		-e 's/ {2,}/  /g' -e 's/(-|─|━|═){3,}/---/g' -e 's/ +$//'
}

say() {
	printf '%s\n' "$*" >>"$um_transcript"
}

run() {
	local status=0
	"$@" >"$um_scratch/out" 2>"$um_scratch/err" </dev/null || status=$?
	{
		printf '$ %s\n' "$*"
		cat "$um_scratch/out"
		sed 's/^/! /' "$um_scratch/err"
		[ "$status" = 0 ] || echo "[exit $status]"
	} | normalise >>"$um_transcript"
	return 0
}

check() {
	local text=$1 status=0
	shift
	"$@" >"$um_scratch/check" 2>&1 </dev/null || status=$?
	if [ "$status" != 0 ]; then
		um_failures=$((um_failures + 1))
		echo "FAILED ($status): $text: $*" >&2
		sed 's/^/    /' "$um_scratch/check" >&2
	fi
}

# Programs that the test runs and that are not built: links to nowhere, and what the shell did not find.
missing() {
	find -L . -type l -lname "$UM_BUILD/*" -printf '%l\n' 2>/dev/null
	grep -oE 'lib\.sh: line [0-9]+: .*: (command not found|No such file or directory)' "$um_transcript"
}

finish() {
	local missing
	missing=$(missing)
	if [ -n "$missing" ]; then
		printf 'FAILED: not built, so that nothing is compared or blessed:\n%s\n' "$missing" >&2
		um_failures=$((um_failures + 1))
	elif [ -s "$um_transcript" ] && [ "${UM_BLESS:-}" = 1 ]; then
		cp "$um_transcript" "$um_golden"
	elif [ -s "$um_transcript" ]; then
		diff -u "$um_golden" "$um_transcript" >&2 || um_failures=$((um_failures + 1))
	fi
	[ "$um_failures" = 0 ]
	exit
}
