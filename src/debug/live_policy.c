/* A policy that waits for the debugger, wrapped around the real one: see live_internal.h. The
   rollout's thread waits in decide(), and serves its connections meanwhile. */
#include "debug/live_internal.h"

#include <poll.h>

/* Clears the interrupt after the interrupted wait has ended. */
static void forget_stop(struct live *l)
{
	wake_clear(&l->stop);
	io_ignore_stop(l->io);
	io_watch_stop(l->io);
}

static int wake(void *arg, int fd, short ready, struct error *err)
{
	struct live *l = arg;

	wake_clear(&l->wake);
	l->woken = true;
	return 0;
}

/* A flag that the debugger's thread sets. */
static bool is_set(struct live *l, const bool *flag)
{
	pthread_mutex_lock(&l->lock);
	bool set = *flag;
	pthread_mutex_unlock(&l->lock);
	return set;
}

static void propose(struct live *l, enum proposal_kind kind, const struct decision *d,
                    const struct policy_view *v, const char *reason)
{
	buf_clear(&l->name);
	buf_clear(&l->arguments);
	buf_clear(&l->reason);
	buf_clear(&l->state);
	buf_str(&l->name, d->name);
	buf_str(&l->arguments, d->arguments);
	buf_text(&l->reason, reason ? reason : "");
	buf_str(&l->state, v->state);
	l->proposal = (struct proposal){.kind = kind,
	                                .name = buf_view(&l->name),
	                                .arguments = buf_view(&l->arguments),
	                                .reason = buf_view(&l->reason),
	                                .state = v->state.p ? buf_view(&l->state) : STR_NONE,
	                                .turn = v->turn,
	                                .step = l->sent};
}

/* Publishes the proposal and waits until the debugger continues the rollout. */
static int ask(struct live *l, struct error *err)
{
	int failed = 0;

	pthread_mutex_lock(&l->lock);
	l->phase = LIVE_ASKS;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	l->woken = false;
	io_watch(l->io, l->wake.fd, POLLIN, wake, l);
	while (!l->woken && !failed) {
		failed = io_wait(l->io, &l->woken, UINT64_MAX, err);
		if (failed && err->kind == FAIL_INTERRUPTED) {
			forget_stop(l); /* nothing to interrupt */
			failed = 0;
		}
	}
	io_watch(l->io, l->wake.fd, 0, NULL, NULL);
	pthread_mutex_lock(&l->lock);
	l->phase = LIVE_RUNS;
	pthread_mutex_unlock(&l->lock);
	return failed;
}

/* A repeated call ended the episode, unlike in the parent rollout. Noted here because the recording
   ends before the debugger reads it. */
static void note_early_end(struct live *l, const struct line *step)
{
	const struct live_request *q = &l->request;
	bool over = step->terminated > 0 || step->truncated > 0;
	bool last = step->step == q->parent_steps - 1;

	if (q->parent.p && over && step->step >= 0 && step->step < q->parent_steps &&
	    !(last && q->parent_ended)) {
		live_note_divergence(l, step->step + 1);
	}
}

int live_take_line(void *ctx, const struct line *line, struct error *err)
{
	struct live *l = ctx;

	if (judge_line(l->judge, line, NULL, err))
		return -1;
	if (line->type != LINE_STEP)
		return 0;
	note_early_end(l, line);
	return 0;
}

/* Asks the real policy; after an interrupt there is no proposal. */
static int consult(struct live *l, const struct policy_view *v, struct decision *d,
                   struct error *err)
{
	static const enum proposal_kind kinds[] = {
		[DECIDE_CALL] = PROPOSAL_CALL,       [DECIDE_UNSENT] = PROPOSAL_NO_CALL,
		[DECIDE_NOTHING] = PROPOSAL_NO_CALL, [DECIDE_FINISHED] = PROPOSAL_DONE,
		[DECIDE_STOPPED] = PROPOSAL_DONE,    [DECIDE_REFUSED] = PROPOSAL_DONE,
		[DECIDE_LOST] = PROPOSAL_DONE,
	};

