/* Lines of this program's own debug information. */
#include "trace/tool/source_lines.h"

#include <limits.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static uintptr_t return_address;

__attribute__((noinline)) static void remember_caller(void)
{
	return_address = (uintptr_t)__builtin_return_address(0);
}

enum { INLINED_LINE = __LINE__ + 3 };
static inline __attribute__((always_inline)) void inlined(void)
{
	remember_caller();
	__asm__ volatile("" ::: "memory"); /* not a tail call */
}

enum { OUTER_LINE = __LINE__ + 3 };
__attribute__((noinline)) static void outer(void)
{
	inlined();
	__asm__ volatile("" ::: "memory");
}

static int first_base(struct dl_phdr_info *info, size_t bytes, void *base)
{
	(void)bytes;
	*(uintptr_t *)base = info->dlpi_addr;
	return 1;
}

static void frames_of_an_inlined_call(void **state)
{
	struct um_source_lines *lines = um_source_lines_create();
	struct um_source_frame frames[4];
	char path[PATH_MAX] = "";
	uintptr_t base = 0;

	(void)state;
	outer();
	dl_iterate_phdr(first_base, &base);
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	assert_int_equal(um_source_lines_find(lines, path, return_address - base, frames, 4), 2);
	assert_string_equal(frames[0].function, "inlined");
	assert_true(frames[0].inlined);
	assert_int_equal(frames[0].line, INLINED_LINE);
	assert_non_null(strstr(frames[0].file, "source_lines_test.c"));
	assert_string_equal(frames[1].function, "outer");
	assert_false(frames[1].inlined);
	assert_int_equal(frames[1].line, OUTER_LINE);
	/* No more than there is room for. */
	assert_int_equal(um_source_lines_find(lines, path, return_address - base, frames, 1), 1);
	um_source_lines_destroy(lines);
}

static void a_module_has_its_build_id(void **state)
{
	struct um_source_lines *lines = um_source_lines_create();
	const char *id = um_source_lines_build_id(lines, "/proc/self/exe");

	(void)state;
	assert_non_null(id);
	assert_int_equal(strlen(id), 40);
	assert_int_equal(strspn(id, "0123456789abcdef"), 40);
	assert_string_equal(um_source_lines_build_id(lines, "/proc/self/exe"), id);
	assert_null(um_source_lines_build_id(lines, "/nowhere"));
	assert_null(um_source_lines_build_id(lines, "/etc/passwd"));
	um_source_lines_destroy(lines);
}

static void nothing_is_known(void **state)
{
	struct um_source_lines *lines = um_source_lines_create();
	struct um_source_frame frames[4];

	(void)state;
	assert_int_equal(um_source_lines_find(lines, "/nowhere", 100, frames, 4), 0);
	assert_int_equal(um_source_lines_find(lines, "/etc/passwd", 100, frames, 4), 0);
	assert_int_equal(um_source_lines_find(lines, "/bin/sh", 100, frames, 4), 0);
	assert_int_equal(um_source_lines_find(lines, "/proc/self/exe", 0, frames, 4), 0);
	um_source_lines_destroy(lines);
	um_source_lines_destroy(NULL);
}

/* --- a file that no reader survives --- */

#define LEVELS 1000000u /* blocks within blocks, which libdw follows by calling itself */

static void put(FILE *out, uint64_t value, size_t bytes)
{
	fwrite(&value, 1, bytes, out); /* little endian */
}

static void put_block(FILE *out, uint8_t abbreviation)
{
	put(out, abbreviation, 1);
	put(out, 0x1000, 8); /* low_pc */
	put(out, 0x1000, 8); /* high_pc, as bytes */
}

static void put_debug_info(FILE *out)
{
	put(out, 7 + (LEVELS + 1) * 17ul, 4); /* unit length */
	put(out, 4, 2);			      /* DWARF 4 */
	put(out, 0, 4);			      /* abbreviations */
	put(out, 8, 1);			      /* address bytes */
	put_block(out, 1);
	for (unsigned i = 0; i < LEVELS; i++)
		put_block(out, 2);
}

static void put_section(FILE *out, uint32_t name, uint32_t type, uint64_t offset, uint64_t bytes)
{
	const Elf64_Shdr header = {.sh_name = name,
				   .sh_type = type,
				   .sh_offset = offset,
				   .sh_size = bytes,
				   .sh_addralign = 1};

	fwrite(&header, sizeof(header), 1, out);
}

static void write_deep_file(const char *path)
{
	static const char names[] = "\0.debug_info\0.debug_abbrev\0.shstrtab";
	static const uint8_t abbreviations[] = {
		1, 0x11, 1, 0x11, 1, 0x12, 7, 0, 0, /* a unit with children: addresses */
		2, 0x0b, 1, 0x11, 1, 0x12, 7, 0, 0, /* a block with children, likewise */
		0};
	const uint64_t info = 64, info_bytes = 11 + (LEVELS + 1) * 17ul;
	const uint64_t abbreviation = info + info_bytes;
	const uint64_t texts = abbreviation + sizeof(abbreviations);
	const Elf64_Ehdr header = {
		.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT},
		.e_type = ET_EXEC,
		.e_machine = EM_X86_64,
		.e_version = EV_CURRENT,
		.e_shoff = texts + sizeof(names),
		.e_ehsize = sizeof(Elf64_Ehdr),
		.e_shentsize = sizeof(Elf64_Shdr),
		.e_shnum = 4,
		.e_shstrndx = 3,
	};
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fwrite(&header, sizeof(header), 1, out);
	put_debug_info(out);
	fwrite(abbreviations, sizeof(abbreviations), 1, out);
	fwrite(names, sizeof(names), 1, out);
	put_section(out, 0, SHT_NULL, 0, 0);
	put_section(out, 1, SHT_PROGBITS, info, info_bytes);
	put_section(out, 13, SHT_PROGBITS, abbreviation, sizeof(abbreviations));
	put_section(out, 27, SHT_STRTAB, texts, sizeof(names));
	assert_int_equal(fclose(out), 0);
}

static int note_failed(const char *path, void *noted)
{
	assert_null(*(const char **)noted);
	*(const char **)noted = path;
	return 0;
}

static void a_file_may_be_too_much(void **state)
{
	struct um_source_lines *lines = um_source_lines_create();
	struct um_source_frame frames[4];
	char path[64], exe[PATH_MAX] = "";
	const char *failed = NULL;
	uintptr_t base = 0;

	(void)state;
	outer();
	dl_iterate_phdr(first_base, &base);
	assert_true(readlink("/proc/self/exe", exe, sizeof(exe) - 1) > 0);
	snprintf(path, sizeof(path), "/tmp/um-deep-%d", (int)getpid());
	write_deep_file(path);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(um_source_lines_find(lines, path, 0x1010 + i, frames, 4), 0);
	assert_null(um_source_lines_symbol(lines, path, 0x1010));
	assert_int_equal(um_source_lines_each_failed(lines, note_failed, &failed), 0);
	assert_string_equal(failed, path);
	/* Others are read all the same. */
	assert_int_equal(um_source_lines_find(lines, exe, return_address - base, frames, 4), 2);
	um_source_lines_destroy(lines);
	unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_of_an_inlined_call),
		cmocka_unit_test(a_module_has_its_build_id),
		cmocka_unit_test(nothing_is_known),
		cmocka_unit_test(a_file_may_be_too_much),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
