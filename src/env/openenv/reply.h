/* Turns an OpenEnv server's answer into outcome, error, observation and reward. */
#ifndef ROLLDBG_ENV_OPENENV_REPLY_H
#define ROLLDBG_ENV_OPENENV_REPLY_H

#include "env/hidden_error.h"
#include "env/openenv/wire.h"

/* Buffers for a reply, valid until the next one. */
struct openenv_reading {
	struct buf message, structured, text;
	char code[16];
	/* the answer reads like an error, and only the environment's count can tell */
	struct hidden_error suspected;
};

/* What is known about a request when its answer is read. */
struct openenv_question {
	/* the call named a tool that is advertised: "not found" in its words is about something
	   else. Of one that is not, an error about arguments is about the tool's name. */
	bool known_tool;
	/* a reset: its observation may have a member "error" that is data (see reply.c, is_no_start) */
	bool is_reset;
	struct hidden_error_context before;
	/* texts that are errors, see env/hidden_error.h */
	const char *const *error_texts;
	size_t error_text_count;
};

void openenv_reading_init(struct openenv_reading *r);
void openenv_reading_release(struct openenv_reading *r);

/* Reads an answer to a reset or a step. */
void openenv_read(const struct openenv_answer *a, const struct openenv_question *q,
                  struct openenv_reading *r, struct env_reply *out);
/* An answer to anything else: outcome and error only. */
void openenv_read_other(const struct openenv_answer *a, struct openenv_reading *r,
                        struct env_reply *out);

/* For a step that was answered ok and that the environment, which counts its steps, did
   not count: then r->suspected was an error. */
void openenv_believe_suspected(struct openenv_reading *r, struct env_reply *out);

#endif
