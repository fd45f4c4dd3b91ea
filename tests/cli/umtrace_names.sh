#!/usr/bin/env bash
# umtrace.h: compiles as C99 and C++11, works with and without umtrace; names of any bytes and wrong ones;
# what summary, ops and policies make of them; in a trace of a GPU too.
. "$(dirname "$0")/lib.sh"

# The header alone, by every compiler and both languages; nothing to link with.
cat >use.c <<'END'
#include <umtrace.h>
int main(void)
{
	int here[4] = {0};
	um_name(here, sizeof(here), "on the stack");
	um_range_push("x");
	um_range_pop();
	um_unname(here);
	um_unname(0);
	return um_recording();
}
END
cp use.c use.cpp
strict="-Wall -Wextra -Werror -Wpedantic -Wshadow -Wconversion"
for c in gcc clang-15; do
	check "$c C99" $c -std=c99 $strict -Wstrict-prototypes -I "$UM_BUILD/include" use.c -o use
	check "$c C99, as it is without umtrace" ./use
done
for cxx in g++ clang++-15; do
	check "$cxx C++11" $cxx -std=c++11 $strict -Wold-style-cast -Wcast-qual -I "$UM_BUILD/include" use.cpp -o use
	check "$cxx C++11, as it is without umtrace" ./use
done
check "umhipcc needs no -I" umhipcc -O0 use.c -o use_hip
check "without umtrace" ./use_hip
check "a program without HIP under umtrace" umtrace -q -o none.um.db ./use

cat >names.hip <<'END'
#include <hip/hip_runtime.h>
#include <umtrace.h>
#include <cstdio>
#include <cstring>
#include <string>
#include <sys/wait.h>
#include <unistd.h>

__global__ void touch(char *at, int bytes)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < bytes)
		at[i] = 1;
}

int main()
{
	char *pool, *buffer, *device, *pinned;
	(void)hipMallocManaged(&pool, 16 * 4096);
	(void)hipMallocManaged(&buffer, 4096);
	(void)hipMalloc(&device, 8192);
	(void)hipHostMalloc(&pinned, 4096);
	um_name(buffer, 4096, "grid of cells");
	um_name(device, 100, "of the device");
	um_name(pinned, 0, "all of it");
	um_name(pool, 4096, "first");
	um_name(pool + 4096, 8192, std::string(2000, 'n').c_str());
	um_name(pool + 3 * 4096, 4096, "caf\xc3\xa9 \xff\x01\x1b[31m\"<&>");
	um_name(pool + 4 * 4096, 0, "the rest");
	pool[0] = 1; /* of "first" */
	um_unname(pool);
	um_name(pool, 4096, "second");
	memset(pool + 4096, 1, 4096); /* not of "second" */
	pool[1] = 2;
	touch<<<1, 64>>>(pool, 64);
	touch<<<1, 64>>>(device + 4096, 64);
	(void)hipDeviceSynchronize();
	/* wrong: no memory of HIP's, too long, no name, nothing there */
	um_name(&pool, 8, "a variable");
	um_name(nullptr, 8, "nowhere");
	um_name(buffer, 8192, "too long");
	um_name(buffer, 4, "");
	um_name(buffer, 4, nullptr);
	um_unname(&pool);
	um_unname(pool + 5);
	(void)hipGetLastError();
	fflush(stdout);
	if (fork() == 0) {
		um_name(pool, 16, "of the child");
		_exit(um_recording());
	}
	int status = 0;
	wait(&status);
	printf("recording %d, in the child %d\n", um_recording(), WEXITSTATUS(status));
	(void)hipFree(pool);
	um_name(pool, 4096, "freed");
	return 0;
}
END
check "compiles" umhipcc -g -O1 names.hip -o names
check "untraced" test "$(./names)" = "recording 0, in the child 0"
check "traced" test "$(umtrace -q --host-watch=none --driver=demand --page-size=4KiB \
	-o names.um.db ./names)" = "recording 1, in the child 0"
is() {
	local got
	got=$(sqlite3 -readonly names.um.db "$3")
	check "$1 ($got, expected $2)" test "$got" = "$2"
}
is "every record is right" 0 "SELECT COUNT(*) FROM loss WHERE kind = 'invalid_record'"
is "what is named as a whole has that name" "pool|too long|device|all of it" \
	"SELECT group_concat(name, '|') FROM (SELECT name FROM allocation ORDER BY allocation)"
