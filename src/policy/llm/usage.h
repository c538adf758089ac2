/* State shared by all rollouts that use one model: totals, the current request, and a refused
   credential, which applies to all of them. Thread-safe. All functions accept NULL: nothing is
   counted. */
#pragma once

#include "json/scan.h"
#include "policy/llm/model_failure.h"

struct llm_usage;

struct llm_usage *llm_usage_new(void);
void llm_usage_free(struct llm_usage *u);

/* A snapshot. */
struct llm_usage_now {
	uint64_t requests;                                        /* sent, including retries */
	uint64_t unknown;                                         /* replies without token counts */
	uint64_t prompt_tokens, cached_tokens, completion_tokens; /* cached: part of the prompt's */
	/* The most recent request. */
	int64_t turn;
	bool waiting;      /* no reply yet */
	uint64_t since_ns; /* io_now_ns() when the turn started */
	uint64_t pieces;   /* chunks of text streamed so far: a token each, in most servers */
};
struct llm_usage_now llm_usage_now(struct llm_usage *u);

void llm_usage_turn(struct llm_usage *u, int64_t turn, uint64_t now_ns); /* a turn starts */
/* A request is sent, or a piece of its stream came. */
void llm_usage_count(struct llm_usage *u, bool request);
/* usage: of the reply, raw JSON; absent: not reported, or no reply. */
void llm_usage_reply(struct llm_usage *u, bool answered, struct str usage);

/* True the first time, for messages printed once per run; always true without u. */
bool llm_usage_first_time(struct llm_usage *u);

/* Was the credential refused? Then *out is the failure of every further request. */
bool llm_usage_denied(struct llm_usage *u, struct chat_failure *out);
void llm_usage_deny(struct llm_usage *u, const struct chat_failure *f);
