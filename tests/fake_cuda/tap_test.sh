# tap_test.sh CASE: the tap in whole programs, with the fake libraries. UM_BUILD is the build
# tree, UM_SOURCE the source, UM_TAP the library. With UM_BLESS=1 goldens are written anew.
set -u
build=${UM_BUILD:?} source=${UM_SOURCE:?}
here=$source/tests/fake_cuda fakes=$build/tests/fake_cuda
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
tap=${UM_TAP:-$build/lib/umtrace/libumtrace_cupti.so}
export CUDA_HOME=$fakes/fake_cupti
export ASAN_OPTIONS=detect_leaks=0:handle_segv=0:verify_asan_link_order=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}
unset CUDA_PATH UMTRACE_SPOOL CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
bless=${UM_BLESS:-}

fail() {
	echo "FAILED: $*"
	echo "--- records"; head -60 "$work/records" 2>/dev/null
	echo "--- stderr"; cat "$work/stderr" 2>/dev/null
	echo "--- stdout"; cat "$work/stdout" 2>/dev/null
	exit 1
}

# run [tap_run's options] PROGRAM WORDS...: status is left in $status, everything else in files.
run() {
	timeout 100 "$build/bin/tap_run" --tap="$tap" -o "$work/records" "$@" >"$work/stdout" 2>"$work/stderr"
	status=$?
	[ $status -ne 124 ] || fail "it hangs: $*"
}
program=$build/bin/fake_program
script() { echo "$here/scripts/$1.script"; }

has() { grep -Eq -- "$1" "$work/records" || fail "no record like: $1"; }
lacks() { ! grep -Eq -- "$1" "$work/records" || fail "a record like: $1"; }
count() { grep -Ec -- "$1" "$work/records"; }
is() { [ "$1" = "$2" ] || fail "$3: $1, not $2"; }
ends_with() { is "$status" "$1" "status"; }
silent() { [ ! -s "$work/stderr" ] || fail "something on stderr"; }
# One line on stderr that begins so; the rest of the sentence is always the same.
says() {
	is "$(wc -l <"$work/stderr")" 1 "lines on stderr"
	grep -Eq "^umtrace: .*$1.*; the program runs untraced$" "$work/stderr" || fail "does not say: $1"
	has "loss op=0 kind=12 count=1 text=\".*$1"
	lacks "^op"
	has "^bye"
}

# Records without what differs from run to run, sorted: CUPTI's thread may be early or late.
normal() {
	sed -E 's/(start|at|took)=-?[0-9]+ ?/\1 /g; s/^(site .*)offset=.*/\1/; s/ records [0-9]+//; s/ driver=.*/ driver/' "$1" |
		grep -v '^site' | sed -E 's/ site=[1-9][0-9]*/ site=N/' | LC_ALL=C sort
}
golden() {
	normal "$work/records" >"$work/normal"
	[ "$bless" != 1 ] || cp "$work/normal" "$here/golden/$1.golden"
	diff "$here/golden/$1.golden" "$work/normal" || fail "not as in golden/$1.golden"
}

