/* Repairs the end of a recording before appending, without losing a byte. */
#include "recording/torn_tail.h"

#include "base/buf.h"
#include "base/fd.h"
#include "base/log.h"
#include "json/scan.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((off_t)64 << 10)

static int read_at(int fd, off_t from, size_t n, struct buf *out, struct error *err)
{
	char *p = buf_room(out, n);
	size_t got = 0;

	while (p && got < n) {
		ssize_t more = pread(fd, p + got, n - got, from + (off_t)got);

		if (more < 0 && errno == EINTR) {
			continue;
		}
		if (more <= 0) {
			return error_errno(err, "cannot read");
		}
		got += (size_t)more;
	}
	out->n += got;
	return 0;
}

/* Finds the start of the line that ends at `size`: the byte after the last line feed. */
static int find_last_line(int fd, off_t size, off_t *start, struct error *err)
{
	struct buf block = BUF((size_t)BLOCK);
	int result = 0;
	off_t at = size;

	*start = 0;
	while (at > 0 && *start == 0 && result == 0) {
		off_t from = at > BLOCK ? at - BLOCK : 0;

		buf_clear(&block);
		result = read_at(fd, from, (size_t)(at - from), &block, err);
		for (size_t i = block.n; result == 0 && i > 0 && *start == 0; i--) {
			if (block.p[i - 1] == '\n') {
				*start = from + (off_t)i;
			}
		}
		at = from;
	}
	buf_release(&block);
	return result;
}

/* Copies the tail to the first unused name. */
static int keep_copy(const char *path, struct str tail, struct error *err)
{
	struct buf name = BUF(BUF_MAX_SMALL);
	size_t done;
	int fd = -1;

	for (int i = 1; fd < 0 && (i == 1 || errno == EEXIST) && i < 1000; i++) {
		buf_clear(&name);
		buf_printf(&name, "%s.bak", path);
		if (i > 1) {
			buf_printf(&name, "%d", i);
		}
		fd = open(buf_cstr(&name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	bool kept = fd >= 0 && fd_write(fd, tail, &done) == 0;
	if (fd >= 0) {
		kept = close(fd) == 0 && kept;
	}
	int result = kept ? 0 : error_errno(err, "cannot write a copy to %s", buf_cstr(&name));
	if (kept) {
		log_warn("the last line of %s was truncated: its %zu bytes were moved to %s", path,
		         tail.n, buf_cstr(&name));
	}
	buf_release(&name);
	return result;
}

static int mend(int fd, const char *path, off_t start, struct str tail, off_t *size,
                struct error *err)
{
	struct json_fault fault;
	size_t done;

	if (json_validate(tail, &fault) == 0) {
		if (fd_write(fd, STR("\n"), &done) != 0) {
			return error_errno(err, "cannot terminate the last line of %s", path);
		}
		*size = start + (off_t)tail.n + 1;
		return 0;
	}
	if (keep_copy(path, tail, err) != 0) {
		return -1;
	}
	if (ftruncate(fd, start) != 0) {
		return error_errno(err, "cannot remove the truncated line from %s", path);
	}
	*size = start;
	return 0;
}

int torn_tail_repair(int fd, const char *path, off_t *size, struct error *err)
{
	struct stat st;
	off_t start;

	if (fstat(fd, &st) != 0) {
		return error_errno(err, "cannot append to %s", path);
	}
	*size = st.st_size;
	if (find_last_line(fd, st.st_size, &start, err) != 0) {
		return error_wrap(err, "%s", path);
	}
	size_t n = (size_t)(st.st_size - start);
	if (n == 0) {
		return 0;
	}
	if (n > BUF_MAX_MESSAGE) {
		return error_set(err, FAIL_INPUT, "the last line of %s is longer than %zu MiB",
		                 path, BUF_MAX_MESSAGE >> 20);
	}
	struct buf tail = BUF(BUF_MAX_MESSAGE);
	int result = read_at(fd, start, n, &tail, err);
	if (result == 0) {
		result = mend(fd, path, start, buf_view(&tail), size, err);
	}
	buf_release(&tail);
	return result;
}
