/* Why a model gave no reply: classified once, from the HTTP status and the body. */
#pragma once

#include "base/buf.h"
#include "base/error.h"

enum chat_failure_class {
	CHAT_TRANSPORT,  /* not reached, disconnected, timed out */
	CHAT_RATE_LIMIT, /* 429 */
	CHAT_QUOTA,      /* 429, and waiting does not help */
	CHAT_OVERLOAD,   /* temporary 5xx */
	CHAT_SERVER,     /* 500: usually temporary */
	CHAT_POISON,     /* the same 500 twice: probably caused by the history */
	CHAT_AUTH,       /* 401, 403 */
	CHAT_CONTEXT,    /* prompt and reply exceed the model's context */
	CHAT_REQUEST,    /* any other 4xx: model, template, parameter */
	CHAT_PROTOCOL,   /* a reply that is not a chat completion */
};

struct chat_failure {
	enum chat_failure_class class;
	int status;         /* HTTP; 0: none */
	struct buf message; /* the server's message, decoded, at most 1 KiB */
	struct buf code;    /* its code: raw JSON; empty: none */
	struct buf param;   /* the request member it names, decoded; empty: none */
	/* For CHAT_CONTEXT, if the server reported it, else 0. */
	uint64_t context, prompt; /* tokens */
};

const char *chat_failure_name(enum chat_failure_class c); /* "rate-limit" */
/* The maximum number of retries for this class. */
unsigned chat_failure_retries(enum chat_failure_class c, uint64_t configured);
/* Did the model's server answer and refuse? False: it was not reached. */
bool chat_failure_refused(enum chat_failure_class c);

void chat_failure_init(struct chat_failure *f);
void chat_failure_release(struct chat_failure *f);
void chat_failure_copy(struct chat_failure *to, const struct chat_failure *from);

/* From a reply with an error status. media: its Content-Type essence, may be absent. */
void chat_failure_from_reply(struct chat_failure *f, int status, struct str media, struct str body);
/* From an error in the body of HTTP 200, or in a stream: classified by its code or type as if
   that were the status; without either, by the status `otherwise`. */
void chat_failure_in_body(struct chat_failure *f, int fallback, struct str body);
/* From a redirect; the message has its Location, which may be absent. */
void chat_failure_redirected(struct chat_failure *f, struct str location);
/* From a failed call of net/. */
void chat_failure_from_error(struct chat_failure *f, const struct error *e);
