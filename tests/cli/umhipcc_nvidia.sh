#!/usr/bin/env bash
# umhipcc --nvidia: the command lines of nvcc, shown and run (a stand-in for nvcc notes them), and HIP's
# names in CUDA 12 and 13: against stubs of their headers, and with nvcc itself where there is one.
. "$(dirname "$0")/lib.sh"

headers=$UM_BUILD/share/umtrace/nvidia
real_nvcc=$(command -v nvcc || echo "${CUDA_HOME:-/usr/local/cuda}/bin/nvcc")

# --- a stand-in ---
mkdir -p cuda/bin
cat >cuda/bin/nvcc <<'END2'
#!/bin/sh
echo "nvcc $*"
while [ $# -gt 0 ]; do
	[ "$1" != -o ] || : >"$2"
	case $1 in *broken*) exit 7 ;; esac
	shift
done
END2
chmod +x cuda/bin/nvcc
export CUDA_HOME=$PWD/cuda
unset CUDA_PATH
mkdir temporary
export TMPDIR=$PWD/temporary
also 's#umhipcc-[A-Za-z0-9]{6}#FOLDER#g'

echo 'int main() { return 0; }' >main.hip
cp main.hip part.cpp
cp main.hip plain.c
run umhipcc --nvidia "-###" main.hip -o main
run umhipcc --nvidia "-###" --offload-arch=sm_80,sm_90 -O2 -g -c main.hip
run umhipcc --nvidia "-###" -Os -std=gnu++17 -Wall -Wl,-rpath,/a,/b -fPIC -ffast-math -pthread main.hip
run umhipcc --nvidia "-###" -Xclang -x -mllvm -y -ffp-contract=off -DA=1 -I include -E main.hip
run umhipcc --nvidia "-###" main.hip part.cpp plain.c other.o -L lib -lm -z now -shared -o lib.so
run umhipcc --nvidia "-###" --emit-static-lib part.cpp -o libpart.a
run umhipcc --nvidia -c main.hip part.cpp
check "an object beside each source" test -f main.o -a -f part.o
run umhipcc --nvidia main.hip plain.c -o program
check "the program" test -f program
cp main.hip broken.hip
run umhipcc --nvidia broken.hip -o broken
check "no temporary folder is left" rmdir temporary
mkdir temporary

run umhipcc --nvidia --offload-arch=gfx90a main.hip
run umhipcc --offload-arch=sm_90 main.hip
run umhipcc --nvidia -S main.hip
run umhipcc --nvidia -x assembler main.hip
rm cuda/bin/nvcc
mkdir elsewhere
ln -s "$(type -P true)" elsewhere/nvcc
check "PATH is looked into" env CUDA_HOME= PATH="$PWD/elsewhere:$PATH" umhipcc --nvidia -c main.hip
if [ ! -x /usr/local/cuda/bin/nvcc ] && ! command -v nvcc >/dev/null; then
	check "without nvcc it says where it looked" sh -c \
		'! umhipcc --nvidia main.hip 2>err && grep -q "CUDA_HOME" err && [ "$(wc -l <err)" = 1 ]'
fi

