#include "import_format.h"

#include "import_sqlite.h"
#include "trace/base/error.h"
#include "trace/db/trace_db.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define HEAD_BYTES 65536u

const struct um_import_format *const um_import_formats[] = {
	&um_import_rocpd,  &um_import_nsys,   &um_import_svm_profile,
	&um_import_totals, &um_import_nvprof, NULL,
};

static const char sqlite_magic[] = "SQLite format 3";
static const char all_formats[] =
	"rocpd databases (rocprofv3, rocprof-sys), Nsight Systems' SQLite exports, logs of "
	"HSA_SVM_PROFILE and of nvprof --print-gpu-trace, rocprof-sys' unified_memory JSON";

/* What else people try, by how it begins. */
static const struct {
	const char *start;
	size_t bytes;
	const char *what;
} others[] = {
	{"QDSTRM", 6,
	 "looks like an Nsight Systems recording: nsys export --type=sqlite makes what "
	 "can be read"},
	{"PK\003\004", 4, "is a ZIP archive"},
	{"\037\213", 2, "is compressed: gunzip it first"},
	{"\050\265\057\375", 4, "is compressed: unzstd it first"},
	{"\177ELF", 4, "is a program: umtrace without --import traces it"},
};

static bool is_ours(const struct um_import_file *file)
{
	int64_t id = 0;

	return file->sqlite && um_import_integer(file, &id, "PRAGMA application_id") == 0 &&
	       id == UM_APPLICATION_ID;
}

static int refuse(const struct um_import_file *file, const char *head, size_t bytes)
{
	const char *what = file->sqlite
				   ? "is an SQLite database, but with the tables of none of these"
			   : bytes == 0		       ? "is empty"
			   : memchr(head, '\0', bytes) ? "is not text, and no database"
						       : "is a text of another kind";

	for (size_t i = 0; i < sizeof(others) / sizeof(*others) && !file->sqlite; i++)
		if (bytes >= others[i].bytes && memcmp(head, others[i].start, others[i].bytes) == 0)
			what = others[i].what;
	if (is_ours(file))
		return um_fail(UM_EFORMAT, "%s is a trace already: nothing is to be imported",
			       file->path);
	return um_fail(UM_EFORMAT, "%s %s; what can be imported: %s", file->path, what,
		       all_formats);
}

static int recognise(const struct um_import_file *file, const struct um_import_format **out,
		     const char *head, size_t bytes)
{
	enum um_import_medium medium = file->sqlite ? UM_IMPORT_SQLITE : UM_IMPORT_TEXT;

	for (size_t i = 0; um_import_formats[i]; i++) {
		if (um_import_formats[i]->medium != medium)
			continue;
		int result = um_import_formats[i]->recognise(file, head);

		if (result == 1)
			*out = um_import_formats[i];
		if (result)
			return result < 0 ? result : 0;
	}
	return refuse(file, head, bytes);
}

static int open_file(struct um_import_file *file, const char *path)
{
	struct stat status;

	*file = (struct um_import_file){.path = path};
	file->text = fopen(path, "re");
	if (!file->text)
		return um_fail_errno(errno == ENOENT ? UM_ENOENT : UM_EIO, "%s", path);
	if (fstat(fileno(file->text), &status) != 0)
		return um_fail_errno(UM_EIO, "%s", path);
	if (S_ISDIR(status.st_mode))
		return um_fail(UM_EFORMAT, "%s is a folder; --import takes a file", path);
	if (!S_ISREG(status.st_mode))
		return um_fail(UM_EFORMAT, "%s is no file of a disk: it is read twice", path);
	file->bytes = (uint64_t)status.st_size;
	return 0;
}

int um_import_open(struct um_import_file *file, const struct um_import_format **out,
		   const char *path)
{
	char head[HEAD_BYTES + 1];
	int error = open_file(file, path);

	if (error)
		return error;
	size_t bytes = fread(head, 1, HEAD_BYTES, file->text);
	if (ferror(file->text))
		return um_fail_errno(UM_EIO, "%s", path);
	rewind(file->text);
	head[bytes] = '\0';
	if (bytes >= sizeof(sqlite_magic) && memcmp(head, sqlite_magic, sizeof(sqlite_magic)) == 0)
		error = um_import_sqlite_open(&file->sqlite, path);
	return error ? error : recognise(file, out, head, bytes);
}

void um_import_close(struct um_import_file *file)
{
	um_import_sqlite_close(file->sqlite);
	if (file->text)
		fclose(file->text);
	*file = (struct um_import_file){0};
}
