/* The adapter of ORS: what its files share. One session has one episode: `create_session` names
   it, `create` gives it an environment with a task, calls are sent to it, `delete` ends it. */
#ifndef ROLLDBG_ENV_ORS_ORS_H
#define ROLLDBG_ENV_ORS_ORS_H

#include "env/http_env.h"
#include "env/ors/reply.h"

struct env_ors {
	struct http_env http; /* its name is that of the environment */
	struct ors_wire wire;
	struct ors_reading reading;
	struct buf session; /* the session's id; empty: none is open */
	struct buf split;   /* of the first task, if the user names none */
	struct buf prompt;  /* raw JSON blocks of the episode that open() began; empty: none */
	struct buf reward;  /* the last one of the episode, which counts; empty: none so far */
	struct buf path;
	struct http_json alive;     /* pings, which may be sent while a call waits */
	struct http_exchange *ping; /* the last one; NULL: none */
	uint64_t ping_ns;           /* when the next one is due */
};

/* Finds the server's environments, and the one that the URL names: the base then lacks its name. */
MUST_USE int ors_find_environment(struct env_ors *e, struct env_reply *refusal, struct error *err);
/* Does it list environments as an ORS server does? False also without a reply. */
bool ors_answers(const struct env_conf *conf, struct io *io);
/* The tools of the task, or of the environment if the server knows no others. */
MUST_USE int ors_list_tools(struct env_ors *e, struct env_reply *refusal, struct error *err);

/* Writes the tools of a reply in the form of MCP, with the terminal tool, which its list leaves out. */
void ors_put_tools(struct str reply, struct buf *out);

/* "/lake/call" */
const char *ors_path(struct env_ors *e, const char *what);

#endif
