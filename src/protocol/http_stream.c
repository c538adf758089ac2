/* HTTP/1.1 as a proxy reads it: see http_stream.h. What the server and the client must agree on is
   the length of each message; where that is in doubt (two different lengths), it is not HTTP. */
#include "protocol/http_stream.h"

#include "base/text.h"

#include <strings.h>

#define HEAD_MAX       BUF_MAX_SMALL
#define CHUNK_LINE_MAX 4096
#define METHOD_MAX     32

enum {
	AT_START,   /* before a head */
	AFTER_HEAD, /* the head was returned: how long is the body? */
	IN_BODY,    /* `left` bytes follow */
	TO_THE_END, /* up to the end of the stream */
	CHUNK_LINE,
	IN_CHUNK,
	CHUNK_END, /* the line feed after a chunk */
	TRAILERS,
	AT_END, /* complete, but not yet reported */
	BROKEN,
};

void http_stream_init(struct http_stream *s, bool replies)
{
	*s = (struct http_stream){.replies = replies, .held = BUF(HEAD_MAX)};
}

void http_stream_release(struct http_stream *s)
{
	buf_release(&s->held);
}

void http_stream_feed(struct http_stream *s, struct str piece)
{
	s->rest = piece;
}

bool http_stream_is_idle(const struct http_stream *s)
{
	return s->state == AT_START && (s->release || !s->held.n);
}

/* ---- header lines ---- */

bool http_next_field(struct str fields, size_t *cursor, struct str *name, struct str *value)
{
	while (*cursor < fields.n) {
		struct str rest = str_skip(fields, *cursor);
		const char *lf = memchr(rest.p, '\n', rest.n);
		struct str line = {rest.p, lf ? (size_t)(lf - rest.p) + 1 : rest.n};
		const char *colon = memchr(line.p, ':', line.n);

		*cursor += line.n;
		if (colon) {
			*name = (struct str){line.p, (size_t)(colon - line.p)};
			*value = text_trim(str_skip(line, name->n + 1));
			return true;
		}
	}
	return false;
}

bool http_is_word(struct str a, const char *word)
{
	return a.n == strlen(word) && strncasecmp(a.p, word, a.n) == 0;
}

struct str http_field(struct str fields, const char *name)
{
	struct str key, value;

	for (size_t cursor = 0; http_next_field(fields, &cursor, &key, &value);)
		if (http_is_word(key, name))
			return value;
	return STR_NONE;
}

bool http_lists(struct str value, const char *word)
{
	bool found = false;

	while (value.n && !found)
		found = http_is_word(text_trim(str_cut(&value, ',')), word);
	return found;
}

/* ---- heads ---- */

static bool is_token(struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c <= ' ' || c >= 127 || strchr("()<>@,;:\\\"/[]?={}", c))
			return false;
	}
	return s.n > 0;
}

static bool is_version(struct str s)
{
	return s.n == 8 && str_starts(s, STR("HTTP/1.")) && s.p[7] >= '0' && s.p[7] <= '9';
}

static bool read_request_line(struct str line, struct http_part *out)
{
	const char *first = memchr(line.p, ' ', line.n), *last = line.p + line.n;

	while (last > line.p && (last == line.p + line.n || *last != ' '))
		last--;

	if (!first || last <= first || !is_version(str_skip(line, (size_t)(last - line.p) + 1)))
		return false;
	out->method = (struct str){line.p, (size_t)(first - line.p)};
	out->target = (struct str){first + 1, (size_t)(last - first) - 1};
	return out->method.n <= METHOD_MAX && is_token(out->method);
}

static bool read_status_line(struct str line, struct http_part *out)
{
	uint64_t status;

	if (line.n < 12 || !is_version((struct str){line.p, 8}) || line.p[8] != ' ' ||
	    !text_u64((struct str){line.p + 9, 3}, &status) || status < 100) {
		return false;
	}
	out->status = (int)status;
	return line.n == 12 || line.p[12] == ' ';
}

/* Can this be how a head begins? Tells other protocols (TLS, HTTP/2) before they wait for a line
   feed that never comes. */
static bool may_be_head(const struct http_stream *s, struct str start)
{
	static const struct str http = STR_INIT("HTTP/1.");
	const char *end = memchr(start.p, ' ', start.n);

	if (s->replies) {
		size_t n = start.n < http.n ? start.n : http.n;

		return memcmp(start.p, http.p, n) == 0;
	}
	start.n = end ? (size_t)(end - start.p) : start.n;
	return start.n == 0 ? !end : start.n <= METHOD_MAX && is_token(start);
}

