/* What `shrink` looks for in a rollout: a finding of a rule, or a step that a golden has too and that
   was answered otherwise. */
#ifndef ROLLDBG_CMD_SYMPTOM_H
#define ROLLDBG_CMD_SYMPTOM_H

#include "base/map.h"
#include "check/judge.h"
#include "cmd/goldens.h"

/* One of the two. */
struct symptom {
	const char *rule;
	const struct golden *golden;
	struct map steps; /* of the golden, by state before and call */
	struct arena arena;
};

/* FAIL_USAGE with the nearest name: no such rule. Borrows both; one is NULL. */
MUST_USE int symptom_init(struct symptom *s, const char *rule, const struct golden *golden,
                          struct error *err);
void symptom_release(struct symptom *s); /* zeroed is fine */

/* Looks at one rollout; its own for each thread. */
struct symptom_watch {
	const struct symptom *symptom;
	struct judge *judge;
	struct strip *strip;
	struct rollout_copy copy;
	bool seen;
	int64_t last_step; /* of it; -1: of no step */
	char message[320]; /* what was found */
};

MUST_USE int symptom_watch_start(struct symptom_watch *w, const struct symptom *s,
                                 struct error *err);
/* A line_sink_fn. */
MUST_USE int symptom_watch_line(void *watch, const struct line *l, struct error *err);
/* Once there are no more lines: `seen` and `last_step` stand. */
void symptom_watch_finish(struct symptom_watch *w);
void symptom_watch_release(struct symptom_watch *w);

#endif
