/* Reads objects written by people (policy files, model settings, task files, scripts) by a table
   of their keys. Errors are FAIL_INPUT with file, line, place and key, the expected value, and
   the nearest known name for an unknown key or word. A key may occur once; null means not given,
   except where any value is allowed. */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "json/scan.h"

enum keyed_type {
	KEYED_IGNORED,  /* a string that is read by people or other programs only */
	KEYED_ANY,      /* struct str: any value, as spelled without whitespace */
	KEYED_STRING,   /* struct str: a string, as spelled */
	KEYED_ARRAY,    /* struct str: an array, as spelled */
	KEYED_OBJECT,   /* struct str: an object, as spelled */
	KEYED_TEXT,     /* struct str: a string, decoded */
	KEYED_WORDS,    /* const char *: a decoded string without NUL */
	KEYED_NAME,     /* const char *: the same, not empty */
	KEYED_CHOICE,   /* int: index into `words` */
	KEYED_COUNT,    /* struct keyed_number, at least 0 */
	KEYED_SET,      /* bool */
	KEYED_DURATION, /* uint64_t: milliseconds */
	KEYED_SIZE,     /* uint64_t: bytes */
	KEYED_INNER,    /* an object described by `inner` */
	KEYED_BY,       /* read by the function `read` */
};

struct keyed_number {
	bool given;
	int64_t value;
};

struct keyed;

/* Reads a value into `to`, the whole struct; fails with keyed_fail or keyed_expected. */
typedef int keyed_fn(struct keyed *k, struct str value, void *to);

struct keyed_row {
	const char *key;
	enum keyed_type type;
	size_t at; /* offset of the member in the struct */
	bool required;
	const char *const *words; /* NULL-terminated */
	/* for KEYED_BY: the table that `read` uses for the elements, if any */
	const struct keyed_table *inner;
	keyed_fn *read;
};

struct keyed_table {
	const struct keyed_row *rows;
	size_t count; /* at most KEYED_ROWS_MAX */
};

#define KEYED_ROWS_MAX     32
#define KEYED_TABLE(array) {(array), ARRAY_LEN(array)}

/* The state of reading a file. The caller sets the members before `place`. */
struct keyed {
	const char *what;    /* precedes the file name in messages: "policy " */
	const char *name;    /* name of the file */
	struct str text;     /* its whole text */
	size_t line;         /* line number of its first byte, from 1; 0 means 1 */
	struct arena *arena; /* for decoded strings, and values that had whitespace */
	struct error *err;
	char place[64];   /* "replies[3].stream"; empty at the top */
	const char *key;  /* the key being read */
	struct str value; /* its value; if a key is missing, the object */
};

/* Fails with NAME:LINE:COLUMN unless all of k->text is one JSON value. */
MUST_USE int keyed_parse(struct keyed *k);

/* Fails unless the value is an object, like keyed_read. */
MUST_USE int keyed_is_object(struct keyed *k, struct str value);

/* Sets the members of `to` that the object gives and leaves the others unchanged. */
MUST_USE int keyed_read(struct keyed *k, struct str object, const struct keyed_table *t, void *to);

/* Sets the error "NAME:LINE: PLACE: " and the message; returns -1. */
int keyed_fail(struct keyed *k, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* Sets the error "NAME:LINE:COLUMN: why" for the byte of k->text at that offset; returns -1. */
int keyed_fail_at(struct keyed *k, size_t at, const char *why);
/* The line of k->value. */
size_t keyed_line(const struct keyed *k);
/* For a `read` function: reads k->value as a KEYED_NAME. */
MUST_USE int keyed_name(struct keyed *k, const char **to);
/* Sets the error that the current key must be `wanted` but is k->value; returns -1. */
int keyed_expected(struct keyed *k, const char *wanted);
