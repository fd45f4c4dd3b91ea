/*
 * An ELF file of any bytes, with debug information of any: the process that reads it may not survive, but
 * umtrace does, and is told so. What is answered has an end. With UM_FUZZ_PROGRAM the file is that program's
 * package of split DWARF (.dwp). With UM_FUZZ_DIRECT it is read in this very process, so that libFuzzer sees
 * how far it came and AddressSanitizer's word is heard.
 */
#include "fuzz.h"

#include "trace/tool/source_files.h"
#include "trace/tool/source_reader.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define INPUTS_A_READER 256 /* it keeps what it has opened */

static struct um_source_reader *reader;
static char folder[64];
#ifdef UM_FUZZ_DIRECT
static struct um_source_files *files;
#endif
static unsigned ended; /* readers that a file was too much for */

static void remove_folder(void)
{
	um_source_reader_destroy(reader);
	rmdir(folder);
	printf("%u readers did not survive\n", ended);
}

static void prepare(unsigned number)
{
	if (number == 0) {
		snprintf(folder, sizeof(folder), "/tmp/um-debug-info-fuzz-XXXXXX");
		if (!mkdtemp(folder))
			um_fuzz_bug("no folder", folder);
		atexit(remove_folder);
	}
#ifdef UM_FUZZ_DIRECT
	um_source_files_destroy(files);
	files = um_source_files_create();
#endif
	if (number % INPUTS_A_READER == 0) {
		um_source_reader_destroy(reader);
		reader = um_source_reader_create();
	}
}

static void write_file(const char *path, const uint8_t *data, size_t bytes)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (file < 0 || write(file, data, bytes) != (ssize_t)bytes)
		um_fuzz_bug("the input cannot be written", path);
	close(file);
}

#ifdef UM_FUZZ_DIRECT
static void read_all(const char *text)
{
	if (text && strlen(text) > 1u << 20)
		um_fuzz_bug("a text without an end", text);
}

static bool ask(const struct um_source_query *query)
{
	struct um_source_frame frames[UM_SOURCE_FRAMES_MAX];
	size_t count, depth = 0;
	char *name = NULL;

	switch (query->question) {
	case UM_SOURCE_PLACE:
		count = um_source_files_find(files, query->path, query->address, frames,
					     UM_SOURCE_FRAMES_MAX);
		read_all(um_source_files_symbol(files, query->path, query->address));
		for (size_t i = 0; i < count; i++) {
			read_all(frames[i].function);
			read_all(frames[i].file);
		}
		break;
	case UM_SOURCE_BUILD_ID:
		read_all(um_source_files_build_id(files, query->path));
		break;
	case UM_SOURCE_VARIABLE:
		name = um_source_files_variable(files, query->path, query->address, &query->place,
						&depth);
		break;
	case UM_SOURCE_GLOBAL:
		name = um_source_files_global(files, query->path, query->address);
		break;
	}
	read_all(name);
	free(name);
	return true;
}
#else
static bool ask(const struct um_source_query *query)
{
	struct um_source_answer answer;
	bool answered = um_source_reader_ask(reader, query, &answer);

	if (!answered && (answer.frame_count || answer.text || answer.bytes))
		um_fuzz_bug("an answer of nobody", query->path);
	if (answer.text && strlen(answer.text) > 1u << 20)
		um_fuzz_bug("a text without an end", query->path);
	for (size_t i = 0; i < answer.frame_count; i++)
		if (answer.frames[i].function && !*answer.frames[i].function)
			um_fuzz_bug("a function without a name", query->path);
	free(answer.bytes);
	return answered;
}
#endif

/* The seed's code is at 0x401000, of some 256 bytes; its data behind that. */
static void ask_all(const char *path)
{
	bool goes_on = ask(&(struct um_source_query){.question = UM_SOURCE_BUILD_ID, .path = path});

	for (uint64_t address = 0x401000; address < 0x401100 && goes_on; address += 48) {
		struct um_source_query query = {
			.question = UM_SOURCE_PLACE, .path = path, .address = address};

		goes_on = ask(&query);
		query.question = UM_SOURCE_VARIABLE;
		for (int64_t at = -64; at < 0 && goes_on; at += 32) {
			query.place.at = at;
			query.place.is_pointed_to = at == -32;
			goes_on = ask(&query);
		}
	}
	for (uint64_t address = 0x404000; address < 0x404040 && goes_on; address += 24)
		goes_on = ask(&(struct um_source_query){
			.question = UM_SOURCE_GLOBAL, .path = path, .address = address});
	/* Whoever did not answer is gone, and another one is there for the next file. */
	if (!goes_on) {
		ended++;
		um_source_reader_destroy(reader);
		reader = um_source_reader_create();
		if (!ask(&(struct um_source_query){.question = UM_SOURCE_BUILD_ID,
						   .path = "/proc/self/exe"}))
			um_fuzz_bug("no reader any more", path);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	static unsigned number;
	char path[128];

	prepare(number);
	snprintf(path, sizeof(path), "%s/%u", folder, number++);
#ifdef UM_FUZZ_PROGRAM
	char package[140];

	snprintf(package, sizeof(package), "%s.dwp", path);
	write_file(package, data, bytes);
	if (symlink(UM_FUZZ_PROGRAM, path))
		um_fuzz_bug("no link to the program", path);
	ask_all(path);
	unlink(package);
#else
	write_file(path, data, bytes);
	ask_all(path);
#endif
	unlink(path);
	return 0;
}
