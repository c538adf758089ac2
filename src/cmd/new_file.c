/* Files written under a temporary name: see new_file.h. */
#define _XOPEN_SOURCE 700 /* realpath */
#include "cmd/new_file.h"

#include "base/fd.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((size_t)64 << 10)

static int cannot_write(const struct new_file *f, struct error *err)
{
	return strcmp(f->path, "-") == 0 ? error_errno(err, "cannot write to standard output")
	                                 : error_errno(err, "cannot write %s", f->path);
}

static int is_recording_error(const struct new_file *f, struct error *err)
{
	return error_set(err, FAIL_USAGE, "cannot write %s: that is a recording; name another file",
	                 f->path);
}

static int check_target(const struct new_file *f, struct error *err)
{
	static const struct str begin = STR_INIT("{\"type\":\"header\"");
	char start[32];
	int fd = f->report ? open(f->path, O_RDONLY | O_CLOEXEC) : -1;
	ssize_t n = fd < 0 ? 0 : read(fd, start, begin.n);

	if (fd >= 0) {
		close(fd);
	}
	return n > 0 && str_eq((struct str){start, (size_t)n}, begin) ? is_recording_error(f, err)
	                                                              : 0;
}

int new_file_check_input(const struct new_file *f, const char *path, struct error *err)
{
	struct stat a, b;
	bool same = f->partial && stat(f->target, &a) == 0 && stat(path, &b) == 0 &&
	            a.st_dev == b.st_dev && a.st_ino == b.st_ino;

	return same ? is_recording_error(f, err) : 0;
}

/* A file that is not regular (a pipe, a terminal, /dev/null) cannot be replaced. */
static int open_in_place(const struct new_file *f)
{
	if (strcmp(f->path, "-") == 0) {
		return dup(STDOUT_FILENO);
	}
	return strcmp(f->path, "/dev/stderr") == 0 ? dup(STDERR_FILENO)
	                                           : open(f->path, O_WRONLY | O_CLOEXEC);
}

/* A symbolic link to a file is kept: its target is replaced. */
static int open_partial(struct new_file *f)
{
	struct buf name = BUF(BUF_MAX_SMALL);
	char *real = realpath(f->path, NULL);

	f->target = real ? real : mem_text(str_from(f->path));
	buf_printf(&name, "%s.%ld.partial", f->target, (long)getpid());
	f->partial = mem_text(buf_view(&name));
	buf_release(&name);
	return open(f->partial, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
}

int new_file_open(struct new_file *f, const struct new_file_conf *conf, struct error *err)
{
	const char *path = conf->path;
	struct stat st;
	bool standard = strcmp(path, "-") == 0 || strcmp(path, "/dev/stderr") == 0;
	bool exists = !standard && stat(path, &st) == 0;

	*f = (struct new_file){.path = mem_text(str_from(path)),
	                       .report = conf->report,
	                       .head_last = conf->head_last};
	if (exists && S_ISDIR(st.st_mode)) {
		errno = EISDIR;
		return cannot_write(f, err);
	}
	if (exists && S_ISREG(st.st_mode) && !conf->replace) {
		return error_set(err, FAIL_USAGE, "%s exists; use --force to overwrite it", path);
	}
	bool in_place = standard || (exists && !S_ISREG(st.st_mode));
	if (!in_place && check_target(f, err)) {
		return -1;
	}
	f->fd = in_place ? open_in_place(f) : open_partial(f);
	f->open = f->fd >= 0;
	return f->open ? 0 : cannot_write(f, err);
}

/* ---- writing ---- */

static void write_now(struct new_file *f, struct str text)
{
	size_t done;

	if (f->failed.kind == FAIL_NONE && fd_write(f->fd, text, &done)) {
		cannot_write(f, &f->failed);
	}
}

void new_file_write(struct new_file *f, struct str text)
{
	if (!f->head_last) {
		write_now(f, text);
		return;
	}
	if (!f->body) {
		f->body = tmpfile();
	}
	if (f->failed.kind == FAIL_NONE &&
	    (!f->body || fwrite(text.p, 1, text.n, f->body) != text.n)) {
		error_errno(&f->failed, "cannot keep %s in a temporary file", f->path);
	}
}

static void copy_body(struct new_file *f)
{
	char *block = mem_array(BLOCK, 1);
	size_t n = BLOCK;

	rewind(f->body);
	while (n == BLOCK && f->failed.kind == FAIL_NONE) {
		n = fread(block, 1, BLOCK, f->body);
		write_now(f, (struct str){block, n});
	}
	if (ferror(f->body) && f->failed.kind == FAIL_NONE) {
		error_errno(&f->failed, "cannot read the temporary file of %s", f->path);
	}
	free(block);
}

int new_file_publish(struct new_file *f, struct str head, struct error *err)
{
	write_now(f, head);
	if (f->body) {
		copy_body(f);
	}
	f->open = false;
	if (close(f->fd) && errno != EINTR && f->failed.kind == FAIL_NONE) {
		cannot_write(f, &f->failed);
	}
	if (f->failed.kind == FAIL_NONE && f->partial && check_target(f, &f->failed) == 0 &&
	    rename(f->partial, f->target)) {
		cannot_write(f, &f->failed);
	}
	if (f->failed.kind == FAIL_NONE) {
		free(f->partial);
		f->partial = NULL;
		return 0;
	}
	*err = f->failed;
	return -1;
}

void new_file_release(struct new_file *f)
{
	if (f->open) {
		close(f->fd);
	}
	if (f->partial) {
		unlink(f->partial); /* does not exist if it could not be created */
	}
	if (f->body) {
		fclose(f->body);
	}
	free(f->path);
	free(f->target);
	free(f->partial);
	*f = (struct new_file){.fd = -1};
}

int new_file_put(const char *path, struct str text, struct error *err)
{
	struct new_file file;
	int failed =
		new_file_open(&file, &(struct new_file_conf){.path = path, .replace = true}, err);

	if (!failed) {
		new_file_write(&file, text);
		failed = new_file_publish(&file, STR(""), err);
	}
	new_file_release(&file);
	return failed;
}
