/*
 * Drives a fuzz target without a fuzzer: every seed as it is, cut at every length, and many times
 * mutated, the same way in every run. Usage: TARGET ROUNDS SEED...
 */
#include "fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CAPACITY = 1 << 16 };

/* What breaks a parser, and what these formats give a meaning. */
static const char *const tokens[] = {
	"\n",
	"\t",
	": ",
	"- ",
	"[",
	"]",
	"{",
	"}",
	",",
	"*a",
	"&a ",
	"!!int ",
	"---\n",
	"...\n",
	"\"",
	"'",
	"|\n",
	">\n",
	"? ",
	"# ",
	"\xff",
	"\xef\xbb\xbf",
	"\\x00",
	"%YAML 1.1\n",
	"-1",
	"0",
	"64KB",
	"64KiB",
	"18446744073709551616B",
	"1e308",
	"host",
	"gpu0",
	"gpu16",
	"on: ",
	"name: ",
	"<<: ",
	"\xc2\x85",
	"\r\n",
	"range: [0, 1MiB]",
	"before: ",
};

static uint64_t next_random(uint64_t *state)
{
	/* xorshift64*, Vigna 2016 */
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * UINT64_C(2685821657736338717);
}

struct text {
	uint8_t bytes[CAPACITY];
	size_t length;
};

static void insert(struct text *text, size_t at, const void *bytes, size_t length)
{
	if (text->length + length > CAPACITY)
		return;
	memmove(text->bytes + at + length, text->bytes + at, text->length - at);
	memcpy(text->bytes + at, bytes, length);
	text->length += length;
}

static void erase(struct text *text, size_t at, size_t length)
{
	length = length < text->length - at ? length : text->length - at;
	memmove(text->bytes + at, text->bytes + at + length, text->length - at - length);
	text->length -= length;
}

static void mutate_once(struct text *text, uint64_t *random)
{
	size_t at = text->length ? next_random(random) % text->length : 0;
	size_t length = 1 + next_random(random) % 24;
	const char *token = tokens[next_random(random) % (sizeof(tokens) / sizeof(tokens[0]))];
	uint8_t copy[32];

	switch (next_random(random) % 5) {
	case 0:
		insert(text, at, token, strlen(token));
		break;
	case 1:
		erase(text, at, length);
		break;
	case 2:
		if (text->length)
			text->bytes[at] ^= (uint8_t)(1u << next_random(random) % 8);
		break;
	case 3: /* a part of it again, somewhere else */
		length = length < text->length - at ? length : text->length - at;
		memcpy(copy, text->bytes + at, length);
		insert(text, next_random(random) % (text->length + 1), copy, length);
		break;
	default:
		erase(text, at, length);
		insert(text, at, token, strlen(token));
	}
}

/* From a block of its own size, so that a sanitizer sees a read beyond its end. */
static void run(const struct text *text)
{
	uint8_t *exact = malloc(text->length ? text->length : 1);

	if (!exact)
		um_fuzz_bug("no memory", "");
	memcpy(exact, text->bytes, text->length);
	LLVMFuzzerTestOneInput(exact, text->length);
	free(exact);
}

static void load(struct text *text, const char *path)
{
	FILE *file = fopen(path, "re");

	if (!file)
		um_fuzz_bug("no such seed", path);
	text->length = fread(text->bytes, 1, CAPACITY, file);
	fclose(file);
	if (text->length == 0)
		um_fuzz_bug("an empty seed", path);
}

static void run_seed(const char *path, unsigned long rounds)
{
	static struct text seed, text;
	uint64_t random = UINT64_C(0x9e3779b97f4a7c15);

	load(&seed, path);
	for (text = seed; text.length > 0; text.length--)
		run(&text);
	for (unsigned long round = 0; round < rounds; round++) {
		text.length = seed.length;
		memcpy(text.bytes, seed.bytes, seed.length);
		for (unsigned times = 1 + next_random(&random) % 6; times > 0; times--)
			mutate_once(&text, &random);
		run(&text);
	}
}

int main(int argc, char **argv)
{
	if (argc < 3)
		um_fuzz_bug("usage", "TARGET ROUNDS SEED...");
	for (int i = 2; i < argc; i++)
		run_seed(argv[i], strtoul(argv[1], NULL, 10));
	printf("%d seeds, %s rounds each\n", argc - 2, argv[1]);
	return 0;
}
