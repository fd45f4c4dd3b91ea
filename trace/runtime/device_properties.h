/* hipDeviceProp_t of a device that the runtime plays. */
#ifndef UM_DEVICE_PROPERTIES_H
#define UM_DEVICE_PROPERTIES_H

#include <hip/hip_runtime_api.h>

#include <stdbool.h>

/* `device` is less than um_device_count(). */
void um_device_properties(hipDeviceProp_t *out, uint32_t device);
/* False for attributes that are no number or that HIP does not give. */
bool um_device_attribute(int *out, hipDeviceAttribute_t attribute, uint32_t device);

#endif
