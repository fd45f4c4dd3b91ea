#include "units.h"

#include "error.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#define TEXT_SHOWN "\"%.48s\""

struct unit {
	const char *name;
	double scale;
	uint64_t scale_exact; /* 0: only `scale` holds it */
};

#define KIB (UINT64_C(1) << 10)
#define MIB (UINT64_C(1) << 20)
#define GIB (UINT64_C(1) << 30)
#define TIB (UINT64_C(1) << 40)

static const struct unit byte_units[] = {
	{"B", 1, 1},
	{"KiB", (double)KIB, KIB},
	{"MiB", (double)MIB, MIB},
	{"GiB", (double)GIB, GIB},
	{"TiB", (double)TIB, TIB},
	{NULL, 0, 0},
};
static const struct unit bandwidth_units[] = {
	{"B/s", 1, 0},
	{"kB/s", 1e3, 0},
	{"MB/s", 1e6, 0},
	{"GB/s", 1e9, 0},
	{"TB/s", 1e12, 0},
	{"KiB/s", (double)KIB, 0},
	{"MiB/s", (double)MIB, 0},
	{"GiB/s", (double)GIB, 0},
	{"TiB/s", (double)TIB, 0},
	{NULL, 0, 0},
};
static const struct unit duration_units[] = {
	{"ns", 1, 1}, {"us", 1e3, 1000}, {"ms", 1e6, 1000000}, {"s", 1e9, 1000000000}, {NULL, 0, 0},
};
static const struct unit multiple_units[] = {{"x", 1, 1}, {NULL, 0, 0}};
static const struct unit no_units[] = {{"", 1, 1}, {NULL, 0, 0}};

/* What people write instead, and what they mean. */
struct slip {
	const char *wrong;
	const char *meant;
};
static const struct slip byte_slips[] = {
	{"k", "KiB"},	{"kb", "KiB"},	{"kib", "KiB"}, {"ki", "KiB"},	{"m", "MiB"},
	{"mb", "MiB"},	{"mib", "MiB"}, {"mi", "MiB"},	{"g", "GiB"},	{"gb", "GiB"},
	{"gib", "GiB"}, {"gi", "GiB"},	{"t", "TiB"},	{"tb", "TiB"},	{"tib", "TiB"},
	{"ti", "TiB"},	{"b", "B"},	{"byte", "B"},	{"bytes", "B"}, {NULL, NULL},
};
static const struct slip bandwidth_slips[] = {
	{"b/s", "B/s"},	    {"kb/s", "kB/s"},	{"mb/s", "MB/s"},   {"gb/s", "GB/s"},
	{"tb/s", "TB/s"},   {"kib/s", "KiB/s"}, {"mib/s", "MiB/s"}, {"gib/s", "GiB/s"},
	{"tib/s", "TiB/s"}, {"k/s", "kB/s"},	{"m/s", "MB/s"},    {"g/s", "GB/s"},
	{"t/s", "TB/s"},    {"kb", "kB/s"},	{"mb", "MB/s"},	    {"gb", "GB/s"},
	{"tb", "TB/s"},	    {"gib", "GiB/s"},	{"mib", "MiB/s"},   {"mbps", "MB/s"},
	{"gbps", "GB/s"},   {NULL, NULL},
};
static const struct slip duration_slips[] = {
	{"ns", "ns"}, {"us", "us"},   {"\xc2\xb5s", "us"}, {"\xce\xbcs", "us"}, {"usec", "us"},
	{"ms", "ms"}, {"msec", "ms"}, {"s", "s"},	   {"sec", "s"},	{NULL, NULL},
};

/* A kind of quantity: what it is called, its units and the slips that are recognised. */
struct quantity {
	const char *what;
	const struct unit *units;
	const struct slip *slips;
	const char *example;
};
static const struct quantity bytes_quantity = {"a size", byte_units, byte_slips, "64KiB"};
static const struct quantity bandwidth_quantity = {"a bandwidth", bandwidth_units, bandwidth_slips,
						   "12.5GB/s"};
static const struct quantity duration_quantity = {"a time", duration_units, duration_slips, "20us"};
static const struct quantity multiple_quantity = {"a multiple", multiple_units, NULL, "0.8x"};
static const struct quantity count_quantity = {"a count", no_units, NULL, "16"};

