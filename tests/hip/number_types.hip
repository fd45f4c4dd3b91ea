/* Numbers that C++ lacks: half, pairs of them, bfloat16, complex; what they compute is exact. */
#include "hip_test.h"

#include <hip/hip_bfloat16.h>
#include <hip/hip_complex.h>
#include <hip/hip_fp16.h>

__global__ void halves(const __half *in, float *out)
{
	__half a = in[0], b = in[1]; /* 2.25, 0.5 */
	out[0] = __half2float(a + b);
	out[1] = __half2float(a * b);
	out[2] = __half2float(a / b);
	out[3] = __half2float(hsqrt(a));
	out[4] = __half2float(__hfma(a, b, a));
	out[5] = __half2float(hrcp(b));
	out[6] = __half2float(__hneg(a));
	out[7] = __hlt(b, a) + 2 * __hisnan(a) + 4 * __half2int_rn(a);
	out[8] = __half2float(__ushort_as_half(0x3c00));
	_Float16 native = (_Float16)1.5f;
	out[9] = (float)(native * native);
}

__global__ void pairs(const __half2 *in, float2 *out)
{
	__half2 a = in[0], b = in[1]; /* (1, 4), (0.5, -2) */
	out[0] = __half22float2(__hadd2(a, b));
	out[1] = __half22float2(__hmul2(a, b));
	out[2] = __half22float2(__hfma2(a, b, a));
	out[3] = __half22float2(h2sqrt(a));
	out[4] = make_float2(__low2float(b), __high2float(b));
}

__global__ void brains(const hip_bfloat16 *in, float *out)
{
	hip_bfloat16 a = in[0], b = in[1]; /* 1.5, 2.5 */
	out[0] = (float)(a + b);
	out[1] = (float)(a * b);
	out[2] = (float)(b - a);
	out[3] = a < b;
	out[4] = (float)hip_bfloat16(1.00390625f); /* a tie: to even */
}

__global__ void complexes(const hipFloatComplex *in, hipFloatComplex *out, hipDoubleComplex *wide)
{
	out[0] = hipCmulf(in[0], in[1]); /* 1+2i, 3+4i */
	out[1] = hipCdivf(in[0], hipCmulf(in[0], in[0]));
	out[2] = hipConjf(in[0]);
	out[3] = in[0] + in[1] * 2.0f;
	out[4] = make_hipFloatComplex(hipCabsf(in[1]), 0);
	out[5] = hipCfmaf(in[0], in[1], in[0]);
	*wide = hipCmul(*wide, *wide);
}

static long differ(const float *got, const float *wanted, int count)
{
	long wrong = 0;
	for (int i = 0; i < count; i++)
		wrong += got[i] != wanted[i];
	return wrong;
}

int main()
{
	float *out = managed<float>(12);
	__half *h = managed<__half>(2);
	h[0] = __float2half(2.25f);
	h[1] = __float2half(0.5f);
	LAUNCH(halves<<<1, 1>>>(h, out));
	const float of_halves[] = {2.75f, 1.125f, 4.5f, 1.5f, 3.375f, 2, -2.25f, 9, 1, 2.25f};
	verdict("half", differ(out, of_halves, 10));

	__half2 *p = managed<__half2>(2);
	p[0] = __floats2half2_rn(1, 4);
	p[1] = __floats2half2_rn(0.5f, -2);
	LAUNCH(pairs<<<1, 1>>>(p, (float2 *)out));
	const float of_pairs[] = {1.5f, 2, 0.5f, -8, 1.5f, -4, 1, 2, 0.5f, -2};
	verdict("half2", differ(out, of_pairs, 10));

	hip_bfloat16 *b = managed<hip_bfloat16>(2);
	b[0] = hip_bfloat16(1.5f);
	b[1] = hip_bfloat16(2.5f);
	LAUNCH(brains<<<1, 1>>>(b, out));
	const float of_brains[] = {4, 3.75f, 1, 1, 1};
	verdict("bfloat16", differ(out, of_brains, 5));

	hipFloatComplex *c = managed<hipFloatComplex>(2);
	hipDoubleComplex *wide = managed<hipDoubleComplex>(1);
	c[0] = make_hipFloatComplex(1, 2);
	c[1] = make_hipFloatComplex(3, 4);
	*wide = make_hipDoubleComplex(1, 1);
	LAUNCH(complexes<<<1, 1>>>(c, (hipFloatComplex *)out, wide));
	const float of_complexes[] = {-5, 10, 0.2f, -0.4f, 1, -2, 7, 10, 5, 0, -4, 12};
	verdict("complex", differ(out, of_complexes, 12) + (wide->x != 0) + (wide->y != 2));
	return 0;
}
