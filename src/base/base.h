/* The directory base/: code for every layer, independent of rollouts, JSON and networks: errors,
   capped buffers, arenas, maps, text, clock, log, random numbers. Code that only one layer needs
   does not belong here. */

/* Definitions for every file: attributes, array length, and borrowed bytes. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))
#define MUST_USE          __attribute__((warn_unused_result))
#define ALWAYS_INLINE     static inline __attribute__((always_inline))
#define LIKELY(x)         __builtin_expect(!!(x), 1)
#define UNLIKELY(x)       __builtin_expect(!!(x), 0)
#define ARRAY_LEN(a)      (sizeof(a) / sizeof((a)[0]))

/* The ending of a noun after a number: "1 step", "2 steps". */
#define plural(n) ((n) == 1 ? "" : "s")

/* Borrowed bytes: not terminated, may contain NUL. p == NULL means "absent", which is not the
   same as empty. */
struct str {
	const char *p;
	size_t n;
};

/* A string literal as struct str, also in constant initialisers. */
#define STR(literal)  ((struct str){"" literal, sizeof(literal) - 1})
#define STR_INIT(lit) {"" lit, sizeof(lit) - 1}

/* Absent text, which is not the same as empty text. */
#define STR_NONE ((struct str){NULL, 0})

/* printf("%.*s", STR_ARG(s)) */
#define STR_ARG(s) (int)(s).n, (s).n ? (s).p : ""

static inline size_t at_least(size_t n, size_t least)
{
	return n > least ? n : least;
}

static inline size_t at_most(size_t n, size_t most)
{
	return n < most ? n : most;
}

static inline struct str str_from(const char *terminated)
{
	return (struct str){terminated, terminated ? strlen(terminated) : 0};
}

static inline bool str_eq(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

/* Compares like memcmp, by unsigned bytes; a prefix sorts first. */
static inline int str_order(struct str a, struct str b)
{
	size_t n = a.n < b.n ? a.n : b.n;
	int order = n ? memcmp(a.p, b.p, n) : 0;

	return order ? order : (a.n > b.n) - (a.n < b.n);
}

static inline bool str_is(struct str s, const char *terminated)
{
	return str_eq(s, str_from(terminated));
}

static inline bool str_starts(struct str s, struct str prefix)
{
	return s.n >= prefix.n && (prefix.n == 0 || memcmp(s.p, prefix.p, prefix.n) == 0);
}

static inline bool str_ends(struct str s, struct str suffix)
{
	return s.n >= suffix.n &&
	       (suffix.n == 0 || memcmp(s.p + s.n - suffix.n, suffix.p, suffix.n) == 0);
}

/* The same where the case of ASCII letters does not count. */
static inline bool str_eq_nocase(struct str a, struct str b)
{
	return a.n == b.n && (a.n == 0 || strncasecmp(a.p, b.p, a.n) == 0);
}

static inline bool str_starts_nocase(struct str s, struct str prefix)
{
	return s.n >= prefix.n && str_eq_nocase((struct str){s.p, prefix.n}, prefix);
}

/* s without its first n bytes; n may be larger than s. */
static inline struct str str_skip(struct str s, size_t n)
{
	n = n < s.n ? n : s.n;
	if (n) /* an absent s stays absent */
		s.p += n;
	return (struct str){s.p, s.n - n};
}

/* The last c in s; NULL: there is none. */
static inline const char *str_last(struct str s, char c)
{
	while (s.n && s.p[s.n - 1] != c)
		s.n--;
	return s.n ? s.p + s.n - 1 : NULL;
}

/* Removes what is before the first `end`, or everything, from *rest, with that byte, and returns it. */
static inline struct str str_cut(struct str *rest, char end)
{
	const char *at = rest->n ? memchr(rest->p, end, rest->n) : NULL;
	struct str first = {rest->p, at ? (size_t)(at - rest->p) : rest->n};

	*rest = str_skip(*rest, first.n + 1);
	return first;
}
