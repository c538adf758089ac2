/* Reads the tab-separated JSON test files of tests/vectors/: one case per line; `%XX` is a
   byte. */
#pragma once

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

#define CASE_FIELDS 3

struct cases {
	FILE *file;
	char *line;
	size_t cap;
	int number;
	struct buf bytes[CASE_FIELDS];
	struct str field[CASE_FIELDS];
};

static inline int case_hex(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Opens the vectors and, at the end, closes them. A missing or empty file is a failure, as
   the test would check nothing. */
static inline void cases_open(struct cases *c, const char *path)
{
	*c = (struct cases){.file = fopen(path, "r")};
	if (!c->file) {
		printf("Bail out! %s is missing\n", path);
		exit(1);
	}
	for (size_t i = 0; i < CASE_FIELDS; i++)
		c->bytes[i] = BUF(BUF_MAX_MESSAGE);
}

static inline void cases_close(struct cases *c)
{
	fclose(c->file);
	free(c->line);
	for (size_t i = 0; i < CASE_FIELDS; i++)
		buf_release(&c->bytes[i]);
}

static inline void case_field(struct buf *out, const char *text, size_t n)
{
	buf_clear(out);
	for (size_t i = 0; i < n; i++) {
		bool byte = text[i] == '%' && i + 2 < n && case_hex(text[i + 1]) >= 0 &&
		            case_hex(text[i + 2]) >= 0;

		if (byte) {
			buf_char(out, (char)(case_hex(text[i + 1]) * 16 + case_hex(text[i + 2])));
			i += 2;
		} else {
			buf_char(out, text[i]);
		}
	}
}

/* Reads the next case of three fields; skips comments and empty lines. */
static inline bool cases_next(struct cases *c)
{
	ssize_t got;

	do {
		got = getline(&c->line, &c->cap, c->file);
		c->number++;
	} while (got > 0 && (c->line[0] == '\n' || c->line[0] == '#'));
	if (got <= 0)
		return false;
	char *at = c->line;
	for (size_t i = 0; i < CASE_FIELDS; i++) {
		size_t n = strcspn(at, "\t\n");

		case_field(&c->bytes[i], at, n);
		c->field[i] = buf_view(&c->bytes[i]);
		at += at[n] == '\t' ? n + 1 : n;
	}
	return true;
}
