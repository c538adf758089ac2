/* The directory json/: JSON as bytes: scanning, canonical form, pointers, schemas, writing, and the
   table-driven reader of files written by people (keyed.h). Headers that end in _internal, and
   lex, run, spans and sort, are private to this directory. The meaning of any
   key does not belong here. */

/* A strict (RFC 8259), iterative JSON scanner over bytes in place: it validates and returns
   slices, builds no tree and changes nothing. Numbers keep their spelling. NaN and Infinity are
   not JSON; a lone surrogate escape (\ud800) is accepted, because Python and JavaScript write
   it; duplicate keys are all kept in order, and a look-up finds the last.

   There are two families: functions that take a `struct json_fault` validate bytes from peers;
   all others take slices that were validated before and trust them. Below, an absent slice
   ({NULL,0}) is allowed everywhere and gives "absent" or false. */
#pragma once

#include "base/base.h"
#include "base/buf.h"
#include "base/mem.h"

#define JSON_DEPTH_MAX 512

/* Nesting levels that a recorded line may add around a peer's JSON value. */
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

/* Returns 0 if the whole text is exactly one JSON value, surrounding whitespace allowed; else
   -1. */
MUST_USE int json_validate(struct str text, struct json_fault *fault);

/* The same where the reason does not matter. */
static inline bool json_is_valid(struct str text)
{
	struct json_fault fault;

	return json_validate(text, &fault) == 0;
}

/* Validates the first value of the text (after whitespace) and sets *used to the end of that
   value; anything after it is not read (two objects may share a line). */
MUST_USE int json_validate_first(struct str text, size_t *used, struct json_fault *fault);

/* One member of an object, as spelled: `key` without its quotes, still escaped. */
struct json_member {
	struct str key, value;
	enum json_type type;
};

/* Validates the object at the start of text (which may nest JSON_DEPTH_AROUND levels deeper than
   other texts) in one pass and returns its top-level members in order. Members beyond max are
   validated but not returned, and *count is max. *used is as above. */
MUST_USE int json_validate_object(struct str text, struct json_member *members, size_t max,
                                  size_t *count, size_t *used, struct json_fault *fault);

/* ---- validated slices only, from here on ---- */

/* The type of a value by its first byte. */
extern const unsigned char json_types[256];

static inline enum json_type json_type(struct str value)
{
	/* bytes have a pointer to them; NOLINTNEXTLINE(clang-analyzer-core.NullDereference) */
	return value.n ? (enum json_type)json_types[(unsigned char)value.p[0]] : JSON_ABSENT;
}

const char *json_type_name(enum json_type type);   /* "object", "null", ... */
const char *json_type_phrase(enum json_type type); /* "an object", "null", ... */

/* Iteration. Start with *cursor = 0; false at the end, or if the value is not an array /
   object. */
bool json_next(struct str array, size_t *cursor, struct str *element);
bool json_next_member(struct str object, size_t *cursor, struct json_member *member);
struct str json_first(struct str array); /* absent: it is empty, or no array */
/* The object of the array whose "name" is the same string; absent: there is none. */
struct str json_named(struct str array, struct str name);

/* Iterates over the strings in a value at any depth, including the value itself; keys are
   skipped. */
bool json_next_string(struct str value, size_t *cursor, struct str *string);

/* json_next and json_pick at once, for an array of objects. Values of an element that is not an
   object are absent. */
bool json_next_picked(struct str array, size_t *cursor, const struct str *keys, size_t count,
                      struct str *values);

/* The value of the last member with that (decoded) key; absent if there is none. */
struct str json_get(struct str object, struct str key);
#define JSON_GET(object, literal) json_get((object), STR(literal))
/* Looks up several keys in one pass. */
void json_pick(struct str object, const struct str *keys, size_t count, struct str *values);

size_t json_count(struct str container); /* number of top-level elements or members */
bool json_is_empty(struct str value);    /* null, "", [] or {} */
/* A copy without blanks between its tokens, in the arena, terminated. */
struct str json_compact(struct arena *a, struct str value);

/* Appends the decoded bytes of a string (UTF-8; \u0000 becomes a NUL byte). A lone surrogate has
   no UTF-8 form: its escape (\ud800) is appended, and false is returned. */
bool json_decode(struct str string, struct buf *out);
/* The same into an arena, terminated; absent if the value is not a string. */
struct str json_text(struct arena *a, struct str string);
/* Appends the text of a string, or any other value as JSON. */
void json_text_or_json(struct str value, struct buf *out);
bool json_is(struct str string, struct str decoded); /* does the string decode to that text? */
bool json_same_text(struct str a, struct str b);     /* do both strings decode to the same text? */
/* Like json_decode for the key of a member, which has no quotes. */
bool json_decode_key(struct str key, struct buf *out);
struct str json_key_text(struct arena *a, struct str key);
bool json_key_is(struct str key, struct str decoded);
/* False if the bytes between the quotes are the text. */
bool json_has_escape(struct str string);

/* Between the quotes, still escaped. */
static inline struct str json_inner(struct str string)
{
	return json_type(string) == JSON_STRING ? (struct str){string.p + 1, string.n - 2}
	                                        : STR_NONE;
}

bool json_bool(struct str value, bool *out);
/* False unless the value is a number and exactly an integer: 1, 1.0 and 1e2 are. */
bool json_i64(struct str value, int64_t *out);
bool json_double(struct str value, double *out); /* false also for 1e400 */
/* For text that has not been validated: false unless all of it is a number. */
bool json_double_text(struct str text, double *out);

static inline bool json_is_null(struct str value) /* null or absent */
{
	return json_type(value) <= JSON_NULL;
}

/* Resolves a JSON Pointer (RFC 6901). A token applied to a string reads the string's text as
   JSON; the decoded text is then stored in `scratch` and the result points into it (into value
   otherwise). `scratch` is cleared first, unless value is in it. Absent if nothing matches. */
struct str json_point(struct str value, struct str pointer, struct buf *scratch);

/* The container in a value: the value itself if it is an object or array; if it is a string that
   holds one, the decoded text, stored in *text, which must be empty; otherwise absent. */
struct str json_held(struct str value, struct buf *text);

/* The words of a string that is a text: the longest runs of characters other than control
   characters, blanks and one of " , ; = < > ( ) [ ] { } / \ | after decoding. Finds the next word
   of a string, given without its quotes, as spelled. Start with *at = 0; false at the end. */
bool json_next_word(struct str inner, size_t *at, struct str *word);
