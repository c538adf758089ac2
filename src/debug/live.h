/* A rollout that runs in a thread of its own and waits before each call: what the debugger steps. */
#ifndef ROLLDBG_DEBUG_LIVE_H
#define ROLLDBG_DEBUG_LIVE_H

#include "debug/judged.h"
#include "rollout/rollout.h"

/* What to run; `wrap` goes into the rollout's configuration (rollout.h). */
struct live_request {
	bool again; /* with the seed, reset, task and calls below; else with those of the options */
	bool has_seed;
	int64_t seed;
	struct str reset; /* raw JSON object; absent: none */
	const char *task; /* NULL: named after the environment */
	int64_t sample;
	struct str calls; /* raw JSON array of {"name","arguments"} */
	/* of a fork: the rollout it comes from, absent: none, how many of its steps are repeated,
	   and its recording */
	struct str parent;
	int64_t parent_steps;
	bool parent_ended; /* the last of them ended the episode */
	const char *parent_file;
	policy_wrap_fn *wrap;
	void *wrap_ctx;
	struct line_sink sink; /* takes every line */
	int stop_fd;           /* readable: stop waiting for a reply */
	judged_fn *verdict;    /* called in the rollout's thread when it has ended */
	void *verdict_user;
};

/* Where calls can be sent, and how. */
struct live_target {
	/* Chooses a new recording and appends its path. */
	int (*record)(void *ctx, struct buf *path, struct error *err);
	/* Runs one rollout into that recording, to its end. Called in another thread. */
	int (*run)(void *ctx, const struct live_request *q, const char *path,
	           struct rollout_result *out, struct error *err);
	void *ctx;
};

enum proposal_kind {
	PROPOSAL_CALL,    /* `name` and `arguments` */
	PROPOSAL_NO_CALL, /* the policy's turn has no call, or one that cannot be sent */
	PROPOSAL_DONE,    /* it ends the rollout, for `reason` */
	PROPOSAL_NONE,    /* there is no policy, or it was interrupted: `reason` */
};

/* What comes next if nobody changes it. Valid until the rollout goes on. */
struct proposal {
	enum proposal_kind kind;
	struct str name, arguments; /* decoded; raw JSON */
	struct str reason;
	struct str state; /* before it, raw; absent: unknown */
	int64_t turn, step;
	bool edited;     /* by the user */
	bool asks_again; /* of PROPOSAL_NONE: going on asks the policy again */
};

struct live;

/* Starts the rollout. The request's slices are copied. */
MUST_USE int live_start(const struct live_target *t, const struct live_request *q,
                        struct live **out, struct error *err);
/* Ends the rollout if it runs, waits for it, and frees everything. NULL is fine. */
void live_free(struct live *l);

const char *live_path(const struct live *l); /* of its recording */
/* Of its steps; valid until live_free, and may be read while the rollout waits or is over. */
const struct effects *live_effects(const struct live *l);

/* Waits until it proposes something or is over. `interrupted` is asked meanwhile: true stops it at its
   next proposal. If that does not come soon, the wait for a reply is cut short, which ends the
   rollout, or the wait for the policy, which can be asked again. `resume` takes the interrupt
   back; false: the program is to end, and the rollout ends as interrupted. */
void live_wait(struct live *l, bool (*interrupted)(void *ctx), bool (*resume)(void *ctx),
               void *ctx);

bool live_is_over(struct live *l);
/* While it is not over. */
const struct proposal *live_proposal(const struct live *l);
/* The proposal as the line it will be, with what is known before the call; its values are in `text`.
   false: it is not a call. */
bool live_proposed_line(const struct live *l, struct buf *text, struct line *out);
/* Was it asked for a seed, and does its environment take one? */
bool live_is_seeded(const struct live *l);
/* Records that the calls a fork repeats did not lead to the recorded state, after so many of them;
   only the first time. */
void live_note_divergence(struct live *l, int64_t calls);
/* Once it is over: how it ended; `peer` and our own failure included. */
void live_ending(const struct live *l, struct buf *out);

/* -1 if it failed for a reason of ours, or never had a session: that is in *err. */
int live_failure(const struct live *l, struct error *err);

/* Changes the proposal; name absent: only the arguments. */
void live_edit(struct live *l, struct str name, struct str arguments);
/* May the rollout go on without asking? Called in its thread, while live_wait waits, when a proposal is
   there: with the step before it (NULL: none since the last time), which the proposal's state
   follows, and whose effect is not determined. */
typedef bool live_pass_fn(void *ctx, const struct moment *answered);

/* Lets it go on with the proposal, and with those that follow as long as `pass` (NULL: never) says
   so; then live_wait. */
void live_go(struct live *l, live_pass_fn *pass, void *ctx);
/* Ends it; `interrupted`: that is what its recording says. */
void live_end(struct live *l, bool interrupted);

#endif
