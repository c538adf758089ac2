/* Replaces texts in JSON and keeps it valid: string by string, whatever escapes they use. */
#ifndef ROLLDBG_RECORDING_REDACT_REPLACE_JSON_H
#define ROLLDBG_RECORDING_REDACT_REPLACE_JSON_H

#include "base/buf.h"

struct text_replacer {
	/* The replacement for the first match in the text, in plain characters; NULL: no match. */
	const char *(*found)(const void *ctx, struct str text);
	/* Appends the text with all matches replaced. */
	void (*replace)(const void *ctx, struct str text, struct buf *out);
	const void *ctx;
	bool numbers; /* also match numbers; a number with a match becomes a string */
};

/* Appends validated JSON with all matches replaced, also in keys. Values without a match are
   copied unchanged. True if something was replaced. */
bool replace_json(const struct text_replacer *r, struct str json, struct buf *scratch,
                  struct buf *out);

#endif
