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
   or token ids, whose units are the bytes or the ids. */
struct tap_prompt {
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

/* Shared by its turns. */
struct model_request {
	unsigned uses;
	struct arena arena;
	uint64_t number, asked_ns;
	const struct api *api;        /* NULL: completions */
	struct str tools;             /* as environments advertise them, raw; absent: none */
	struct str sent, seed, model; /* raw: the sampling parameters, .. */
	struct str rollout;           /* what the request names as its rollout; absent: nothing */
	const char *rung;             /* where: "path", "key", "header" */
	bool weak;                    /* which may be the same in all requests */
	struct tap_prompt *prompts;   /* one for each prompt of a batch */
	size_t prompt_count;
};

/* Is it the path of a request for a completion? */
bool model_is_completion(struct str path);
/* Is it a path of a model's server, which environments do not have? */
bool model_owns_path(struct str path);
/* NULL: its body is not JSON, or has no prompt. */
struct model_request *model_request_read(const struct tap_exchange *x);
void model_request_release(struct model_request *q); /* NULL is fine */

struct model_turn {
	struct model_turn *next;
	struct arena arena;
	struct model_request *request;
	const struct tap_prompt *prompt; /* of it */
	struct chat_reply reply;
	struct tool_calls calls;
	struct str message; /* the reply, as a message of a conversation; absent: of a text */
	/* The hash of prompt and reply, and their number of units; the same without the last token,
	   which templates write themselves. */
	uint64_t after, almost;
	size_t length;
	uint64_t replied_ns;
	size_t row;         /* of the reply's choices */
	const char *joined; /* a turn without a call: how its rollout is known */
	size_t next_call;   /* the first one that was not sent to an environment */
};

/* A turn with a reply, which it takes over. */
struct model_turn *model_turn_new(struct model_request *q, size_t prompt, struct chat_reply *reply);
void model_turn_free(struct model_turn *t); /* NULL is fine */
