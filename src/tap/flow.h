/* The bytes of one relayed connection, on their way: splits them into messages, rewrites the few
   heads that must be (rewrite.h), and tells the decoders. Passing and telling are two calls, so that
   the bytes are sent before anyone looks at them. */
#pragma once

#include "base/clock.h"
#include "tap/message.h"
#include "tap/rewrite.h"

/* What all connections share. */
struct tap_reader;

struct tap_reader *tap_reader_new(struct clock clock, struct tap_recording *recording);
void tap_reader_free(struct tap_reader *r); /* after its flows; NULL is fine */

/* The decoder whose request it is, to a model or to an environment, and what its start() returned; NULL: nobody's. */
const struct tap_decoder *tap_reader_find(const struct tap_reader *r,
                                          const struct tap_head *request, bool to_model, void **d);

struct tap_flow;

/* asker: of a connection of ours; else NULL. */
struct tap_flow *tap_flow_new(struct tap_reader *r, const struct tap_rewriting *rewriting,
                              uint16_t client_port, void *asker);

/* Takes bytes that one side sent; they must stay valid until tap_flow_tell(). Returns what is to be
   passed on: these bytes, or those in `out`, which is cleared. */
struct str tap_flow_pass(struct tap_flow *f, enum tap_side from, struct str bytes, struct buf *out);
/* Tells the decoders what was passed since the last call. */
void tap_flow_tell(struct tap_flow *f);
/* Is it a WebSocket by now? */
bool tap_flow_is_socket(const struct tap_flow *f);
/* Do the bytes that the client sent so far end with a complete request or message? */
bool tap_flow_is_complete(const struct tap_flow *f);
/* Is it a WebSocket on which a message of ours can be sent, and its reply be told from others? */
bool tap_flow_is_between_messages(const struct tap_flow *f);
/* One side has ended its stream, or its connection was lost. Returns what was held of it and is to
   be passed on; tells the decoders. */
struct str tap_flow_ended(struct tap_flow *f, enum tap_side side, bool lost);
/* The server accepts no connection. */
void tap_flow_unreachable(struct tap_flow *f, const char *why);
/* Has the client sent a complete request that was not answered? */
bool tap_flow_awaits_reply(const struct tap_flow *f);
/* Has all that was asked been answered, so that the next bytes of the client begin a request? */
bool tap_flow_is_idle(const struct tap_flow *f);
/* Both sides have ended; or rolldbg closes them (stopped). NULL is fine. */
void tap_flow_free(struct tap_flow *f, bool stopped);
