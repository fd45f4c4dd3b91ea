/*
 * AMD's math library (OCML, ROCm device-libs doc/OCML.md) over the host's libm. OCML's functions
 * are as exact as libm's or less; the "native" ones are no less exact here.
 */
#include <math.h>

#define PI 3.14159265358979323846

/* name(x) for float and double, by libm's function of the same or another name. */
#define UNARY(ocml, libm)                                                                          \
	float __ocml_##ocml##_f32(float x);                                                        \
	float __ocml_##ocml##_f32(float x)                                                         \
	{                                                                                          \
		return libm##f(x);                                                                 \
	}                                                                                          \
	double __ocml_##ocml##_f64(double x);                                                      \
	double __ocml_##ocml##_f64(double x)                                                       \
	{                                                                                          \
		return libm(x);                                                                    \
	}
#define BINARY(ocml, libm)                                                                         \
	float __ocml_##ocml##_f32(float x, float y);                                               \
	float __ocml_##ocml##_f32(float x, float y)                                                \
	{                                                                                          \
		return libm##f(x, y);                                                              \
	}                                                                                          \
	double __ocml_##ocml##_f64(double x, double y);                                            \
	double __ocml_##ocml##_f64(double x, double y)                                             \
	{                                                                                          \
		return libm(x, y);                                                                 \
	}
/* By an expression in double, rounded once for float. */
#define UNARY_AS(ocml, expression)                                                                 \
	float __ocml_##ocml##_f32(float a);                                                        \
	float __ocml_##ocml##_f32(float a)                                                         \
	{                                                                                          \
		double x = (double)a;                                                              \
		return (float)(expression);                                                        \
	}                                                                                          \
	double __ocml_##ocml##_f64(double x);                                                      \
	double __ocml_##ocml##_f64(double x)                                                       \
	{                                                                                          \
		return expression;                                                                 \
	}
#define NATIVE(ocml, libm)                                                                         \
	float __ocml_native_##ocml##_f32(float x);                                                 \
	float __ocml_native_##ocml##_f32(float x)                                                  \
	{                                                                                          \
		return libm##f(x);                                                                 \
	}

UNARY(acos, acos)
UNARY(acosh, acosh)
UNARY(asin, asin)
UNARY(asinh, asinh)
UNARY(atan, atan)
UNARY(atanh, atanh)
UNARY(cbrt, cbrt)
UNARY(cos, cos)
UNARY(cosh, cosh)
UNARY(erf, erf)
UNARY(erfc, erfc)
UNARY(exp, exp)
UNARY(exp2, exp2)
UNARY(exp10, exp10)
UNARY(expm1, expm1)
UNARY(j0, j0)
UNARY(j1, j1)
UNARY(y0, y0)
UNARY(y1, y1)
UNARY(lgamma, lgamma)
UNARY(log, log)
UNARY(log10, log10)
UNARY(log1p, log1p)
UNARY(log2, log2)
UNARY(logb, logb)
UNARY(nearbyint, nearbyint)
UNARY(round, round)
UNARY(sin, sin)
UNARY(sinh, sinh)
UNARY(tan, tan)
UNARY(tanh, tanh)
UNARY(tgamma, tgamma)
BINARY(atan2, atan2)
BINARY(fdim, fdim)
BINARY(fmod, fmod)
BINARY(hypot, hypot)
BINARY(nextafter, nextafter)
BINARY(pow, pow)
BINARY(powr, pow)
BINARY(remainder, remainder)
NATIVE(sin, sin)
NATIVE(cos, cos)
NATIVE(exp, exp)
NATIVE(exp2, exp2)
NATIVE(exp10, exp10)
NATIVE(log, log)
NATIVE(log2, log2)
NATIVE(log10, log10)

/* Reduced before the multiplication, so that cospi(0.5) is 0. */
static double sin_pi(double x)
{
	double r = fmod(x, 2.0);

	if (r != r)
		return r;
	if (r > 1.0)
		r -= 2.0;
	else if (r < -1.0)
		r += 2.0;
	if (fabs(r) == 1.0 || r == 0.0)
		return copysign(0.0, x);
	if (r > 0.5)
		r = 1.0 - r;
	else if (r < -0.5)
		r = -1.0 - r;
	return fabs(r) <= 0.25 ? sin(PI * r) : copysign(cos(PI * (0.5 - fabs(r))), r);
}

