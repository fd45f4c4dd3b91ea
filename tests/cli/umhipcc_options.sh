#!/usr/bin/env bash
# The command line of hipcc: stages, names of outputs, languages, several sources, libraries.
. "$(dirname "$0")/lib.sh"

cat >kernel.h <<'END'
int doubled(int);
int answer(void);
END
cat >main.hip <<'END'
#include "kernel.h"

#include <cstdio>

#ifndef TIMES
#define TIMES 1
#endif
int main()
{
	printf("%d\n", doubled(TIMES * 21));
}
END
cat >kernel.cpp <<'END'
#include "kernel.h"

#include <hip/hip_runtime.h>

namespace {
__global__ void twice(int *p)
{
	*p *= 2;
}
} // namespace

int doubled(int value)
{
	int *p = nullptr;

	if (hipMallocManaged(&p, sizeof *p) != hipSuccess)
		return -1;
	*p = value;
	twice<<<1, 1>>>(p);
	value = hipDeviceSynchronize() == hipSuccess ? *p : -1;
	return hipFree(p) == hipSuccess ? value : -1;
}
END
printf '#ifdef __cplusplus\n#error not C\n#endif\nint answer(void) { return 42; }\n' >answer.c
printf '#include <stdio.h>\nint answer(void);\nint main(void) { printf("%%d\\n", answer()); }\n' >c_main.c

prints() {
	local expected=$1
	shift
	[ "$("$@")" = "$expected" ]
}

check "two sources to a program" umhipcc main.hip kernel.cpp -o app
check "it runs" prints 42 ./app
check "-D" umhipcc -DTIMES=2 main.hip kernel.cpp -o app2
check "-D is heard" prints 84 ./app2
check "default name of a program" sh -c 'umhipcc main.hip kernel.cpp && ./a.out'
check "-c" umhipcc -c main.hip kernel.cpp
check "objects" test -f main.o -a -f kernel.o
check "linking objects" sh -c 'umhipcc kernel.o main.o -o linked && ./linked'
check "C is C" umhipcc -c answer.c c_main.c
check "C with C" sh -c 'umhipcc answer.o c_main.o -o c && ./c'
check "C beside HIP" sh -c 'umhipcc main.hip kernel.cpp answer.c -o mixed && ./mixed'

check "static library" sh -c 'ar rcs libkernel.a kernel.o && umhipcc main.o -L. -lkernel -o with_a && ./with_a'
check "static library, of one command, in silence" sh -c '[ -z "$(umhipcc --emit-static-lib kernel.cpp -o libone.a 2>&1)" ] &&
	umhipcc main.o -L. -lone -o with_one && ./with_one'
check "shared library" sh -c 'umhipcc -shared -fPIC kernel.cpp -o libshared.so &&
	umhipcc main.o -L. -lshared -Wl,-rpath,$PWD -o with_so && ./with_so'
for level in -O0 -Os; do
	check "$level" sh -c "umhipcc $level main.hip kernel.cpp -o level && [ \$(./level) = 42 ]"
done
check "-g knows lines" sh -c 'umhipcc -g -c kernel.cpp -o g.o && readelf --debug-dump=decodedline g.o | grep -q kernel.cpp'

