#!/usr/bin/env bash
# What is wrong with device code is said once, at the user's line.
. "$(dirname "$0")/lib.sh"

# program NAME KERNEL_LINES: a program whose kernel k is that text.
program() {
	printf '#include <hip/hip_runtime.h>\n%s\nint main() { k<<<1, 1>>>(nullptr); }\n' "$2" >"$1.hip"
}

program both 'int host() { return not_there; }
__global__ void k(int *p) { p[0] = absent; }'
program warning '#warning look here
__global__ void k(int *p) { int unused = 1; p[0] = 2; }'
program undefined '__device__ int helper(int);
__global__ void k(int *p)
{
	p[0] = helper(3);
}'
program variable 'extern __device__ int elsewhere[];
__global__ void k(int *p) { p[0] = elsewhere[1]; }'
program assembly '__global__ void k(int *p)
{
	int x;

	asm volatile("v_mov_b32 %0, 1" : "=v"(x));
	p[0] = x;
}'
program barrier '__global__ void k(int *p) { asm volatile("" ::: "memory"); p[0] = 1; }'
program matrix 'typedef float f4 __attribute__((ext_vector_type(4)));
__global__ void k(f4 *p)
{
	p[0] = __builtin_amdgcn_mfma_f32_4x4x1f32(1.f, 2.f, p[1], 0, 0, 0);
}'
program texture '__global__ void k(float *p)
{
	hipTextureObject_t t = 0;

	p[0] = tex1Dfetch<float>(t, 3);
}'
program launch '__global__ void k(int *p)
{
	p[0] = 1;
	k<<<1, 1>>>(p);
}'
program surface '__global__ void k(int *p)
{
	hipSurfaceObject_t s = 0;

	surf2Dread(p, s, 0, 0);
}'
program unroll '__global__ void k(float *p)
{
	float sum = 0;

#pragma unroll
	for (int i = 0; p[i] > 0; i++, __syncthreads())
		sum += p[i];
	p[0] = sum;
}'

for name in both warning undefined variable assembly barrier matrix texture surface launch; do
	run umhipcc -Wall -c $name.hip
done
run umhipcc -c absent.hip
run umhipcc
run umhipcc -c both.hip warning.hip -o both.o
run umhipcc -fgpu-rdc -c both.hip
program defined '__device__ int helper(int a) { return a; }
__global__ static void k(int *p) { p[0] = helper(3); }'
sed -i 's/int main/void other/' defined.hip
cp defined.hip again.hip
sed -i 's/other/another/' again.hip
check "one unit has what the other lacks" umhipcc -fgpu-rdc undefined.hip defined.hip -o whole
run umhipcc -fgpu-rdc undefined.hip -o lacking
run umhipcc -fgpu-rdc undefined.hip defined.hip again.hip -o twice
run umhipcc --offload-arch=native -c both.hip
run umhipcc --not-an-option -c both.hip
run umhipcc -o
check "nothing is said of x86-64 code" sh -c '! umhipcc -c unroll.hip 2>&1 | grep .'
check "no output of a failed compilation" sh -c '! ls lacking twice both.o undefined.o assembly.o a.out'
check "no temporary files" sh -c "mkdir t; TMPDIR=\$PWD/t umhipcc -c both.hip; rmdir t"
finish