static double cos_pi(double x)
{
	double r = fabs(fmod(x, 2.0));

	if (r != r)
		return r;
	if (r > 1.0)
		r = 2.0 - r;
	if (r == 0.5)
		return 0.0;
	return r < 0.25 ? cos(PI * r) : r > 0.75 ? -cos(PI * (1.0 - r)) : sin(PI * (0.5 - r));
}

UNARY_AS(sinpi, sin_pi(x))
UNARY_AS(cospi, cos_pi(x))
UNARY_AS(rsqrt, 1.0 / sqrt(x))
UNARY_AS(rcbrt, 1.0 / cbrt(x))
UNARY_AS(ncdf, 0.5 * erfc(-x * 0.70710678118654752440))

/* exp(x^2) erfc(x): the continued fraction of Abramowitz and Stegun 7.1.14 where erfc vanishes. */
static double erfcx_of(double x)
{
	double fraction = 0.0;

	if (x < 10.0)
		return exp(x * x) * erfc(x);
	for (int k = 40; k > 0; k--)
		fraction = k * 0.5 / (x + fraction);
	return 1.0 / (sqrt(PI) * (x + fraction));
}
UNARY_AS(erfcx, erfcx_of(x))

/*
 * The inverse of erfc: bisection for the start, then Newton's steps, whose derivative is
 * -2/sqrt(pi) exp(-y^2). erfc falls from 2 to 0 over all numbers.
 */
static double inverse_erfc(double x)
{
	double low = -6.0, high = 27.3, y;

	if (!(x > 0.0 && x < 2.0))
		return x == 0.0 ? INFINITY : x == 2.0 ? -INFINITY : NAN;
	for (int i = 0; i < 64; i++) {
		y = 0.5 * (low + high);
		if (erfc(y) > x)
			low = y;
		else
			high = y;
	}
	return 0.5 * (low + high);
}

/* Near 0, 1 - x would lose what x has: erf's own derivative 2/sqrt(pi) exp(-y^2) instead. */
static double inverse_erf(double x)
{
	double y;

	if (fabs(x) > 0.5)
		return inverse_erfc(1.0 - x);
	y = x * sqrt(PI) / 2.0;
	for (int i = 0; i < 6; i++)
		y -= (erf(y) - x) / (2.0 / sqrt(PI) * exp(-y * y));
	return y;
}
UNARY_AS(erfcinv, inverse_erfc(x))
UNARY_AS(erfinv, inverse_erf(x))
UNARY_AS(ncdfinv, -1.41421356237309504880 * inverse_erfc(2.0 * x))

/* Modified Bessel functions by their series (Abramowitz and Stegun 9.6.10); terms are positive. */
static double bessel_i(double x, int order)
{
	double term = order ? x / 2.0 : 1.0, sum = term;

	for (int k = 1; k < 500 && fabs(term) > fabs(sum) * 1e-17; k++) {
		term *= x * x / 4.0 / (k * (double)(k + order));
		sum += term;
	}
	return sum;
}
UNARY_AS(i0, bessel_i(x, 0))
UNARY_AS(i1, bessel_i(x, 1))

