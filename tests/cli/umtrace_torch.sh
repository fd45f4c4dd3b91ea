#!/usr/bin/env bash
# The allocator for torch, through its C interface as torch calls it: managed memory with names, from HIP's
# runtime; freed in any order; what cannot be allocated is NULL. A policy finds a block by its name.
. "$(dirname "$0")/lib.sh"

cat >program.hip <<'END'
#include <hip/hip_runtime.h>
#include <dlfcn.h>
#include <cstdio>
#include <cstdlib>

__global__ void fill(int *data)
{
	data[blockIdx.x * blockDim.x + threadIdx.x] = 7;
}

int main(int, char **argv)
{
	void *library = dlopen(argv[1], RTLD_NOW);
	if (!library)
		return puts(dlerror()), 1;
	auto alloc = (void *(*)(ssize_t, int, hipStream_t))dlsym(library, "um_torch_alloc");
	auto give = (void (*)(void *, ssize_t, int, hipStream_t))dlsym(library, "um_torch_free");
	void *a = alloc(1 << 20, 0, nullptr), *b = alloc(700, 0, nullptr), *c = alloc((1 << 20) - 1, 0, nullptr);
	hipPointerAttribute_t attributes;

	if (!a || !b || !c || hipPointerGetAttributes(&attributes, a))
		return puts("no memory"), 1;
	fill<<<1024, 256>>>((int *)a);
	if (hipDeviceSynchronize())
		return puts("no kernel"), 1;
	printf("managed %d, data %d\n", attributes.isManaged, ((int *)a)[1000]);
	give(b, 700, 0, nullptr);
	give(a, 1 << 20, 0, nullptr);
	void *again = alloc(1 << 20, 0, nullptr);
	give(again, 1 << 20, 0, nullptr);
	give(c, (1 << 20) - 1, 0, nullptr);
	give(nullptr, 0, 0, nullptr);
	printf("nothing %d, too much %d\n", alloc(0, 0, nullptr) == nullptr,
	       alloc((ssize_t)1 << 60, 0, nullptr) == nullptr);
	return 0;
}
END
run umhipcc -g program.hip -ldl -o program
library=$UM_BUILD/lib/umtrace/libumtrace_torch.so
also 's/hipErrorOutOfMemory for .*/hipErrorOutOfMemory/'
say "# not recorded, and recorded"
run ./program "$library"
run umtrace -q ./program "$library"
run sqlite3 -readonly program.um.db "SELECT kind, bytes, name, freed_op IS NOT NULL FROM allocation"
cat >one.yaml <<'E'
prefetch:
  - {on: {name: "torch 1MiB #1"}, to: gpu0, before: fill}
E
run umtrace -q -P one.yaml ./program "$library"
run sqlite3 -readonly program.one.applied.um.db "SELECT kind, allocation, bytes FROM op WHERE flags & 16"
say "# in a program that has no runtime"
cat >none.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int argc, char **argv)
{
	void *library = dlopen(argv[argc - 1], RTLD_NOW);
	void *(*alloc)(long, int, void *);
	*(void **)&alloc = library ? dlsym(library, "um_torch_alloc") : NULL;
	return !alloc || alloc(512, 0, NULL);
}
END
check "a program for no GPU" ${CC:-cc} none.c -ldl -o none
run ./none "$library"
finish