case_basic() {
	run --faults=all "$program" "$(script basic)" play exit=5
	ends_with 5; silent
	golden basic
}
case_calls() {
	run "$program" "$(script calls)" play
	ends_with 0; silent
	golden calls
}
case_nvtx() {
	run "$program" "$(script nvtx)" play
	silent
	golden nvtx
	ends=$(grep -Eo '^op [0-9]+ kind=range .*took=[0-9]+' "$work/records" | cut -d' ' -f2 | tr '\n' ' ')
	is "$ends" "3 4 2 1 5 6 7 " "ranges in the order that they ended"
}
case_names() { # um_name(): parts of a pool, in order and wrong ones; found once the tap is there
	run "$program" "$(script pool)" early-recording recording play recording name=0x7f0000000000,65536,weights \
		name=0x7f0000010000,4096,kv push=step unname=0x7f0000010000 pop pop \
		name=0x7f0000010000,8000000,long name=0x5,3,bad name=0x7f0000000000,0,all unname=0x9 unname=0 \
		name=0x7f0000000000,16, environ
	ends_with 0; silent
	is "$(tr '\n' ' ' <"$work/stdout")" "recording 0 recording 1 recording 1 " "what it says of itself"
	golden names
}
case_names_absent() { # nobody records
	"$program" "$(script pool)" recording play name=0x7f0000000000,65536,weights unname=0x7f0000000000 \
		push=x pop recording >"$work/stdout" 2>"$work/stderr" || fail "status $?"
	is "$(tr '\n' ' ' <"$work/stdout")" "recording 0 recording 0 " "what it says of itself"
	silent
}
case_names_in_child() { # of a traced program: it is not recorded, and works
	run "$program" "$(script pool)" play recording fork-names recording
	ends_with 0; silent
	is "$(tr '\n' ' ' <"$work/stdout")" "recording 1 child 0 recording 1 " "what it says of itself"
	lacks 'of the child'
}
case_order() { # ids in the order of the records; the op of everything came before it
	run "$program" "$(script calls)" play play
	awk '/^op/ { if ($2 > last + 1) bad = 1; if ($2 > last) last = $2 }
		/^(kernel|time)/ { split($2, o, "="); if (o[2] > last) bad = 1 }
		/^site/ { if ($2 != site + 1) bad = 1; site = $2; split($3, p, "="); if (p[2] >= $2) bad = 1 }
		END { exit bad || last < 100 }' "$work/records" || fail "records out of order"
}
case_sites() { # the program's own frames, from its function that called up to main
	run "$program" "$(script basic)" play threads=1
	sites=$(grep -Eo '^op.*kind=launch.* site=[0-9]+' "$work/records" | grep -Eo '[0-9]+$' | sort -u | wc -l)
	is "$sites" 2 "sites of two ways to the same call"
	lacks "module=.*(libcuda|libcupti|libumtrace)"
	launch=$(grep -Eo '^op.*kind=launch.* site=[0-9]+' "$work/records" | grep -Eo '[0-9]+$' | head -1)
	address=$(sed -nE "s/^site $launch .*offset=(0x[0-9a-f]+) module=\".*fake_program\"/\1/p" "$work/records")
	name=$(addr2line -f -e "$program" $(printf %x $((address - 1))) 2>/dev/null | head -1)
	[ -z "$name" ] || [ "$name" = play ] || fail "the launch is in $name"
}
case_unknown() {
	run "$program" "$(script unknown)" play
	ends_with 0; silent
	has 'loss op=0 kind=11 count=2 text="activity of kind 99"'
	has 'loss op=0 kind=11 count=1 text="unified memory counter of kind 42"'
	has 'loss op=0 kind=11 count=1 text="cut off: activity of kind 25"'
	has 'loss op=0 kind=10 count=1 text="times of work on a device: CUPTI had none"'
	has 'loss op=0 kind=11 count=1 text="times of work on a device: they cannot be"'
	has 'loss op=0 kind=10 count=5 text="records: CUPTI had no buffer for them"'
	is "$(count '^time op=1 .*took=')" 1 "times of the kernel in a longer record"
}
case_newer() { # a CUPTI of tomorrow: records that were only extended are read
	FAKE_CUDA_VERSION=14020 FAKE_CUPTI_VERSION=140200 run "$program" "$(script unknown)" play
	silent
	has 'runtime="CUPTI 14.2.0 \(CUDA driver 14.2\)"'
	has '^time op=1 '
	# what would be a pointer to the kernel's name is not followed
	sed 's/s@104:[^ ]*/z@104:0x7/' "$(script basic)" >"$work/script"
	FAKE_CUDA_VERSION=14020 FAKE_CUPTI_VERSION=140200 run "$program" "$work/script" play exit=5
	ends_with 5; silent
	has '^time op=4 '
}
case_cuda_12() { # CUDA 12.6: shorter records
	sed 's/activity 25 104/activity 25 64/; s/activity 10 216/activity 10 208/; s/z@144:[0-9]*//' \
		"$(script basic)" >"$work/script"
	CUDA_HOME=$fakes/fake_cupti_12 FAKE_CUDA_VERSION=12060 run --faults=all "$program" "$work/script" play exit=5
	ends_with 5; silent
	has 'runtime="CUPTI 12.6 \(CUDA driver 12.6\)"'
	sed -i 's/CUPTI 12.6 (CUDA driver 12.6)/CUPTI 13.0.1 (CUDA driver 13.0)/' "$work/records"
	bless= golden basic
}
case_cuda_12_on_13() { # an older CUPTI in the program serves a newer driver
	TAP_RUN_NVTX=$fakes/fake_cupti_12/lib64/libcupti.so.12 run "$program" "$(script basic)" play
	silent
	has 'runtime="CUPTI 12.6 \(CUDA driver 13.0\)"'
	has '^time op=4'
}
case_too_new() {
	FAKE_CUDA_VERSION=12080 run "$program" "$(script basic)" play exit=4
	ends_with 4
	if ls /usr/local/cuda*/lib64/libcupti.so.12 2>/dev/null || ldconfig -p | grep -q libcupti.so.12; then
		return # another one was found
	fi
	says 'libcupti.so.12 was not found'
}
case_refused_version() {
	FAKE_CUPTI_VERSION=140000 FAKE_CUDA_VERSION=12080 \
		TAP_RUN_NVTX=$fakes/fake_cupti/lib64/libcupti.so.13 run "$program" "$(script basic)" play
	if ! ls /usr/local/cuda*/lib64/libcupti.so.12 2>/dev/null; then
		says 'libcupti.so.13 is of CUDA 14, the driver supports CUDA 12.8'
	fi
}
case_old_driver() {
	FAKE_CUDA_VERSION=11080 run "$program" "$(script basic)" play exit=4
	ends_with 4
	says 'the driver supports CUDA 11.8, and 12.0 is needed'
}
case_other_profiler() {
	FAKE_CUPTI_SUBSCRIBE=39 FAKE_CUPTI_OTHER="Nsight Systems" run "$program" "$(script basic)" play exit=4
	ends_with 4
	says 'another profiler has CUPTI \(Nsight Systems\)'
	FAKE_CUPTI_SUBSCRIBE=39 run "$program" "$(script basic)" play
	says 'another profiler has CUPTI'
}
case_subscribe_fails() {
	FAKE_CUPTI_SUBSCRIBE=35 run "$program" "$(script basic)" play
	says 'CUPTI does not start: CUPTI_ERROR_INSUFFICIENT_PRIVILEGES'
}
case_no_counters() { # the rest is recorded
	for result in 28 29 30 31 35; do
		FAKE_CUPTI_COUNTERS=$result run "$program" "$(script basic)" play
		ends_with 0; silent
		has 'loss op=0 kind=12 count=1 text="faults and migrations: CUPTI refuses: CUPTI_ERROR_'
		lacks '^(migration|fault)'
		has '^time op=4'
	done
}
case_no_kernels() {
	FAKE_CUPTI_ENABLE=10:35 run "$program" "$(script basic)" play
	silent
	has 'loss op=0 kind=12 count=1 text="times of kernels on the device: CUPTI refuses: CUPTI_ERROR_INSUFFICIENT'
	lacks '^time'
	has '^migration'
}
case_faults() { # what is asked for is what comes
	cpu='call 17\nactivity 25 104 u@4:3 z@8:0x401000 z@16:now z@32:0x7f0000001000 u@56:1\n'
	{ sed '/^call 245/d' "$(script basic)"; printf "$cpu"; } >"$work/script"
	run --faults=off "$program" "$work/script" play
	lacks '^fault'
	is "$(count '^(migration|mapping|event)')" 5 "records without faults"
	run --faults=gpu "$program" "$work/script" play
	is "$(count '^fault device=0')" 1 "faults of the device"
	lacks '^fault device=-1'
	run --faults=all "$program" "$work/script" play
	is "$(count '^fault device=0')" 1 "faults of the device"
	has '^fault device=-1 access=0 address=0x7f0000001000 faults=1 .* site=[1-9]'
}
case_late() { # buffers that come while the program ends
	FAKE_CUPTI_LATE=1 run "$program" "$(script basic)" play exit=5
	ends_with 5; silent
	has '^bye'
	is "$(tail -2 "$work/records" | head -1)" bye "the last record"
}
case_no_clock() { # times of another clock are moved to ours
	FAKE_CUPTI_NO_CLOCK=1 run "$program" "$(script basic)" play
	awk '/^op 1 /{ split($7, s, "="); from = s[2] + 0 } /^(time|migration|fault)/ { n++
		match($0, /start=[0-9]+/); t = substr($0, RSTART + 6, RLENGTH - 6) + 0
		if (t < from - 1e7 || t > from + 2e10) bad = 1 } END { exit bad || n < 4 }' "$work/records" ||
		fail "times are not of one clock"
}
case_spool_full() { # what had no room is counted
	run -q --spool=1 --slow=20 "$program" "$(script mass)" play
	ends_with 0; silent
	lost=$(awk '/^loss .*spool was full/ { split($4, c, "="); n += c[2] } END { print n + 0 }' "$work/records")
	kept=$(awk '/^records of kind 13:/ { print $5 }' "$work/records")
	[ "$lost" -gt 0 ] || fail "nothing was lost"
	[ "$(count '^loss')" -lt 20 ] || fail "a loss is told again and again"
	is $((lost + kept)) 40000 "migrations that were kept and lost"
	has '^records of kind 10: 1$' # bye
}
case_umtrace_gone() {
	run --gone "$program" "$(script mass)" play exit=6
	ends_with 6; silent
}
case_threads() {
	run "$program" "$(script basic)" threads=8
	silent
	is "$(count '^op .*kind=launch')" 8 launches
	is "$(grep -Eo '^op [0-9]+ .*thread=[0-9]+' "$work/records" | grep -Eo '[0-9]+$' | sort -u | wc -l)" 8 threads
	is "$(count '^time')" 8 times
	has '^bye'
}
case_fork() { # the child is not traced
	run "$program" "$(script basic)" play fork play exit=3
	ends_with 3; silent
	is "$(cat "$work/stdout")" "child 0" output
	is "$(count '^op .*kind=launch')" 2 launches
	has '^bye'
}
case_early_fork() { # one of the two is traced, and the other says nothing
	run "$program" "$(script basic)" early-fork play
	ends_with 0; silent
	is "$(count '^op .*kind=launch')" 1 launches
}
case_environment() {
	run "$program" "$(script basic)" environ play environ "run=env | grep -E '^(UMTRACE|.*INJECTION64)'; true"
	silent
	is "$(cat "$work/stdout")" "" "variables of umtrace's that are left"
	TAP_RUN_NVTX=$fakes/fake_cupti/lib64/libcupti.so.13 run "$program" "$(script basic)" environ
	is "$(cat "$work/stdout")" "" "variables that are left where there is no NVTX"
}
case_environment_beside() { # umtrace's other libraries are none of the program's that have NVTX
	cp "$tap" "$work/libumtrace_cupti.so"
	printf 'const char *const variable = "NVTX_INJECTION64_PATH";\n' |
		${CC:-cc} -shared -fPIC -x c - -o "$work/libbeside.so" || return
	TAP_RUN_NVTX=$fakes/fake_cupti/lib64/libcupti.so.13 run --tap="$work/libumtrace_cupti.so" \
		env LD_PRELOAD="$work/libbeside.so" "$program" "$(script basic)" environ
	is "$(cat "$work/stdout")" "" "variables that are left"
	mkdir "$work/elsewhere" && mv "$work/libbeside.so" "$work/elsewhere"
	TAP_RUN_NVTX=$fakes/fake_cupti/lib64/libcupti.so.13 run --tap="$work/libumtrace_cupti.so" \
		env LD_PRELOAD="$work/elsewhere/libbeside.so" "$program" "$(script basic)" environ
	is "$(wc -l <"$work/stdout")" 2 "places where the variable waits for a library's first range"
}
case_environment_nvtx() { # the variable waits for the first range of a program that has NVTX
	TAP_RUN_NVTX=$fakes/fake_cupti/lib64/libcupti.so.13 run "$build/bin/fake_program_nvtx" "$(script basic)" environ play fork \
		"script=$(script nvtx)" play environ
	silent
	is "$(cat "$work/stdout")" "proc NVTX_INJECTION64_PATH
environ NVTX_INJECTION64_PATH
child 0" "variables before and after"
}
case_environment_of_others() { # what the user set stays
	NVTX_INJECTION64_PATH=/a/b run "$program" "$(script basic)" environ
	is "$(sort "$work/stdout")" "environ NVTX_INJECTION64_PATH
proc NVTX_INJECTION64_PATH" "the user's own"
}
case_preloads() {
	touch "$work"/libamdhip64.so.{5,6,7} "$work/libroctx64.so.4" "$work/libumtrace_wrap.so"
	cp "$tap" "$work/libumtrace_cupti.so"
	libc=$(ldd "$program" | awk '/libc.so.6/ { print $3 }')
	LD_PRELOAD=$libc run --tap="$work/libumtrace_cupti.so" env \
		LD_PRELOAD="$work/libumtrace_wrap.so:$libc:$work/libroctx64.so.4:$work/libamdhip64.so.5:$work/libamdhip64.so.6:$work/libamdhip64.so.7" "$program" "$(script basic)" \
		'run=echo $LD_PRELOAD'
	is "$(cat "$work/stdout")" "$libc" LD_PRELOAD
}
case_descriptors() {
	"$program" "$(script basic)" play descriptors >"$work/untraced"
	run "$program" "$(script basic)" play descriptors
	diff "$work/untraced" "$work/stdout" || fail "descriptors differ"
}
case_untraced() { # the tap without umtrace does nothing
	CUDA_INJECTION64_PATH=$tap "$program" "$(script basic)" play exit=5 \
		>"$work/stdout" 2>"$work/stderr"
	status=$?
	ends_with 5; silent
}
case_crash() {
	run "$program" "$(script basic)" play crash
	ends_with 139; silent
	has '^op .*kind=launch'
	lacks '^bye'
}
case_quick_exit() {
	run "$program" "$(script basic)" play quick=9
	ends_with 9; silent
	lacks '^bye'
}
case_killed_inside() { # a wait that never ended is there
	sed 's/^call 17.*/& inside=kill/' "$(script basic)" >"$work/script"
	run "$program" "$work/script" play
	ends_with 137
	has '^op 5 kind=sync_device .*took=-1'
}
case_exit_inside() {
	run "$program" "$(script exit_inside)" play
	ends_with 3; silent
}
case_signal_handler() {
	run "$program" "$(script handler)" handler play exit=4
	ends_with 4; silent
	is "$(count '^op .*kind=sync_device .*took=[0-9]')" 4 waits
}
case_calls_at_exit() { # in handlers of the program's that come after ours
	run "$program" "$(script basic)" late play
	silent
	is "$(count '^op .*kind=launch')" 2 launches
	is "$(tail -2 "$work/records" | head -1)" bye "the last record"
}
case_strangers() {
	run "$program" "$(script strangers)" play
	silent
	golden strangers
}
case_capture() {
	run "$program" "$(script capture)" play
	silent
	golden capture
}
case_fatal() {
	printf 'resource 1 0x5000\nfatal out_of_device_memory\n' >"$work/script"
	run "$program" "$work/script" play
	ends_with 0; silent
	has 'loss op=0 kind=12 count=1 text="CUPTI gave up: out_of_device_memory"'
}
case_two_devices() {
	printf 'resource 1 0x5000\nresource 1 0x5001\ncall 243 context=0x5001 P:0x20000000 z:4096\ncall 17 context=0x5000\n' \
		>"$work/script"
	FAKE_CUDA_DEVICES=2 run "$program" "$work/script" play
	is "$(count '^device')" 2 devices
	has '^allocation 1 kind=device flags=0 device=1 '
	has '^op 2 kind=sync_device .* device=0 '
}
case_variables() { # of a GPU's allocations, by what the program keeps them in: whole traces
	for level in O0 O2; do
		"$build/bin/umtrace" -q --force -o "$work/names.um.db" -- "$build/bin/fake_variables_$level" \
			>"$work/stdout" 2>"$work/stderr" || fail "$level: umtrace"
		silent
		names=$(sqlite3 "$work/names.um.db" "SELECT group_concat(COALESCE(name, '-'), ' ') FROM allocation")
		is "$names" "field local.cells global_pointer of_driver of->edges[1] - -" "$level: names"
	done
}
case_soak() { # a million records; the program's memory does not grow with them
	run -q --faults=all "$program" "$(script soak)" play peak
	ends_with 0; silent
	lost=$(awk '/^loss/ { split($4, c, "="); n += c[2] } END { print n + 0 }' "$work/records")
	all=$(awk '/^status/ { print $6 }' "$work/records")
	[ $((all + lost)) -gt 1000000 ] || fail "only $all records, $lost lost"
	[ "$(awk '{ print $2 }' "$work/stdout")" -lt 131072 ] || fail "memory grows"
	echo "$all records, $lost lost, $(cat "$work/stdout")"
}

"case_${1:?}" && echo "ok"
