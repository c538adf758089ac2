/* Recordings as a stream: big reads into one buffer that grows to the longest line only,
   objects cut out of it without copying. What a crash, a second writer or another program
   left behind is told apart: fused objects and a torn last line are noted, anything else
   stops with its place. */
#include "trajectory/reader.h"

#include "base/buf.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((size_t)256 << 10)

struct reader {
	int fd;
	char *name; /* for messages */

	char *p; /* p[start..end) is read and not yet handed out as a line */
	size_t cap, start, end;
	size_t searched; /* bytes from start that hold no line feed */
	uint64_t base;   /* offset in the file of p[0] */
	bool eof;

	uint64_t line;    /* number of the current line */
	struct str rest;  /* what is left of it */
	uint64_t objects; /* handed out of it so far */
	bool terminated;
	bool any; /* a good line was seen */
	struct buf scratch;
};

int reader_open(const char *path, struct reader **out, struct error *err)
{
	bool standard_input = strcmp(path, "-") == 0;
	int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	if (fd < 0 || fstat(fd, &st) != 0) {
		error_set(err, FAIL_INPUT, "cannot read %s: %s", path, strerror(errno));
		if (fd > STDIN_FILENO)
			close(fd);
		return -1;
	}
	if (S_ISDIR(st.st_mode)) {
		if (!standard_input)
			close(fd);
		return error_set(err, FAIL_INPUT, "cannot read %s: it is a directory",
		                 path);
	}
	struct reader *r = mem_new(sizeof(*r));
	r->fd = fd;
	r->name = mem_text(standard_input ? STR("standard input") : str_from(path));
	r->cap = BLOCK;
	r->p = mem_new(r->cap);
	r->scratch = BUF(BUF_MAX_MESSAGE);
	*out = r;
	return 0;
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	if (r->fd != STDIN_FILENO)
		close(r->fd);
	buf_release(&r->scratch);
	free(r->p);
	free(r->name);
	free(r);
}

/* Room behind end: by moving the unread bytes to the front, or by growing when they are
 * there. */
static void make_room(struct reader *r)
{
	if (r->end < r->cap)
		return;
	if (r->start > 0) {
		memmove(r->p, r->p + r->start, r->end - r->start);
		r->base += r->start;
		r->end -= r->start;
		r->start = 0;
	} else {
		r->cap *= 2;
		r->p = mem_resize(r->p, r->cap, 1);
	}
}

static int fill(struct reader *r, struct error *err)
{
	make_room(r);
	for (;;) {
		ssize_t n = read(r->fd, r->p + r->end, r->cap - r->end);
		if (n >= 0) {
			r->end += (size_t)n;
			r->eof = n == 0;
			return 0;
		}
		if (errno ==
		    EAGAIN) /* someone else made our standard input non-blocking */
			poll(&(struct pollfd){.fd = r->fd, .events = POLLIN}, 1, -1);
		else if (errno != EINTR)
			return error_errno(err, "cannot read %s", r->name);
	}
}

/* What the first bytes give away about files that are no recordings. */
static int check_magic(const struct reader *r, struct error *err)
{
	static const struct {
		struct str bytes;
		const char *what;
	} magic[] = {
		{STR_INIT("\xef\xbb\xbf"),
	         "starts with a byte order mark; cut off its first 3 bytes"},
		{STR_INIT("\xff\xfe"), "is UTF-16; a recording is UTF-8"},
		{STR_INIT("\xfe\xff"), "is UTF-16; a recording is UTF-8"},
		{STR_INIT("\x1f\x8b"), "is compressed with gzip"},
		{STR_INIT("\x28\xb5\x2f\xfd"), "is compressed with zstd"},
	};
	for (size_t i = 0; i < ARRAY_LEN(magic); i++) {
		if (str_starts(r->rest, magic[i].bytes))
			return error_set(err, FAIL_INPUT, "%s:1: the file %s", r->name,
			                 magic[i].what);
	}
	return 0;
}

static int take_line(struct reader *r, size_t n, bool terminated, struct error *err)
{
	r->line++;
	if (n > BUF_MAX_MESSAGE)
		return error_set(err, FAIL_INPUT,
		                 "%s:%" PRIu64 ": the line is longer than %zu MiB",
		                 r->name, r->line, BUF_MAX_MESSAGE >> 20);
	r->rest = (struct str){r->p + r->start, n};
	r->start += n + terminated;
	r->searched = 0;
	r->terminated = terminated;
	r->objects = 0;
	return r->line == 1 && check_magic(r, err) != 0 ? -1 : 1;
}

static int next_line(struct reader *r, struct error *err)
{
	for (;;) {
		size_t have = r->end - r->start;
		const char *from = r->p + r->start;
		const char *feed = have > r->searched ? memchr(from + r->searched, '\n',
		                                               have - r->searched)
		                                      : NULL;
		if (feed)
			return take_line(r, (size_t)(feed - from), true, err);
		if ((r->eof && have) || have > BUF_MAX_MESSAGE)
			return take_line(r, have, false, err);
		if (r->eof)
			return 0;
		r->searched = have;
		if (fill(r, err) != 0)
			return -1;
	}
}

static struct str skip_blanks(struct str s)
{
	size_t n = 0;
	while (n < s.n && (s.p[n] == ' ' || s.p[n] == '\t' || s.p[n] == '\r'))
		n++;
	return str_skip(s, n);
}

/* A last line that ends in the middle of what could have become an object. Bytes of
   another kind are one, too, when there are good lines before them: a crash leaves blocks
   of NULs. */
static bool is_torn(const struct reader *r)
{
	struct json_fault fault;
	size_t used;
	return !r->terminated && json_validate_first(r->rest, &used, &fault) != 0 &&
	       (r->any || r->rest.p[0] == '{');
}

static int next_object(struct reader *r, struct line *out, struct reader_note *note,
                       struct error *err)
{
	struct error bad;
	size_t used;
	*note = (struct reader_note){
		.line = r->line,
		.offset = r->base + (uint64_t)(r->rest.p - r->p),
		.fused = r->objects > 0,
	};
	if (line_parse(r->rest, &r->scratch, out, &used, &bad) == 0) {
		r->rest = str_skip(r->rest, used);
		r->objects++;
		r->any = true;
		return 1;
	}
	if (is_torn(r)) {
		memset(out, 0, sizeof(*out));
		out->type = LINE_UNKNOWN;
		out->text = r->rest;
		out->turn = out->step = out->terminated = out->truncated = -1;
		note->torn = true;
		r->rest = (struct str){0};
		return 1;
	}
	*err = bad;
	if (note->fused)
		error_wrap(err, "behind %" PRIu64 " whole object%s", r->objects,
		           r->objects == 1 ? "" : "s");
	return error_wrap(err, "%s:%" PRIu64, r->name, r->line);
}

int reader_next(struct reader *r, struct line *out, struct reader_note *note,
                struct error *err)
{
	struct reader_note unwanted;
	for (;;) {
		r->rest = skip_blanks(r->rest);
		if (r->rest.n)
			return next_object(r, out, note ? note : &unwanted, err);
		int got = next_line(r, err);
		if (got <= 0)
			return got;
	}
}

int reader_each(struct reader *r, reader_line_fn *take, void *ctx, struct error *err)
{
	struct reader_note note;
	struct line l;
	int more;
	while ((more = reader_next(r, &l, &note, err)) > 0) {
		if (take(ctx, &l, &note, err)) {
			more = -1;
			break;
		}
	}
	reader_close(r);
	return more;
}
