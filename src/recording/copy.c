/* Copies recordings that cannot be read by position: see reader.h. */
#include "recording/reader_internal.h"

static int copy_error(const struct reader *r, struct error *err)
{
	return error_errno(err, "cannot copy %s into a temporary file", r->name);
}

/* Copies imported lines. A truncated last line stays unterminated, so that the reader recognizes it
   again. */
static int copy_imported(struct reader *r, FILE *to, struct error *err)
{
	struct reader_note note;
	struct line l;
	int more;

	while ((more = reader_next(r, &l, &note, err)) > 0)
		if (fwrite(l.text.p, 1, l.text.n, to) != l.text.n ||
		    (!note.torn && fputc('\n', to) == EOF))
			return copy_error(r, err);
	return more;
}

static int copy(struct reader *r, FILE **out, struct error *err)
{
	if (reader_look(r, err))
		return -1;
	if (r->regular && !r->format)
		return 0;
	*out = tmpfile();
	if (!*out)
		return copy_error(r, err);
	if (r->format ? copy_imported(r, *out, err) : reader_spool(r, true, *out, err))
		return -1;
	return fflush(*out) || fseek(*out, 0, SEEK_SET) ? copy_error(r, err) : 0;
}

/* Unreadable files are reported by the caller's reader, which would wait again for a pipe that we were
   told to stop waiting for. */
int recording_copy(const char *path, const struct format *format, FILE **out, struct error *err)
{
	struct reader *r;
	int failed;

	*out = NULL;
	if (reader_open(path, &r, err))
		return err->kind == FAIL_INTERRUPTED ? -1 : 0;
	reader_set_format(r, format);
	failed = copy(r, out, err);
	reader_close(r);
	if (failed && *out) {
		fclose(*out);
		*out = NULL;
	}
	return failed;
}
