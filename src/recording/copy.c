/* Copies recordings that cannot be read by position: see reader.h. */
#define _GNU_SOURCE /* memrchr */
#include "base/buf.h"
#include "base/mem.h"
#include "recording/reader.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

static int copy_error(const char *path, struct error *err)
{
	return error_errno(err, "cannot copy %s into a temporary file",
	                   strcmp(path, "-") == 0 ? "standard input" : path);
}

/* Stops early in a line that is too long, which the reader will reject, so that an endless
   source does not fill the disk. */
static int copy_bytes(FILE *from, FILE *to)
{
	static const size_t block = (size_t)256 << 10;
	char *p = mem_new(block);
	size_t n, line = 0;
	bool good = true;

	while (good && line <= BUF_MAX_MESSAGE && (n = fread(p, 1, block, from)) > 0) {
		good = fwrite(p, 1, n, to) == n;
		const char *feed = memrchr(p, '\n', n);
		line = feed ? (size_t)(p + n - 1 - feed) : line + n;
	}
	free(p);
	return good && !ferror(from) && fflush(to) == 0 ? 0 : -1;
}

/* Copies the bytes of a pipe. Unreadable files are reported by the reader, which would wait again
   for a pipe that we were told to stop waiting for. */
static int copy_unseekable(const char *path, FILE **out, struct error *err)
{
	bool standard_input = strcmp(path, "-") == 0;
	FILE *from = standard_input ? stdin : fopen(path, "rb");
	struct stat st;
	int failed = 0;

	if (from && fstat(fileno(from), &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode)) {
		*out = tmpfile();
		failed = !*out || copy_bytes(from, *out) || fseek(*out, 0, SEEK_SET)
		                 ? copy_error(path, err)
		                 : 0;
	}
	if (!from && errno == EINTR)
		failed = copy_error(path, err);
	if (from && !standard_input)
		fclose(from);
	return failed;
}

/* A truncated last line stays unterminated, so that the reader recognizes it again. */
static bool copy_line(const struct line *l, const struct reader_note *note, FILE *to)
{
	return fwrite(l->text.p, 1, l->text.n, to) == l->text.n &&
	       (note->torn || fputc('\n', to) != EOF);
}

/* Copies the lines imported from a file in another format; does nothing for our own format. */
static int copy_imported(struct reader *r, const char *path, FILE **out, struct error *err)
{
	struct reader_note note;
	struct line l;
	FILE *to = NULL;
	bool good = true;
	int more = reader_next(r, &l, &note, err);

	if (!reader_format(r))
		return 0; /* the caller's own reader reports the error */
	to = tmpfile();
	for (good = to; good && more > 0; more = reader_next(r, &l, &note, err))
		good = copy_line(&l, &note, to);
	if (good && more == 0 && fflush(to) == 0 && fseek(to, 0, SEEK_SET) == 0) {
		*out = to;
		return 0;
	}
	if (to)
		fclose(to);
	return good && more < 0 ? -1 : copy_error(path, err);
}

int recording_copy(const char *path, const struct format *format, FILE **out, struct error *err)
{
	struct reader *r = NULL;
	FILE *raw = NULL, *lines = NULL;
	struct error ignored; /* the caller's reader reports the error */
	int failed = 0;

	*out = NULL;
	if (copy_unseekable(path, &raw, err))
		return -1;
	if ((raw ? reader_open_fd(fileno(raw), path, &r, &ignored)
	         : reader_open(path, &r, &ignored)) == 0) {
		reader_set_format(r, format);
		failed = copy_imported(r, path, &lines, err);
	}
	reader_close(r);
	if (lines || failed) {
		if (raw)
			fclose(raw);
		*out = lines;
		return failed;
	}
	*out = raw;
	return 0;
}
