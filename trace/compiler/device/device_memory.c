/* malloc and free of kernels, as AMD's headers call them. */
#include "device_library.h"

unsigned long long __ockl_dm_alloc(unsigned long long bytes);
void __ockl_dm_dealloc(unsigned long long address);

unsigned long long __ockl_dm_alloc(unsigned long long bytes)
{
	return (unsigned long long)um_device_malloc(bytes);
}

void __ockl_dm_dealloc(unsigned long long address)
{
	um_device_free((void *)address);
}
