/* Errors that were replied, by their texts: only of replies already known to be errors, because a text
   never turns a success into a failure. And outcomes of failed calls: by the class of such an error, by an HTTP status, and of
   calls that failed with an error of ours (locally, not connected, or interrupted). Adapters
   classify what they receive themselves, also the end of a connection (their reply.c). */
#pragma once

#include "env/env.h"

/* The class of an error message, or `otherwise`. `layer` is the origin of the message: a tool
   may mention the capacity of an elevator, so in tool results only the exact messages of known
   servers count as capacity errors. */
enum error_class error_text_class(struct str message, enum error_layer layer,
                                  enum error_class fallback);

/* Does the text contain the pattern, ignoring case? '*' matches any text; a leading '^' anchors
   the pattern. */
bool error_text_matches(struct str text, const char *pattern);

/* The `code` of an error object: a number or a string, raw; absent otherwise. */
struct str error_code_of(struct str object);

/* The outcome of a class: capacity, session-lost; else `otherwise`. A message "timed out" is not
   the outcome timeout, which means that there was no reply. */
enum outcome error_class_outcome(enum error_class c, enum outcome fallback);

/* The class of an HTTP status that means the same in all protocols, else CLASS_PROTOCOL. */
enum error_class http_status_class(int status);
/* The class if the body is a web page: it comes from a proxy or another server, which can only
   ask for credentials or report a timeout. */
enum error_class web_page_class(enum error_class of_status);
/* As error_class_outcome; but a gateway that times out (408, 504) reports that the server behind
   it did not reply. */
enum outcome http_error_outcome(int status, enum error_class c, enum outcome fallback);

/* Sets the outcome for a failed call. Borrows the error's text. */
void env_reply_from_error(const struct error *e, struct env_reply *out);

/* What to do about a refusal, to append to its message, or "". */
const char *env_refusal_advice(const struct env_reply *refusal);

/* Was there a reply? True for a proxy or tool that replies "timed out". */
bool env_reply_received(const struct env_reply *reply);

/* Sets the outcome of a call whose step() failed. If its reply arrived, but a later control
   plane request was interrupted, the reply counts and its control facts are unknown. If the
   interrupt came first, the call was sent and its result is unknown. False: nothing to record. */
bool env_reply_of_failed_step(const struct error *err, struct env_reply *reply);
