/* Why a model gave no reply: classified once, from the status and whatever body came. */
#ifndef ROLLDBG_POLICY_LLM_FAILURE_H
#define ROLLDBG_POLICY_LLM_FAILURE_H

#include "base/buf.h"
#include "base/error.h"

enum chat_failure_class {
	CHAT_TRANSPORT,  /* not reached, cut off, timed out */
	CHAT_RATE_LIMIT, /* 429 */
	CHAT_QUOTA,      /* 429, and waiting does not help */
	CHAT_OVERLOAD,   /* 5xx that pass */
	CHAT_SERVER,     /* 500: mostly passing, sometimes for ever */
	CHAT_POISON,     /* the same 500 twice: something in the history provokes it */
	CHAT_AUTH,       /* 401, 403 */
	CHAT_CONTEXT,    /* prompt and reply do not fit into the model's context */
	CHAT_REQUEST,    /* other 4xx: model, template, parameter */
	CHAT_PROTOCOL,   /* a reply that is not a chat completion */
};

struct chat_failure {
	enum chat_failure_class class;
	int status;         /* HTTP; 0: none came */
	struct buf message; /* the server's sentence, decoded, at most 1 KiB */
	struct buf code;    /* its code: raw JSON; empty: none */
	struct buf param;   /* the request's member it names, decoded; empty: none */
	/* Of CHAT_CONTEXT, where the server said it, else 0. */
	uint64_t context, prompt; /* tokens */
};

const char *chat_failure_name(enum chat_failure_class c); /* "rate-limit" */
/* How often a request that failed so may be sent again, at most. */
unsigned chat_failure_retries(enum chat_failure_class c, uint64_t configured);
/* Has the model answered, and will not play? Otherwise it is out of reach. */
bool chat_failure_refused(enum chat_failure_class c);

void chat_failure_init(struct chat_failure *f);
void chat_failure_release(struct chat_failure *f);
void chat_failure_copy(struct chat_failure *to, const struct chat_failure *from);

/* From a reply with an error status. media: its Content-Type essence, may be absent. */
void chat_failure_from_reply(struct chat_failure *f, int status, struct str media, struct str body);
/* From an error that came as the body under HTTP 200, or in a stream: it is what its code or its
   type says, as if that were the status; one that says neither is as the status `otherwise`. */
void chat_failure_in_body(struct chat_failure *f, int otherwise, struct str body);
/* The same, where it points to another place (a Location, may be absent): the sentence
   says which. */
void chat_failure_redirected(struct chat_failure *f, struct str location);
/* From a call of net/ that failed. */
void chat_failure_from_error(struct chat_failure *f, const struct error *e);

#endif
