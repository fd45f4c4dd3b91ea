/* Device math against the host's, within a few units in the last place. */
#include "hip_test.h"

#include <math.h>

#define FUNCTIONS(X)                                                                               \
	X(sin, x)                                                                                  \
	X(cos, x)                                                                                  \
	X(tan, x)                                                                                  \
	X(atan, x)                                                                                 \
	X(exp, x)                                                                                  \
	X(log, x)                                                                                  \
	X(log2, x)                                                                                 \
	X(sqrt, x)                                                                                 \
	X(cbrt, x)                                                                                 \
	X(erf, x)                                                                                  \
	X(tgamma, x)                                                                               \
	X(floor, x)                                                                                \
	X(rint, x)                                                                                 \
	X(fabs, -x)                                                                                \
	X(tanh, x)

#define COUNT(name, argument) +1
enum { functions = 0 FUNCTIONS(COUNT) };

template <typename T> __global__ void evaluate(T *out, T x)
{
	int i = 0;
#define DEVICE(name, argument) out[i++] = name(argument);
	FUNCTIONS(DEVICE)
	out[i++] = pow(x, (T)1.5);
	out[i++] = fma(x, x, (T)0.25);
	out[i++] = fmod(x * 10, (T)3);
	out[i++] = atan2(x, (T)2);
	out[i++] = fmax(x, (T)1);
	out[i++] = rsqrt(x);
}

template <typename T> static long count_wrong(T x, T tolerance)
{
	T *out = managed<T>(functions + 6);
	LAUNCH(evaluate<T><<<1, 1>>>(out, x));
	T host[functions + 6];
	int i = 0;
#define HOST(name, argument) host[i++] = (T)::name(argument);
	FUNCTIONS(HOST)
	host[i++] = pow(x, (T)1.5);
	host[i++] = fma(x, x, (T)0.25);
	host[i++] = fmod(x * 10, (T)3);
	host[i++] = atan2(x, (T)2);
	host[i++] = fmax(x, (T)1);
	host[i++] = 1 / sqrt(x);
	long wrong = 0;
	for (i = 0; i < functions + 6; i++)
		wrong += !(fabs(out[i] - host[i]) <= tolerance * (1 + fabs(host[i])));
	HIP_CHECK(hipFree(out));
	return wrong;
}

int main()
{
	verdict("float", count_wrong<float>(0.7f, 1e-6f) + count_wrong<float>(2.3f, 1e-6f));
	verdict("double", count_wrong<double>(0.7, 1e-15) + count_wrong<double>(2.3, 1e-15));
	return 0;
}