static bool broken(struct http_stream *s, struct str raw, const char *why, struct http_part *out)
{
	s->state = BROKEN;
	*out = (struct http_part){.kind = HTTP_BROKEN, .raw = raw, .why = why};
	return true;
}

/* False: the lengths disagree, or are none. */
static bool choose_body(struct http_stream *s, struct str fields)
{
	struct str name, value;
	bool chunked = false, coded = false, known = false;
	uint64_t length = 0, other;

	for (size_t cursor = 0; http_next_field(fields, &cursor, &name, &value);) {
		if (http_is_word(name, "transfer-encoding")) {
			coded = true;
			chunked = http_lists(value, "chunked");
		} else if (http_is_word(name, "content-length")) {
			if (!text_u64(value, &other) || (known && other != length))
				return false;
			length = other;
			known = true;
		}
	}
	s->left = length;
	uint8_t open_end = s->replies ? TO_THE_END : coded ? BROKEN : AT_END;
	s->body = coded    ? chunked ? CHUNK_LINE : open_end
	          : !known ? open_end
	          : length ? IN_BODY
	                   : AT_END;
	return s->body != BROKEN;
}

static const char *not_http(const struct http_stream *s)
{
	return s->replies ? "not HTTP: no status line" : "not HTTP: no request line";
}

static bool read_head(struct http_stream *s, struct str raw, struct http_part *out)
{
	const char *lf = memchr(raw.p, '\n', raw.n);
	struct str line = {raw.p, (size_t)(lf - raw.p)};

	line.n -= str_ends(line, STR("\r"));

	*out = (struct http_part){
		.kind = HTTP_HEAD, .raw = raw, .fields = str_skip(raw, (size_t)(lf - raw.p) + 1)};
	if (s->replies ? !read_status_line(line, out) : !read_request_line(line, out))
		return broken(s, raw, not_http(s), out);
	if (!choose_body(s, out->fields))
		return broken(s, raw, "the length of the body is not clear", out);
	s->state = AFTER_HEAD;
	s->interim = s->replies && out->status < 200 && out->status != 101;
	s->bodyless = s->replies && (out->status < 200 || out->status == 204 || out->status == 304);
	return true;
}

/* The length of the head at the start of text, looking from `from` on; 0: it is not complete. */
static size_t head_length(struct str text, size_t from)
{
	const char *at = text.p + (from > 3 ? from - 3 : 0), *end = text.p + text.n;

	while ((at = memchr(at, '\n', (size_t)(end - at)))) {
		at++;
		if (at < end && *at == '\n')
			return (size_t)(at - text.p) + 1;
		if (at + 1 < end && at[0] == '\r' && at[1] == '\n')
			return (size_t)(at - text.p) + 2;
	}
	return 0;
}

static struct str take(struct http_stream *s, size_t n)
{
	struct str taken = {s->rest.p, n};

	s->rest = str_skip(s->rest, n);
	return taken;
}

static bool return_held(struct http_stream *s, struct str *raw)
{
	*raw = buf_view(&s->held);
	s->release = true;
	s->scanned = 0;
	return true;
}

/* Blank lines between messages are passed on. */
static size_t blank_lines(struct str s)
{
	size_t n = 0;

	while (n < s.n && (s.p[n] == '\r' || s.p[n] == '\n'))
		n++;
	return n;
}

static bool next_head(struct http_stream *s, struct http_part *out)
{
	size_t blanks = s->held.n ? 0 : blank_lines(s->rest), length;
	struct str raw;

	if (blanks) {
		*out = (struct http_part){.kind = HTTP_FRAMING, .raw = take(s, blanks)};
		return true;
	}
	if (!s->held.n) {
		length = head_length(s->rest, 0);
		if (length && length <= HEAD_MAX)
			return read_head(s, take(s, length), out);
	}
	size_t before = s->held.n;
	size_t room = HEAD_MAX - before;
	struct str more = {s->rest.p, s->rest.n < room ? s->rest.n : room};
	buf_str(&s->held, more);
	length = head_length(buf_view(&s->held), s->scanned);
	s->scanned = s->held.n;
	if (length) {
		buf_cut(&s->held, length);
		take(s, length - before);
		return_held(s, &raw);
		return read_head(s, raw, out);
	}
	take(s, more.n);
	bool possible = may_be_head(s, buf_view(&s->held));
	if (possible && s->held.n < HEAD_MAX)
		return false;
	return_held(s, &raw);
	return broken(s, raw, possible ? "the head is longer than 64 KiB" : not_http(s), out);
}

