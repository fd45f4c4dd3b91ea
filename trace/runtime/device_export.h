/*
 * For the files that define what code objects call: device_abi.h with its names visible outside
 * this library, in which all others are hidden.
 */
#ifndef UM_DEVICE_EXPORT_H
#define UM_DEVICE_EXPORT_H

#define UM_DEVICE __attribute__((visibility("default")))
#include "../compiler/device/device_abi.h"

#endif
