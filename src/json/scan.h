/* A strict (RFC 8259), iterative JSON scanner over bytes that stay where they are: it
   validates and gives slices, builds no tree, changes nothing. Number tokens keep the
   spelling of the peer. NaN and Infinity are not JSON; a lone surrogate escape (\ud800)
   is, because Python and JavaScript write it; of duplicate keys all are kept in order and
   a look-up takes the last.

   Two families: functions that take a `struct json_fault` validate peers' bytes; all
   others take slices that were validated before and trust them. An absent slice
   ({NULL,0}) is allowed everywhere below and gives "absent"/false. */
#ifndef ROLLDBG_JSON_SCAN_H
#define ROLLDBG_JSON_SCAN_H

#include "base/base.h"
#include "base/buf.h"

#define JSON_DEPTH_MAX 512

/* Levels that a line of a recording may have around a value that was JSON by itself. */
#define JSON_DEPTH_AROUND 8

enum json_type {
	JSON_ABSENT,
	JSON_NULL,
	JSON_FALSE,
	JSON_TRUE,
	JSON_NUMBER,
	JSON_STRING,
	JSON_ARRAY,
	JSON_OBJECT,
};

/* Where and why a text is not JSON: a byte offset into the text and a constant sentence
   without full stop, such as "expected ',' or '}'". */
struct json_fault {
	size_t at;
	const char *why;
};

/* 0 when the whole text is exactly one JSON value, blanks around it allowed; else -1. */
MUST_USE int json_validate(struct str text, struct json_fault *fault);

/* Validates the one value at the start of text (after blanks) and says in *used how many
   bytes it and the blanks before it took; what follows is not looked at (fused lines). */
MUST_USE int json_validate_first(struct str text, size_t *used, struct json_fault *fault);

/* One member of an object, as spelled: `key` without its quotes, still escaped. */
struct json_member {
	struct str key, value;
	enum json_type type;
};

/* Validates the object at the start of text (JSON_DEPTH_AROUND levels deeper than other
   texts) in one pass and fills its top-level members,
   in order. More than max members: the rest is validated and left out, *count is max.
   *used as above. This is the fast lane of the recording reader. */
MUST_USE int json_validate_object(struct str text, struct json_member *members,
                                  size_t max, size_t *count, size_t *used,
                                  struct json_fault *fault);

/* ---- validated slices only, from here on ---- */

enum json_type json_type(struct str value);      /* by its first byte */
const char *json_type_name(enum json_type type); /* "object", "null", ... */

/* Iteration. Start with *cursor = 0; false at the end or when value is no array / object.
 */
bool json_next(struct str array, size_t *cursor, struct str *element);
bool json_next_member(struct str object, size_t *cursor, struct json_member *member);

/* The value of the last member with that (decoded) key; absent when there is none. */
struct str json_get(struct str object, struct str key);
#define JSON_GET(object, literal) json_get((object), STR(literal))
/* The same for several keys in one pass. */
void json_pick(struct str object, const struct str *keys, size_t count,
               struct str *values);

size_t json_count(struct str container); /* elements or members, top level */

/* Appends the decoded bytes of a string (UTF-8; \u0000 becomes a NUL byte). A lone
   surrogate has no UTF-8: it is appended as its escape, \ud800, and false is returned. */
bool json_decode(struct str string, struct buf *out);
bool json_is(struct str string, struct str decoded); /* is it that string? */
bool json_has_escape(
	struct str string); /* false: the bytes between the quotes are the text */
struct str json_inner(struct str string); /* between the quotes, still escaped */

bool json_bool(struct str value, bool *out);
bool json_i64(struct str value,
              int64_t *out); /* false unless a number and exact: 1, 1.0, 1e2 are */
bool json_double(struct str value, double *out); /* false for 1e400 too */
bool json_is_null(struct str value);             /* null or absent */

/* RFC 6901. A token applied to a string reads the string's text as JSON; `scratch` then
   owns the decoded text and the result points into it (into value otherwise). It is
   cleared first, unless value itself stands in it. Absent when nothing is there. */
struct str json_point(struct str value, struct str pointer, struct buf *scratch);

#endif
