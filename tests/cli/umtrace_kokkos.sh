#!/usr/bin/env bash
# Programs built on Kokkos: labels of data and of parallel work, regions, sections and copies in the trace; the
# user's own tools are called as without umtrace; what is in the environment. Kokkos is played by kokkos_like.h.
. "$(dirname "$0")/lib.sh"

unset KOKKOS_TOOLS_LIBS KOKKOS_PROFILE_LIBRARY
cat >program.hip <<'END'
#include <hip/hip_runtime.h>
#include "kokkos_like.h"
#include <vector>

__global__ void axpy(float *y, const float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] += 2 * x[i];
}

/* A view: Kokkos's header of 128 bytes goes before the data, and the tool is told of what the data has. */
static float *view(const char *space, const char *label, size_t bytes)
{
	char *memory;
	if (hipMallocManaged(&memory, bytes + 128))
		abort();
	K_TELL(allocate, k_space_of(space), label, memory, bytes);
	return (float *)(memory + 128);
}

static void drop(const char *space, const char *label, float *data, size_t bytes)
{
	K_TELL(deallocate, k_space_of(space), label, (char *)data - 128, bytes);
	(void)hipFree((char *)data - 128);
}

static void parallel_for(const char *label, float *y, const float *x, int n)
{
	uint64_t id = 0;
	K_CALL(begin_for, label, 0, &id);
	axpy<<<(n + 255) / 256, 256>>>(y, x, n);
	K_CALL(end_for, id);
	printf("%s has id %lu\n", label, (unsigned long)id);
}

int main()
{
	const int n = 4096;
	const size_t bytes = n * sizeof(float);
	k_read_environment();
	k_load_tool();
	(void)system("echo a child: $KOKKOS_TOOLS_LIBS $KOKKOS_PROFILE_LIBRARY; exec env >child.env");
	float *x = view("HIPManaged", "x of the solver", bytes), *y = view("HIPManaged", "y", bytes);
	std::vector<float> host(n);
	K_TELL(allocate, k_space_of("Host"), "on the host", host.data(), bytes);
	uint32_t section = 7;
	uint64_t id = 0;
	K_CALL(create, "assembly", &section);
	K_CALL(start, section);
	K_CALL(push, "solve");
	for (int i = 0; i < n; i++)
		x[i] = y[i] = 1;
	parallel_for("axpy", y, x, n);
	K_CALL(stop, section);
	parallel_for("again", y, x, n);
	K_TELL(event, "halfway");
	K_CALL(pop);
	K_CALL(destroy, section);
	K_CALL(begin_fence, "Kokkos::fence: all", 0, &id);
	(void)hipDeviceSynchronize();
	K_CALL(end_fence, id);
	K_CALL(begin_copy, k_space_of("Host"), "mirror", host.data(), k_space_of("HIPManaged"), "y", y, bytes);
	(void)hipMemcpy(host.data(), y, bytes, hipMemcpyDefault);
	K_CALL(end_copy);
	K_TELL(deallocate, k_space_of("Host"), "on the host", host.data(), bytes);
	drop("HIPManaged", "y", y, bytes);
	drop("HIPManaged", "x of the solver", x, bytes);
	k_finalize();
	printf("%g\n", host[5]);
	return 0;
}
END
check "compiles" umhipcc -g -O1 -I "$UM_SOURCE/tests/cli" program.hip -o program
check "untraced" sh -c "./program >plain.out"
check "traced" sh -c "umtrace -q --host-watch=none -o app.um.db ./program >traced.out"
check "it says what it says without umtrace, and waits no more" diff plain.out traced.out
check "none of it is left to children" sh -c '! grep -q KOKKOS child.env'
is() {
	local got
	got=$(sqlite3 -readonly app.um.db "$3")
	check "$1 ($got, expected $2)" test "$got" = "$2"
}
is "every record is right" 0 "SELECT COUNT(*) FROM loss WHERE kind IN ('invalid_record', 'name')"
is "labels are names" "x of the solver|y" "SELECT group_concat(name, '|') FROM allocation"
is "they end before the memory does" 2 "SELECT COUNT(*) FROM part JOIN op ON op.op = end_op WHERE op.kind = 'name_end'"
is "ranges" "assembly|solve|axpy|again|halfway|Kokkos::fence: all|deep_copy: mirror = y" \
	"SELECT group_concat(name, '|') FROM (SELECT name FROM user_range ORDER BY op)"
