/* Replaces known texts: ids that differ from run to run. */
#pragma once

#include "base/buf.h"

#define REPLACER_INSIDE  8 /* shorter texts are only replaced as whole strings */
#define REPLACER_BUCKETS 256

struct replacement {
	char *text;
	size_t n;
	const char *put; /* the replacement, which needs no escapes; borrowed */
	bool plain;      /* JSON never escapes it, except as \u */
	uint64_t age;    /* sequence number of its addition */
	uint32_t next;   /* index plus 1 of the next one in its bucket; 0: none */
};

/* Empty if zeroed; max 0 means unlimited. */
struct replacer {
	struct replacement *items; /* longest first */
	size_t count, max;         /* beyond max the oldest item is dropped */
	size_t whole;              /* items shorter than REPLACER_INSIDE: the last ones */
	size_t escaped;            /* items that are not plain */
	uint64_t added;
	uint32_t buckets[REPLACER_BUCKETS]; /* index plus 1 of the first item, by its first bytes */
};

void replacer_add(struct replacer *n, struct str text, const char *put); /* copies the text */
void replacer_release(struct replacer *n);

/* Is this canonical JSON, where escapes cannot hide a text, free of all texts? False if that is
   uncertain. */
bool replacer_is_free_canonical(const struct replacer *n, struct str json);
/* Appends validated JSON with each text replaced in strings and keys, the longest first, however
   it is escaped there; true if there was a match. Values without a match are copied unchanged. */
bool replacer_replace_json(const struct replacer *n, struct str json, struct buf *scratch,
                           struct buf *out);

/* What is replaced in texts and in JSON, which stays valid: string by string, whatever escapes they
   use. */
struct text_replacer {
	/* Finds the first match in text, from *at on: sets *at and *end and returns its replacement, in
	   plain characters; NULL: there is none. */
	const char *(*find)(const void *ctx, struct str text, size_t *at, size_t *end);
	const void *ctx;
	bool numbers; /* also match numbers; a number with a match becomes a string */
};

/* Appends the text with all matches replaced. */
void replace_text(const struct text_replacer *r, struct str text, struct buf *out);
/* Appends validated JSON with all matches replaced, also in keys. Values without a match are
   copied unchanged. True if something was replaced. */
bool replace_json(const struct text_replacer *r, struct str json, struct buf *scratch,
                  struct buf *out);
