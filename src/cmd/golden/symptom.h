/* What `shrink` looks for in a rollout: a finding of a rule, or a step that is also in a golden and
   got a different reply. */
#pragma once

#include "base/map.h"
#include "check/judge.h"
#include "cmd/golden/goldens.h"

/* One of rule and golden is NULL. */
struct symptom {
	const char *rule;
	const struct golden *golden;
	struct map steps; /* of the golden; key: state before, and call */
	struct arena arena;
};

/* Borrows rule, which must be known, and golden; one of them is NULL. */
void symptom_init(struct symptom *s, const char *rule, const struct golden *golden);
void symptom_release(struct symptom *s); /* zeroed is fine */

/* Watches one rollout; each thread has its own. */
struct symptom_watch {
	const struct symptom *symptom;
	struct judge *judge;
	struct strip *strip;
	struct rollout_copy copy;
	bool seen;
	int64_t last_step; /* the step where it was seen; -1: not at a step */
	char message[320]; /* describes the symptom */
};

MUST_USE int symptom_watch_start(struct symptom_watch *w, const struct symptom *s,
                                 struct error *err);
/* For struct line_sink.take. */
MUST_USE int symptom_watch_line(void *watch, const struct line *l, struct error *err);
/* Call it after the last line: sets `seen` and `last_step`. */
void symptom_watch_finish(struct symptom_watch *w);
void symptom_watch_release(struct symptom_watch *w);
