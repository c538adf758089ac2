/* Reads recordings as a stream: large reads into one buffer that grows only to the longest line;
   objects are slices of it, without copying. Several objects on one line and a truncated last
   line (after a crash or by a second writer) are noted; anything else is an error with its
   position. */
#include "recording/reader_internal.h"

#include "base/buf.h"
#include "base/mem.h"
#include "recording/foreign.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define BLOCK ((size_t)128 << 10) /* stays in the cache until it is parsed */

/* An owned descriptor is also closed on failure. */
static int begin(int fd, bool owned, const char *path, struct reader **out, struct error *err)
{
	const char *name = strcmp(path, "-") == 0 ? "standard input" : path;
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0) {
		/* interrupted while waiting for the writer of a named pipe */
		error_errno(err, "cannot read %s", path);
		err->kind = err->kind == FAIL_SYSTEM ? FAIL_INPUT : err->kind;
	} else if (S_ISDIR(st.st_mode)) {
		error_set(err, FAIL_INPUT, "cannot read %s: it is a directory", path);
	} else {
		struct reader *r = mem_new(sizeof(*r));
		off_t at = S_ISREG(st.st_mode) ? lseek(fd, 0, SEEK_CUR) : -1;

		*r = (struct reader){.fd = fd,
		                     .owned = owned,
		                     .regular = at >= 0,
		                     .name = mem_text(str_from(name)),
		                     .limit = UINT64_MAX,
		                     .p = mem_new(BLOCK),
		                     .cap = BLOCK,
		                     .base = at > 0 ? (uint64_t)at : 0,
		                     .scratch = BUF(BUF_MAX_MESSAGE),
		                     .made = BUF(FOREIGN_BYTES_MAX)};
		*out = r;
		return 0;
	}
	if (owned && fd >= 0)
		close(fd);
	return -1;
}

int reader_open(const char *path, struct reader **out, struct error *err)
{
	bool standard_input = strcmp(path, "-") == 0;
	int fd = standard_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);

	return begin(fd, !standard_input, path, out, err);
}

int reader_open_fd(int fd, const char *name, struct reader **out, struct error *err)
{
	return begin(fd, false, name, out, err);
}

void reader_close(struct reader *r)
{
	if (!r)
		return;
	if (r->owned)
		close(r->fd);
	if (r->unpacked)
		fclose(r->unpacked);
	if (r->foreign)
		foreign_formats.close(r->foreign);
	BUFS_RELEASE(&r->made, &r->scratch);
	free(r->p);
	free(r->name);
	free(r);
}

void reader_seek(struct reader *r, uint64_t offset, uint64_t end, uint64_t line)
{
	r->looked = true;
	r->start = r->end = r->searched = 0;
	r->base = offset;
	r->rest = STR_NONE;
	r->objects = 0;
	r->line = line - 1;
	r->limit = end;
	r->eof = false;
}

/* ---- bytes ---- */

/* Makes room after `end` by moving the unread bytes to the front, or by growing. */
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
		r->cap = r->cap ? 2 * r->cap : BLOCK;
		r->p = mem_resize(r->p, r->cap, 1);
	}
}

/* Regular files are read by position, which makes seeking possible. */
static ssize_t read_some(const struct reader *r)
{
	uint64_t at = r->base + r->end, left = r->limit > at ? r->limit - at : 0;
	size_t room = r->cap - r->end;

	if (!r->regular)
		return read(r->fd, r->p + r->end, room);
	if (!left)
		return 0;
	return pread(r->fd, r->p + r->end, left < room ? (size_t)left : room, (off_t)at);
}

/* Nothing is left to read: are there no bytes that were there before, when the limit was set? */
static bool is_at_end(const struct reader *r)
{
	return r->limit == UINT64_MAX || r->base + r->end >= r->limit;
}

int reader_fill(struct reader *r, struct error *err)
{
	make_room(r);
	for (;;) {
		ssize_t n = read_some(r);

		if (n > 0 || (n == 0 && is_at_end(r))) {
			r->end += (size_t)n;
			r->eof = n == 0;
			return 0;
		}
		if (n == 0) {
			return error_set(err, FAIL_SYSTEM, "%s became shorter while it was read",
			                 r->name);
		}
		if (errno == EAGAIN) /* another process made standard input non-blocking */
			poll(&(struct pollfd){.fd = r->fd, .events = POLLIN}, 1, -1);
		else if (errno != EINTR || !r->regular)
			return error_errno(err, "cannot read %s", r->name);
	}
}

