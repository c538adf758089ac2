/* Classifies an OpenEnv server's reply: outcome, error, observation and reward. */
#ifndef ROLLDBG_ENV_OPENENV_REPLY_H
#define ROLLDBG_ENV_OPENENV_REPLY_H

#include "env/hidden_error.h"
#include "env/openenv/wire.h"

/* Context of a request, used to read its reply. */
struct openenv_question {
	/* the tool is advertised: a "not found" in its message is about something else. If it is
	   not, an error about arguments is about the tool's name. */
	bool known_tool;
	/* a reset: "error" may be a data member of its observation (see reply.c) */
	bool is_reset;
	struct hidden_error_context before;
	/* texts that are errors, see env/hidden_error.h */
	const char *const *error_texts;
	size_t error_text_count;
};

/* Reads a reply to a reset or a step. */
void openenv_read(const struct openenv_answer *a, const struct openenv_question *q,
                  struct reply_reading *r, struct env_reply *out);
/* Reads a reply to another request: outcome and error only. */
void openenv_read_other(const struct openenv_answer *a, struct reply_reading *r,
                        struct env_reply *out);

/* Call for a step whose reply may have been one that only looks good: out->env_steps is the
   environment's count after it, `before` the one before it (-1: unknown). A step that was not
   counted by an environment that counts steps (*counts: it did so before) confirms r->suspected as
   an error. */
void openenv_confirm_uncounted(struct reply_reading *r, int64_t before, bool *counts,
                               struct env_reply *out);

#endif
