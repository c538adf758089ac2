/* Files of other programs: recognized by their first value; an importer converts each value to
   lines (recording/foreign.h). The values of an archive are unpacked into a temporary file, which is
   read instead. */
#include "recording/reader_internal.h"

#include "recording/foreign.h"

#include <inttypes.h>
#include <unistd.h>

/* ---- archives ---- */

#define ARCHIVE_MAGIC 16 /* bytes by which one is recognized */

static int look_for_archive(struct reader *r, bool *is, struct error *err)
{
	while (!r->eof && r->end - r->start < ARCHIVE_MAGIC)
		if (reader_fill(r, err) != 0)
			return -1;
	*is = foreign_formats.is_archive((struct str){r->p + r->start, r->end - r->start});
	return 0;
}

int reader_spool(struct reader *r, bool lines, FILE *to, struct error *err)
{
	size_t line = 0;

	while (r->end > r->start && !(lines && line > BUF_MAX_MESSAGE)) {
		const char *p = r->p + r->start;
		size_t n = r->end - r->start;
		const char *feed = str_last((struct str){p, n}, '\n');

		if (fwrite(p, 1, n, to) != n)
			return error_errno(err, "cannot copy %s into a temporary file", r->name);
		line = feed ? (size_t)(p + n - 1 - feed) : line + n;
		r->start = r->end = 0;
		if (reader_fill(r, err) != 0)
			return -1;
	}
	return fflush(to) ? error_errno(err, "cannot copy %s into a temporary file", r->name) : 0;
}

/* Reads a temporary file from now on; NULL: none could be created. */
static int read_instead(struct reader *r, FILE *file, struct error *err)
{
	if (!file)
		return error_errno(err, "cannot create a temporary file");
	if (r->owned)
		close(r->fd);
	if (r->unpacked)
		fclose(r->unpacked);
	r->unpacked = file;
	r->fd = fileno(file);
	r->owned = false;
	r->regular = true;
	reader_seek(r, 0, UINT64_MAX, 1);
	return 0;
}

static int unpack_into(struct reader *r, FILE *values, struct error *err)
{
	if (foreign_formats.unpack(r->fd, values, err))
		return error_wrap(err, "%s", r->name);
	return fflush(values) ? error_errno(err, "cannot unpack %s into a temporary file", r->name)
	                      : 0;
}

/* The directory of an archive is at its end: a pipe is copied first. */
static int unpack(struct reader *r, struct error *err)
{
	FILE *copy = r->regular ? NULL : tmpfile(), *values = tmpfile();
	int failed = (copy && reader_spool(r, false, copy, err)) ||
	             (!r->regular && read_instead(r, copy, err)) ||
	             (values && unpack_into(r, values, err));

	if (!failed)
		return read_instead(r, values, err);
	if (values)
		fclose(values);
	if (copy && copy != r->unpacked)
		fclose(copy);
	return -1;
}

/* ---- values ---- */

/* The unread bytes from the first one that is not whitespace; unless `all`, up to the line feed. */
static struct str ahead(const struct reader *r, bool all)
{
	struct str text = {r->p + r->start, r->end - r->start};
	const char *feed;

	text = reader_skip_blanks(text);
	feed = all ? NULL : memchr(text.p, '\n', text.n);
	return feed ? (struct str){text.p, (size_t)(feed - text.p)} : text;
}

/* Reads until a non-blank line is complete, or with `all` until the end of the file; limited by
   the cap. */
static int read_ahead(struct reader *r, bool all, struct error *err)
{
	while (!r->eof && r->end - r->start <= BUF_MAX_MESSAGE) {
		struct str rest = ahead(r, true);

		if (!all && rest.n && memchr(rest.p, '\n', rest.n))
			break;
		if (reader_fill(r, err) != 0)
			return -1;
	}
	return 0;
}

/* Lines of our own format are recognized without consulting the importers. */
static bool is_ours(struct str value)
{
	return JSON_GET(value, "type").p && JSON_GET(value, "rollout").p;
}

static int broken_document(const struct reader *r, struct str text, const struct json_fault *fault,
                           struct error *err)
{
	uint64_t line = 1;

	for (const char *p = r->p + r->start; p < text.p + fault->at; p++)
		line += *p == '\n';
	return error_set(err, FAIL_INPUT, "%s:%" PRIu64 ": JSON of several lines that %s: %s",
	                 r->name, line, fault->at >= text.n ? "ends too early" : "is not valid",
	                 fault->why);
}

