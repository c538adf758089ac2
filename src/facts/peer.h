/* Text from servers, made safe and short for messages, or comparable. These functions are slow:
   use them for failed steps and findings, not for every line. */
#ifndef ROLLDBG_FACTS_PEER_H
#define ROLLDBG_FACTS_PEER_H

#include "facts/rollout_facts.h"

/* The text of a string, or any other value as spelled, escaped for a terminal and truncated to
   fit. "" for absent and null. */
void peer_text(struct workspace *w, struct str value, char *out, size_t size);

/* The same for text that is not JSON, or a name as spelled between its quotes. */
void peer_name(struct workspace *w, struct str spelled, char *out, size_t size);

/* The error of a failed step or reset: error.message, else the observation, else the outcome. */
void peer_error(struct workspace *w, const struct line *l, char out[ERROR_TEXT]);

/* A failed step's error.message, else its observation, as spelled in the line. */
struct str peer_error_value(const struct line *l);

/* A hash that is equal for errors that differ only in ids and numbers. (Here and below, other
   values collide with a chance of 2^-64.) */
uint64_t peer_masked(struct workspace *w, struct str value);

/* A hash that is equal for the same tool with the same canonical arguments; m->call, which depends
   on their spelling, costs nothing. */
uint64_t peer_call(struct workspace *w, const struct derived_line *m);

/* Does an event's detail say that something was deliberately skipped? */
bool peer_skipped(const struct line *event);

/* Is the string value that word? */
bool peer_is(struct str value, struct str word);

#endif
