/* Kernels as templates, over types, values and functors; lambdas; classes in device code. */
#include "hip_test.h"

template <typename T, int Factor> __global__ void scale(T *data, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		data[i] = data[i] * Factor;
}

template <typename T, typename F> __global__ void map(T *data, int n, F f)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		data[i] = f(data[i]);
}

struct polynomial {
	double a, b, c;
	__host__ __device__ double operator()(double x) const
	{
		return (a * x + b) * x + c;
	}
};

class shape
{
      public:
	__host__ __device__ shape(int w, int h) : width(w), height(h)
	{
	}
	__host__ __device__ int area() const
	{
		return width * height;
	}

      private:
	int width, height;
};

namespace inner
{
template <typename T> __global__ void areas(T *out)
{
	shape s(threadIdx.x + 1, blockIdx.x + 2);
	out[blockIdx.x * blockDim.x + threadIdx.x] = s.area();
}
} // namespace inner

template <typename T, int Factor> static long check_scale()
{
	T *data = managed<T>(1000);
	for (int i = 0; i < 1000; i++)
		data[i] = (T)i;
	LAUNCH(scale<T, Factor><<<4, 256>>>(data, 1000));
	long wrong = 0;
	for (int i = 0; i < 1000; i++)
		wrong += data[i] != (T)i * Factor;
	HIP_CHECK(hipFree(data));
	return wrong;
}

int main()
{
	verdict("int", check_scale<int, 3>());
	verdict("float", check_scale<float, 4>());
	verdict("double", check_scale<double, 5>());
	verdict("unsigned short", check_scale<unsigned short, 2>());
	verdict("long", check_scale<long, -7>());

	double *values = managed<double>(500);
	for (int i = 0; i < 500; i++)
		values[i] = i;
	polynomial p = {2, 3, 5};
	LAUNCH(map<<<2, 256>>>(values, 500, p));
	long wrong = 0;
	for (int i = 0; i < 500; i++)
		wrong += values[i] != p(i);
	verdict("functor", wrong);

	double shift = 0.5;
	LAUNCH(map<<<2, 256>>>(values, 500, [=] __device__(double x) { return x + shift; }));
	wrong = 0;
	for (int i = 0; i < 500; i++)
		wrong += values[i] != p(i) + 0.5;
	verdict("lambda", wrong);

	int *areas = managed<int>(96);
	LAUNCH(inner::areas<<<3, 32>>>(areas));
	wrong = 0;
	for (int i = 0; i < 96; i++)
		wrong += areas[i] != (i % 32 + 1) * (i / 32 + 2);
	verdict("class", wrong);
	return 0;
}
