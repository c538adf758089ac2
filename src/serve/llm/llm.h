/* The directory serve/llm/: the scripted model: its script, checks of requests, and replies in the
   form of each API. Policies that ask a model are in policy/llm/. */

/* The scripted model: an OpenAI-compatible server that sends the replies of a script, valid or
   faulty, to test and demonstrate LLM policies. */
#pragma once

#include "base/clock.h"
#include "base/error.h"
#include "serve/host/origin.h"

struct llm_server;
struct llm_script;

struct llm_server_conf {
	const char *script;             /* path: see reply_script.h */
	const struct llm_script *made;  /* the script, which is taken over; NULL: read the file */
	const char *bind;               /* an IPv4 address; NULL: 127.0.0.1 */
	uint16_t port;                  /* 0: any free one */
	struct allowed_origins origins; /* allowed web pages; empty: those of this host */
	struct clock clock;
};

/* Listens and serves /v1/chat/completions and /v1/models on its own threads until
   llm_server_stop. FAIL_INPUT: invalid script, with file and key; FAIL_SYSTEM: for example, the
   port is in use; FAIL_USAGE: invalid address or origin. */
MUST_USE int llm_server_start(const struct llm_server_conf *c, struct llm_server **out,
                              struct error *err);
uint16_t llm_server_port(const struct llm_server *s);
void llm_server_stop(struct llm_server *s); /* ends waiting requests too; NULL is fine */