is "strange bytes are readable" 1 "SELECT COUNT(*) FROM part WHERE name = 'café ???[31m\"<&>'"
is "a long name is cut" 511 "SELECT MAX(length(name)) FROM part"
is "wrong ones are counted" 7 "SELECT SUM(count) FROM loss WHERE kind = 'name' AND detail LIKE 'um_name() and%'"
is "an end where nothing begins" 1 "SELECT SUM(count) FROM loss WHERE kind = 'name' AND detail LIKE 'um_unname()%'"
is "each by its line" 7 "SELECT COUNT(DISTINCT line) FROM op JOIN frame USING (site)
	WHERE op.kind IN ('name', 'name_end') AND result <> 0 AND file LIKE '%/names.hip'"
is "nothing of the child" 0 "SELECT COUNT(*) FROM part WHERE name = 'of the child'"
is "the pool's parts end with it" "free 4" "SELECT op.kind || ' ' || COUNT(*) FROM part JOIN op ON op.op = end_op
	WHERE part.allocation = 1 AND op.kind = 'free'"
also 's/n{30,}(\.\.\.)?/nnn/; s/ at TIME, took TIME//; s/(names\.hip):[0-9]+/\1:LINE/'
run sh -c "umanalyze summary names.um.db | sed -n '/^Allocations/,/^Losses/p'"
run umanalyze ops --kind=name,name_end names.um.db
run sh -c "umanalyze ops -f json --kind=name_end names.um.db | jq -c '.[0] | {kind, allocation, offset_bytes, bytes, part}'"
run sh -c "umanalyze summary -f json names.um.db | jq -c '.allocations[0].parts[] | {name, times, bytes, touched_bytes, device_faults}'"

# What the host touched before a name, or before its end, is on the right side of it.
check "traced, the host watched" umtrace -q -o host.um.db ./names
if [ "$(sqlite3 host.um.db 'SELECT host_watch FROM run')" != none ]; then
	check "pages of the host by name" test "$(umanalyze summary -f json host.um.db | jq -r '[.allocations[0].parts[]
		| select(.host_touched_pages > 0) | "\(.name[0:6]) \(.host_touched_pages)"] | join(", ")')" = \
		"first 1, nnnnnn 1, second 1"
fi

cat >second.yaml <<'END'
advise:
  - {on: {name: second}, preferred_location: host}
prefetch:
  - {on: {name: "the *", range: [4KiB, 12KiB]}, to: gpu0, before: touch, nth: 1}
  - {on: {name: "pool"}, to: gpu0, before: touch, nth: 2}
END
run umsim policy check second.yaml names.um.db
run sh -c "umsim policy check -f json second.yaml names.um.db | jq -c '.rules[].allocations[] | {allocation, name, bytes, offset_bytes, op, end_op}'"
printf 'advise:\n  - {on: {name: second}, allocate_as: device}\n' >as.yaml
run umsim policy check as.yaml names.um.db

# the same on a GPU, with stand-ins for NVIDIA's libraries
export CUDA_HOME=$UM_BUILD/tests/fake_cuda/fake_cupti
unset CUDA_PATH CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
cat >script <<'END'
resource 1 0x5000
call 371 context=0x5000 P:0x7f0000000000 z:4194304 u:1
END
# Each kernel has ended before the next is launched: what moves in two kernels at once is either's.
cat >faults <<'END'
call 307 context=0x5000 symbol=_Z5scalePfi p:0x5 u:264 u:1 u:1 u:256 u:1 u:1 u:128 p:0 p:0 p:0
activity 10 216 z@16:now z@24:now+1000000 u@40:0 u@44:1 u@48:7 u@52:264 u@56:1 u@60:1 u@64:256 u@68:1 u@72:1 u@76:1024 u@80:128 u@92:corr s@104:_Z5scalePfi
activity 25 104 u@4:4 z@8:3 z@16:now z@24:now+40000 z@32:0x7f0000001000 u@40:0 u@44:0 u@56:2
activity 25 104 u@4:1 z@8:65536 z@16:now z@24:now+2000 z@32:0x7f0000008000 u@40:0 u@44:0 u@56:2
sleep 2
call 17 context=0x5000
END
ln -s "$UM_BUILD/bin/fake_program" program
check "measured" umtrace -q -o gpu.um.db ./program script play name=0x7f0000000000,65536,weights \
	name=0x7f0000010000,65536,kv script=faults play unname=0x7f0000010000 name=0x7f0000010000,65536,logits play
run sh -c "umanalyze summary gpu.um.db | sed -n '/^Allocations/,/^Losses/p'"
finish
