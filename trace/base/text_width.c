#include "text_width.h"

#include <stdint.h>

struct span {
	uint32_t first, last;
};

/* Combining marks and joiners (Unicode 15, categories Mn and Cf, the blocks in common use). */
static const struct span zero_width[] = {
	{0x0300, 0x036f}, {0x0483, 0x0489}, {0x0591, 0x05bd}, {0x0610, 0x061a},
	{0x064b, 0x065f}, {0x1ab0, 0x1aff}, {0x1dc0, 0x1dff}, {0x200b, 0x200f},
	{0x20d0, 0x20ff}, {0xfe00, 0xfe0f}, {0xfe20, 0xfe2f}, {0xfeff, 0xfeff},
};
/* East Asian Wide and Fullwidth (UAX 11), and pictographs. */
static const struct span double_width[] = {
	{0x1100, 0x115f},   {0x2e80, 0x303e},	{0x3041, 0x33ff}, {0x3400, 0x4dbf},
	{0x4e00, 0x9fff},   {0xa000, 0xa4cf},	{0xac00, 0xd7a3}, {0xf900, 0xfaff},
	{0xfe30, 0xfe6f},   {0xff00, 0xff60},	{0xffe0, 0xffe6}, {0x1f300, 0x1f64f},
	{0x1f900, 0x1f9ff}, {0x20000, 0x3fffd},
};
/* Bidirectional controls: they can make a line read as what it is not. */
static const struct span dangerous[] = {
	{0x0080, 0x009f},
	{0x200e, 0x200f},
	{0x2028, 0x202e},
	{0x2066, 0x2069},
};

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static int in_spans(uint32_t c, const struct span *spans, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (c >= spans[i].first && c <= spans[i].last)
			return 1;
	return 0;
}

static int columns_of(uint32_t c)
{
	if (c < 0x20 || c == 0x7f || in_spans(c, dangerous, COUNT(dangerous)))
		return -1;
	if (in_spans(c, zero_width, COUNT(zero_width)))
		return 0;
	return in_spans(c, double_width, COUNT(double_width)) ? 2 : 1;
}

size_t um_utf8_decode(const char *text, uint32_t *character)
{
	const unsigned char *s = (const unsigned char *)text;
	/* Smallest value that needs 1, 2, 3, 4 bytes: anything less is an overlong form. */
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	size_t bytes = s[0] < 0x80 ? 1 : s[0] < 0xc0 ? 0 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	uint32_t c = bytes == 1 ? s[0] : s[0] & (0x7fu >> bytes);

	*character = UM_NO_CHARACTER;
	if (bytes == 0 || s[0] > 0xf4)
		return 1;
	for (size_t i = 1; i < bytes; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 1;
		c = c << 6 | (s[i] & 0x3f);
	}
	if (c < least[bytes] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 1;
	*character = c;
	return bytes;
}

size_t um_utf8_next(const char *text, int *columns)
{
	uint32_t character;
	size_t bytes = um_utf8_decode(text, &character);

	*columns = character == UM_NO_CHARACTER ? -1 : columns_of(character);
	return bytes;
}

size_t um_text_columns(const char *text)
{
	size_t total = 0;
	int columns;

	while (*text) {
		text += um_utf8_next(text, &columns);
		total += columns < 0 ? 1 : (size_t)columns;
	}
	return total;
}
