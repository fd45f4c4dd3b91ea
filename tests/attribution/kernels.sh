#!/usr/bin/env bash
# The line behind every call of every program in kernels/: kernels.sh built|some|all.
#   built  each as the build has it (-O2 -g)
#   some   each of seven other ways to build, with one program, in turn
#   all    every program in all eight ways: for a machine that has nothing else to do
# What must come out is read from the sources: a call's innermost frame stands where its name does, each
# further frame where the function within it is called, and whose the call is one of them: never the
# checked call of kernel_common.h. A program that is new in the folder is among them.
set -eu
: "${UM_BUILD:?the build folder}" "${UM_SOURCE:?the source folder}"
export LC_ALL=C
kernels=$UM_SOURCE/kernels
work=$(mktemp -d "${TMPDIR:-/tmp}/um-kernel-sites-XXXXXX")
trap 'rm -rf "$work"' EXIT
cd "$work"
PATH=$UM_BUILD/bin:$PATH
ways=(O0 no_pie gz split package dwarf4 none)
failed=0

# Options that make them short, and take the calls that no others take.
options_of() {
	case $1 in
	random_touch) echo --touches=4096 --bytes=4194304 ;;
	unified_memory) echo --all --size=1 --pressure=8 --iterations=1 ;;
	hotspot) echo --size=128 ;;
	grid_stride) echo --n=65536 ;;
	small_allocs) echo --count=100 ;;
	bfs) echo --depth=5 ;;
	kv_cache) echo --turn=8 --offload --advise=preferred-device ;;
	multi_gpu) echo --share=copy ;;
	scale) echo --n=65536 --prefetch --advise=preferred-host,read-mostly ;;
	esac
}

build() { # WAY PROGRAM
	local source=$kernels/$2.hip
	case $1 in
	O0) umhipcc -O0 -g "$source" -o "$2" ;;
	O2) umhipcc -O2 -g "$source" -o "$2" ;;
	no_pie) umhipcc -O2 -g -fno-pie -no-pie "$source" -o "$2" ;;
	gz) umhipcc -O2 -g -gz "$source" -o "$2" ;;
	split | package)
		umhipcc -O2 -g -gsplit-dwarf -c "$source" -o "$2.o"
		umhipcc "$2.o" -o "$2"
		[ "$1" = split ] || { llvm-dwp-15 -e "$2" -o "$2.dwp" && rm "$2.dwo"; } ;;
	dwarf4) umhipcc -O2 -g -gdwarf-4 "$source" -o "$2" ;;
	none) umhipcc -O2 "$source" -o "$2" ;;
	esac
}

