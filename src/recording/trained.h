/* A trainer's log-probabilities of the sampled tokens, by rollout and turn: read from a separate
   file and held in memory. */
#pragma once

#include "base/error.h"

#include <stdio.h>

struct trained;

struct trained_turn {
	const double *logprobs;
	size_t count;
	uint64_t line; /* line number in the file */
	int64_t uses;  /* number of recorded turns compared with it */
};

/* Reads lines of {"rollout":"lake.0","turn":0,"logprobs":[-0.5,..]}; other keys are ignored.
   Fails with FAIL_INPUT and FILE:LINE on an invalid line or a repeated turn. */
MUST_USE int trained_read(const char *path, struct trained **out, struct error *err);
/* The same from an open file, which is not closed; `name` is for messages. */
MUST_USE int trained_read_stream(FILE *f, const char *name, struct trained **out,
                                 struct error *err);
void trained_free(struct trained *t); /* NULL is fine */

/* NULL if the file has none for that turn. The rollout's id is decoded. */
struct trained_turn *trained_find(struct trained *t, struct str rollout, int64_t turn);

/* How many turns are in the file, in no recording so far, and in several recordings. */
struct trained_use {
	int64_t turns, unused, several;
};
struct trained_use trained_use(const struct trained *t);