# --- names ---
# Those whose arguments changed, as CUDA 12.0, 12.8 and 13 declare them; and one of each kind of the rest.
stubs() {
	mkdir -p "cuda$1"
	cat >"cuda$1/cuda_runtime.h" <<END2
#define CUDART_VERSION $1
#include <stddef.h>
#define cudaCpuDeviceId ((int)-1)
#define cudaMemAttachSingle 4
enum cudaError { cudaSuccess, cudaErrorInvalidValue };
typedef enum cudaError cudaError_t;
typedef struct stream *cudaStream_t;
enum cudaMemcpyKind { cudaMemcpyDefault = 4 };
enum cudaMemoryAdvise { cudaMemAdviseSetReadMostly = 1 };
enum cudaMemRangeAttribute { cudaMemRangeAttributeReadMostly = 1 };
enum cudaMemLocationType { cudaMemLocationTypeDevice = 1, cudaMemLocationTypeHost = 2 };
struct cudaMemLocation { enum cudaMemLocationType type; int id; };
enum cudaDeviceAttr { cudaDevAttrClockRate, cudaDevAttrMemoryClockRate, cudaDevAttrComputeMode,
	cudaDevAttrKernelExecTimeout };
struct cudaDeviceProp { int major, minor; size_t sharedMemPerMultiprocessor;
$([ "$1" -ge 13000 ] || echo 'int clockRate, memoryClockRate, computeMode, kernelExecTimeoutEnabled;') };
cudaError_t cudaGetDeviceProperties(cudaDeviceProp *, int);
cudaError_t cudaDeviceGetAttribute(int *, cudaDeviceAttr, int);
cudaError_t cudaGetDeviceCount(int *);
cudaError_t cudaHostAlloc(void **, size_t, unsigned);
cudaError_t cudaMemcpyAsync(void *, const void *, size_t, cudaMemcpyKind, cudaStream_t);
cudaError_t cudaStreamSynchronize(cudaStream_t);
cudaError_t cudaStreamAttachMemAsync(cudaStream_t, void *, size_t, unsigned);
cudaError_t cudaMemRangeGetAttribute(void *, size_t, cudaMemRangeAttribute, const void *, size_t);
END2
	if [ "$1" -ge 13000 ]; then
		cat <<'END2'
cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, cudaMemLocation);
cudaError_t cudaMemPrefetchAsync(const void *, size_t, cudaMemLocation, unsigned, cudaStream_t);
END2
	else
		cat <<'END2'
cudaError_t cudaMemAdvise(const void *, size_t, cudaMemoryAdvise, int);
cudaError_t cudaMemPrefetchAsync(const void *, size_t, int, cudaStream_t);
END2
	fi >>"cuda$1/cuda_runtime.h"
}
cat >names.cpp <<'END2'
#include <hip/hip_runtime_api.h>

hipError_t use(float *p, hipStream_t stream)
{
	hipDeviceProp_t properties;
	int readMostly;

	if (hipGetDeviceProperties(&properties, 0) != hipSuccess || properties.clockRate == 0)
		return hipErrorInvalidValue;
	hipInit(0);
	hipHostMalloc(&p, 64);
	hipMemAdvise(p, 64, hipMemAdviseSetReadMostly, hipCpuDeviceId);
	hipMemAdvise(p, 64, hipMemAdviseSetCoarseGrain, 0);
	hipMemPrefetchAsync(p, 64, hipCpuDeviceId);
	hipMemPrefetchAsync(p, 64, 0, stream);
	hipStreamAttachMemAsync(stream, p);
	hipMemcpyWithStream(p, p, 64, hipMemcpyDefault, stream);
	return hipMemRangeGetAttribute(&readMostly, sizeof readMostly,
				       hipMemRangeAttributeReadMostly, p, 64);
}
END2
for version in 12000 12080 13000; do
	stubs $version
	check "HIP's names in CUDA $version" c++ -std=c++17 -Wall -Wextra -Werror -fsyntax-only \
		-Icuda$version -I"$headers" names.cpp
done
stubs 11080
check "CUDA 11 is refused" sh -c "! c++ -fsyntax-only -Icuda11080 -I'$headers' names.cpp 2>err && grep -q 'CUDA 12' err"

# --- nvcc ---
if [ -x "$real_nvcc" ]; then
	export CUDA_HOME
	CUDA_HOME=$(cd "$(dirname "$real_nvcc")/.." && pwd)
	{
		echo '#include <hip/hip_runtime.h>'
		echo 'namespace names {'
		sed -nE '/--- (types|functions)/,/--- constants/s/#define (\w+) \w+/using ::\1;/p' \
			"$headers/hip/nvidia_names.h"
		sed -nE '/--- constants/,$s/#define (\w+) \w+/static const long long v_\1 = (long long)\1;/p' \
			"$headers/hip/nvidia_names.h"
		echo '}'
	} >all_names.hip
	cat >language.hip <<'END2'
