/*
 * The four operations of the STREAM benchmark over three arrays of n doubles, `repetitions` times:
 *   copy c = a, scale b = 3 c, add c = a + b, triad a = b + 3 c; --operation takes one of them
 *
 * What its trace must show, with P = n * 8 / 4096 pages, n a multiple of 512, r repetitions:
 *   host, before  3 P pages written
 *   launches      copy and scale n reads, n writes each; add and triad 2 n reads, n writes; all
 *                 lines of P pages of each array they use, 64 requests a page, in all
 *                 6 r n reads and 4 r n writes
 *   host, after   3 P pages read
 *
 * Under driver `demand` with room for all, at 4 KiB (64 KiB: a 16th of the faults, P a multiple of
 * 16): 3 P device faults in the first repetition and none after it, 12288 P bytes to the device, as
 * many back. --prefetch: no device fault, the same bytes. --advise=preferred-host: no migration; 64
 * lines read remotely a page and array read, as many written. With room for less than 3 P pages,
 * evicting in fault order, each repetition brings every page that it uses anew: time grows with n,
 * as before, in proportion (the linear class).
 *
 * Under driver `amdgpu_svm`, an array at most 2 MiB (one range, one block):
 *   XNACK on   3 device faults, the same bytes; with room for one array, and all groups in flight
 *              at once, a triad brings each of the three
 *   XNACK off  no fault, no migration; 64 lines read remotely a page and array read, as many
 *              written; --prefetch: the same bytes as demand, queues stop at the prefetches and at
 *              the host's reading
 */
#include "kernel_common.h"

#include <math.h>

#define SCALAR 3.0

__global__ void copy(const double *__restrict__ a, double *__restrict__ c, long n)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		c[i] = a[i];
}

__global__ void scale(double *__restrict__ b, const double *__restrict__ c, long n)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		b[i] = SCALAR * c[i];
}

__global__ void add(const double *__restrict__ a, const double *__restrict__ b,
		    double *__restrict__ c, long n)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		c[i] = a[i] + b[i];
}

__global__ void triad(double *__restrict__ a, const double *__restrict__ b,
		      const double *__restrict__ c, long n)
{
	long i = (long)blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i] = b[i] + SCALAR * c[i];
}

enum operation { COPY = 1, SCALE = 2, ADD = 4, TRIAD = 8 };
static const char *const operation_names[] = {"all", "copy", "scale", "add", "triad"};
static const int operation_sets[] = {COPY | SCALE | ADD | TRIAD, COPY, SCALE, ADD, TRIAD};

struct arrays {
	double *a, *b, *c;
	long n;
};

static void launch(const struct arrays *x, int operations)
{
	const unsigned lanes = 256;
	const unsigned groups = (x->n + lanes - 1) / lanes;

	if (operations & COPY)
		copy<<<groups, lanes>>>(x->a, x->c, x->n);
	if (operations & SCALE)
		scale<<<groups, lanes>>>(x->b, x->c, x->n);
	if (operations & ADD)
		add<<<groups, lanes>>>(x->a, x->b, x->c, x->n);
	if (operations & TRIAD)
		triad<<<groups, lanes>>>(x->a, x->b, x->c, x->n);
	HIP_CHECK(hipGetLastError());
}

struct element {
	double a, b, c;
};

static struct element element_at(long i)
{
	return {1.0 + i % 7, 2.0 + i % 5, 0.5 * (i % 3)};
}

static struct element repeat_on_cpu(struct element x, int operations, long repetitions)
{
	for (long i = 0; i < repetitions; i++) {
		x.c = operations & COPY ? x.a : x.c;
		x.b = operations & SCALE ? SCALAR * x.c : x.b;
		x.c = operations & ADD ? x.a + x.b : x.c;
		x.a = operations & TRIAD ? x.b + SCALAR * x.c : x.a;
	}
	return x;
}

/* Whole numbers are exact in 53 bits; beyond them a fused multiply and add may round otherwise. */
static bool differs(double got, double expected)
{
	return fabs(got - expected) > 1e-12 * fabs(expected);
}

static long count_wrong(const struct arrays *x, int operations, long repetitions)
{
	long wrong = 0;
	for (long i = 0; i < x->n; i++) {
		struct element y = repeat_on_cpu(element_at(i), operations, repetitions);
		wrong += differs(x->a[i], y.a) || differs(x->b[i], y.b) || differs(x->c[i], y.c);
	}
	return wrong;
}

int main(int argc, char **argv)
{
	struct arrays x = {nullptr, nullptr, nullptr, 1 << 18};
	long repetitions = 3;
	bool prefetch = false;
	const char *operation = "all", *advice = nullptr;
	const struct option_row rows[] = {
		{"n", "COUNT", "doubles of an array (default 262144)", &x.n, nullptr, nullptr},
		{"repetitions", "COUNT", "at most 200 (default 3)", &repetitions, nullptr, nullptr},
		{"operation", "NAME", "all, copy, scale, add, triad (default all)", nullptr,
		 nullptr, &operation},
		{"prefetch", nullptr, "prefetch the arrays to the GPU", nullptr, &prefetch,
		 nullptr},
		{"advise", "LIST", ADVICE_CHOICES, nullptr, nullptr, &advice},
	};
	parse_options(argc, argv, "STREAM: copy, scale, add, triad.", rows, 5);
	int operations = operation_sets[choice_of("operation", operation, operation_names, 5)];
	if (repetitions > 200) {
		fprintf(stderr, "stream_triad: more than 200 repetitions overflow a double\n");
		return 2;
	}

	int device;
	size_t bytes = x.n * sizeof(double);
	HIP_CHECK(hipGetDevice(&device));
	for (double **array : {&x.a, &x.b, &x.c}) {
		HIP_CHECK(hipMallocManaged(array, bytes, hipMemAttachGlobal));
		give_advice(*array, bytes, advice, device);
	}
	for (long i = 0; i < x.n; i++) {
		struct element start = element_at(i);
		x.a[i] = start.a;
		x.b[i] = start.b;
		x.c[i] = start.c;
	}
	for (double *array : {x.a, x.b, x.c})
		if (prefetch)
			HIP_CHECK(hipMemPrefetchAsync(array, bytes, device, 0));
	for (long i = 0; i < repetitions; i++)
		launch(&x, operations);
	HIP_CHECK(hipDeviceSynchronize());
	long wrong = count_wrong(&x, operations, repetitions);
	for (double *array : {x.a, x.b, x.c})
		HIP_CHECK(hipFree(array));
	return report("stream_triad", wrong);
}