/* ---- lines ---- */

/* Recognizes files that are not recordings by their first bytes. */
static int check_magic(const struct reader *r, struct error *err)
{
	static const struct {
		struct str bytes;
		const char *what;
	} magic[] = {
		{STR_INIT("\xef\xbb\xbf"),
	         "starts with a byte order mark; remove its first 3 bytes"},
		{STR_INIT("\xff\xfe"), "is UTF-16; a recording must be UTF-8"},
		{STR_INIT("\xfe\xff"), "is UTF-16; a recording must be UTF-8"},
		{STR_INIT("\x1f\x8b"), "is compressed with gzip"},
		{STR_INIT("\x28\xb5\x2f\xfd"), "is compressed with zstd"},
	};

	for (size_t i = 0; i < ARRAY_LEN(magic); i++) {
		if (str_starts(r->rest, magic[i].bytes)) {
			return error_set(err, FAIL_INPUT, "%s:1: the file %s", r->name,
			                 magic[i].what);
		}
	}
	return 0;
}

static int take_line(struct reader *r, size_t n, bool terminated, struct error *err)
{
	r->line++;
	if (n > BUF_MAX_MESSAGE) {
		return error_set(err, FAIL_INPUT, "%s:%" PRIu64 ": the line is longer than %zu MiB",
		                 r->name, r->line, BUF_MAX_MESSAGE >> 20);
	}
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
		const char *feed = have > r->searched
		                           ? memchr(from + r->searched, '\n', have - r->searched)
		                           : NULL;

		if (feed)
			return take_line(r, (size_t)(feed - from), true, err);
		if ((r->eof && have) || have > BUF_MAX_MESSAGE)
			return take_line(r, have, false, err);
		if (r->eof)
			return 0;
		r->searched = have;
		if (reader_fill(r, err) != 0)
			return -1;
	}
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

struct str reader_skip_blanks(struct str s)
{
	size_t n = 0;

	while (n < s.n && is_blank(s.p[n]))
		n++;
	return str_skip(s, n);
}

/* Is the unterminated last line the start of an object? After valid lines any other bytes also
   count, because a crash can leave blocks of NULs. */
bool reader_is_torn(const struct reader *r)
{
	struct json_fault fault;
	size_t used;

	return !r->terminated && json_validate_first(r->rest, &used, &fault) != 0 &&
	       (r->any || r->rest.p[0] == '{');
}

void reader_give_torn(struct reader *r, struct line *out, struct reader_note *note)
{
	*note = (struct reader_note){.file = r->name, .line = r->line, .torn = true};
	memset(out, 0, sizeof(*out));
	out->type = LINE_UNKNOWN;
	out->text = r->rest;
	out->turn = out->step = out->terminated = out->truncated = -1;
	r->rest = STR_NONE;
}

static struct reader_note current_note(const struct reader *r)
{
	return (struct reader_note){
		.file = r->name,
		.line = r->line,
		.offset = r->base + (uint64_t)(r->rest.p - r->p),
		.fused = r->objects > 0,
	};
}

static int next_object(struct reader *r, struct line *out, struct reader_note *note,
                       struct error *err)
{
	struct error bad;
	size_t used;

	*note = current_note(r);
	if (line_parse(r->rest, &r->scratch, out, &used, &bad) == 0) {
		out->number = r->line;
		r->rest = str_skip(r->rest, used);
		r->objects++;
		r->any = true;
		return 1;
	}
	if (reader_is_torn(r)) {
		reader_give_torn(r, out, note);
		return 1;
	}
	*err = bad;
	if (!r->any && r->line == 1)
		(void)foreign_formats.describe(r->rest, err);
	if (note->fused) {
		error_wrap(err, "after %" PRIu64 " complete object%s", r->objects,
		           r->objects == 1 ? "" : "s");
	}
	return error_wrap(err, "%s:%" PRIu64, r->name, r->line);
}

/* Sets r->rest to the next line that is not blank. */
int reader_content(struct reader *r, struct error *err)
{
	for (;;) {
		r->rest = reader_skip_blanks(r->rest);
		if (r->rest.n)
			return 1;
		int got = next_line(r, err);
		if (got <= 0)
			return got;
	}
}

void reader_set_format(struct reader *r, const struct format *format)
{
	r->format = format;
}