	*d = (struct decision){.kind = DECIDE_NOTHING};
	l->replied = false;
	if (!l->inner) {
		propose(l, PROPOSAL_NONE, d, v,
		        "no call is proposed; send one with: call NAME JSON");
		return 0;
	}
	if (!l->inner->ops->decide(l->inner, v, d, err)) {
		propose(l, kinds[d->kind], d, v, d->reason);
		l->replied = true;
		return 0;
	}
	if (err->kind != FAIL_INTERRUPTED || is_set(l, &l->ending))
		return -1;
	forget_stop(l);
	*d = (struct decision){.kind = DECIDE_NOTHING};
	propose(l, PROPOSAL_NONE, d, v,
	        "the policy was interrupted; 'step' asks it again, 'call NAME JSON' sends a call");
	l->proposal.asks_again = true;
	return 0;
}

/* Makes the decision from the proposal, which the debugger may have edited. */
static void apply_proposal(struct live *l, struct decision *d)
{
	const struct proposal *p = &l->proposal;

	l->replaces = p->edited && d->kind != DECIDE_CALL;
	l->uncalled = !l->inner || !l->replied || d->kind >= DECIDE_FINISHED;
	l->replaced = *d;
	if (is_set(l, &l->ending)) {
		*d = (struct decision){.kind = DECIDE_STOPPED, .reason = "ended in the debugger"};
	} else if (p->edited) {
		if (d->kind != DECIDE_CALL)
			*d = (struct decision){.messages = d->messages, .llm = d->llm};
		d->kind = DECIDE_CALL;
		d->name = p->name;
		d->arguments = p->arguments;
	}
}

static int decide(struct policy *policy, const struct policy_view *v, struct decision *out,
                  struct error *err)
{
	struct live *l = (struct live *)policy;
	bool again = true;

	if (v->over && l->inner) /* the rest of the turn is not sent */
		return l->inner->ops->decide(l->inner, v, out, err);
	while (again) {
		if (consult(l, v, out, err) || (!is_set(l, &l->ending) && ask(l, err)))
			return -1;
		again = l->proposal.kind == PROPOSAL_NONE && !l->proposal.edited &&
		        !is_set(l, &l->ending);
	}
	if (is_set(l, &l->interrupted))
		return error_set(err, FAIL_INTERRUPTED, "interrupted");
	apply_proposal(l, out);
	l->sent += out->kind == DECIDE_CALL;
	return 0;
}

static void facts(const struct policy *policy, struct policy_facts *out)
{
	const struct live *l = (const struct live *)policy;

	if (l->inner) {
		l->inner->ops->facts(l->inner, out);
	} else {
		*out = (struct policy_facts){.kind = POLICY_SCRIPT,
		                             .name = STR("debugger"),
		                             .params = STR("{}"),
		                             .length = -1};
	}
}

static void begin(struct policy *policy, const struct policy_view *v, struct str *messages)
{
	struct live *l = (struct live *)policy;

	l->inner->ops->begin(l->inner, v, messages);
}

static void observe(struct policy *policy, const struct policy_result *r, struct str *messages)
{
	struct live *l = (struct live *)policy;
	const struct policy_result own = {.decision = &l->replaced,
	                                  .outcome = l->replaced.outcome,
	                                  .message = l->replaced.message};

	/* A policy only gets results of its own decisions: a model's conversation cannot contain
	   the result of a call that the model did not make. */
	if (!l->replaces || !l->uncalled)
		l->inner->ops->observe(l->inner, l->replaces ? &own : r, messages);
}

static bool event(struct policy *policy, struct event *out)
{
	struct live *l = (struct live *)policy;

	return events_take(&l->events, out) ||
	       (l->inner && l->inner->ops->event && l->inner->ops->event(l->inner, out));
}

static void close_policy(struct policy *policy)
{
	struct live *l = (struct live *)policy;

	if (l->inner)
		l->inner->ops->close(l->inner);
	l->inner = NULL;
}

struct policy *live_wrap(void *ctx, struct policy *inner, struct io *io)
{
	struct live *l = ctx;

	l->inner = inner;
	l->io = io;
	l->ops = (struct policy_ops){
		.decide = decide, .facts = facts, .event = event, .close = close_policy};
	l->ops.begin = inner && inner->ops->begin ? begin : NULL;
	l->ops.observe = inner && inner->ops->observe ? observe : NULL;
	l->policy.ops = &l->ops;
	return &l->policy;
}
