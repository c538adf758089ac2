/* A streaming JSON writer into a struct buf: writes commas, asserts correct nesting, and inserts
   raw JSON unchanged. */
#ifndef ROLLDBG_JSON_WRITE_H
#define ROLLDBG_JSON_WRITE_H

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
/* Both return w: jw_str(jw_key(w, "name"), name). */
struct json_writer *jw_key(struct json_writer *w, const char *key);
struct json_writer *jw_key_str(struct json_writer *w, struct str key);
/* absent: null. Invalid UTF-8 becomes U+FFFD: use raw_base64 for bytes that must survive. */
void jw_str(struct json_writer *w, struct str s);
void jw_text(struct json_writer *w, const char *s); /* NULL: null */
void jw_i64(struct json_writer *w, int64_t v);
void jw_u64(struct json_writer *w, uint64_t v);
void jw_count(struct json_writer *w, int64_t v); /* negative: null */
/* The shortest form that reads back as the same double; null if not finite. */
void jw_double(struct json_writer *w, double v);
void jw_bool(struct json_writer *w, bool v);
void jw_null(struct json_writer *w);
void jw_raw(struct json_writer *w, struct str valid_json); /* absent: null */

/* Appends s as a quoted JSON string, escaped as in RFC 8785 (also used by canon). */
void json_quote(struct buf *out, struct str s);

#endif
