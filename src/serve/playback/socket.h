/* A recording behind OpenEnv's messages, such that a client that reads the answers records what was
   recorded. */
#ifndef ROLLDBG_SERVE_PLAYBACK_SOCKET_H
#define ROLLDBG_SERVE_PLAYBACK_SOCKET_H

#include "serve/openenv/openenv.h"
#include "serve/playback/playback.h"

/* A session opens: it gets its rollout, or the reply refuses it and closes. */
void openenv_play_open(struct openenv_session *s, struct openenv_reply *r);
/* Answers a reset, a step or a request for the state. */
void openenv_play(struct turn *t);
/* The recorded tools that steps call: a raw array; absent: a step is one action. */
struct str openenv_played_tools(const struct playback *p);
/* Appends the body of /schema. */
void openenv_played_schema(const struct playback *p, struct buf *out);

#endif
