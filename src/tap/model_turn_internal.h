/* Units and prompts, for model_request.c (what was asked) and model_turn.c (what was replied). */
#ifndef ROLLDBG_TAP_MODEL_TURN_INTERNAL_H
#define ROLLDBG_TAP_MODEL_TURN_INTERNAL_H

#include "json/write.h"
#include "tap/model_turn.h"

/* The hash of the units up to a text, a call or a result, or up to a token. */
uint64_t model_chain_on(uint64_t hash, char kind, struct str text);
uint64_t model_next_token(uint64_t hash, struct str id);
/* Writes id, name and arguments of a call as a unit, equal for any spelling of the JSON. */
void model_put_call_unit(struct str id, struct str name, struct str arguments, struct buf *out);

/* An element of `tool_calls`; arguments: a raw JSON string. */
void model_put_call(struct json_writer *w, struct str id, struct str name, struct str arguments);
void model_release_prompt(struct tap_prompt *p); /* NULL is fine */

#endif
