/* From an OpenEnv server's answer to outcome, error, observation and reward. */
#ifndef ROLLDBG_ENV_OPENENV_REPLY_H
#define ROLLDBG_ENV_OPENENV_REPLY_H

#include "env/openenv_wire.h"

/* Where what is made of an answer stands until the next one. */
struct openenv_reading {
	struct buf message, structured, text;
	char code[16];
};

void openenv_reading_init(struct openenv_reading *r);
void openenv_reading_release(struct openenv_reading *r);

/* An answer to a reset or a step. known_tool: the call named a tool that is advertised,
   so that "not found" in its words is about something else. */
void openenv_read(const struct openenv_answer *a, bool known_tool,
                  struct openenv_reading *r, struct env_reply *out);

/* For a step that was answered ok and that the environment did not count: a text in its
   observation that reads like an error is one then. */
void openenv_doubt(struct openenv_reading *r, struct env_reply *out);

#endif
