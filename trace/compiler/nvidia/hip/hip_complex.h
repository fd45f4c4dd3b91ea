#ifndef UM_NVIDIA_HIP_COMPLEX_H
#define UM_NVIDIA_HIP_COMPLEX_H

#include <cuComplex.h>

#define hipFloatComplex		cuFloatComplex
#define hipDoubleComplex	cuDoubleComplex
#define hipComplex		cuComplex
#define make_hipFloatComplex	make_cuFloatComplex
#define make_hipDoubleComplex	make_cuDoubleComplex
#define make_hipComplex		make_cuComplex
#define hipComplexFloatToDouble cuComplexFloatToDouble
#define hipComplexDoubleToFloat cuComplexDoubleToFloat
#define hipCrealf		cuCrealf
#define hipCimagf		cuCimagf
#define hipConjf		cuConjf
#define hipCaddf		cuCaddf
#define hipCsubf		cuCsubf
#define hipCmulf		cuCmulf
#define hipCdivf		cuCdivf
#define hipCabsf		cuCabsf
#define hipCfmaf		cuCfmaf
#define hipCreal		cuCreal
#define hipCimag		cuCimag
#define hipConj			cuConj
#define hipCadd			cuCadd
#define hipCsub			cuCsub
#define hipCmul			cuCmul
#define hipCdiv			cuCdiv
#define hipCabs			cuCabs
#define hipCfma			cuCfma

#endif
