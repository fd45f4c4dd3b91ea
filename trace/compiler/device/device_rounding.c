/*
 * Arithmetic with a rounding of its own: __fadd_ru(), __dmul_rz() and the like. The mode of the
 * machine is set for one operation; volatile keeps the operation inside.
 */
#include <fenv.h>
#include <math.h>

#define ROUNDED(type, name, mode, parameters, first, second, third, expression)                    \
	type name parameters;                                                                      \
	type name parameters                                                                       \
	{                                                                                          \
		volatile type a = first, b = second, c = third, result;                            \
		int before = fegetround();                                                         \
                                                                                                   \
		fesetround(mode);                                                                  \
		result = expression;                                                               \
		fesetround(before);                                                                \
		(void)b;                                                                           \
		(void)c;                                                                           \
		return result;                                                                     \
	}

#define FAMILY(type, suffix, f, tag, mode)                                                         \
	ROUNDED(type, __ocml_add_##tag##_##suffix, mode, (type x, type y), x, y, 0, a + b)         \
	ROUNDED(type, __ocml_sub_##tag##_##suffix, mode, (type x, type y), x, y, 0, a - b)         \
	ROUNDED(type, __ocml_mul_##tag##_##suffix, mode, (type x, type y), x, y, 0, a *b)          \
	ROUNDED(type, __ocml_div_##tag##_##suffix, mode, (type x, type y), x, y, 0, a / b)         \
	ROUNDED(type, __ocml_sqrt_##tag##_##suffix, mode, (type x), x, 0, 0, sqrt##f(a))           \
	ROUNDED(type, __ocml_fma_##tag##_##suffix, mode, (type x, type y, type z), x, y, z,        \
		fma##f(a, b, c))

#define MODES(type, suffix, f)                                                                     \
	FAMILY(type, suffix, f, rte, FE_TONEAREST)                                                 \
	FAMILY(type, suffix, f, rtn, FE_DOWNWARD)                                                  \
	FAMILY(type, suffix, f, rtp, FE_UPWARD)                                                    \
	FAMILY(type, suffix, f, rtz, FE_TOWARDZERO)

MODES(float, f32, f)
MODES(double, f64, )
