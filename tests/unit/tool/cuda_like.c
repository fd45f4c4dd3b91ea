#include "cuda_like.h"

const void *cuda_like_stack[8];
size_t cuda_like_depth;

#define NOTE_CALLER() (cuda_like_stack[cuda_like_depth++] = __builtin_return_address(0))

void libcudart_static_adb5f783e09f4d4accc321198548f260c18bac90(void);
void _Z26__device_stub__Z5scalePfiPfi(void);
void cudaLaunchKernel(void);

void libcudart_static_adb5f783e09f4d4accc321198548f260c18bac90(void)
{
	cuda_like_depth = 0;
	NOTE_CALLER();
}

void cudaMallocManaged(void)
{
	libcudart_static_adb5f783e09f4d4accc321198548f260c18bac90();
	NOTE_CALLER();
}

void cudaLaunchKernel(void)
{
	libcudart_static_adb5f783e09f4d4accc321198548f260c18bac90();
	NOTE_CALLER();
}

void _Z26__device_stub__Z5scalePfiPfi(void)
{
	cudaLaunchKernel();
	NOTE_CALLER();
}

void _Z5scalePfi(void)
{
	_Z26__device_stub__Z5scalePfiPfi();
	NOTE_CALLER();
}
