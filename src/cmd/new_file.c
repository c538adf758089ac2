/* Files that are replaced atomically: see new_file.h. */
#include "cmd/new_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

static void release(struct new_file *f)
{
	output_release(&f->out);
	buf_release(&f->path);
	buf_release(&f->temporary);
	*f = (struct new_file){0};
}

int new_file_open(struct new_file *f, const char *path, bool force, struct error *err)
{
	struct stat st;

	*f = (struct new_file){.out = output_to_stdout(),
	                       .path = BUF(BUF_MAX_SMALL),
	                       .temporary = BUF(BUF_MAX_SMALL)};
	if (strcmp(path, "-") == 0) {
		return 0;
	}
	bool exists = stat(path, &st) == 0;
	if (exists && S_ISREG(st.st_mode) && !force) {
		return error_set(err, FAIL_USAGE, "%s exists; use --force to replace it", path);
	}
	buf_text(&f->path, path);
	if (exists && !S_ISREG(st.st_mode)) { /* a device or a pipe has no content to keep */
		f->out.fd = open(path, O_WRONLY | O_CLOEXEC);
	} else {
		buf_printf(&f->temporary, "%s.%ld.tmp", path, (long)getpid());
		f->out.fd = open(buf_cstr(&f->temporary), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
		                 0666);
	}
	if (f->out.fd < 0) {
		error_errno(err, "cannot write %s", path);
		f->out.fd = STDOUT_FILENO;
		release(f);
		return -1;
	}
	return 0;
}

int new_file_finish(struct new_file *f, struct error *err)
{
	const char *path = buf_cstr(&f->path), *temporary = buf_cstr(&f->temporary);
	int failed = output_flush(&f->out, err);

	if (failed && f->path.n) { /* replaces a message about standard output */
		error_errno(err, "cannot write %s", path);
	}
	if (!failed && f->path.n) {
		failed = close(f->out.fd) != 0 || (*temporary && rename(temporary, path) != 0)
		                 ? error_errno(err, "cannot write %s", path)
		                 : 0;
		f->out.fd = STDOUT_FILENO;
	}
	if (failed) {
		new_file_discard(f);
		return -1;
	}
	release(f);
	return 0;
}

void new_file_discard(struct new_file *f)
{
	if (f->out.fd > STDERR_FILENO) {
		close(f->out.fd);
	}
	if (f->temporary.n) {
		unlink(buf_cstr(&f->temporary));
	}
	release(f);
}