#include <hip/hip_runtime.h>

#include <hip/hip_bf16.h>
#include <hip/hip_bfloat16.h>
#include <hip/hip_complex.h>
#include <hip/hip_cooperative_groups.h>
#include <hip/hip_fp16.h>
#include <hip/hip_vector_types.h>
#include <hip/library_types.h>

#include <cub/cub.cuh>

__constant__ int table[4];

template <class T, int SHIFT> __global__ void kernel(T *p, unsigned long long *lanes)
{
	HIP_DYNAMIC_SHARED(T, shared)

	shared[hipThreadIdx_x] = __shfl_xor(p[threadIdx.x + SHIFT], 1, 16) + __shfl_down(p[0], 2);
	lanes[0] = __ballot(p[0] > 0) + __any(p[1] > 0) + __all(p[2] > 0) + __lane_id();
	lanes[1] = wall_clock64();
	unsafeAtomicAdd(p, shared[0] + table[0]);
}

int main()
{
	hipDeviceProp_t properties;
	float *p;
	unsigned long long *lanes;
	int values[4] = {}, grid, block;
	hipGraph_t graph;
	hipGraphExec_t executable;
	hipStream_t stream;

	(void)hipGetDeviceProperties(&properties, 0);
	(void)hipMallocManaged(&p, 4096);
	(void)hipHostMalloc((void **)&lanes, 64, hipHostMallocMapped);
	(void)hipMemcpyToSymbol(HIP_SYMBOL(table), values, sizeof values);
	(void)hipStreamCreateWithFlags(&stream, hipStreamNonBlocking);
	(void)hipStreamBeginCapture(stream, hipStreamCaptureModeGlobal);
	hipLaunchKernelGGL(HIP_KERNEL_NAME(kernel<float, 3>), dim3(1), dim3(64), 256, stream, p, lanes);
	hipLaunchKernelGGL((kernel<float, 1>), 1, 64, 256, stream, p, lanes);
	(void)hipStreamEndCapture(stream, &graph);
	(void)hipGraphInstantiate(&executable, graph, NULL, NULL, 0);
	(void)hipOccupancyMaxPotentialBlockSize(&grid, &block, kernel<float, 1>, 0, 0);
	return properties.gcnArchName[0] == hipCrealf(make_hipFloatComplex(0, 0));
}
END2
	cat >in_c.c <<'END2'
#include <hip/hip_runtime_api.h>

int use(void)
{
	enum hipMemcpyKind kind = hipMemcpyDefault;
	hipMemcpyKind same = kind;
	float *p;

	if (hipMallocManaged((void **)&p, 64, hipMemAttachGlobal) != hipSuccess || same != kind)
		return 1;
	hipHostMalloc((void **)&p, 64, hipHostMallocDefault);
	return hipMemAdvise(p, 64, hipMemAdviseSetReadMostly, 0) ||
	       hipMemPrefetchAsync(p, 64, hipCpuDeviceId, 0);
}
END2
	check "every name is one of CUDA's" umhipcc --nvidia -c all_names.hip
	check "the language" umhipcc --nvidia -std=c++17 language.hip -o language
	check "C" umhipcc --nvidia -Wall -Werror -c in_c.c
	check "a program of ours" umhipcc --nvidia -O2 -g -Wall -Wextra -Werror "$UM_SOURCE/kernels/scale.hip" -o scale
	check "one that includes umtrace.h" umhipcc --nvidia -O2 -Wall -Wextra -Werror "$UM_SOURCE/kernels/named_pools.hip" -o named_pools
	check "its options" ./scale --help
	check "what measures" umhipcc --nvidia -O2 -Wall -Wextra -Werror "$UM_SOURCE/tests/gpu/measure.hip" -o measure
	check "its list" ./measure --list
else
	echo "no nvcc here: headers are checked against stubs only" >&2
fi
finish
