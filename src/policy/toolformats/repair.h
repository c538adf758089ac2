/* Repairs JSON written by models, and notes about how a reply was parsed. */
#pragma once

#include "base/buf.h"

#define CALL_NOTES_MAX 32

/* Words, each at most once, in order of occurrence. */
struct call_notes {
	const char *words[CALL_NOTES_MAX]; /* constants, or allocated in the reader's arena */
	size_t count;
};

void call_note(struct call_notes *n, const char *word);
bool call_noted(const struct call_notes *n, const char *word);
void call_notes_add(struct call_notes *n, const struct call_notes *more);

#define REPAIR_DEPTH_MAX 64 /* nested containers; deeper text cannot be repaired */

/* Rewrites text that is almost JSON (Python literals and quotes, trailing commas, raw line
   feeds, invalid escapes, typographic quotes, missing ends) as JSON. Each repair is recorded;
   the caller decides about "missing-end" and "missing-quote". *used: bytes read. False: cannot
   be repaired. */
bool json_repair(struct str text, struct buf *out, size_t *used, struct call_notes *repaired);
