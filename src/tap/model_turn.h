/* Turns of a model: one request and one of its replies, in a form in which it shows whether one continues another.
   What replies mean is decided where a run with a model decides it, in policy/llm/. */
#pragma once

#include "json/write.h"
#include "policy/llm/api.h"
#include "policy/llm/calls.h"
#include "tap/message.h"

/* What was sent to a model: a conversation, a text, or token ids. */
struct tap_prompt {
	/* Of a conversation its texts, calls and results, equal for all APIs and spellings of JSON. */
	struct str text;
	/* Of a conversation: its messages, raw, in the form of chat completions, and where each begins
	   in the text. */
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
	struct str said;    /* the reply as it continues the text of a prompt */
	size_t certain; /* bytes of it: without the last token, which templates write themselves */
	uint64_t replied_ns;
	size_t row;         /* of the reply's choices */
	const char *joined; /* a turn without a call: how its rollout is known */
	size_t next_call;   /* the first one that was not sent to an environment */
};

/* A turn with a reply, which it takes over. */
struct model_turn *model_turn_new(struct model_request *q, size_t prompt, struct chat_reply *reply);
void model_turn_free(struct model_turn *t);           /* NULL is fine */
size_t model_turn_length(const struct model_turn *t); /* of the prompt's text and the reply's */
/* Is the prompt more than that turn's, and does it begin with it? In whole: with the reply as it was. t NULL: no. */
bool model_turn_precedes(const struct model_turn *t, const struct tap_prompt *p, bool whole);
