/* What reader.c (lines of ours) and reader_foreign.c (values of other formats) share. */
#ifndef ROLLDBG_TRAJECTORY_READER_INTERNAL_H
#define ROLLDBG_TRAJECTORY_READER_INTERNAL_H

#include "trajectory/reader.h"

struct reader {
	int fd;
	bool owned; /* close the descriptor with the reader */
	bool regular;
	char *name; /* for messages */

	char *p; /* p[start..end) is read, but not yet returned as lines */
	size_t cap, start, end;
	size_t searched; /* bytes from start known to contain no line feed */
	uint64_t base;   /* offset of p[0] in the file */
	uint64_t origin; /* offset at which the recording begins */
	uint64_t limit;  /* offset at which to stop reading */
	bool sought;     /* to this place, before the next line: */
	struct reader_place {
		uint64_t offset, end, line;
	} place;
	bool eof;

	uint64_t line;    /* number of the current line */
	struct str rest;  /* the rest of the current line */
	uint64_t objects; /* objects returned from it so far */
	bool terminated;
	bool any; /* a valid line was seen */
	struct buf scratch;

	/* of a file in another format */
	FILE *unpacked; /* an archive's values, read in its place; NULL: it is none */
	bool looked;    /* at the first value */
	bool whole;     /* a value has several lines: all of the file is in p[start..end) */
	bool done;      /* the importer has nothing more to give */
	const struct format *format;
	struct foreign *foreign;
	struct buf made; /* lines that the importer made; made.p[taken..] are not yet returned */
	size_t taken;
	uint64_t made_at;  /* offset of made.p[0] in all lines made */
	uint64_t made_end; /* offset at which to stop */
};

/* Reads some more bytes behind p[start..end), which may move; sets eof at the end. */
MUST_USE int reader_fill(struct reader *r, struct error *err);
/* Makes the next line that is not blank `rest`: 1; 0 at the end, -1. */
MUST_USE int reader_content(struct reader *r, struct error *err);
/* Is the rest, of the unterminated last line, the start of a value? */
bool reader_is_torn(const struct reader *r);
/* Returns that rest as a torn line. */
void reader_give_torn(struct reader *r, struct line *out, struct reader_note *note);

/* Where the file begins as an archive, its values are read in its place. */
MUST_USE int reader_unpack(struct reader *r, struct error *err);
/* Looks at the first value: sets `format` if the file is another program's. FAIL_INPUT where it is
   nobody's. */
MUST_USE int reader_look(struct reader *r, struct error *err);
/* Continues there, in bytes of the file. */
void reader_continue(struct reader *r, struct reader_place place);
/* Continues there, in bytes of the lines made: from the beginning, where it is before them. */
MUST_USE int reader_seek_imported(struct reader *r, struct error *err);
/* The next line that the importer makes: as reader_next. */
MUST_USE int reader_next_imported(struct reader *r, struct line *out, struct reader_note *note,
                                  struct error *err);

#endif
