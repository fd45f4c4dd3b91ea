#!/usr/bin/env bash
# HIP 6 and 7: which runtime a program is linked with follows the headers that it was compiled with, and
# what is linked with libamdhip64.so.6 or .7 finds there what these headers say. ROCm's headers of these
# versions are no package of Debian's: here Debian's claim to be newer for umhipcc's choice, and a
# program of C has the declarations of HIP 6 of its own (hip6_types.h names their source).
. "$(dirname "$0")/lib.sh"

lib=$UM_BUILD/lib/umtrace
headers=/usr/include/hip
for major in 6 7 8; do
	mkdir -p "include$major/hip"
	sed "s/\(define HIP_VERSION_MAJOR\).*/\1 $major/" "$headers/hip_version.h" >"include$major/hip/hip_version.h"
done
cat >kernel.hip <<'END'
#include <hip/hip_runtime.h>
#include <cstdio>
#if __HIP_DEVICE_COMPILE__ && !__GFX7__ && !__GFX8__ && !__GFX9__ && __AMDGCN_WAVEFRONT_SIZE == 64
#error HIP 6 asks this
#endif
#ifndef NAME
#define NAME main
#endif
static __global__ void twice(int *p) { *p *= 2; }
int NAME()
{
	int *p = nullptr, version = 0;
	if (hipMallocManaged(&p, sizeof *p) || hipRuntimeGetVersion(&version))
		return 1;
	*p = 21;
	twice<<<1, 1>>>(p);
	if (hipDeviceSynchronize())
		return 1;
	printf("%d, HIP %d\n", *p, version / 10000000);
	return hipFree(p);
}
END
needs() { readelf -d "$1" | sed -n 's/.*NEEDED.*\[\(libamdhip64.*\)\]/\1/p'; }
is() { [ "$1" = "$2" ] || { echo "$1, expected $2" >&2; false; }; }

check "headers of HIP 5" umhipcc kernel.hip -o app5
check "their runtime" is "$(needs app5)" libamdhip64.so.5
check "runs" is "$(./app5)" "42, HIP 5"
for major in 6 7; do
	check "headers of HIP $major" umhipcc -Iinclude$major kernel.hip -o app$major
	check "their runtime" is "$(needs app$major)" libamdhip64.so.$major
	check "runs" is "$(./app$major)" "42, HIP $major"
	check "traced" umtrace -q -o $major.um.db ./app$major
	check "all of it" is "$(sqlite3 $major.um.db 'SELECT count(*) FROM kernel WHERE reads > 0')" 1
done
check "an object" umhipcc -c -Iinclude6 kernel.hip
check "linked by itself" umhipcc kernel.o -o app
check "their runtime" is "$(needs app)" libamdhip64.so.6
check "relocatable" umhipcc -fgpu-rdc -Iinclude6 kernel.hip -o app
check "their runtime" is "$(needs app)" libamdhip64.so.6
check "a shared library" umhipcc -shared -fPIC -Iinclude6 -DNAME=part kernel.hip -o libpart.so
check "their runtime" is "$(needs libpart.so)" libamdhip64.so.6
umhipcc -c -DNAME=part kernel.hip -o part.o
run umhipcc kernel.o part.o -o app
umhipcc -Iinclude8 -fsyntax-only kernel.hip 2>err
check "newer ones are refused" grep -q 'error: "umhipcc knows the headers of HIP 5, 6 and 7"' err

# As hipcc of ROCm 6 leaves it: no x86-64 code, no way to our runtime.
cat >of_6.c <<'END'
#include <stdio.h>
struct pointer { unsigned type; int device; void *on_device, *on_host; int managed; unsigned flags; };
struct properties { char name[256]; char more[1216]; };
int hipMallocManaged(void **, unsigned long, unsigned);
int hipMalloc(void **, unsigned long);
int hipPointerGetAttributes(struct pointer *, const void *);
int hipGetDevicePropertiesR0600(struct properties *, int);
int main(void)
{
	struct pointer of;
	struct properties p;
	void *managed, *device;
	if (hipMallocManaged(&managed, 100, 1) || hipMalloc(&device, 100))
		return 1;
	if (hipGetDevicePropertiesR0600(&p, 0))
		return 2;
	printf("%s\n", p.name);
	for (int i = 0; i < 3; i++) {
		if (hipPointerGetAttributes(&of, i == 0 ? managed : i == 1 ? device : &of))
			return 3;
		printf("type %u\n", of.type);
	}
	return 0;
}
END
check "a program of C" cc of_6.c -L"$lib" -l:libamdhip64.so.6 -o of_6
run umtrace -q -o c.um.db ./of_6
cat >open_6.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **word)
{
	void *hip = count > 1 ? dlopen(word[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	int (*get)(void *, int) = hip ? (int (*)(void *, int))dlsym(hip, "hipGetDevicePropertiesR0600") : NULL;
	char properties[1472] = "";
	printf("%d %s\n", get ? get(properties, 0) : -1, properties);
	return 0;
}
END
check "one that opens it" cc open_6.c -o open_6
run ./open_6 "$lib/libamdhip64.so.6"
run umtrace -q -o d.um.db ./open_6 libamdhip64.so.7
# A function that is not implemented says so; the program starts.
cat >newer.c <<'END'
#include <stdio.h>
int hipLibraryUnload(void *);
int main(void) { printf("%d\n", hipLibraryUnload(NULL)); }
END
check "a function of 7.2" cc newer.c -L"$lib" -l:libamdhip64.so.7 -Wl,-rpath,"$lib" -o newer
run ./newer
finish
