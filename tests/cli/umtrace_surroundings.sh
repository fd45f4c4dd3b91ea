#!/usr/bin/env bash
# A traced program finds what an untraced one finds: descriptors, signals, environment, input.
. "$(dirname "$0")/lib.sh"

program=$UM_BUILD/tests/hip/surroundings
seq 1000 >input

# same TEXT CMD...: the program, started by CMD, by itself and under umtrace: all output is alike.
same() {
	local text=$1 trace
	shift
	for trace in "" "umtrace -q $options --force -o t.um.db"; do
		"$@" $trace "$program" <input >out 2>err
		check "$text: status" test $? = 0
		mv out "out.${trace:+traced}"
		mv err "err.${trace:+traced}"
	done
	[ -z "$may_differ" ] || sed -i "/$may_differ/d" out. out.traced
	check "$text: output" diff out. out.traced
	check "$text: errors" diff err. err.traced
	check "$text: input" grep -q "read: 1000" out.traced
	check "$text: traced" test "$(sqlite3 t.um.db 'SELECT count(*) FROM kernel')" = 1
}

options= may_differ=
same "as it is" env
same "a preload of its own" env LD_PRELOAD=libm.so.6
same "NVIDIA's libraries in reach" env CUDA_HOME="$UM_BUILD/tests/fake_cuda/fake_cupti"
same "a tap of its own" env CUDA_INJECTION64_PATH=/nowhere/libumtrace_cupti.so NVTX_INJECTION64_PATH=/nowhere/x.so
same "signals ignored" sh -c 'trap "" HUP INT CHLD PIPE XFSZ; exec "$@"' sh
same "no errors" sh -c 'exec "$@" 2>&-' sh
same "descriptors more" sh -c 'exec 7</dev/null 9>/dev/null; exec "$@"' sh
# That way there is a handler of SIGSEGV, which the program's own sigaction() does not show.
options=--host-watch=mprotect may_differ=^SigCgt
same "watched by mprotect" env
may_differ=
options=--host-watch=none
same "not watched" env
finish