# in_range KIND RESULT: the ranges that the ops of a kind are in
in_range() {
	is "$1 by range" "$2" "SELECT group_concat(r, '; ') FROM (SELECT (SELECT group_concat(name, '+') FROM user_range
		WHERE op.op BETWEEN user_range.op AND last_op) AS r FROM op WHERE kind = '$1' ORDER BY op)"
}
in_range launch "assembly+solve+axpy; solve+again"
in_range copy "deep_copy: mirror = y"
in_range sync_device "Kokkos::fence: all"
is "every range has ended" 0 "SELECT COUNT(*) FROM user_range WHERE last_op IS NULL"
run sh -c "umanalyze summary --range axpy app.um.db | sed -n '/^Kernels/,/^Losses/p'"

# The user's own tool: what it is called with, and what it finds in its environment.
cat >tool.c <<'END'
#include "kokkos_like.h"
#define SAY(...) (printf("tool: " __VA_ARGS__), printf("\n"))
#define BEGIN(kind, n) void kokkosp_begin_##kind(const char *name, uint32_t device, uint64_t *id) \
	{ *id = n; SAY("begin %s %s", #kind, name); } \
	void kokkosp_end_##kind(uint64_t id) { SAY("end %s %d", #kind, (int)id); }
BEGIN(parallel_for, 41) BEGIN(parallel_reduce, 42) BEGIN(fence, 43)
void kokkosp_init_library(int sequence, uint64_t version, uint32_t devices, void *about)
{
	SAY("init %d %d %u %p, KOKKOS_TOOLS_LIBS %s, KOKKOS_PROFILE_LIBRARY %s", sequence, (int)version, devices,
		about, getenv("KOKKOS_TOOLS_LIBS"), getenv("KOKKOS_PROFILE_LIBRARY"));
}
void kokkosp_finalize_library(void) { SAY("finalize"); }
#ifdef NO_FENCES
void kokkosp_request_tool_settings(uint32_t n, k_settings *s) { SAY("settings %u %d", n, s->requires_global_fencing);
	s->requires_global_fencing = false; }
#endif
void kokkosp_push_profile_region(const char *name) { SAY("push %s", name); }
void kokkosp_pop_profile_region(void) { SAY("pop"); }
void kokkosp_create_profile_section(const char *name, uint32_t *id) { *id = 99; SAY("section %s", name); }
void kokkosp_start_profile_section(uint32_t id) { SAY("start %u", id); }
void kokkosp_stop_profile_section(uint32_t id) { SAY("stop %u", id); }
void kokkosp_destroy_profile_section(uint32_t id) { SAY("destroy %u", id); }
void kokkosp_allocate_data(k_space s, const char *label, const void *at, uint64_t n) { SAY("allocate %s %s %d", s.name, label, (int)n); }
void kokkosp_deallocate_data(k_space s, const char *label, const void *at, uint64_t n) { SAY("deallocate %s %s %d", s.name, label, (int)n); }
void kokkosp_begin_deep_copy(k_space t, const char *to, const void *a, k_space f, const char *from, const void *b, uint64_t n)
{ SAY("copy %s %s %s %s %d", t.name, to, f.name, from, (int)n); }
void kokkosp_end_deep_copy(void) { SAY("end copy"); }
void kokkosp_declare_metadata(const char *key, const char *value) { SAY("%s: %s", key, value); }
void kokkosp_provide_tool_programming_interface(uint32_t n, k_actions actions) { SAY("actions %u %d", n, actions.fence != NULL); }
END
check "a tool" gcc -shared -fPIC -I "$UM_SOURCE/tests/cli" tool.c -o tool.so
check "a tool without fences" gcc -DNO_FENCES -shared -fPIC -I "$UM_SOURCE/tests/cli" tool.c -o quick.so
# same TEXT VARIABLE=VALUE...: the program says the same with and without umtrace, and is traced
same() {
	local text=$1
	shift
	check "$text: untraced" sh -c 'env "$@" ./program >plain.out 2>plain.err' sh "$@"
	check "$text: traced" sh -c 'env "$@" umtrace -q --force --host-watch=none -o app.um.db ./program \
		>traced.out 2>traced.err' sh "$@"
	check "$text: says the same" diff plain.out traced.out
	check "$text: errors" diff plain.err traced.err
	is "$text: labels" "x of the solver|y" "SELECT group_concat(name, '|') FROM allocation"
	is "$text: ranges" 7 "SELECT COUNT(*) FROM user_range WHERE last_op"
}
same "a tool of the user's" KOKKOS_TOOLS_LIBS="$PWD/tool.so"
check "it is told of all" test "$(grep -c '^tool: ' traced.out)" = 24
check "it has Kokkos wait" grep -q "waits for the device" traced.out
check "its ids are the program's" grep -q "axpy has id 41" traced.out
same "one that needs no fences" KOKKOS_TOOLS_LIBS="$PWD/quick.so;$PWD/tool.so"
check "and has none" sh -c '! grep -q "waits for the device" traced.out'
same "one that is not there" KOKKOS_TOOLS_LIBS="$PWD/none.so"
same "in the older variable" KOKKOS_PROFILE_LIBRARY="$PWD/tool.so"
same "in both" KOKKOS_PROFILE_LIBRARY="$PWD/tool.so" KOKKOS_TOOLS_LIBS="$PWD/tool.so"

# Kokkos before 3.7 reads the older variable alone.
check "an older Kokkos" umhipcc -DOLD_KOKKOS -g -O1 -I "$UM_SOURCE/tests/cli" program.hip -o program
same "older, without tools"
same "older, with a tool" KOKKOS_PROFILE_LIBRARY="$PWD/tool.so"

# A program without Kokkos keeps what the user has; a shell hands on what umtrace set.
cat >other.hip <<'END'
#include <hip/hip_runtime.h>
#include <cstdlib>
int main() { void *p; (void)hipMalloc(&p, 16); return system("env | grep ^KOKKOS; true"); }
END
check "without Kokkos" umhipcc other.hip -o other
check "nothing is left" test "$(umtrace -q --force -o app.um.db ./other)" = ""
check "what the user set is" test "$(KOKKOS_TOOLS_LIBS=a.so umtrace -q --force -o app.um.db ./other)" = KOKKOS_TOOLS_LIBS=a.so
check "by a shell" umtrace -q --force --host-watch=none -o app.um.db sh -c "./program >traced.out"
is "traced by a shell" 7 "SELECT COUNT(*) FROM user_range WHERE last_op"

# On a GPU, with stand-ins for NVIDIA's libraries: Kokkos reads its variable before CUDA is used, or after.
export CUDA_HOME=$UM_BUILD/tests/fake_cuda/fake_cupti
unset CUDA_PATH CUDA_INJECTION64_PATH NVTX_INJECTION64_PATH
cat >pool <<'END'
resource 1 0x5000
call 371 context=0x5000 P:0x7f0000000000 z:4194304 u:1
END
echo 'call 307 context=0x5000 symbol=_Z5scalePfi p:0x5 u:264 u:1 u:1 u:256 u:1 u:1 u:128 p:0 p:0 p:0' >kernel
ln -s "$UM_BUILD/bin/fake_kokkos" gpu
for when in "" late; do
	check "measured $when" test "$(umtrace -q --force -o app.um.db ./gpu pool kernel $when)" = ""
	is "measured $when" "cupti of the GPU scale" "SELECT backend || ' ' || allocation.name || ' ' || user_range.name
		FROM run, allocation, user_range"
	in_range launch scale
	is "no wrong names $when" 0 "SELECT COUNT(*) FROM loss WHERE kind = 'name'"
done
finish
