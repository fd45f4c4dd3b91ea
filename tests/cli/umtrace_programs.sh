#!/usr/bin/env bash
# Programs that umhipcc did not make, or not alone: in C; of AMD's hipcc, for a GPU only; one that opens a
# library with kernels while it runs; with AMD's library in its RPATH; under a second sanitizer. Each runs
# by itself as it is, traced, and its trace holds what it asked for.
. "$(dirname "$0")/lib.sh"

lib=$UM_BUILD/lib/umtrace
amd=$(dirname "$(readlink -f /usr/lib/x86_64-linux-gnu/libamdhip64.so)")
count() { sqlite3 "$1" "SELECT count(*) FROM $2"; }

# Of C, with AMD's header and AMD's library.
cat >c.c <<'END'
#include <hip/hip_runtime_api.h>
#include <stdio.h>
int main(void)
{
	char *memory, copy[16];
	if (hipMallocManaged((void **)&memory, 8192, hipMemAttachGlobal) != hipSuccess)
		return 1;
	memory[4096] = 'x';
	if (hipMemAdvise(memory, 4096, hipMemAdviseSetReadMostly, 0) != hipSuccess ||
	    hipMemPrefetchAsync(memory, 8192, 0, NULL) != hipSuccess ||
	    hipMemcpy(copy, memory + 4096, sizeof(copy), hipMemcpyDefault) != hipSuccess ||
	    hipFree(memory) != hipSuccess)
		return 2;
	printf("C: %c\n", copy[0]);
	return 0;
}
END
check "C" cc -std=c17 -D__HIP_PLATFORM_AMD__ c.c -L"$amd" -lamdhip64 -o in_c
run umtrace -q -o c.um.db ./in_c
run sqlite3 c.um.db "SELECT kind FROM op WHERE kind IN ('advise', 'prefetch', 'copy') ORDER BY op"
check "C, with an old RPATH to AMD's library" cc -std=c17 -D__HIP_PLATFORM_AMD__ c.c -L"$amd" -lamdhip64 \
	-Wl,--disable-new-dtags,-rpath,"$amd" -o in_c_rpath
run umtrace -q -o rpath.um.db ./in_c_rpath
run sqlite3 rpath.um.db "SELECT count(*) FROM op WHERE kind = 'prefetch'"

# As hipcc leaves it: it starts; a launch says what is missing and what to do.
cat >kernel.hip <<'END'
#include <hip/hip_runtime.h>
#include <cstdio>
__global__ void twice(int *p) { *p *= 2; }
extern "C" int part()
{
	int *p = nullptr;
	if (hipMallocManaged(&p, sizeof *p))
		return -1;
	*p = 21;
	twice<<<1, 1>>>(p);
	hipError_t error = hipGetLastError();
	if (!error)
		error = hipDeviceSynchronize();
	printf("%s, %d\n", hipGetErrorName(error), *p);
	fflush(stdout);
	return hipFree(p);
}
#ifndef LIBRARY
int main() { return part(); }
#endif
END
check "hipcc" hipcc --offload-arch=gfx90a kernel.hip -o of_hipcc
run umtrace -q -o hipcc.um.db ./of_hipcc
check "its trace" test "$(count hipcc.um.db kernel)" = 0

# A program of C that knows nothing of HIP opens a library with kernels.
check "a library" umhipcc -O0 -DLIBRARY -shared -fPIC kernel.hip -o libpart.so
cat >opens.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
	for (int i = 0; i < 2; i++) {
		void *library = dlopen("./libpart.so", RTLD_NOW | RTLD_LOCAL);
		int (*part)(void) = library ? (int (*)(void))dlsym(library, "part") : NULL;
		if (!part || part() || dlclose(library)) {
			puts(library ? "no part" : dlerror());
			return 1;
		}
	}
	return 0;
}
END
check "who opens it" cc opens.c -o opens
run ./opens
run umtrace -q -o opens.um.db ./opens
check "both launches" test "$(count opens.um.db 'kernel WHERE reads > 0')" = 2

# A program with a sanitizer of its own: of its main, linked with the library above.
cat >main.c <<'END'
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
int part(void);
static void *work(void *memory)
{
	memset(memory, 1, 64);
	return memory;
}
int main(void)
{
	pthread_t thread;
	void *memory = malloc(64);
	int failed = pthread_create(&thread, NULL, work, memory) || pthread_join(thread, NULL) || part();
	free(memory);
	return failed;
}
END
for sanitizer in address undefined thread; do
	check "-fsanitize=$sanitizer" clang-15 -g -fsanitize=$sanitizer -fno-sanitize-recover=all main.c \
		-L. -lpart -Wl,-rpath,"$PWD" -Wl,-rpath,"$lib" -Wl,-rpath-link,"$lib" -o "with_$sanitizer"
	run "./with_$sanitizer"
	run umtrace -q -o "$sanitizer.um.db" "./with_$sanitizer"
	check "its launch" test "$(count "$sanitizer.um.db" 'kernel WHERE reads > 0')" = 1
done
finish
