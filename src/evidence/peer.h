/* Text from servers and policies, made safe and short for messages, or comparable. These functions
   are slow: use them for failed steps and findings, not for every line. */
#pragma once

#include "evidence/rollout_facts.h"

/* The text of a string, or any other value as spelled, escaped for a terminal, and cut with an
   ellipsis to 100 columns and to `size` bytes. "" for absent and null. */
void peer_text(struct workspace *w, struct str value, char *out, size_t size);

/* The same for text that is not JSON, or a name as spelled between its quotes. */
void peer_name(struct workspace *w, struct str spelled, char *out, size_t size);

/* The name of the called tool in a message; "a tool without a name" if the call has none. */
void peer_tool(struct workspace *w, const struct derived_line *m, char *out, size_t size);

/* The offered tool whose name is nearest to a name as spelled; "" if none is near. */
void peer_nearest_tool(const struct rollout_facts *r, struct str name, char *out, size_t size);

/* The error of a failed step or reset: error.message, else the observation, else the outcome; after
   its HTTP status or JSON-RPC code, if it has one that the text does not contain. */
void peer_error(struct workspace *w, const struct line *l, char out[ERROR_TEXT]);

/* A failed step's error.message, else its observation, as spelled in the line. */
struct str peer_error_value(const struct line *l);

/* A hash that is equal for errors that differ only in ids and numbers. (Here and below, other
   values collide with a chance of 2^-64.) */
uint64_t peer_masked(struct workspace *w, struct str value);

/* Does an event's detail say that something was deliberately skipped? */
bool peer_skipped(const struct line *event);

/* Is the state read from a tool or a resource that the user named? */
bool peer_named_state_source(const struct line *header);

/* Does an event say that the state could not be read (not: that it was skipped)? */
bool peer_failed_state_read(const struct line *event);
