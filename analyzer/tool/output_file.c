#include "output_file.h"

#include "trace/base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int check(const char *path, const char *input, bool force)
{
	struct stat there, source;

	if (stat(path, &there))
		return 0;
	if (stat(input, &source) == 0 && there.st_dev == source.st_dev &&
	    there.st_ino == source.st_ino)
		return um_fail(UM_EEXIST, "%s is what is read; give another name", path);
	if (!S_ISREG(there.st_mode))
		return um_fail(UM_EEXIST, "%s is there and no file", path);
	return force ? 0 : um_fail(UM_EEXIST, "%s is there already; --force replaces it", path);
}

int um_output_open(struct um_output_file *file, const char *path, const char *input, bool force)
{
	int descriptor, error;

	*file = (struct um_output_file){.out = stdout, .path = path, .force = force};
	if (!path)
		return 0;
	error = check(path, input, force);
	if (error)
		return error;
	if (asprintf(&file->partial, "%s.partial", path) < 0)
		return um_fail(UM_ENOMEM, "out of memory");
	descriptor =
		open(file->partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0666);
	file->out = descriptor < 0 ? NULL : fdopen(descriptor, "w");
	if (file->out)
		return 0;
	error = um_fail_errno(UM_EIO, "cannot write %s", file->partial);
	if (descriptor >= 0)
		close(descriptor);
	free(file->partial);
	return error;
}

/* Without `force` a name that somebody took meanwhile stays theirs, where the file system can tell. */
static int give_name(const struct um_output_file *file)
{
	unsigned flags = file->force ? 0 : RENAME_NOREPLACE;
	int failed = renameat2(AT_FDCWD, file->partial, AT_FDCWD, file->path, flags);

	if (failed && errno == EINVAL)
		failed = rename(file->partial, file->path);
	if (failed)
		return um_fail_errno(errno == EEXIST ? UM_EEXIST : UM_EIO, "cannot make %s",
				     file->path);
	return 0;
}

int um_output_close(struct um_output_file *file, int error)
{
	bool is_written = fflush(file->out) == 0 && !ferror(file->out);

	if (!error && !is_written)
		error = um_fail_errno(UM_EIO, "writing %s", file->path ? file->path : "output");
	if (!file->path)
		return error;
	if (fclose(file->out) && !error)
		error = um_fail_errno(UM_EIO, "writing %s", file->path);
	if (!error)
		error = give_name(file);
	if (error)
		unlink(file->partial);
	free(file->partial);
	return error;
}
