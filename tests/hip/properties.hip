// What HIP says of the first device's memory, a line each: for tests/cli/umtrace_xnack.sh.
#include <hip/hip_runtime.h>

#include <cstdio>

int main()
{
	hipDeviceProp_t p;

	if (hipGetDeviceProperties(&p, 0) != hipSuccess)
		return 1;
	printf("%s %s\n", p.name, p.gcnArchName);
	printf("managedMemory %d, concurrentManagedAccess %d, pageableMemoryAccess %d\n",
	       p.managedMemory, p.concurrentManagedAccess, p.pageableMemoryAccess);
	printf("pageableMemoryAccessUsesHostPageTables %d, directManagedMemAccessFromHost %d\n",
	       p.pageableMemoryAccessUsesHostPageTables, p.directManagedMemAccessFromHost);
	return 0;
}
