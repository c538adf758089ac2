/* What is asked of a model before a run, and what came of it: at most PREFLIGHT_REQUESTS
   small requests, none of which costs a step of the environment. Private to src/probe/.
 */
#ifndef ROLLDBG_PROBE_PREFLIGHT_H
#define ROLLDBG_PROBE_PREFLIGHT_H

#include "policy/llm/calls.h"
#include "policy/llm/failure.h"
#include "probe/inside.h"

#define PREFLIGHT_REQUESTS 8
/* Of a reply, in tokens, where the policy does not say. */
#define PREFLIGHT_TOKENS 1024
/* Words of the calls and results that are shown to the model: each is a token at least.
 */
#define PREFLIGHT_WORDS 64

/* One request for a completion. */
struct model_answer {
	bool asked, answered;
	/* Not answered: why. */
	enum chat_failure_class class;
	int status;                /* HTTP; 0: none came */
	struct str message, param; /* the server's words; the member it names, or empty */
	/* Answered. */
	struct chat_reply reply;
	struct tool_calls calls; /* point into it */
	struct str model;        /* who answered, decoded; absent: not said */
	int64_t prompt_tokens;   /* -1: not said */
};

struct preflight {
	struct probe *probe;
	const struct llm_conf *conf;
	struct str tools; /* as advertised, raw; absent: unknown */
	struct arena arena;
	size_t requests; /* sent so far, those that were repeated included */

	/* GET /models. */
	bool list_asked, nobody; /* nobody: not even a connection */
	int list_status;         /* HTTP; 0: none came */
	struct str list_fault;   /* why there is none, in words */
	const char **names;      /* NULL: no list */
	size_t name_count;

	struct str name, arguments; /* the call that the model is asked to make */
	struct str refused; /* the parameter that the server takes not; absent: none */

	struct model_answer own;      /* the policy's own request */
	struct model_answer plain;    /* without its parameters, when that was refused */
	struct model_answer required; /* tool_choice required, when no call came */
	struct model_answer bare;     /* the same prompt without tools */
	struct model_answer offered;  /* with tools, when `own` did not say its size */
	struct model_answer brief, wordy; /* with a call in it and a short result, and
	                                     with a long one */
};

struct preflight_ops {
	void (*examine)(const struct preflight *p, struct property *out);
};
#define PREFLIGHT(id, name, title) extern const struct preflight_ops preflight_##id;
#include "probe/preflight.def"
#undef PREFLIGHT

/* Asks all that is to be asked. -1: interrupted, or ours. */
MUST_USE int preflight_ask_all(struct preflight *p, struct error *err);
void preflight_release(struct preflight *p);

/* ---- one request: preflight_request.c ---- */

struct model_question {
	struct llm_conf conf; /* a copy, changed */
	struct str messages, tools;
	uint64_t limit; /* of the reply, in tokens; 0: as the policy says */
};

/* Sends it, unless PREFLIGHT_REQUESTS were sent. -1: interrupted, or ours. */
MUST_USE int preflight_ask(struct preflight *p, const struct model_question *q,
                           struct model_answer *out, struct error *err);
/* GET /models, next to chat completions. */
MUST_USE int preflight_list(struct preflight *p, struct error *err);

/* ---- small questions ---- */

/* The reply to go by; NULL: the model gave none. */
const struct model_answer *preflight_reply(const struct preflight *p);
/* Was there nobody who speaks HTTP? */
bool preflight_lost(const struct preflight *p);
/* Does it hold a call that can be sent? */
bool preflight_called(const struct model_answer *a);
bool preflight_is_native(const struct model_answer *a);
/* Was the request refused because of the tools in it? */
bool preflight_tools_refused(const struct model_answer *a);
/* Size of the prompt with the tools; -1: unknown. */
int64_t preflight_offered(const struct preflight *p);

/* Says why a property that takes a reply cannot be judged; false: it can. */
bool preflight_mute(const struct preflight *p, struct property *out);
/* Adds to the evidence why there is no reply: "HTTP 429 (rate-limit): .." */
void preflight_quote(struct property *out, const char *what,
                     const struct model_answer *a);

/* The name nearest to one of the server's; absent: none. */
struct str preflight_nearest(struct str name, const char *const *names, size_t count);

#endif
