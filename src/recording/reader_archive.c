/* Archives: their values are unpacked into a temporary file, which is read instead, as a file in
   another format (recording/foreign.h). */
#include "recording/reader_internal.h"

#include "recording/foreign.h"

#include <unistd.h>

#define ARCHIVE_MAGIC 16 /* bytes by which one is recognized */

static int look_for_archive(struct reader *r, bool *is, struct error *err)
{
	while (!r->eof && r->end - r->start < ARCHIVE_MAGIC) {
		if (reader_fill(r, err) != 0) {
			return -1;
		}
	}
	*is = foreign_formats.is_archive((struct str){r->p + r->start, r->end - r->start});
	return 0;
}

/* Copies a pipe to a temporary file, because an archive's directory is at its end. */
static int spool(struct reader *r, FILE *to, struct error *err)
{
	while (r->end > r->start) {
		size_t n = r->end - r->start;

		if (fwrite(r->p + r->start, 1, n, to) != n) {
			return error_errno(err, "cannot copy %s into a temporary file", r->name);
		}
		r->start = r->end = 0;
		if (reader_fill(r, err) != 0) {
			return -1;
		}
	}
	return fflush(to) ? error_errno(err, "cannot copy %s into a temporary file", r->name) : 0;
}

static int unpack_into(struct reader *r, FILE *copy, FILE *values, struct error *err)
{
	if (!values || (!r->regular && !copy)) {
		return error_errno(err, "cannot create a temporary file");
	}
	if (copy && spool(r, copy, err)) {
		return -1;
	}
	if (foreign_formats.unpack(copy ? fileno(copy) : r->fd, values, err)) {
		return error_wrap(err, "%s", r->name);
	}
	return fflush(values) ? error_errno(err, "cannot unpack %s into a temporary file", r->name)
	                      : 0;
}

static void read_instead(struct reader *r, FILE *values)
{
	if (r->owned) {
		close(r->fd);
	}
	r->unpacked = values;
	r->fd = fileno(values);
	r->owned = false;
	r->regular = true;
	r->origin = 0;
	reader_free_bytes(r);
	reader_begin_bytes(r, 0);
	reader_continue(r, (struct reader_place){0, UINT64_MAX, 1});
}

int reader_unpack(struct reader *r, struct error *err)
{
	FILE *copy = NULL, *values;
	bool is = false;

	if (r->unpacked) {
		return 0;
	}
	if (look_for_archive(r, &is, err)) {
		return -1;
	}
	if (!is) {
		return 0;
	}
	copy = r->regular ? NULL : tmpfile();
	values = tmpfile();
	int failed = unpack_into(r, copy, values, err);
	if (copy) {
		fclose(copy);
	}
	if (failed) {
		if (values) {
			fclose(values);
		}
		return -1;
	}
	read_instead(r, values);
	return 0;
}