# One line a call: kind, user's frame, frames of kernels/ from the innermost on; tabs between.
calls() {
	umanalyze ops --format=json "$1" | jq -r --arg folder "$kernels/" '
		def place: "\(.function // "")|\(.file // "" | ltrimstr($folder))|\(.line // 0)";
		.[] | select(.kind != "host" and .kind != "range") |
		[.kind, (.user | place), (.stack[] | select((.file // "") | startswith($folder)) | place)] |
		join("\t")'
}

check_lines() { # of the file "calls", by the sources
	awk -F'\t' -v folder="$kernels/" '
		BEGIN {
			api["alloc"] = "hip(Malloc|HostMalloc|ExtMalloc|MemMap)[A-Za-z]*\\("
			api["free"] = "hip((Host)?Free[A-Za-z]*|MemUnmap)\\("
			api["advise"] = "hipMemAdvise\\("
			api["prefetch"] = "hipMemPrefetchAsync\\("
			api["copy"] = "hipMemcpy[A-Za-z0-9]*\\("
			api["memset"] = "hipMemset[A-Za-z0-9]*\\("
			api["launch"] = "<<<|hipLaunchKernelGGL"
			api["sync_device"] = "hipDeviceSynchronize\\("
			api["sync_stream"] = "hipStreamSynchronize\\("
			api["event_record"] = "hipEventRecord\\("
			api["event_sync"] = "hipEventSynchronize\\("
			api["event_query"] = "hipEventQuery\\("
			api["stream_query"] = "hipStreamQuery\\("
			api["stream_wait"] = "hipStreamWaitEvent\\("
			api["stream_create"] = "hipStreamCreate"
			api["stream_destroy"] = "hipStreamDestroy\\("
			api["attach"] = "hipStreamAttachMemAsync\\("
			api["name"] = "um_name\\("
			api["name_end"] = "um_unname\\("
		}
		function text(file, line,    name, row, n) {
			if (!((file, 1) in lines)) {
				name = folder file
				while ((getline row < name) > 0)
					lines[file, ++n] = row
				close(name)
			}
			return lines[file, line]
		}
		# A function of a table is called by another name.
		function is_value(file, name,    n) {
			text(file, 1)
			for (n = 1; (file, n) in lines; n++)
				if (lines[file, n] ~ "[{, \t]" name "[,}]")
					return 1
			return 0
		}
		function launches(file,    n, found) {
			text(file, 1)
			for (n = 1; (file, n) in lines; n++)
				found += lines[file, n] ~ api["launch"]
			return found
		}
		function wrong(what) { print "  " what ": " $0; bad = 1 }
		{
			seen[$1]++
			if (!($1 in api)) { wrong("a kind that this test does not know"); next }
			if (NF < 3) { wrong("no frame of the program"); next }
			user = 0
			for (i = 3; i <= NF; i++) {
				split($i, at, "|")
				row = text(at[2], at[3])
				if (i == 3 && $1 == "launch" && at[3] == 0 && launches(at[2]) > 1)
					; # of two branches, which the compiler made one
				# A call within a macro stands where that begins.
				else if (i == 3 && row !~ api[$1] &&
				    !(row ~ /HIP_CHECK\($/ && text(at[2], at[3] + 1) ~ api[$1]))
					wrong("the call does not stand in line " at[3])
				# What a destructor does stands where the scope of its object ends.
				if (i > 3 && !(within ~ /^~/ && row ~ /return|^}/) &&
				    index(row, within "(") == 0 && index(row, within "<") == 0 &&
				    !(row ~ /[]a-z_]\(/ && is_value(at[2], within)))
					wrong(within "() is not called in line " at[3])
				within = at[1]
				sub(/^.*::/, "", within); sub(/<.*/, "", within)
				if ($i == $2) user = i
				if (at[1] == "check_hip") wrong("within the checked call")
			}
			split($2, whose, "|")
			if (!user) wrong("the user has another frame")
			else if (user != 3 && $1 ~ /launch|sync|event|stream/) wrong("it is the line of a caller")
			else if (user == 3 && whose[2] == "kernel_common.h" && NF > 3 && $1 != "advise")
				wrong("it is a line of kernel_common.h")
		}
		END {
			if (!seen["alloc"] || !seen["launch"]) { print "  no allocation or no launch"; bad = 1 }
			exit bad
		}' calls
}

# Without debug information: which module, and where in it.
check_places() {
	sqlite3 trace.um.db "SELECT count(*) FROM op WHERE kind <> 'host' AND NOT EXISTS (SELECT 1 FROM frame
		WHERE frame.site = op.site AND module LIKE '%/$1' AND offset_bytes > 0)" | grep -qx 0 &&
		cut -f2 calls | awk -F'|' '{ if ($2 != "" || $3 != 0) bad = 1; if ($1 != "" && $1 != "_start") named = 1 }
			END { exit bad || !named }'
}

check() { # WAY PROGRAM EXECUTABLE
	local status=0
	umtrace -q --force --no-model --no-requests -o trace.um.db -- "$3" $(options_of "$2") >out 2>err || status=$?
	if [ $status = 0 ]; then
		calls trace.um.db >calls
		if [ "$1" = none ]; then check_places "$2"; else check_lines; fi || status=$?
	fi
	[ $status = 0 ] && return
	echo "FAILED: $2, $1" >&2
	cat err >&2
	failed=1
}

programs=()
for source in "$kernels"/*.hip; do
	programs+=("$(basename "$source" .hip)")
done
case ${1:-} in
built)
	for program in "${programs[@]}"; do
		check O2 "$program" "$UM_BUILD/kernels/$program"
	done
	;;
some)
	for i in "${!ways[@]}"; do
		program=${programs[$((2 * i % ${#programs[@]}))]}
		# Its unit is one range, from which all lists count.
		[ "${ways[$i]}" != package ] || program=jacobi2d
		build "${ways[$i]}" "$program"
		check "${ways[$i]}" "$program" "./$program"
	done
	;;
all)
	for way in O2 "${ways[@]}"; do
		for program in "${programs[@]}"; do
			build "$way" "$program"
			check "$way" "$program" "./$program"
			rm -f "$program" "$program".*
		done
		echo "$way: ${#programs[@]} programs"
	done
	;;
*) echo "kernels.sh built|some|all" >&2; exit 2 ;;
esac
exit $failed
