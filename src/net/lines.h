/* Lines out of a stream that comes in pieces: bytes in, lines out, no descriptors. */
#ifndef ROLLDBG_NET_LINES_H
#define ROLLDBG_NET_LINES_H

#include "base/buf.h"

struct lines {
	struct buf bytes; /* not yet taken, behind what is */
	size_t taken;     /* bytes that are done with */
	size_t searched;  /* no LF up to here */
	size_t max_line;
	bool skipping; /* inside a line over the cap */
};

enum lines_got {
	LINES_NONE,     /* more bytes are needed */
	LINES_ONE,      /* one line, without its LF or CRLF */
	LINES_TOO_LONG, /* one over the cap is left out: said once, when it grows too long */
};

/* max_line: bytes of a line, its end not counted. Holds `ahead` bytes more. */
void lines_init(struct lines *l, size_t max_line, size_t ahead);
void lines_release(struct lines *l);

/* Room for n more bytes, of which lines_added says how many came. NULL: lines must be
   taken first. Ends the life of the last line. */
char *lines_room(struct lines *l, size_t n);
void lines_added(struct lines *l, size_t n);

/* The oldest unread line; valid until lines_room. `ended`: no more bytes will come, so the rest
   is the last line. */
enum lines_got lines_next(struct lines *l, bool ended, struct str *line);

#endif