/* Reads on until the first value, which spans several lines, is whole. */
static int read_document(struct reader *r, struct str *text, size_t *used, struct error *err)
{
	struct json_fault fault;

	if (read_ahead(r, true, err) != 0)
		return -1;
	if (!r->eof) {
		return error_set(err, FAIL_INPUT,
		                 "%s: the first JSON value is longer than %zu MiB: write its "
		                 "rollouts one a line, as jq -c '.[]' does with a list",
		                 r->name, BUF_MAX_MESSAGE >> 20);
	}
	*text = ahead(r, true);
	if (json_validate_first(*text, used, &fault) != 0)
		return broken_document(r, *text, &fault, err);
	r->whole = true;
	return 0;
}

int reader_look(struct reader *r, struct error *err)
{
	struct json_fault fault;
	struct str text;
	size_t used;
	bool archive;

	r->looked = true;
	if (look_for_archive(r, &archive, err) || (archive && unpack(r, err)) ||
	    read_ahead(r, false, err)) {
		return -1;
	}
	text = ahead(r, false);
	if (!text.n || (text.p[0] != '{' && text.p[0] != '['))
		return 0;
	if (json_validate_first(text, &used, &fault) != 0) {
		if (fault.at < text.n || r->eof)
			return 0;
		if (read_document(r, &text, &used, err))
			return -1;
	}
	text.n = used;
	if (!r->format && !is_ours(text))
		r->format = foreign_formats.recognize(json_first(text).p ? json_first(text) : text);
	r->whole = r->whole && r->format;
	if (r->format || !foreign_formats.describe(text, err))
		return 0;
	return error_wrap(err, r->unpacked ? "%s: the first row, as JSON" : "%s:1", r->name);
}

/* Reads the next value of the file. Returns 1, or 0 at the end and for a truncated last line
   (*torn). */
static int next_value(struct reader *r, struct str *value, bool *torn, struct error *err)
{
	struct json_fault fault;
	size_t used;

	if (r->whole) {
		r->rest = ahead(r, true);
		r->line = 1;
		r->terminated = true;
		r->start = r->end;
		r->whole = false;
	}
	int more = reader_content(r, err);
	if (more <= 0)
		return more;
	if (json_validate_first(r->rest, &used, &fault) != 0) {
		*torn = reader_is_torn(r);
		if (*torn)
			return 0;
		line_fault(err, r->rest, &fault);
		return error_wrap(err, "%s:%" PRIu64, r->name, r->line);
	}
	*value = (struct str){r->rest.p, used};
	r->rest = str_skip(r->rest, used);
	r->any = true;
	return 1;
}

/* Imports more lines. Returns 1, 0 for a truncated last line, or -1. */
static int import_more(struct reader *r, struct error *err)
{
	struct str value = STR_NONE;
	bool torn = false;
	int more = next_value(r, &value, &torn, err);

	if (more < 0 || torn)
		return more;
	buf_clear(&r->made);
	r->taken = 0;
	int failed = more ? foreign_formats.take(r->foreign, value, &r->made, err)
	                  : foreign_formats.finish(r->foreign, &r->made, err);
	r->done = !more;
	if (!failed && r->made.full) {
		failed = error_set(err, FAIL_INPUT, "its lines are over %zu MiB",
		                   FOREIGN_BYTES_MAX >> 20);
	}
	return failed ? error_wrap(err, "%s:%" PRIu64, r->name, r->line) : 1;
}

int reader_next_imported(struct reader *r, struct line *out, struct reader_note *note,
                         struct error *err)
{
	struct error bad;
	size_t used;

	while (r->taken == r->made.n) {
		int more = r->done ? 1 : import_more(r, err);

		if (more < 0)
			return -1;
		if (more == 0) {
			reader_give_torn(r, out, note);
			return 1;
		}
		if (r->done && r->taken == r->made.n)
			return 0;
	}
	struct str rest = str_skip(buf_view(&r->made), r->taken);
	*note = (struct reader_note){.file = r->name, .line = r->line};
	if (line_parse(rest, &r->scratch, out, &used, &bad) != 0) {
		*err = bad;
		return error_wrap(err, "%s:%" PRIu64 ": as imported", r->name, r->line);
	}
	r->taken += used + 1;
	return 1;
}