/* A decimal number as written: digits / 10^places, without its trailing zeros. */
struct decimal {
	unsigned __int128 digits;
	unsigned places;
	const char *unit; /* behind the number and one optional blank */
	int written;	  /* characters of the number */
};

enum { DIGITS_MAX = 24, PLACES_MAX = 18 };

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* False where there is no number, or more digits than any quantity here needs. */
static bool parse_decimal(struct decimal *out, const char *text)
{
	const char *at = text;
	unsigned significant = 0, digits = 0;
	bool point = false;

	*out = (struct decimal){0};
	for (; is_digit(*at) || (*at == '.' && !point && is_digit(at[1])); at++) {
		if (*at == '.') {
			point = true;
			continue;
		}
		digits++;
		significant += significant || *at != '0';
		out->places += point;
		if (significant > DIGITS_MAX || out->places > PLACES_MAX)
			return false;
		out->digits = out->digits * 10 + (unsigned)(*at - '0');
	}
	for (; out->places && out->digits % 10 == 0; out->places--)
		out->digits /= 10;
	out->written = (int)(at - text);
	out->unit = at + (*at == ' ');
	return digits > 0;
}

static const char *meant_by(const struct quantity *quantity, const char *unit)
{
	const struct slip *slip = quantity->slips;

	for (; slip && slip->wrong; slip++)
		if (strcasecmp(slip->wrong, unit) == 0)
			return slip->meant;
	return NULL;
}

static int unknown_unit(const struct quantity *quantity, const char *text,
			const struct decimal *number)
{
	const char *meant = meant_by(quantity, number->unit);

	if (meant)
		return um_fail(UM_EINVAL, TEXT_SHOWN ": did you mean %.*s%s?", text,
			       number->written, text, meant);
	if (number->unit[0] == '\0')
		return um_fail(UM_EINVAL, TEXT_SHOWN " has no unit: %s is written like %s", text,
			       quantity->what, quantity->example);
	if (quantity == &count_quantity)
		return um_fail(UM_EINVAL, TEXT_SHOWN " is not a whole number", text);
	return um_fail(UM_EINVAL, TEXT_SHOWN ": unknown unit \"%.16s\": %s is written like %s",
		       text, number->unit, quantity->what, quantity->example);
}

/* Number and unit of `text`; a bare 0 needs no unit. */
static int parse_quantity(struct decimal *number, const struct unit **unit,
			  const struct quantity *quantity, const char *text)
{
	if (text[0] == '-')
		return um_fail(UM_EINVAL, TEXT_SHOWN " is negative", text);
	if (!parse_decimal(number, text)) {
		if (is_digit(text[0]))
			return um_fail(UM_EINVAL, TEXT_SHOWN " has too many digits", text);
		return um_fail(UM_EINVAL, TEXT_SHOWN " is not %s: write it like %s", text,
			       quantity->what, quantity->example);
	}
	*unit = quantity->units;
	if (number->digits == 0 && number->unit[0] == '\0')
		return 0;
	for (; (*unit)->name; ++*unit)
		if (strcmp((*unit)->name, number->unit) == 0)
			return 0;
	return unknown_unit(quantity, text, number);
}

static double power_of_ten(unsigned exponent)
{
	double power = 1;

	while (exponent--)
		power *= 10;
	return power;
}

/* A quantity that is a whole number of its smallest unit (`whole`: the smallest unit's name). */
static int parse_whole(uint64_t *out, const struct quantity *quantity, const char *text,
		       const char *whole)
{
	struct decimal number;
	const struct unit *unit;
	unsigned __int128 divisor = 1;
	int error = parse_quantity(&number, &unit, quantity, text);

	if (error)
		return error;
	/* 24 digits times 2^40 fit 128 bits. */
	number.digits *= unit->scale_exact;
	for (unsigned i = 0; i < number.places; i++)
		divisor *= 10;
	if (number.digits % divisor)
		return um_fail(UM_EINVAL, TEXT_SHOWN " is not a whole number%s%s", text,
			       whole[0] ? " of " : "", whole);
	number.digits /= divisor;
	if (number.digits > UINT64_MAX)
		return um_fail(UM_EINVAL, TEXT_SHOWN " is too large", text);
	*out = (uint64_t)number.digits;
	return 0;
}

int um_parse_bytes(const char *text, uint64_t *out)
{
	return parse_whole(out, &bytes_quantity, text, "bytes");
}

