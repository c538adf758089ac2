/* Reads whole files into memory: see file.h. */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#define PIECE ((size_t)16 << 10)

/* Returns 0, also if the buffer is full; -1 with errno. Reading is interrupted (EINTR) only by a
   request to stop, and only if the file is a pipe or a device that makes us wait. */
static int read_all(int fd, struct buf *out)
{
	char piece[PIECE];
	ssize_t n;

	while (!out->full && (n = read(fd, piece, sizeof(piece))) != 0)
		if (n > 0)
			buf_add(out, piece, (size_t)n);
		else
			return -1;
	return 0;
}

static int cannot_read(const char *what, const char *path, struct error *err)
{
	error_errno(err, "cannot read %s %s", what, path);
	err->kind = err->kind == FAIL_SYSTEM ? FAIL_INPUT : err->kind;
	return -1;
}

int file_read_fd(const char *what, const char *path, int fd, struct buf *out, struct error *err)
{
	if (read_all(fd, out))
		return cannot_read(what, path, err);
	return out->full ? error_set(err, FAIL_INPUT, "cannot read %s %s: over %zu MiB", what, path,
	                             out->max >> 20)
	                 : 0;
}

int file_read(const char *what, const char *path, struct buf *out, struct error *err)
{
	if (strcmp(path, "-") == 0)
		return file_read_fd(what, path, STDIN_FILENO, out, err);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return cannot_read(what, path, err);
	int failed = file_read_fd(what, path, fd, out, err);
	close(fd);
	return failed;
}

int file_read_regular(const char *what, const char *path, struct buf *out, struct error *err)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode)
	               ? error_set(err, FAIL_INPUT, "cannot read %s %s: not a regular file", what,
	                           path)
	               : file_read(what, path, out, err);
}

bool file_is_same(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

bool file_is_of_system(const char *path)
{
	return str_starts(str_from(path), STR("/dev/")) ||
	       str_starts(str_from(path), STR("/proc/"));
}

bool file_is_link(const char *path)
{
	struct stat st;

	return !file_is_of_system(path) && lstat(path, &st) == 0 && S_ISLNK(st.st_mode);
}

bool file_may_block(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

/* ---- writing ---- */

int fd_write(int fd, struct str text, size_t *done)
{
	*done = 0;
	while (*done < text.n) {
		ssize_t n = write(fd, text.p + *done, text.n - *done);

		if (n >= 0)
			*done += (size_t)n;
		else if (errno == EAGAIN)
			poll(&(struct pollfd){.fd = fd, .events = POLLOUT}, 1, -1);
		else if (errno != EINTR)
			return -1;
	}
	return 0;
}
