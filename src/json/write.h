/* A streaming JSON writer into a struct buf: writes commas, asserts correct nesting, and inserts
   raw JSON unchanged. */
#pragma once

#include "base/buf.h"

#define JSON_WRITE_DEPTH 64 /* levels that we write ourselves, not counting a peer's */

struct json_writer {
	struct buf *out;
	uint64_t is_object; /* one bit per level */
	unsigned depth;
	bool comma;
};

void jw_init(struct json_writer *w, struct buf *out);
/* A writer that has begun an object. */
struct json_writer jw_begin(struct buf *out);
void jw_object(struct json_writer *w);
void jw_array(struct json_writer *w);
void jw_end(struct json_writer *w); /* closes the innermost */
void jw_key(struct json_writer *w, const char *key);
void jw_key_str(struct json_writer *w, struct str key);
void jw_key_spelled(struct json_writer *w, struct str key); /* as in json_member.key */
/* absent: null. Invalid UTF-8 becomes U+FFFD: use raw_base64 for bytes that must survive. */
void jw_str(struct json_writer *w, struct str s);
void jw_text(struct json_writer *w, const char *s); /* NULL: null */
void jw_i64(struct json_writer *w, int64_t v);
void jw_u64(struct json_writer *w, uint64_t v);
/* The shortest form that reads back as the same double; null if not finite. */
void jw_double(struct json_writer *w, double v);
void jw_bool(struct json_writer *w, bool v);
void jw_null(struct json_writer *w);
struct str json_flag(int value); /* true or false, for jw_raw; negative: absent */
void jw_raw(struct json_writer *w, struct str valid_json); /* absent: null */

/* The same as the member of an object. */
void jw_put_object(struct json_writer *w, const char *key);
void jw_put_array(struct json_writer *w, const char *key);
void jw_put_str(struct json_writer *w, const char *key, struct str s);
void jw_put_text(struct json_writer *w, const char *key, const char *s);
void jw_put_i64(struct json_writer *w, const char *key, int64_t v);
void jw_put_u64(struct json_writer *w, const char *key, uint64_t v);
void jw_put_double(struct json_writer *w, const char *key, double v);
void jw_put_raw(struct json_writer *w, const char *key, struct str valid_json);
/* With a key that is no constant. */
void jw_put_member(struct json_writer *w, struct str key, struct str valid_json);
/* The members of a JSON object, as they are spelled; none if `object` is absent. */
void jw_put_members(struct json_writer *w, struct str object);

/* Begins and ends a line of JSON: an object whose first member is `type`, and a line feed. */
void jw_line(struct json_writer *w, struct buf *out, const char *type);
void jw_line_end(struct json_writer *w);
/* Appends a whole line; form: the template of its other members, as in jw_pack. */
void json_line(struct buf *out, const char *type, const char *form, ...);
/* Writes what a template (form) shows: jw_pack(&w, "{type:'call',id:%r,text:%s}", id, text). Keys stand
   without quotes, constant texts in '..'; true, false, null and numbers as they are. Values:
     %r  struct str: raw JSON        %s  struct str: a text        %t  const char *: a text
     %b  bool                        %d  int                       %i  int64_t
     %c  int64_t, negative: null     %f  double, not finite: null
   Absent or NULL: null, and with a ? (%?r) the member is left out, as is a number that is 0. A template may open containers
   that a later one closes. */
void jw_pack(struct json_writer *w, const char *form, ...);
/* A new writer that has written a template; jw_pack and others may continue it. */
struct json_writer jw_form(struct buf *out, const char *form, ...);
/* Appends a template that closes all that it opens. */
void json_pack(struct buf *out, const char *form, ...);
void json_vpack(struct buf *out, const char *form, va_list args);

/* Appends s as a quoted JSON string, escaped as in RFC 8785 (also used by canon). */
void json_quote(struct buf *out, struct str s);