static int parse_some_bytes(const char *text, const char *why_not_0, uint64_t *out)
{
	uint64_t bytes = 0;
	int error = um_parse_bytes(text, &bytes);

	if (error)
		return error;
	if (bytes == 0)
		return um_fail(UM_EINVAL, "%s", why_not_0);
	*out = bytes;
	return 0;
}

int um_parse_page_bytes(const char *text, uint64_t *out)
{
	return parse_some_bytes(text, "a page of 0 bytes holds nothing", out);
}

int um_parse_memory_bytes(const char *text, uint64_t *out)
{
	char least[32], most[32];
	uint64_t bytes = 0;
	int error = parse_some_bytes(text, "a device without memory runs nothing", &bytes);

	if (error)
		return error;
	if (bytes < UM_MEMORY_BYTES_MIN || bytes > UM_MEMORY_BYTES_MAX)
		return um_fail(UM_EINVAL, "memory: %.48s is out of range: it can be %s to %s", text,
			       um_format_bytes(least, sizeof(least), UM_MEMORY_BYTES_MIN),
			       um_format_bytes(most, sizeof(most), UM_MEMORY_BYTES_MAX));
	if (bytes % UM_MEMORY_PAGE_BYTES)
		return um_fail(UM_EINVAL, "memory: %.48s is not whole pages of 4 KiB", text);
	*out = bytes;
	return 0;
}

int um_parse_duration(const char *text, uint64_t *out_ns)
{
	return parse_whole(out_ns, &duration_quantity, text, "nanoseconds");
}

int um_parse_u64(const char *text, uint64_t *out)
{
	return parse_whole(out, &count_quantity, text, "");
}

static int parse_real(double *out, const struct quantity *quantity, const char *text)
{
	struct decimal number;
	const struct unit *unit;
	int error = parse_quantity(&number, &unit, quantity, text);

	if (error)
		return error;
	*out = (double)number.digits * unit->scale / power_of_ten(number.places);
	return 0;
}

int um_parse_bandwidth(const char *text, double *out_bytes_per_second)
{
	return parse_real(out_bytes_per_second, &bandwidth_quantity, text);
}

int um_parse_multiple(const char *text, double *out)
{
	return parse_real(out, &multiple_quantity, text);
}

/* The largest unit in which the value is at least 1 once it is rounded to 4 digits. */
static char *format_scaled(char *buffer, size_t capacity, double value,
			   const struct unit *const *units)
{
	size_t at = 0;

	while (units[at + 1] && value / units[at + 1]->scale >= 0.99995)
		at++;
	/* 1048575 B would round to "1024 KiB": the next unit says it shorter. */
	double shown = value / units[at]->scale;
	if (units[at + 1] && shown >= 999.95 &&
	    shown >= units[at + 1]->scale / units[at]->scale - 0.5)
		shown = value / units[++at]->scale;
	snprintf(buffer, capacity, shown < 9999.5 ? "%.4g %s" : "%.0f %s", shown, units[at]->name);
	return buffer;
}

char *um_format_bytes(char *buffer, size_t capacity, uint64_t bytes)
{
	static const struct unit *const shown[] = {&byte_units[0], &byte_units[1], &byte_units[2],
						   &byte_units[3], &byte_units[4], NULL};

	return format_scaled(buffer, capacity, (double)bytes, shown);
}

char *um_format_bandwidth(char *buffer, size_t capacity, double bytes_per_second)
{
	static const struct unit *const shown[] = {&bandwidth_units[0], &bandwidth_units[1],
						   &bandwidth_units[2], &bandwidth_units[3],
						   &bandwidth_units[4], NULL};

	return format_scaled(buffer, capacity, bytes_per_second, shown);
}

char *um_format_duration(char *buffer, size_t capacity, uint64_t ns)
{
	static const struct unit *const shown[] = {&duration_units[0], &duration_units[1],
						   &duration_units[2], &duration_units[3], NULL};

	return format_scaled(buffer, capacity, (double)ns, shown);
}

char *um_format_count(char *buffer, size_t capacity, uint64_t count)
{
	char digits[24];
	size_t length = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count), used = 0;

	for (size_t i = 0; i < length && used + 2 < capacity; i++) {
		if (i && (length - i) % 3 == 0)
			buffer[used++] = ',';
		buffer[used++] = digits[i];
	}
	if (capacity)
		buffer[used] = '\0';
	return buffer;
}
