/* The requests sent to a model before a run, and their replies: at most PREFLIGHT_REQUESTS small
   requests. None of them steps the environment. Private to src/probe/. */
#pragma once

#include "policy/llm/calls.h"
#include "policy/llm/model_failure.h"
#include "probe/property.h"
#include "rollout/tasks.h"
#include "rollout/trainer.h"

#define PREFLIGHT_REQUESTS 8
/* Reply limit in tokens, if the policy has none. */
#define PREFLIGHT_TOKENS 1024
/* The limit for requests that only measure the prompt. Some servers reject less, or cut the
   reply in the middle of the data that others need to form a reply. */
#define PREFLIGHT_FEW_TOKENS 16
/* Words in the call and the result shown to the model: each is at least one token. */
#define PREFLIGHT_WORDS 64

/* One request for a completion. */
struct model_answer {
	bool asked, answered;
	/* If not answered: why. */
	enum chat_failure_class class;
	int status;                /* HTTP; 0: no response */
	struct str message, param; /* the server's message; the parameter it names, or empty */
	/* If answered. */
	struct chat_reply reply;
	struct tool_calls calls; /* point into it */
	struct str model;        /* the model named by the reply, decoded; absent: none */
	int64_t prompt_tokens;   /* -1: not reported */
};

struct preflight {
	const struct llm_conf *conf;
	struct io *io;
	const struct tasks *tasks;          /* of the planned run; NULL: unknown */
	const struct trainer_plan *trainer; /* NULL: unknown */
	size_t sessions;                    /* that the server has slots for */
	/* a call that succeeded; absent: none did */
	struct str good_name, good_arguments;
	struct str tools; /* as advertised, raw; absent: unknown */
	struct arena arena;
	size_t requests; /* sent so far, retries included */

	/* GET /models. */
	bool unreachable;      /* no connection */
	int list_status;       /* HTTP; 0: no response */
	struct str list_fault; /* why there is no list */
	const char **names;    /* NULL: no list */
	size_t name_count;

	struct str name, arguments; /* the call that the model is asked to make */
	struct str refused;         /* the parameter that the server refuses; absent: none */

	struct model_answer own;      /* the policy's own request */
	struct model_answer plain;    /* without its parameters, if that was refused */
	struct model_answer required; /* with tool_choice required, if no call came */
	struct model_answer bare;     /* the same prompt without tools */
	struct model_answer offered;  /* with tools, if `own` did not report its size */
	/* with a call in it and a short result, and with a long one */
	struct model_answer brief, wordy;
};

/* Judges one property from the replies. */
typedef void preflight_fn(const struct preflight *p, struct property *out);
#define PREFLIGHT(id, name, title) preflight_fn preflight_##id;
#include "probe/model/preflight.def"
#undef PREFLIGHT

/* Sends all requests. -1: interrupted, or a local failure. */
MUST_USE int preflight_ask_all(struct preflight *p, struct error *err);
void preflight_release(struct preflight *p);

/* ---- one request: preflight_request.c ---- */

struct model_question {
	struct llm_conf conf; /* a copy, changed */
	struct str messages, tools;
	uint64_t limit; /* of the reply, in tokens; 0: the policy's */
};

/* Sends it, unless PREFLIGHT_REQUESTS were sent. -1: interrupted, or a local failure. */
MUST_USE int preflight_ask(struct preflight *p, const struct model_question *q,
                           struct model_answer *out, struct error *err);
/* GET /models, next to chat completions. */
MUST_USE int preflight_list(struct preflight *p, struct error *err);

/* ---- queries ---- */

/* The first completion; NULL: there was none. */
const struct model_answer *preflight_reply(const struct preflight *p);
/* Was no HTTP server reached? */
bool preflight_lost(const struct preflight *p);
/* Does it contain a call that can be sent? */
bool preflight_called(const struct model_answer *a);
bool preflight_is_native(const struct model_answer *a);
/* Was the request refused because of the tools in it? */
bool preflight_tools_refused(const struct model_answer *a);
/* Size of the prompt with the tools; -1: unknown. */
int64_t preflight_offered(const struct preflight *p);

/* True if no reply came: the property is then judged unknown. */
bool preflight_has_no_reply(const struct preflight *p, struct property *out);
/* Adds to the evidence why there is no reply: "HTTP 429 (rate-limit): .." */
void preflight_quote(struct property *out, const char *what, const struct model_answer *a);
