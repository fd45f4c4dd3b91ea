/* Half precision conversions that code compiled against AMD's library calls there. */
#include "api.h"

#include <string.h>

UM_API float __gnu_h2f_ieee(unsigned short);
UM_API unsigned short __gnu_f2h_ieee(float);

/* The value is scaled by a power of two, which also makes a subnormal half a normal float. */
float __gnu_h2f_ieee(unsigned short half)
{
	uint32_t magnitude = half & 0x7fffu, bits;
	float value;

	if (magnitude >= 0x7c00u) { /* infinity or not a number */
		bits = 0x7f800000u | (magnitude & 0x3ffu) << 13;
		memcpy(&value, &bits, sizeof(value));
	} else {
		bits = magnitude << 13;
		memcpy(&value, &bits, sizeof(value));
		value *= 0x1p112f;
	}
	return half & 0x8000u ? -value : value;
}

/* Shifts right by `count`, to nearest, ties to even. */
static uint32_t round_shift(uint32_t value, unsigned count)
{
	uint32_t kept = value >> count, half = 1u << (count - 1), rest = value & (2 * half - 1);

	return kept + (rest > half || (rest == half && kept & 1u));
}

static uint32_t half_magnitude(uint32_t magnitude)
{
	if (magnitude > 0x7f800000u) /* not a number: quiet, with the upper bits of its payload */
		return 0x7e00u | (magnitude >> 13 & 0x1ffu);
	if (magnitude >= 0x477ff000u) /* rounds to 2^16 or more */
		return 0x7c00u;
	if (magnitude >= 0x38800000u) /* 2^-14, the least normal half */
		return round_shift(magnitude - 0x38000000u, 13);
	unsigned exponent = magnitude >> 23;

	if (exponent < 102) /* below 2^-25, half the least subnormal */
		return 0;
	return round_shift((magnitude & 0x7fffffu) | 0x800000u, 126 - exponent);
}

unsigned short __gnu_f2h_ieee(float value)
{
	uint32_t bits;

	memcpy(&bits, &value, sizeof(bits));
	return (unsigned short)((bits >> 16 & 0x8000u) | half_magnitude(bits & 0x7fffffffu));
}