#define MORE(type, f, suffix)                                                                      \
	type __ocml_pown_##suffix(type x, int n);                                                  \
	type __ocml_pown_##suffix(type x, int n)                                                   \
	{                                                                                          \
		return pow##f(x, (type)n);                                                         \
	}                                                                                          \
	type __ocml_ldexp_##suffix(type x, int n);                                                 \
	type __ocml_ldexp_##suffix(type x, int n)                                                  \
	{                                                                                          \
		return ldexp##f(x, n);                                                             \
	}                                                                                          \
	type __ocml_scalbn_##suffix(type x, int n);                                                \
	type __ocml_scalbn_##suffix(type x, int n)                                                 \
	{                                                                                          \
		return scalbn##f(x, n);                                                            \
	}                                                                                          \
	type __ocml_scalb_##suffix(type x, type y);                                                \
	type __ocml_scalb_##suffix(type x, type y)                                                 \
	{                                                                                          \
		return x * exp2##f(y);                                                             \
	}                                                                                          \
	int __ocml_ilogb_##suffix(type x);                                                         \
	int __ocml_ilogb_##suffix(type x)                                                          \
	{                                                                                          \
		return ilogb##f(x);                                                                \
	}                                                                                          \
	int __ocml_isfinite_##suffix(type x);                                                      \
	int __ocml_isfinite_##suffix(type x)                                                       \
	{                                                                                          \
		return isfinite(x) != 0;                                                           \
	}                                                                                          \
	int __ocml_isinf_##suffix(type x);                                                         \
	int __ocml_isinf_##suffix(type x)                                                          \
	{                                                                                          \
		return isinf(x) != 0;                                                              \
	}                                                                                          \
	int __ocml_isnan_##suffix(type x);                                                         \
	int __ocml_isnan_##suffix(type x)                                                          \
	{                                                                                          \
		return isnan(x) != 0;                                                              \
	}                                                                                          \
	int __ocml_signbit_##suffix(type x);                                                       \
	int __ocml_signbit_##suffix(type x)                                                        \
	{                                                                                          \
		return signbit(x) != 0;                                                            \
	}                                                                                          \
	type __ocml_frexp_##suffix(type x, int *exponent);                                         \
	type __ocml_frexp_##suffix(type x, int *exponent)                                          \
	{                                                                                          \
		return frexp##f(x, exponent);                                                      \
	}                                                                                          \
	type __ocml_modf_##suffix(type x, type *whole);                                            \
	type __ocml_modf_##suffix(type x, type *whole)                                             \
	{                                                                                          \
		return modf##f(x, whole);                                                          \
	}                                                                                          \
	type __ocml_remquo_##suffix(type x, type y, int *quotient);                                \
	type __ocml_remquo_##suffix(type x, type y, int *quotient)                                 \
	{                                                                                          \
		return remquo##f(x, y, quotient);                                                  \
	}                                                                                          \
	type __ocml_sincos_##suffix(type x, type *cosine);                                         \
	type __ocml_sincos_##suffix(type x, type *cosine)                                          \
	{                                                                                          \
		*cosine = cos##f(x);                                                               \
		return sin##f(x);                                                                  \
	}                                                                                          \
	type __ocml_sincospi_##suffix(type x, type *cosine);                                       \
	type __ocml_sincospi_##suffix(type x, type *cosine)                                        \
	{                                                                                          \
		*cosine = (type)cos_pi((double)x);                                                 \
		return (type)sin_pi((double)x);                                                    \
	}                                                                                          \
	type __ocml_len3_##suffix(type x, type y, type z);                                         \
	type __ocml_len3_##suffix(type x, type y, type z)                                          \
	{                                                                                          \
		return hypot##f(hypot##f(x, y), z);                                                \
	}                                                                                          \
	type __ocml_len4_##suffix(type x, type y, type z, type w);                                 \
	type __ocml_len4_##suffix(type x, type y, type z, type w)                                  \
	{                                                                                          \
		return hypot##f(hypot##f(x, y), hypot##f(z, w));                                   \
	}                                                                                          \
	type __ocml_rlen3_##suffix(type x, type y, type z);                                        \
	type __ocml_rlen3_##suffix(type x, type y, type z)                                         \
	{                                                                                          \
		return 1 / hypot##f(hypot##f(x, y), z);                                            \
	}                                                                                          \
	type __ocml_rlen4_##suffix(type x, type y, type z, type w);                                \
	type __ocml_rlen4_##suffix(type x, type y, type z, type w)                                 \
	{                                                                                          \
		return 1 / hypot##f(hypot##f(x, y), hypot##f(z, w));                               \
	}                                                                                          \
	type __ocml_rhypot_##suffix(type x, type y);                                               \
	type __ocml_rhypot_##suffix(type x, type y)                                                \
	{                                                                                          \
		return 1 / hypot##f(x, y);                                                         \
	}

MORE(float, f, f32)
MORE(double, , f64)

/* V_SIN_F32 and V_COS_F32 take turns, not radians. */
float um_sin_turns(float x);
float um_cos_turns(float x);
float um_exp2(float x);
float um_log2(float x);
float um_ldexp(float x, int n);
double um_ldexp_f64(double x, int n);

float um_sin_turns(float x)
{
	return (float)sin_pi(2.0 * (double)x);
}

float um_cos_turns(float x)
{
	return (float)cos_pi(2.0 * (double)x);
}

float um_exp2(float x)
{
	return exp2f(x);
}

float um_log2(float x)
{
	return log2f(x);
}

float um_ldexp(float x, int n)
{
	return ldexpf(x, n);
}

double um_ldexp_f64(double x, int n)
{
	return ldexp(x, n);
}
