/*
 * fake_kokkos POOL KERNEL [late]: a program built on what plays Kokkos, which uses the fake driver: plays
 * the script POOL, labels 4 MiB at 0x7f0000000000 that it has allocated, plays KERNEL within a parallel_for,
 * and prints what a child's environment has of Kokkos's. `late`: CUDA is used before Kokkos begins.
 */
#include "fake_cuda.h"
#include "tests/cli/kokkos_like.h"

#define BLOCK	    ((void *)0x7f0000000000)
#define BLOCK_BYTES ((4u << 20) - 128u) /* less Kokkos's header */

int main(int count, char **words)
{
	bool is_late = count > 3;
	uint64_t id = 0;

	if (count < 3)
		return 2;
	if (!is_late)
		k_read_environment();
	if (cuInit(0) || fake_cuda_play(words[1]))
		return 2;
	if (is_late)
		k_read_environment();
	k_load_tool();
	K_TELL(allocate, k_space_of("CudaUVM"), "of the GPU", BLOCK, BLOCK_BYTES);
	K_TELL(allocate, k_space_of("Host"), "of the host", (const void *)words, 8);
	K_CALL(begin_for, "scale", 0, &id);
	if (fake_cuda_play(words[2]))
		return 2;
	K_CALL(end_for, id);
	K_TELL(deallocate, k_space_of("CudaUVM"), "of the GPU", BLOCK, BLOCK_BYTES);
	k_finalize();
	return system("env | grep ^KOKKOS; true");
}
