/* Shared by reader.c (our own lines) and reader_foreign.c (values of other formats). */
#pragma once

#include "recording/reader.h"

struct reader {
	int fd;
	bool owned; /* close the descriptor with the reader */
	bool regular;
	char *name; /* for messages */

	char *p; /* p[start..end) was read, but not yet returned as lines */
	size_t cap, start, end;
	size_t searched; /* bytes from start known to contain no line feed */
	uint64_t base;   /* offset of p[0] in the file */
	uint64_t limit;  /* offset at which to stop reading */
	bool eof;

	uint64_t line;    /* number of the current line */
	struct str rest;  /* the rest of the current line */
	uint64_t objects; /* objects returned from it so far */
	bool terminated;
	bool any; /* a valid line was seen */
	struct buf scratch;

	/* of a file in another format */
	FILE *unpacked; /* the values of an archive, read instead of it; NULL: not an archive */
	bool looked;    /* the first value was examined */
	bool whole;     /* the value spans several lines: the whole file is in p[start..end) */
	bool done;      /* the importer has no more lines */
	const struct format *format;
	struct foreign *foreign;
	struct buf made; /* imported lines; those from made.p[taken] on are not yet returned */
	size_t taken;
};

/* Reads more bytes to the end of p[start..end), which may move; sets eof at the end. */
MUST_USE int reader_fill(struct reader *r, struct error *err);
struct str reader_skip_blanks(struct str s);
/* Sets `rest` to the next line that is not blank. Returns 1, 0 at the end, or -1. */
MUST_USE int reader_content(struct reader *r, struct error *err);
/* Is the rest, from the unterminated last line, the start of a value? */
bool reader_is_torn(const struct reader *r);
/* Returns the rest as a torn line. */
void reader_give_torn(struct reader *r, struct line *out, struct reader_note *note);

/* Examines the first value: sets `format` if the file is in another format. FAIL_INPUT if the
   format is unknown. */
MUST_USE int reader_look(struct reader *r, struct error *err);
/* Copies what is left of a pipe. lines: stops in a line that is too long, which readers reject, so that
   an endless source does not fill the disk. */
MUST_USE int reader_spool(struct reader *r, bool lines, FILE *to, struct error *err);
/* Returns the next imported line, like reader_next. */
MUST_USE int reader_next_imported(struct reader *r, struct line *out, struct reader_note *note,
                                  struct error *err);

/* Facts about a line in our own writer's spelling that can be read from its bytes without
   parsing its values: ten times as fast as line_parse, but without any check that the line is
   valid.
   Sets type, rollout and text of a line that holds one object, other than a header, and begins
   with type and rollout. False for anything else, which must be parsed. */
bool line_skim(struct str text, struct line *out);
