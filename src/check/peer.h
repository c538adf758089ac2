/* Peers' text, made safe and short for messages, or comparable. All of them cost
   something: they are for steps that failed and findings about to be said, not
   for every line. */
#ifndef ROLLDBG_CHECK_PEER_H
#define ROLLDBG_CHECK_PEER_H

#include "check/check.h"

/* A string's text, or any other value as it is spelled, escaped for a terminal
   and cut to fit. Absent and null give "". */
void peer_text(struct workspace *w, struct str value, char *out, size_t size);

/* The same for text that is no JSON, or a name as it is spelled between its quotes. */
void peer_name(struct workspace *w, struct str spelled, char *out, size_t size);

/* What went wrong in a failed step or reset: error.message, else the observation,
   else the outcome. */
void peer_error(struct workspace *w, const struct line *l, char out[ERROR_TEXT]);

/* A failed step's error.message, else its observation, as spelled in the line. */
struct str peer_error_value(const struct line *l);

/* Equal for errors that differ in ids and numbers only; otherwise, as below, not. */
uint64_t peer_masked(struct workspace *w, struct str value);

/* Equal for the same tool with the same canonical arguments; otherwise, but for one
   chance in 2^64, not. */
uint64_t peer_call(struct workspace *w, const struct moment *m);

/* Eight bytes at a time, because answers are long: equal for equal bytes, as above. */
uint64_t peer_fingerprint(struct str s);

/* Does an event's detail say that something was left undone on purpose? */
bool peer_skipped(const struct line *event);

/* Is the string value that word? */
bool peer_is(struct str value, struct str word);

#endif
