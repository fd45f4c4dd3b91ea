#!/usr/bin/env bash
# --offload-arch adds AMD's code object beside ours, and the program still starts under AMD's runtime.
. "$(dirname "$0")/lib.sh"

cat >app.hip <<'END'
#include <hip/hip_runtime.h>

#include <cstdio>

__global__ void twice(float *p)
{
	p[threadIdx.x] *= 2;
}

int main()
{
	int devices = 0;
	hipError_t error = hipGetDeviceCount(&devices);
	float *p = nullptr;

	if (error == hipErrorNoDevice || error == hipErrorInvalidDevice || devices == 0)
		return puts("no device") < 0;
	if (hipMallocManaged(&p, 64 * sizeof *p) != hipSuccess)
		return 1;
	p[63] = 21;
	twice<<<1, 64>>>(p);
	if (hipDeviceSynchronize() != hipSuccess)
		return 2;
	printf("%g\n", p[63]);
	return hipFree(p) != hipSuccess;
}
END
check "two architectures" umhipcc --offload-arch=gfx90a --offload-arch=gfx1030 app.hip -o app
check "no architecture" umhipcc app.hip -o bare
run ./app
run ./bare

# The entries of a bundle are named in it.
entries() {
	objcopy -O binary --only-section=.hip_fatbin "$1" fatbin
	strings -n 8 fatbin | grep -oE '^(.*)?(host|hip|hipv4)-[a-z0-9_]+-[a-z0-9-]+' | sort -u
}
run entries app
run entries bare
objcopy -O binary --only-section=.hip_fatbin app fatbin
check "clang reads the bundle" /usr/lib/llvm-15/bin/clang-offload-bundler -unbundle -type=o \
	-targets=hipv4-amdgcn-amd-amdhsa--gfx90a -input=fatbin -output=gfx90a.o
check "AMD's code is for AMD" sh -c "readelf -h gfx90a.o | grep -qi 'amd gpu\|0xe0\|AMDGPU'"
amd=/usr/lib/x86_64-linux-gnu
check "AMD's runtime loads the program" env LD_LIBRARY_PATH=$amd ./app
check "also without its code" env LD_LIBRARY_PATH=$amd ./bare
finish
