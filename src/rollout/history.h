/* The history experiment: does the reply to a call depend on the calls before it? The calls of one
   session are sent again, each as the first one of a fresh session with the same seed, and once more
   there. If that changes no reply, nothing is kept between calls. Used by probe and by run
   (setting \1confirm\2); it writes no recording.

   A reply is compared with the state that was read after it, member by member: times, ids,
   bookkeeping, counts and repeated words of the call prove nothing (evidence/explain.h), and
   neither do members in which sessions differ from the start. */
#pragma once

#include "env/env.h"
#include "evidence/explain.h"

#define HISTORY_CALLS 8 /* that are compared, at most: those after the first call */

/* A call of the session, and what it showed. */
struct history_step {
	struct str name, arguments; /* decoded; raw JSON object */
	enum outcome outcome;
	struct str observation, state; /* raw; of the state after the call; absent: unknown */
	bool idle;                     /* of a read-only tool */
	bool over;                     /* the episode ended with it */
};

struct history_conf {
	const struct env_ops *env_ops;
	const struct env_conf *env; /* all but env_session; with the seed of the session above */
	struct io *io;
	bool episodes;      /* sessions own their environment: calls may be drawn */
	uint64_t settle_ms; /* how long a closed session may keep its slot */
};

enum history_answer {
	HISTORY_UNKNOWN,
	HISTORY_KEPT, /* some replies depend on earlier calls */
	HISTORY_NONE, /* none does */
};

struct history_verdict {
	enum history_answer answer;
	size_t compared, depend; /* replies */
	bool has_episodes;       /* of an environment, not of tools that may only compute */
	bool doubtful;           /* kept, but some call was answered as if nothing came before it */
	bool drawn;    /* by what calls drawn from the schemas showed; the script's could not */
	char why[200]; /* why it is unknown, or kept and yet not clean; may contain peers' bytes */
};

struct history_script;

/* explaining is borrowed; state_ignore: raw JSON array of pointers, or absent. */
struct history_script *history_new(const struct explaining *e, struct str state_ignore);
void history_free(struct history_script *h); /* NULL is fine */

/* Adds the session's next call. Left out are those after enough others, those without a reply of a
   tool, and those that failed before any succeeded: an environment at its start refuses them alone,
   too. False: no more are needed. */
bool history_add(struct history_script *h, const struct history_step *step);

/* How many sessions are needed, for how many calls. NULL, or why they could show nothing: then
   they are not needed. */
const char *history_plan(const struct history_script *h, size_t *sessions, size_t *calls);

/* Sends the calls: one session at a time, each closed at once. -1: an interrupt or a local
   failure. */
MUST_USE int history_run(struct history_script *h, const struct history_conf *conf,
                         struct history_verdict *out, struct error *err);
