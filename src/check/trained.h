/* A trainer's own log-probabilities of the tokens that were sampled, by rollout and turn:
   a file beside the recordings, held in memory. */
#ifndef ROLLDBG_CHECK_TRAINED_H
#define ROLLDBG_CHECK_TRAINED_H

#include "base/error.h"

struct trained;

struct trained_turn {
	const double *logprobs;
	size_t count;
	uint64_t line; /* where it stands in the file */
	int64_t uses;  /* how many recorded turns were compared with it */
};

/* Lines of {"rollout":"lake.0","turn":0,"logprobs":[-0.5,..]}; other keys are ignored.
   FAIL_INPUT with FILE:LINE: a line that is none, or a turn that was there before. */
MUST_USE int trained_read(const char *path, struct trained **out, struct error *err);
/* The same from memory; `name` stands for the file in messages. */
MUST_USE int trained_parse(struct str text, const char *name, struct trained **out,
                           struct error *err);
void trained_free(struct trained *t); /* NULL is fine */

/* NULL: the file has none for that turn. The rollout's id is decoded. */
struct trained_turn *trained_find(struct trained *t, struct str rollout, int64_t turn);

/* How many turns are in the file, in no recording so far, and in several. */
struct trained_use {
	int64_t turns, unused, several;
};
struct trained_use trained_use(const struct trained *t);

#endif
