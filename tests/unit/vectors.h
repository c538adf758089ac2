/* Vector files: blocks of `# name`, then lines of one letter, a blank and a text in which
   \n, \r, \t, \0, \\ and \xHH are escapes. Input can be laid at the end of a readable
   page, so that one byte too far crashes. */
#pragma once

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#define GUARDED_SIZE ((size_t)1 << 20)
#define GUARD_SIZE   ((size_t)1 << 16) /* a multiple of every page size */

static int vectors_hex(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : 0;
}

static inline void vectors_unescape(struct buf *out, const char *s)
{
	static const char names[] = "nrt0\\", bytes[] = {'\n', '\r', '\t', '\0', '\\'};

	for (; *s; s++) {
		const char *at = s[0] == '\\' && s[1] ? strchr(names, s[1]) : NULL;

		if (at) {
			buf_char(out, bytes[at - names]);
			s++;
		} else if (s[0] == '\\' && s[1] == 'x' && s[2] && s[3]) {
			buf_char(out, (char)(vectors_hex(s[2]) * 16 + vectors_hex(s[3])));
			s += 3;
		} else {
			buf_char(out, *s);
		}
	}
}

/* The reverse of unescaping, so that results can be compared as text. */
static inline void vectors_escape(struct buf *out, struct str s)
{
	for (size_t i = 0; i < s.n; i++) {
		unsigned char c = (unsigned char)s.p[i];

		if (c == '\n')
			buf_text(out, "\\n");
		else if (c == '\r')
			buf_text(out, "\\r");
		else if (c == '\0')
			buf_text(out, "\\0");
		else if (c < ' ' || c >= 0x7f)
			buf_printf(out, "\\x%02x", c);
		else
			buf_char(out, (char)c);
	}
}

/* Calls on_line for each line of the file that has a letter, without its line feed. */
static inline void
vectors_read(const char *path, void (*on_line)(void *arg, char letter, const char *text), void *arg)
{
	FILE *f = fopen(path, "r");
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	if (!f) {
		perror(path);
		exit(1);
	}
	while ((n = getline(&line, &cap, f)) > 0) {
		if (line[n - 1] == '\n')
			line[--n] = '\0';
		if (n > 0)
			on_line(arg, line[0], n > 2 ? line + 2 : "");
	}
	free(line);
	fclose(f);
}

/* A copy of s at the end of readable memory; valid until the next call with the same page.
   */
static inline struct str guarded_copy(char **page, struct str s)
{
	void *p = *page;

	if (!p && (posix_memalign(&p, GUARD_SIZE, GUARDED_SIZE + GUARD_SIZE) != 0 ||
	           mprotect((char *)p + GUARDED_SIZE, GUARD_SIZE, PROT_NONE) < 0)) {
		abort();
	}
	*page = p;
	if (s.n > GUARDED_SIZE)
		abort();
	char *at = *page + GUARDED_SIZE - s.n;
	if (s.n)
		memcpy(at, s.p, s.n);
	return (struct str){at, s.n};
}

static inline void guarded_release(char **page)
{
	if (*page && mprotect(*page + GUARDED_SIZE, GUARD_SIZE, PROT_READ | PROT_WRITE) < 0)
		abort();
	free(*page);
	*page = NULL;
}
