/* Writes recordings: see recorder.h. A line is written completely or not at all: each with one
   write() at the end of the file, under an exclusive lock; a line cut short by a full disk is
   removed again. */
#include "recording/recorder.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "json/scan.h"
#include "recording/redact/redact.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#if !defined(_POSIX_SYNCHRONIZED_IO) || _POSIX_SYNCHRONIZED_IO <= 0
#define fdatasync fsync
#endif

struct recorder {
	int fd;
	char *name;
	bool own, regular, sync;
	bool fresh; /* the file was empty when opened */
	const struct secrets *secrets;
	pthread_mutex_t lock; /* protects the members below */
	off_t size;           /* end of the last complete line, of a regular file */
	uint64_t lines;
	struct error broken; /* the first failure: later lines are not written, to avoid gaps */
};

/* ---- the end of a file that a crash may have truncated ---- */

#define BLOCK ((size_t)64 << 10)

static int read_at(int fd, off_t from, size_t n, struct buf *out, struct error *err)
{
	char *p = buf_room(out, n);
	size_t got = 0;

	while (p && got < n) {
		ssize_t more = pread(fd, p + got, n - got, from + (off_t)got);

		if (more < 0 && errno == EINTR)
			continue;
		if (more <= 0)
			return error_errno(err, "cannot read");
		got += (size_t)more;
	}
	out->n += got;
	return 0;
}

/* The unterminated line at the end of a file, in `block`, up to the readers' limit and one byte more. */
static int read_tail(int fd, size_t size, struct buf *block, struct str *tail, struct error *err)
{
	const char *feed = NULL;

	*tail = STR("");
	for (size_t n = 0; !feed && n < size && n <= BUF_MAX_MESSAGE;) {
		n = n ? 16 * n : BLOCK;
		n = n <= BUF_MAX_MESSAGE ? n : BUF_MAX_MESSAGE + 1;
		n = n < size ? n : size;
		buf_clear(block);
		if (read_at(fd, (off_t)(size - n), n, block, err))
			return -1;
		*tail = buf_view(block);
		feed = str_last(*tail, '\n');
	}
	*tail = feed ? str_skip(*tail, (size_t)(feed + 1 - tail->p)) : *tail;
	return 0;
}

