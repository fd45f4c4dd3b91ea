/* Every driver model, for registry.c. */
#ifndef UM_DRIVER_LIST_H
#define UM_DRIVER_LIST_H

#include "driver.h"

extern const struct um_driver_ops um_driver_demand, um_driver_amdgpu_svm, um_driver_nvidia_uvm,
	um_driver_explicit_copy;

#endif
