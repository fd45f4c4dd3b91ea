#ifndef UM_NVIDIA_LIBRARY_TYPES_H
#define UM_NVIDIA_LIBRARY_TYPES_H

#include <cuda_runtime.h> /* has CUDA's file of this name */

#define hipDataType   cudaDataType
#define hipDataType_t cudaDataType_t
#define HIP_R_8I      CUDA_R_8I
#define HIP_R_8U      CUDA_R_8U
#define HIP_R_32I     CUDA_R_32I
#define HIP_R_32U     CUDA_R_32U
#define HIP_R_16F     CUDA_R_16F
#define HIP_R_16BF    CUDA_R_16BF
#define HIP_R_32F     CUDA_R_32F
#define HIP_R_64F     CUDA_R_64F
#define HIP_C_16F     CUDA_C_16F
#define HIP_C_32F     CUDA_C_32F
#define HIP_C_64F     CUDA_C_64F

#endif
