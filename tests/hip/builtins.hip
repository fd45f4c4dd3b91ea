/* Instructions of AMD's GPUs by the names that clang gives them; what they do is in AMD's
 * instruction set manuals. Beside them: hosts do the same in C. */
#include "hip_test.h"

typedef short two_shorts __attribute__((ext_vector_type(2)));
typedef unsigned short two_unsigned_shorts __attribute__((ext_vector_type(2)));

enum { RESULTS = 18 };

__global__ void evaluate(long long *out, int a, int b, int c)
{
	int n = 0;
	two_shorts sa = {(short)a, (short)(a >> 16)}, sb = {(short)b, (short)(b >> 16)};
	two_unsigned_shorts ua = {(unsigned short)a, (unsigned short)((unsigned)a >> 16)};
	two_unsigned_shorts ub = {(unsigned short)b, (unsigned short)((unsigned)b >> 16)};

	out[n++] = __builtin_amdgcn_sdot2(sa, sb, c, false);
	out[n++] = __builtin_amdgcn_sdot2(sa, sb, 2147483647, true);
	out[n++] = __builtin_amdgcn_udot2(ua, ub, (unsigned)c, false);
	out[n++] = __builtin_amdgcn_udot2(ua, ub, ~0u, true);
	out[n++] = __builtin_amdgcn_sdot4(a, b, c, false);
	out[n++] = __builtin_amdgcn_sdot4(a, a, 2147483647, true);
	out[n++] = __builtin_amdgcn_udot4((unsigned)a, (unsigned)b, (unsigned)c, false);
	out[n++] = __builtin_amdgcn_udot4((unsigned)a, (unsigned)b, ~0u, true);
	out[n++] = __builtin_amdgcn_sdot8(a, b, c, false);
	out[n++] = __builtin_amdgcn_udot8((unsigned)a, (unsigned)b, (unsigned)c, false);
	out[n++] = __builtin_amdgcn_perm((unsigned)a, (unsigned)b, 0x0c010700u);
	out[n++] = __builtin_amdgcn_alignbit((unsigned)a, (unsigned)b, 9);
	out[n++] = __builtin_amdgcn_alignbyte((unsigned)a, (unsigned)b, 3);
	out[n++] = __builtin_amdgcn_sad_u8((unsigned)a, (unsigned)b, (unsigned)c);
	out[n++] = __builtin_amdgcn_ubfe((unsigned)a, 5, 11);
	out[n++] = __builtin_amdgcn_sbfe(a, 3, 7);
	out[n++] = (int)__builtin_amdgcn_fmed3f(3.f, (float)c, 2.f);
	out[n++] = (int)__builtin_amdgcn_ldexpf((float)c, 3);
}

static int saturated(long long n)
{
	return (int)(n > 2147483647 ? 2147483647 : n < -2147483648LL ? -2147483648LL : n);
}

static long long dot(unsigned a, unsigned b, int bits, bool is_signed)
{
	long long sum = 0;

	for (int at = 0; at < 32; at += bits) {
		long long x = a << (32 - bits - at) >> (32 - bits);
		long long y = b << (32 - bits - at) >> (32 - bits);
		long long half = 1LL << (bits - 1);

		if (is_signed) {
			x = x >= half ? x - 2 * half : x;
			y = y >= half ? y - 2 * half : y;
		}
		sum += x * y;
	}
	return sum;
}

static void expect(long long *out, unsigned a, unsigned b, int c)
{
	unsigned long long both = (unsigned long long)a << 32 | b;
	int n = 0, sad = c;

	out[n++] = (int)(dot(a, b, 16, true) + c);
	out[n++] = saturated(dot(a, b, 16, true) + 2147483647);
	out[n++] = (unsigned)(dot(a, b, 16, false) + c);
	out[n++] = ~0u;
	out[n++] = (int)(dot(a, b, 8, true) + c);
	out[n++] = 2147483647;
	out[n++] = (unsigned)(dot(a, b, 8, false) + c);
	out[n++] = ~0u;
	out[n++] = (int)(dot(a, b, 4, true) + c);
	out[n++] = (unsigned)(dot(a, b, 4, false) + c);
	out[n++] = (both & 255) | (both >> 56 & 255) << 8 | (both >> 8 & 255) << 16;
	out[n++] = (unsigned)(both >> 9);
	out[n++] = (unsigned)(both >> 24);
	for (int at = 0; at < 32; at += 8)
		sad += abs((int)(a >> at & 255) - (int)(b >> at & 255));
	out[n++] = (unsigned)sad;
	out[n++] = a >> 5 & 2047;
	out[n++] = (int)(a << 22) >> 25;
	out[n++] = c < 2 ? 2 : c > 3 ? 3 : c;
	out[n++] = c * 8;
}

int main()
{
	static const int values[][3] = {{0x12345678, 0x0badf00d, 5}, {-1, 0x7f80017f, -70000}};
	long long *out = managed<long long>(RESULTS), expected[RESULTS];

	for (int i = 0; i < 2; i++) {
		long wrong = 0;

		LAUNCH(evaluate<<<1, 1>>>(out, values[i][0], values[i][1], values[i][2]));
		expect(expected, (unsigned)values[i][0], (unsigned)values[i][1], values[i][2]);
		for (int n = 0; n < RESULTS; n++)
			wrong += out[n] != expected[n];
		verdict("builtins", wrong);
	}
	return 0;
}
