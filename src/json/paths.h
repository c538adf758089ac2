/* Sets of patterns over JSON Pointers (RFC 6901) that select the values to mask or omit. With
   `wild`, `*` matches any one token, `**` any number of tokens, including zero, and `~2` a
   literal star; otherwise tokens are literal. A token applied to a string reads the string as
   JSON; without `wild` and if it is no JSON container, the number of one of its words (see
   json/scan.h), from 0, selects that word, which is replaced by `#`. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

struct json_paths;
struct json_paths *json_paths_new(bool wild);
/* FAIL_INPUT: not a JSON Pointer. */
MUST_USE int json_paths_add(struct json_paths *p, struct str pointer, struct error *err);
void json_paths_free(struct json_paths *p); /* NULL is fine */

/* ---- pointers as text ---- */

/* Appends a slash and the token, with `~` and `/` escaped. */
void json_pointer_add(struct buf *pointer, struct str token);
/* The same for a member's key as spelled, without its quotes. */
void json_pointer_add_key(struct buf *pointer, struct str key);

/* Does the pattern match the pointer (RFC 6901)? `*` matches any one token, `**` any number of
   tokens, including zero, `~2` a literal star. */
bool json_pattern_fits(struct str pattern, struct str pointer);