int reader_next(struct reader *r, struct line *out, struct reader_note *note, struct error *err)
{
	struct reader_note unwanted = {.line = 0};

	note = note ? note : &unwanted;
	if (!r->looked && reader_look(r, err) != 0)
		return -1;
	if (r->format) {
		r->foreign = r->foreign ? r->foreign : foreign_formats.open(r->format, r->name);
		return reader_next_imported(r, out, note, err);
	}
	int more = reader_content(r, err);
	return more > 0 ? next_object(r, out, note, err) : more;
}

/* ---- lines in our own writer's spelling, by their bytes ---- */

static const struct {
	struct str begin;
	enum line_type type;
} beginnings[] = {
	{STR_INIT("{\"type\":\"step\",\"rollout\":\""), LINE_STEP},
	{STR_INIT("{\"type\":\"reset\",\"rollout\":\""), LINE_RESET},
	{STR_INIT("{\"type\":\"event\",\"rollout\":\""), LINE_EVENT},
	{STR_INIT("{\"type\":\"end\",\"rollout\":\""), LINE_END},
};

/* Is the brace at p, which is not the first byte of the line, after another and blanks? */
static bool is_fused(const char *p)
{
	do {
		p--;
	} while (is_blank(*p));
	return *p == '}';
}

/* Does another object, or text that looks like one, follow an object? Finds two objects on one
   line; strings with such text are false positives. */
static bool may_be_fused(struct str line)
{
	const char *p = line.p, *end = line.p + line.n;

	while ((p = memchr(p + 1, '{', (size_t)(end - p) - 1)))
		if (is_fused(p))
			return true;
	return false;
}

/* Sets *rollout; returns the type, or LINE_UNKNOWN for lines that do not begin as we write them. */
static enum line_type begun_as(struct str text, struct str *rollout)
{
	size_t i = 0;

	while (i < ARRAY_LEN(beginnings) && !str_starts(text, beginnings[i].begin))
		i++;
	if (i == ARRAY_LEN(beginnings) || text.p[text.n - 1] != '}')
		return LINE_UNKNOWN;
	struct str rest = str_skip(text, beginnings[i].begin.n);
	const char *quote = memchr(rest.p, '"', rest.n);
	size_t n = quote ? (size_t)(quote - rest.p) : 0;
	*rollout = (struct str){rest.p, n};
	return n && !memchr(rest.p, '\\', n) ? beginnings[i].type : LINE_UNKNOWN;
}

bool line_skim(struct str text, struct line *out)
{
	struct str rollout;
	enum line_type type = begun_as(text, &rollout);

	if (type == LINE_UNKNOWN || may_be_fused(text))
		return false;
	*out = (struct line){.type = type, .text = text, .rollout = rollout};
	return true;
}

int reader_skim(struct reader *r, struct line *out, struct reader_note *note, struct error *err)
{
	if (!r->looked || r->format)
		return reader_next(r, out, note, err);
	int more = reader_content(r, err);
	if (more <= 0 || !r->terminated || r->objects || !line_skim(r->rest, out))
		return more > 0 ? next_object(r, out, note, err) : more;
	*note = current_note(r);
	out->number = r->line;
	r->rest = STR_NONE;
	r->any = true;
	return 1;
}

int reader_place_error(struct error *err, const struct reader_note *note)
{
	return err->kind == FAIL_INPUT ? error_wrap(err, "%s:%" PRIu64, note->file, note->line)
	                               : -1;
}

static int each(struct reader *r, reader_line_fn *take, void *ctx, bool place, bool *any,
                struct error *err)
{
	struct reader_note note;
	struct line l;
	int more;

	*any = false;
	while ((more = reader_next(r, &l, &note, err)) > 0) {
		*any = true;
		if (take(ctx, &l, &note, err)) {
			more = place ? reader_place_error(err, &note) : -1;
			break;
		}
	}
	reader_close(r);
	return more;
}

int reader_each(struct reader *r, reader_line_fn *take, void *ctx, struct error *err)
{
	bool any;

	return each(r, take, ctx, false, &any, err);
}

int reader_file_lines(const char *path, reader_line_fn *take, void *ctx, bool *any,
                      struct error *err)
{
	struct reader *r;

	*any = false;
	return reader_open(path, &r, err) || each(r, take, ctx, true, any, err) ? -1 : 0;
}

int reader_file(const char *path, reader_line_fn *take, void *ctx, struct error *err)
{
	bool any;

	if (reader_file_lines(path, take, ctx, &any, err))
		return -1;
	return any ? 0 : error_set(err, FAIL_INPUT, "%s: contains no recording", path);
}
