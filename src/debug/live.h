/* A live rollout, in a thread of its own, that waits for the debugger before each call. */
#pragma once

#include "check/judge.h"
#include "debug/moment.h"
#include "rollout/rollout.h"

/* What to run; `wrap` is set in the rollout's configuration (rollout.h). */
struct live_request {
	struct arena arena; /* owns the texts below; taken over by live_start */
	bool again; /* use the seed, reset, task and calls below instead of those of the options */
	/* The source of the recorded states, as a state specification; empty: none that can be asked for. */
	struct str state;
	bool has_seed;
	int64_t seed;
	struct str reset; /* raw JSON object; absent: none */
	const char *task; /* NULL: named after the environment */
	int64_t sample;
	struct str calls; /* raw JSON array of {"name","arguments"} */
	/* for a fork: the parent rollout (absent: none), the number of its steps that are repeated,
	   and its recording */
	struct str parent;
	int64_t parent_steps;
	bool parent_ended; /* the last of these steps ended the episode */
	const char *parent_file;
	policy_wrap_fn *wrap;
	void *wrap_ctx;
	struct line_sink sink; /* receives every line */
	int stop_fd;           /* readable: stop waiting for a reply */
};

/* Runs live rollouts. */
struct live_target {
	/* Chooses the file of a new recording and appends its path. */
	int (*record)(void *ctx, struct buf *path, struct error *err);
	/* Runs one rollout to its end and records it there. Called in another thread. */
	int (*run)(void *ctx, const struct live_request *q, const char *path,
	           struct rollout_result *out, struct error *err);
	void *ctx;
};

enum proposal_kind {
	PROPOSAL_CALL,    /* `name` and `arguments` */
	PROPOSAL_NO_CALL, /* the policy's turn has no call, or an invalid one */
	PROPOSAL_DONE,    /* the policy ends the rollout, for `reason` */
	PROPOSAL_NONE,    /* there is no policy, or it was interrupted: see `reason` */
};

/* What the rollout does next unless it is edited. Valid until the rollout continues. */
struct proposal {
	enum proposal_kind kind;
	struct str name, arguments; /* decoded; raw JSON */
	struct str reason;
	struct str state; /* before the call, raw; absent: unknown */
	int64_t turn, step;
	bool edited;     /* the user changed it */
	bool asks_again; /* PROPOSAL_NONE: continuing asks the policy again */
};

struct live;

/* Starts the rollout. Takes over the request's arena, also if it fails. */
MUST_USE int live_start(const struct live_target *t, const struct live_request *q,
                        struct live **out, struct error *err);
/* Ends the rollout if it is running, waits for its thread, and frees everything. NULL is fine. */
void live_free(struct live *l);

const char *live_path(const struct live *l); /* path of its recording */
/* The effects of its steps; valid until live_free. May be read while the rollout waits or is
   over. */
const struct effect_list *live_effects(const struct live *l);

/* Waits until the rollout has a proposal or is over. Polls `interrupted` meanwhile: true stops the
   rollout at its next proposal. If there is none soon, the wait for a reply is aborted, which ends
   the rollout, or the wait for the policy, which can be asked again. `resume` clears the interrupt;
   false: the program has to exit, and the rollout ends as interrupted. Returns whether it was
   interrupted. */
bool live_wait(struct live *l, bool (*interrupted)(void *ctx), bool (*resume)(void *ctx),
               void *ctx);

bool live_is_over(struct live *l);
/* Valid while the rollout is not over. */
const struct proposal *live_proposal(const struct live *l);
/* The proposal as a step line with the facts known before the call; values are in `text`. Returns
   false if it is not a call. */
bool live_proposed_line(const struct live *l, struct buf *text, struct line *out);
/* True if a seed was requested and the environment accepts one. */
bool live_is_seeded(const struct live *l);
/* Records, the first time, that the state differs from the parent's after so many repeated calls of
   a fork. */
void live_note_divergence(struct live *l, int64_t calls);
/* How the rollout ended, including a lost peer and local errors. Call it when the rollout is
   over. */
void live_ending(const struct live *l, struct buf *out);

/* -1 with err set if it failed because of a local error, or never had a session. */
int live_failure(const struct live *l, struct error *err);

/* Edits the proposal; name absent: only its arguments. */
void live_edit(struct live *l, struct str name, struct str arguments);
/* Continues with the proposal, up to the next one; call live_wait next. */
void live_go(struct live *l);
/* Ends the rollout; `interrupted`: it is recorded as interrupted. */
void live_end(struct live *l, bool interrupted);
