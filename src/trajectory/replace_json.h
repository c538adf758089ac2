/* Replacing texts in JSON that stays valid: string by string, whatever the escapes there. */
#ifndef ROLLDBG_TRAJECTORY_REPLACE_JSON_H
#define ROLLDBG_TRAJECTORY_REPLACE_JSON_H

#include "base/buf.h"

struct text_replacer {
	/* What the first text that must go is replaced by, in plain characters; NULL: there is none. */
	const char *(*found)(const void *ctx, struct str text);
	/* Appends the text with each of them replaced. */
	void (*replace)(const void *ctx, struct str text, struct buf *out);
	const void *ctx;
	bool numbers; /* a number that holds one becomes a string */
};

/* Appends validated JSON with what must go replaced, also in keys. What has none is copied as it is. True when
   something was replaced. */
bool replace_json(const struct text_replacer *r, struct str json, struct buf *scratch,
                  struct buf *out);

#endif
