/* Common to the adapters' reading of replies (their reply.c): error messages, the context of a
   call, and what is kept of a reply. */
#pragma once

#include "base/error.h"
#include "base/mem.h"
#include "env/hidden_error.h"
#include "recording/env_reply.h"
#include "recording/events.h"

/* Owns decoded parts of a reply, which its slices point to; valid until the next one. */
struct reply_reading {
	struct buf message, text, observation, structured, session;
	char code[16];
	/* marked as success, but looks like an error: the environment's own count decides */
	struct hidden_error suspected;
	/* of MCP: its class; isError is false */
	enum error_class suspected_class;
	bool denied;
};

void reading_init(struct reply_reading *r);
void reading_release(struct reply_reading *r);

/* Sets an error, with its message unless that is absent. */
void reading_fail(struct reply_reading *r, enum outcome outcome, enum error_layer layer,
                  enum error_class class, struct str message, struct env_reply *out);
/* Sets an error's message, cut at 4 KiB: the observation has all of it. */
void reading_message(struct reply_reading *r, struct str text, struct env_reply *out);
/* The text of a string, or any other value as JSON: in r->text. */
struct str reading_as_text(struct reply_reading *r, struct str value);
/* Sets what a reply has beside its observation: {"KEY":value}. */
void reading_structured(struct reply_reading *r, const char *key, struct str value,
                        struct env_reply *out);
/* An error code as raw JSON: in r->code. */
struct str reading_code(struct reply_reading *r, int code);

/* The context of a call: the observations of the reset and of the last good step; empty: none. */
struct hidden_error_context reading_before(const struct buf *start, const struct buf *seen);

/* Copies the reply into the arena, replacing the one before, because the requests that follow
   reuse its buffers. Returns the observation, from which the state may be read; absent after a
   failure. */
struct str reading_keep(struct env_reply *out, struct arena *kept);

/* The observation in a list of content blocks: the text of a single text block, as JSON if it is
   (then decoded into `out`), else as a string; otherwise the list. */
struct str reading_content(struct str content, struct buf *out);

/* Queues an event with the detail {"what","why"}. */
void reading_note(struct event_queue *q, enum event_kind event, const char *what, struct str why);

struct child;
/* Queues what a server that is our child has written to stderr since the last call: the event `noise`. */
void reading_child_words(struct child *child, struct event_queue *q);
/* The server has ended: FAIL_TRANSPORT, with its last line on stderr. */
int reading_child_end(struct child *child, const char *command, struct error *err);