/* ---- bodies ---- */

static bool next_in_body(struct http_stream *s, struct http_part *out)
{
	size_t n = s->rest.n;

	if (s->state != TO_THE_END && s->left < n)
		n = (size_t)s->left;
	if (!n)
		return false;
	*out = (struct http_part){.kind = HTTP_BODY, .raw = take(s, n)};
	out->bytes = out->raw;
	if (s->state != TO_THE_END)
		s->left -= n;
	if (s->state == IN_BODY && !s->left)
		s->state = AT_END;
	else if (s->state == IN_CHUNK && !s->left)
		s->state = CHUNK_END;
	return true;
}

static unsigned hex_digit(unsigned char c)
{
	if (c >= '0' && c <= '9')
		return (unsigned)c - '0';
	c |= 32;
	return c >= 'a' && c <= 'f' ? (unsigned)c - 'a' + 10 : 16;
}

static bool hex(struct str line, uint64_t *out)
{
	size_t i = 0;

	*out = 0;
	for (; i < line.n && i < 16; i++) {
		unsigned char c = (unsigned char)line.p[i];
		unsigned digit = hex_digit(c);

		if (digit == 16)
			break;
		*out = *out << 4 | digit;
	}
	return i && i < 16 && (i == line.n || line.p[i] == ';' || line.p[i] == ' ');
}

/* A line that frames chunks. Its bytes are returned as they arrive; `held` has a copy. */
static bool next_line(struct http_stream *s, struct http_part *out)
{
	const char *lf = s->rest.n ? memchr(s->rest.p, '\n', s->rest.n) : NULL;
	struct str raw = take(s, lf ? (size_t)(lf - s->rest.p) + 1 : s->rest.n);

	if (!raw.n)
		return false;
	*out = (struct http_part){.kind = HTTP_FRAMING, .raw = raw};
	buf_str(&s->held, raw);
	if (s->held.full || s->held.n > (s->state == TRAILERS ? HEAD_MAX : CHUNK_LINE_MAX))
		return broken(s, raw, "a line between chunks is too long", out);
	if (!lf)
		return true;
	struct str line = text_trim(buf_view(&s->held));
	s->release = true;
	switch (s->state) {
	case CHUNK_LINE:
		if (!hex(line, &s->left))
			return broken(s, raw, "no length where a chunk begins", out);
		s->state = s->left ? IN_CHUNK : TRAILERS;
		break;
	case CHUNK_END:
		if (line.n)
			return broken(s, raw, "a chunk is longer than its length", out);
		s->state = CHUNK_LINE;
		break;
	default: /* TRAILERS */
		s->state = line.n ? TRAILERS : AT_END;
		break;
	}
	return true;
}

static bool next_end(struct http_stream *s, struct http_part *out)
{
	s->state = AT_START;
	*out = (struct http_part){.kind = HTTP_END};
	return true;
}

static void begin_body(struct http_stream *s)
{
	s->state = s->interim ? AT_START : s->bodyless ? AT_END : s->body;
	s->interim = s->bodyless = false;
}

bool http_stream_next(struct http_stream *s, struct http_part *out)
{
	if (s->release) {
		buf_release(&s->held);
		s->held = BUF(HEAD_MAX);
		s->release = false;
	}
	if (s->state == AFTER_HEAD)
		begin_body(s);
	switch (s->state) {
	case AT_START:
		return s->rest.n && next_head(s, out);
	case IN_BODY:
	case TO_THE_END:
	case IN_CHUNK:
		return next_in_body(s, out);
	case CHUNK_LINE:
	case CHUNK_END:
	case TRAILERS:
		return next_line(s, out);
	case AT_END:
		return next_end(s, out);
	default: /* BROKEN */
		return s->rest.n && broken(s, take(s, s->rest.n), NULL, out);
	}
}

bool http_stream_finish(struct http_stream *s, struct http_part *out)
{
	struct str held = s->release ? STR_NONE : buf_view(&s->held);

	if (s->state == AFTER_HEAD)
		begin_body(s);
	if (s->state == TO_THE_END || s->state == AT_END)
		return next_end(s, out);
	return s->state == AT_START && held.n && broken(s, held, NULL, out);
}
