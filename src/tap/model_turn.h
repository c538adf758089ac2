/* Turns of a model: one request and one of its replies, in units that can be compared. What replies
   mean is decided where a run with a model decides it, in policy/llm/. */
#pragma once

#include "json/write.h"
#include "policy/llm/api.h"
#include "policy/llm/calls.h"
#include "tap/message.h"

extern const struct tap_decoder
	*const tap_model_decoder[]; /* the only one, for a flow to a model */

#define PROMPT_UNITS_MAX ((size_t)1 << 18) /* a longer prompt has none: it continues nothing */

/* What was sent to a model: a conversation, whose units are its texts, calls and results; or a text
   or token ids, whose units are the bytes or the ids. Shared by the turns of a request. */
struct tap_prompt {
	unsigned uses;
	struct arena arena;
	uint64_t *chain; /* [n]: the hash of the first n units */
	size_t units;
	/* Of a conversation: its messages, raw, in the form of chat completions, and the number of
	   units before each. */
	struct str *messages;
	size_t *begins;
	size_t count;
	size_t results;    /* of calls, in it */
	struct str result; /* the text of the last one */
	bool is_text;      /* not a conversation */
};

/* What all turns of a request share. */
struct model_request {
	struct arena arena;
	const struct api *api;        /* NULL: completions */
	struct str tools;             /* as environments advertise them, raw; absent: none */
	struct str sent, seed, model; /* raw: the sampling parameters, .. */
	struct str rollout;           /* what the request names as its rollout; absent: nothing */
	const char *rung;             /* where: "path", "key", "header" */
	bool weak;                    /* which may be the same in all requests */
	struct tap_prompt **prompts;  /* one for each prompt of a batch */
	size_t prompt_count;
};

/* Is it the path of a request for a completion? */
bool model_is_completion(struct str path);
/* Is it a path of a model's server, which environments do not have? */
bool model_owns_path(struct str path);
/* body: of the request. False: it is not JSON, or has no prompt. Release it either way. */
bool model_request_read(struct model_request *q, const struct tap_exchange *x);
void model_request_release(struct model_request *q);

struct model_turn {
	struct model_turn *next;
	struct arena arena;
	struct tap_prompt *prompt;
	struct chat_reply reply;
	struct tool_calls calls;
	struct str message; /* the reply, as a message of a conversation; absent: of a text */
	struct str model, tools, sent, seed; /* of the request */
	struct str rollout;
	const char *rung;
	bool weak;
	/* The hash of prompt and reply, and their number of units; the same without the last token,
	   which templates write themselves. */
	uint64_t after, almost;
	size_t length;
	uint64_t asked_ns, replied_ns;
	uint64_t request;   /* its number */
	size_t row;         /* of the reply's choices */
	const char *joined; /* a turn without a call: how its rollout is known */
	size_t next_call;   /* the first one that was not sent to an environment */
};

/* A turn with a reply, which it takes over. */
struct model_turn *model_turn_new(const struct model_request *q, size_t prompt,
                                  struct chat_reply *reply);
void model_turn_free(struct model_turn *t); /* NULL is fine */

/* Appends the messages from the unit `from` on, each with a comma before it but for the first. */
void model_turn_put_messages(const struct model_turn *t, size_t from, struct buf *out);

/* ---- units and prompts, for model_request.c (what was asked) and model_turn.c (what was replied) ---- */

/* The hash of the units up to a text, a call or a result, or up to a token. */
uint64_t model_chain_on(uint64_t hash, char kind, struct str text);
uint64_t model_next_token(uint64_t hash, struct str id);
/* Writes id, name and arguments of a call as a unit, equal for any spelling of the JSON. */
void model_put_call_unit(struct str id, struct str name, struct str arguments, struct buf *out);

void model_release_prompt(struct tap_prompt *p); /* NULL is fine */