/* Copies the tail to the first unused name. */
static int keep_copy(const char *path, struct str tail, struct error *err)
{
	AUTO_BUF name = BUF(BUF_MAX_SMALL);
	size_t done;
	int fd = -1;

	for (int i = 1; fd < 0 && (i == 1 || errno == EEXIST) && i < 1000; i++) {
		buf_clear(&name);
		buf_printf(&name, "%s.bak", path);
		if (i > 1)
			buf_printf(&name, "%d", i);
		fd = open(buf_cstr(&name), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	}
	bool kept = fd >= 0 && fd_write(fd, tail, &done) == 0;
	if (fd >= 0)
		kept = close(fd) == 0 && kept;
	int result = kept ? 0 : error_errno(err, "cannot write a copy to %s", buf_cstr(&name));
	if (kept) {
		log_warn("the last line of %s was truncated: its %zu bytes were moved to %s", path,
		         tail.n, buf_cstr(&name));
	}
	return result;
}

static int mend(int fd, const char *path, off_t start, struct str tail, off_t *size,
                struct error *err)
{
	size_t done;

	if (json_is_valid(tail)) {
		if (fd_write(fd, STR("\n"), &done) != 0)
			return error_errno(err, "cannot terminate the last line of %s", path);
		*size = start + (off_t)tail.n + 1;
		return 0;
	}
	if (keep_copy(path, tail, err) != 0)
		return -1;
	if (ftruncate(fd, start) != 0)
		return error_errno(err, "cannot remove the truncated line from %s", path);
	*size = start;
	return 0;
}

/* Checks the last line of the regular file fd (readable, O_APPEND, locked by the caller). A
   complete object gets its missing line feed. A truncated one is moved to a new file
   `<path>.bak` (`.bak2` ...), and reported on stderr. *size: where the next line starts. */
static int repair_end(int fd, const char *path, off_t *size, struct error *err)
{
	AUTO_BUF block = BUF(BUF_MAX_MESSAGE + 1);
	struct stat st;
	struct str tail;
	int result;

	if (fstat(fd, &st) != 0)
		return error_errno(err, "cannot append to %s", path);
	*size = st.st_size;
	result = read_tail(fd, (size_t)st.st_size, &block, &tail, err);
	if (result) {
		error_wrap(err, "%s", path);
	} else if (tail.n > BUF_MAX_MESSAGE) {
		result = error_set(err, FAIL_INPUT, "the last line of %s is longer than %zu MiB",
		                   path, BUF_MAX_MESSAGE >> 20);
	} else if (tail.n) {
		result = mend(fd, path, st.st_size - (off_t)tail.n, tail, size, err);
	}
	return result;
}

/* Why the path cannot be opened; 0: it is no regular file. */
static int check_taken(const struct recorder_conf *c, struct error *err)
{
	struct stat st = {0};

	if (file_is_link(c->path)) {
		return error_set(err, FAIL_USAGE, "%s is a symbolic link: %s", c->path,
		                 c->append ? "name its target" : "use \1force\2 to replace it");
	}
	return stat(c->path, &st) == 0 && S_ISREG(st.st_mode)
	               ? error_set(err, FAIL_USAGE, "%s exists; use \1force\2 to overwrite it",
	                           c->path)
	               : 0;
}

/* O_EXCL if the file must be new. A file that is not regular (/dev/null, a fifo) has no content
   to lose. A link is replaced, never followed. */
static int open_path(const struct recorder_conf *c, struct error *err)
{
	int flags = O_APPEND | O_CLOEXEC | (c->append ? O_RDWR : O_WRONLY) |
	            (file_is_of_system(c->path) ? 0 : O_NOFOLLOW);
	mode_t mode = c->private ? 0600 : 0666;

	if (c->force && file_is_link(c->path))
		unlink(c->path);
	int fd = open(c->path, flags | O_CREAT | (c->force || c->append ? 0 : O_EXCL), mode);
	if (fd < 0 && (errno == EEXIST || errno == ELOOP)) {
		if (check_taken(c, err))
			return -1;
		fd = open(c->path, flags);
	}
	return fd < 0 ? error_errno(err, "cannot write %s", c->path) : fd;
}

/* Nothing is appended to a file of another kind. */
static int continue_file(struct recorder *r, const struct recorder_conf *c, struct error *err)
{
	static const struct str begins = STR_INIT("{\"type\":\"");
	char start[16];
	ssize_t n = pread(r->fd, start, begins.n, 0);

	return n > 0 && memcmp(start, begins.p, (size_t)n) != 0
	               ? error_set(err, FAIL_USAGE, "%s is not a recording: nothing is appended",
	                           c->path)
	               : repair_end(r->fd, c->path, &r->size, err);
}

static int lock_file(struct recorder *r, struct error *err)
{
	if (flock(r->fd, LOCK_EX | LOCK_NB) == 0)
		return 0;
	if (errno == EWOULDBLOCK) {
		return error_set(err, FAIL_SYSTEM, "%s is being written by another process",
		                 r->name);
	}
	log_warn("cannot lock %s (%s): make sure that no other process writes it", r->name,
	         strerror(errno));
	return 0;
}

static int open_file(struct recorder *r, const struct recorder_conf *c, struct error *err)
{
	struct stat st;

	r->own = true;
	r->fd = open_path(c, err);
	if (r->fd < 0)
		return -1;
	if (fstat(r->fd, &st) != 0)
		return error_errno(err, "cannot write %s", r->name);
	r->regular = S_ISREG(st.st_mode);
	if (!r->regular)
		return 0;
	if (lock_file(r, err) != 0)
		return -1;
	if (c->append)
		return continue_file(r, c, err);
	if (ftruncate(r->fd, 0) != 0)
		return error_errno(err, "cannot truncate %s", r->name);
	r->fresh = true;
	return 0;
}

static void use_standard_output(struct recorder *r)
{
	struct stat st;

	r->fd = STDOUT_FILENO;
	r->regular = fstat(r->fd, &st) == 0 && S_ISREG(st.st_mode);
	if (!r->regular)
		return;
	int flags = fcntl(r->fd, F_GETFL);
	r->size = flags >= 0 && flags & O_APPEND ? st.st_size : lseek(r->fd, 0, SEEK_CUR);
}

static void recorder_free(struct recorder *r)
{
	pthread_mutex_destroy(&r->lock);
	free(r->name);
	free(r);
}

int recorder_new(const struct recorder_conf *conf, struct recorder **out, struct error *err)
{
	bool standard_output = strcmp(conf->path, "-") == 0;
	struct recorder *r = mem_new(sizeof(*r));

	r->fd = -1;
	r->name = mem_text(standard_output ? STR("standard output") : str_from(conf->path));
	r->sync = conf->sync;
	r->secrets = conf->secrets;
	pthread_mutex_init(&r->lock, NULL);
	if (standard_output) {
		use_standard_output(r);
	} else if (open_file(r, conf, err) != 0) {
		if (r->fd >= 0)
			close(r->fd);
		recorder_free(r);
		return -1;
	}
	*out = r;
	return 0;
}

/* Removes a partly written line, unless another process has written after it. */
static void remove_partial_line(const struct recorder *r, size_t done)
{
	struct stat st;

	if (!r->regular || done == 0 || fstat(r->fd, &st) != 0 ||
	    st.st_size != r->size + (off_t)done) {
		return;
	}
	if (ftruncate(r->fd, r->size) != 0)
		log_warn("%s ends with part of a line: %s", r->name, strerror(errno));
}

static int write_line(struct recorder *r, struct str text, struct error *err)
{
	size_t done;

	if (fd_write(r->fd, text, &done) != 0) {
		int cause = errno;

		remove_partial_line(r, done);
		errno = cause;
		return error_errno(
			err, "cannot write to %s after %" PRIu64 " complete line%s of this run",
			r->name, r->lines, r->lines == 1 ? "" : "s");
	}
	r->size += (off_t)text.n;
	r->lines++;
	if (r->sync && fdatasync(r->fd) != 0 && errno != EINVAL && errno != EROFS)
		return error_errno(err, "cannot sync %s", r->name);
	return 0;
}

bool recorder_fits(const struct recorder *r, const struct line *l, struct buf *scratch,
                   size_t sizes[KEY_COUNT])
{
	buf_clear(scratch);
	secrets_redact_line(r->secrets, l, scratch, sizes);
	return !scratch->full && scratch->n <= RECORD_LINE_MAX;
}

int recorder_write(struct recorder *r, const struct line *l, struct buf *scratch,
                   size_t sizes[KEY_COUNT], struct error *err)
{
	if (!recorder_fits(r, l, scratch, sizes)) {
		return error_set(err, FAIL_SYSTEM, "a line for %s is longer than %zu MiB", r->name,
		                 RECORD_LINE_MAX >> 20);
	}
	pthread_mutex_lock(&r->lock);
	int result =
		r->broken.kind == FAIL_NONE ? write_line(r, buf_view(scratch), &r->broken) : -1;
	if (result != 0)
		*err = r->broken;
	pthread_mutex_unlock(&r->lock);
	return result;
}

uint64_t recorder_line(struct recorder *r)
{
	pthread_mutex_lock(&r->lock);
	uint64_t line = r->fresh ? r->lines : 0;
	pthread_mutex_unlock(&r->lock);
	return line;
}

int recorder_close(struct recorder *r, struct error *err)
{
	int result = 0;

	if (!r)
		return 0;
	if (r->own && close(r->fd) != 0 && errno != EINTR)
		result = error_errno(err, "cannot finish %s", r->name);
	recorder_free(r);
	return result;
}
