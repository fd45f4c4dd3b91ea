#!/usr/bin/env bash
# cmake -DCMAKE_CXX_COMPILER=umhipcc: a program, a static and a shared library.
. "$(dirname "$0")/lib.sh"
export CMAKE_GENERATOR=Ninja # make need not be there

cat >CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.16)
project(small LANGUAGES C CXX)
set(CMAKE_CXX_STANDARD 17)
add_library(scaling STATIC scaling.cpp)
add_library(adding SHARED adding.cpp)
add_executable(small main.cpp plain.c)
target_compile_options(small PRIVATE -Wall -Wextra -Werror)
target_link_libraries(small PRIVATE scaling adding)
install(TARGETS small adding)
END
cat >parts.h <<'END'
#include <hip/hip_runtime.h>
void scale(float *data, int n, float by);
void add(float *data, int n, float what);
extern "C" int plain(void);
END
cat >scaling.cpp <<'END'
#include "parts.h"

template <typename T> __global__ void scale_kernel(T *data, int n, T by)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);

	if (i < n)
		data[i] *= by;
}

void scale(float *data, int n, float by)
{
	scale_kernel<<<(n + 63) / 64, 64>>>(data, n, by);
}
END
sed 's/scale/add/g; s/\*= by/+= by/' scaling.cpp >adding.cpp
echo 'int plain(void) { return 7; }' >plain.c
cat >main.cpp <<'END'
#include "parts.h"

#include <cstdio>

int main()
{
	float *data = nullptr;
	const int n = 100;

	if (hipMallocManaged(&data, n * sizeof *data) != hipSuccess)
		return 1;
	for (int i = 0; i < n; i++)
		data[i] = (float)i;
	scale(data, n, 2);
	add(data, n, 1);
	if (hipDeviceSynchronize() != hipSuccess)
		return 2;
	printf("%g %d\n", data[n - 1], plain());
	return hipFree(data) != hipSuccess;
}
END
check "configure" cmake -S . -B build -DCMAKE_CXX_COMPILER=umhipcc -DCMAKE_C_COMPILER=umhipcc \
	-DCMAKE_BUILD_TYPE=RelWithDebInfo
check "it is taken for clang" grep -q 'CMAKE_CXX_COMPILER_ID "Clang"' -r build/CMakeFiles --include=CMakeCXXCompiler.cmake
check "build" cmake --build build
run build/small
check "what depends on a header is built again" sh -c \
	'touch parts.h && cmake --build build | grep -c "Building CXX" | grep -qx 3'
check "nothing is built twice" sh -c '! cmake --build build | grep Building'
check "install" cmake --install build --prefix "$PWD/installed"
finish
