/* Rewriting heads: see rewrite.h. */
#include "tap/rewrite.h"

#include "base/text.h"

#include <strings.h>

bool rewrite_is_upgrade(struct str fields)
{
	return http_lists(http_field(fields, "upgrade"), "websocket");
}

static struct str start_line(const struct http_part *head)
{
	return (struct str){head->raw.p, (size_t)(head->fields.p - head->raw.p)};
}

/* The line that a field is part of, with its line feed, and what follows it. */
static struct str next_line(struct str *fields)
{
	const char *lf = memchr(fields->p, '\n', fields->n);
	struct str line = {fields->p, lf ? (size_t)(lf - fields->p) + 1 : fields->n};

	*fields = str_skip(*fields, line.n);
	return line;
}

static bool split(struct str line, struct str *name, struct str *value)
{
	size_t cursor = 0;

	return http_next_field(line, &cursor, name, value);
}

/* The target without a name of the rollout for the tap; absent: it has none. */
static struct str unnamed_target(const struct tap_rewriting *r, const struct http_part *head)
{
	struct str rest = str_skip(head->target, 3);
	const char *slash = rest.n ? memchr(rest.p, '/', rest.n) : NULL;

	return r->to_model && slash && str_starts(head->target, STR("/r/"))
	               ? str_skip(rest, (size_t)(slash - rest.p))
	               : STR_NONE;
}

static void put_start_line(struct str line, struct str target, struct str instead, struct buf *out)
{
	if (!instead.p) {
		buf_str(out, line);
		return;
	}
	buf_add(out, line.p, (size_t)(target.p - line.p));
	buf_str(out, instead);
	buf_str(out, str_skip(line, (size_t)(target.p + target.n - line.p)));
}

static bool is_left_out(const struct tap_rewriting *r, bool upgrade, struct str name)
{
	return (upgrade && http_is_word(name, "sec-websocket-extensions")) ||
	       (r->to_model && http_is_word(name, "accept-encoding"));
}

void rewrite_request(const struct tap_rewriting *r, const struct http_part *head, struct buf *out)
{
	struct str fields = head->fields, name, value;
	bool upgrade = rewrite_is_upgrade(fields);

	struct str target = unnamed_target(r, head);

	if (!upgrade && !r->set_host && !r->to_model) {
		buf_str(out, head->raw);
		return;
	}
	put_start_line(start_line(head), head->target, target, out);
	while (fields.n) {
		struct str line = next_line(&fields);

		bool named = split(line, &name, &value);
		if (named && r->set_host && http_is_word(name, "host"))
			buf_printf(out, "Host: %s\r\n", r->authority);
		else if (!named || !is_left_out(r, upgrade, name))
			buf_str(out, line);
	}
}

/* "http://AUTHORITY/path" of the server becomes "http://HOST/path". */
static bool put_location(const struct tap_rewriting *r, struct str value, struct str host,
                         struct buf *out)
{
	struct str scheme = r->tls ? STR("https://") : STR("http://");
	struct str rest = str_skip(value, scheme.n), authority = str_from(r->authority);

	if (!host.n || !str_starts(value, scheme) || rest.n < authority.n ||
	    strncasecmp(rest.p, authority.p, authority.n) != 0) {
		return false;
	}
	rest = str_skip(rest, authority.n);
	if (rest.n && !strchr("/?#", rest.p[0]))
		return false;
	buf_text(out, "Location: http://");
	buf_str(out, host);
	buf_str(out, rest);
	buf_text(out, "\r\n");
	return true;
}

static bool is_bound(const struct tap_rewriting *r, struct str attribute)
{
	return (attribute.n > 7 && strncasecmp(attribute.p, "domain=", 7) == 0) ||
	       (r->tls && http_is_word(attribute, "secure"));
}

/* False: nothing had to be left out. */
static bool put_cookie(const struct tap_rewriting *r, struct str value, struct buf *out)
{
	size_t before = out->n;
	bool dropped = false, first = true;

	buf_text(out, "Set-Cookie: ");
	while (value.n) {
		struct str part = str_cut(&value, ';');

		if (!first && is_bound(r, text_trim(part))) {
			dropped = true;
			continue;
		}
		buf_text(out, first ? "" : ";");
		buf_str(out, part);
		first = false;
	}
	if (!dropped) {
		buf_cut(out, before);
		return false;
	}
	buf_text(out, "\r\n");
	return true;
}

void rewrite_reply(const struct tap_rewriting *r, const struct http_part *head, struct str host,
                   struct buf *out)
{
	struct str fields = head->fields, name, value;

	buf_str(out, start_line(head));
	while (fields.n) {
		struct str line = next_line(&fields);
		bool done = false;

		if (split(line, &name, &value)) {
			done = (http_is_word(name, "location") &&
			        put_location(r, value, host, out)) ||
			       (http_is_word(name, "set-cookie") && put_cookie(r, value, out));
		}
		if (!done)
			buf_str(out, line);
	}
}