check "-S" sh -c 'umhipcc -S kernel.cpp && grep -q hip_fatbin kernel.s'
check "-E" sh -c 'umhipcc -E main.hip | grep -q "TIMES\|1 \* 21"'
check "-M" sh -c 'umhipcc -M main.hip | grep -q kernel.h'
check "-MD -MF" sh -c 'umhipcc -MD -MF deps -c main.hip -o m.o && grep -q "^m.o:.*main.hip" deps && grep -q kernel.h deps'
check "-MD, linked at once" sh -c 'umhipcc -MD main.hip kernel.cpp -o d && grep -q "^main.o:" main.d'
check "-fsyntax-only" sh -c 'rm -f main.o && umhipcc -fsyntax-only main.hip && ! [ -e main.o ]'
check "-include" sh -c 'echo "#define TIMES 3" >t.h && umhipcc -include t.h main.hip kernel.cpp -o i && [ $(./i) = 126 ]'
check "-x hip" sh -c 'cp kernel.cpp kernel.txt && umhipcc main.hip -x hip kernel.txt -o x && ./x'
check "standard input" sh -c 'umhipcc -x hip - -c -o stdin.o <kernel.cpp && nm stdin.o | grep -q doubled'
check "response file" sh -c 'printf "%s\n" main.hip kernel.cpp "-DTIMES=2" -o "\"a b\"" >r && umhipcc @r && [ $(./"a b") = 84 ]'
check "--genco" sh -c 'umhipcc --genco kernel.cpp -o k.hipfb && [ $(head -c 24 k.hipfb) = __CLANG_OFFLOAD_BUNDLE__ ]'
cat >device.hip <<'END'
#include <hip/hip_runtime.h>
__device__ int answer() { return 42; }
END
cat >uses.hip <<'END'
#include <hip/hip_runtime.h>
#include <cstdio>
__device__ int answer();
__managed__ int value;
__global__ void ask() { value = answer(); }
int main()
{
	ask<<<1, 1>>>();
	return hipDeviceSynchronize() || printf("%d\n", value) < 0;
}
END
check "-fgpu-rdc, objects" sh -c 'umhipcc -fgpu-rdc -c device.hip uses.hip && umhipcc -fgpu-rdc --hip-link device.o uses.o -o rdc'
check "device code of another source" prints 42 ./rdc
check "-fgpu-rdc through assembler and ld -r" sh -c 'umhipcc -fgpu-rdc -S uses.hip -o uses.s && umhipcc -c uses.s -o uses.o &&
	ld -r device.o uses.o -o both.o && umhipcc both.o -o rdc_r'
check "it runs" prints 42 ./rdc_r
check "whole archive" sh -c 'ar rcs libdevice.a device.o && umhipcc uses.o -Wl,--whole-archive,libdevice.a,--no-whole-archive -o rdc_a'
check "it runs" prints 42 ./rdc_a
check "no device code beside the code object" sh -c '! readelf -SW rdc | grep um_device_units'
check "-fgpu-rdc, shared" sh -c 'sed s/main/run/ uses.hip >library.hip && umhipcc -fgpu-rdc -shared -fPIC device.hip library.hip -o librdc.so &&
	echo "int run(); int main() { return run(); }" >user.cpp && umhipcc user.cpp -L. -lrdc -Wl,-rpath,$PWD -o rdc_so'
check "it runs" prints 42 ./rdc_so
check "-fgpu-rdc for a GPU too is said" sh -c 'umhipcc -fgpu-rdc --offload-arch=gfx90a device.hip uses.hip -o rdc_amd 2>&1 | grep -q "warning.*gfx90a"'

check "-### runs nothing" sh -c 'umhipcc "-###" main.hip -o nothing 2>&1 | grep -q fcuda-is-device && ! [ -e nothing ]'

check "RUNPATH, so that LD_LIBRARY_PATH can choose" sh -c "readelf -d app | grep -q 'RUNPATH.*$UM_BUILD/lib/umtrace'"
check "no other path" sh -c '! readelf -d app | grep -q "(RPATH)"'

# Killed in the middle, it leaves nothing.
mkdir temporary
for signal in TERM INT HUP; do
	TMPDIR=$PWD/temporary umhipcc main.hip kernel.cpp -o killed &
	compiler=$!
	sleep 0.2
	# A shell without job control starts its children with SIGINT ignored.
	[ $signal = INT ] || kill -$signal $compiler
	wait $compiler
	status=$?
	[ $signal = INT ] || check "SIG$signal is passed on" test $status -gt 128
	check "SIG$signal leaves nothing" rmdir temporary
	mkdir temporary
done
finish
