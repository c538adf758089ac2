/* The scripted model: an OpenAI-compatible server that answers what a script says, well
   or badly, for tests and demonstrations of policies that ask a model. */
#ifndef ROLLDBG_SERVE_LLM_LLM_H
#define ROLLDBG_SERVE_LLM_LLM_H

#include "base/clock.h"
#include "base/error.h"
#include "serve/host/strangers.h"

struct llm_server;

struct llm_server_conf {
	const char *script;             /* a file: see script.h */
	struct str text;                /* the script itself; absent: read the file */
	const char *bind;               /* an IPv4 address; NULL: 127.0.0.1 */
	uint16_t port;                  /* 0: any free one */
	struct allowed_origins origins; /* of pages; none: those of this host */
	struct clock clock;
};

/* Listens and serves /v1/chat/completions and /v1/models on threads of its own until
   llm_server_stop. FAIL_INPUT: the script, by file and key; FAIL_SYSTEM: the port is
   taken, ..; FAIL_USAGE: the address, an origin. */
MUST_USE int llm_server_start(const struct llm_server_conf *c, struct llm_server **out,
                              struct error *err);
uint16_t llm_server_port(const struct llm_server *s);
void llm_server_stop(struct llm_server *s); /* waiting ones too; NULL is fine */

#endif
