/* Splits a stream that arrives in pieces into lines: bytes in, lines out, no descriptors. */
#pragma once

#include "base/buf.h"

struct lines {
	struct buf bytes; /* received and not yet returned */
	size_t taken;     /* bytes already returned */
	size_t searched;  /* number of bytes known to contain no LF */
	size_t max_line;
	bool skipping; /* inside a line longer than the cap */
};

enum lines_got {
	LINES_NONE, /* more bytes are needed */
	LINES_ONE,  /* one line, without its LF or CRLF */
	/* a line longer than the cap is skipped: returned once, when it exceeds the cap */
	LINES_TOO_LONG,
};

/* max_line: the longest line, in bytes, without its line end. Reads up to `ahead` bytes more. */
void lines_init(struct lines *l, size_t max_line, size_t ahead);
void lines_release(struct lines *l);

/* Returns room for n more bytes; call lines_added with the number received. NULL: take lines
   first. Invalidates the last line. */
char *lines_room(struct lines *l, size_t n);
void lines_added(struct lines *l, size_t n);

/* Takes the oldest line; valid until lines_room. `ended`: no more bytes will come, so the rest
   is the last line. */
enum lines_got lines_next(struct lines *l, bool ended, struct str *line);
