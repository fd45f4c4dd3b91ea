/* The version of HIP whose names these headers have, as umhipcc has it without --nvidia. */
#ifndef UM_NVIDIA_HIP_VERSION_H
#define UM_NVIDIA_HIP_VERSION_H

#define HIP_VERSION_MAJOR 5
#define HIP_VERSION_MINOR 2
#define HIP_VERSION_PATCH 0
#define HIP_VERSION	  (HIP_VERSION_MAJOR * 10000000 + HIP_VERSION_MINOR * 100000 + HIP_VERSION_PATCH)

#endif
