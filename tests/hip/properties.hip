// What HIP says of the first device's memory, a line each: for tests/cli/umtrace_xnack.sh. With an
// argument, HSA_XNACK is set to it before the first call of HIP.
#include <hip/hip_runtime.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char **argv)
{
	hipDeviceProp_t p;

	if (argc > 1)
		setenv("HSA_XNACK", argv[1], 1);
	if (hipGetDeviceProperties(&p, 0) != hipSuccess)
		return 1;
	printf("%s %s\n", p.name, p.gcnArchName);
	printf("managedMemory %d, concurrentManagedAccess %d, pageableMemoryAccess %d\n",
	       p.managedMemory, p.concurrentManagedAccess, p.pageableMemoryAccess);
	printf("pageableMemoryAccessUsesHostPageTables %d, directManagedMemAccessFromHost %d\n",
	       p.pageableMemoryAccessUsesHostPageTables, p.directManagedMemAccessFromHost);
	return 0;
}
