/* A live rollout, shared by two threads, the debugger's and its own: see live.h. */
#include "debug/live.h"

#include "base/mem.h"
#include "base/wake.h"
#include "evidence/effects.h"
#include "json/write.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#define LOOK_MS     50  /* interval for polling the signal while waiting for a proposal */
#define PATIENCE_MS 200 /* time allowed for a running rollout to reach its next proposal */

enum live_phase { LIVE_RUNS, LIVE_ASKS, LIVE_OVER };

struct live {
	struct policy policy; /* first: the rollout uses this struct as its policy */
	struct policy_ops ops;
	const struct live_target *target;
	struct live_request request;
	struct buf path;
	pthread_t thread;

	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t changed;
	enum live_phase phase;
	bool ending;
	bool interrupted; /* the rollout ends because the program has to exit */
	/* written by the rollout before LIVE_ASKS, then by the debugger */
	struct proposal proposal;
	struct buf name, arguments, reason, state;

	/* used by the rollout's thread only */
	struct policy *inner;
	struct io *io;
	bool woken;
	/* judges each line, so that effects need no second reading */
	struct judge *judge;
	struct effect_list effects; /* final when the rollout is over */
	int64_t sent;               /* number of calls */
	struct event_queue events;
	bool diverged; /* an event records it */
	/* The user sent a call where the policy made none: the policy's own decision, even if
	   none. */
	struct decision replaced;
	bool replaces, uncalled, replied;
	struct rollout_result result;
	struct error err;
	int failed;

	struct wake stop, wake;
};

/* ---- the rollout's side: a policy that waits in decide(), wrapped around the real one, and serves its
   connections meanwhile ---- */

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
	buf_set(&l->name, d->name);
	buf_set(&l->arguments, d->arguments);
	buf_set(&l->reason, str_from(reason));
	buf_set(&l->state, v->state);
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

static int live_take_line(void *ctx, const struct line *line, struct error *err)
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
	const struct policy_result own = {.decision = &l->replaced, .message = l->replaced.message};

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

static struct policy *live_wrap(void *ctx, struct policy *inner, struct io *io)
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

/* ---- the debugger's side ---- */

static void *run(void *arg)
{
	struct live *l = arg;

	l->failed = l->target->run(l->target->ctx, &l->request, buf_cstr(&l->path), &l->result,
	                           &l->err);
	pthread_mutex_lock(&l->lock);
	l->phase = LIVE_OVER;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	return NULL;
}

static void keep_request(struct live *l, const struct live_request *q)
{
	l->request = *q;
	l->request.wrap = live_wrap;
	l->request.wrap_ctx = l;
	l->request.sink = (struct line_sink){live_take_line, l};
	l->request.stop_fd = l->stop.fd;
}

static void release(struct live *l)
{
	wake_close(&l->stop);
	wake_close(&l->wake);
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->changed);
	arena_release(&l->request.arena);
	BUFS_RELEASE(&l->path, &l->name, &l->arguments, &l->reason, &l->state);
	judge_free(l->judge);
	effect_list_release(&l->effects);
	events_release(&l->events);
	free(l);
}

static void take_facts(void *ctx, const struct evidence_update *u)
{
	struct live *l = ctx;
	const struct rollout_facts *r = u->rollout;

	if (u->completed)
		effect_list_set(&l->effects, u->completed->position, u->completed->effect);
	for (int64_t i = 0; u->end && i < r->steps; i++)
		effect_list_set(&l->effects, r->completed[i].position, r->completed[i].effect);
}

static int open_judge(struct live *l, struct error *err)
{
	const struct judge_conf conf = {.line = take_facts, .ctx = l};

	if (judge_new(&conf, &l->judge, err))
		return -1;
	judge_file(l->judge, buf_cstr(&l->path));
	return 0;
}

int live_start(const struct live_target *t, const struct live_request *q, struct live **out,
               struct error *err)
{
	struct live *l = mem_new(sizeof(*l));
	int failed;

	*l = (struct live){.target = t,
	                   .path = BUF(BUF_MAX_SMALL),
	                   .name = BUF(BUF_MAX_MESSAGE),
	                   .arguments = BUF(BUF_MAX_MESSAGE),
	                   .reason = BUF(BUF_MAX_MESSAGE),
	                   .state = BUF(BUF_MAX_MESSAGE),
	                   .stop = WAKE_NONE,
	                   .wake = WAKE_NONE};
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	failed = wake_open(&l->stop) || wake_open(&l->wake)
	                 ? error_errno(err, "cannot start a live session")
	                 : t->record(t->ctx, &l->path, err) || open_judge(l, err);
	keep_request(l, q); /* its stop_fd is that of l->stop, which is open now */
	if (!failed && (errno = pthread_create(&l->thread, NULL, run, l)) != 0)
		failed = error_errno(err, "cannot start a thread");
	if (failed) {
		release(l);
		return -1;
	}
	*out = l;
	return 0;
}

const char *live_path(const struct live *l)
{
	return buf_cstr(&l->path);
}

const struct effect_list *live_effects(const struct live *l)
{
	return &l->effects;
}

bool live_is_over(struct live *l)
{
	pthread_mutex_lock(&l->lock);
	bool over = l->phase == LIVE_OVER;
	pthread_mutex_unlock(&l->lock);
	return over;
}

const struct proposal *live_proposal(const struct live *l)
{
	return &l->proposal;
}

static void wait_a_moment(struct live *l)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_nsec += LOOK_MS * 1000000L;
	until.tv_sec += until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	pthread_cond_timedwait(&l->changed, &l->lock, &until);
}

bool live_wait(struct live *l, bool (*interrupted)(void *ctx), bool (*resume)(void *ctx), void *ctx)
{
	bool was_interrupted = false;
	int patience = 0; /* polls left until the pending wait is interrupted */

	pthread_mutex_lock(&l->lock);
	while (l->phase == LIVE_RUNS) {
		wait_a_moment(l);
		if (l->phase == LIVE_RUNS && interrupted && interrupted(ctx)) {
			l->interrupted = l->interrupted || !resume(ctx);
			l->ending = l->ending || l->interrupted;
			was_interrupted = true;
			patience = PATIENCE_MS / LOOK_MS;
		} else if (l->phase == LIVE_RUNS && patience && --patience == 0) {
			wake_raise(&l->stop);
		}
	}
	pthread_mutex_unlock(&l->lock);
	return was_interrupted;
}

bool live_proposed_line(const struct live *l, struct buf *text, struct line *out)
{
	const struct proposal *p = &l->proposal;

	if (p->kind != PROPOSAL_CALL && !p->edited)
		return false;
	*out = (struct line){.type = LINE_STEP,
	                     .turn = p->turn,
	                     .step = p->step,
	                     .terminated = -1,
	                     .truncated = -1};
	buf_clear(text);
	json_pack(text, "%i", p->turn);
	size_t turn_end = text->n;
	json_pack(text, "%i", p->step);
	size_t step_end = text->n;
	json_pack(text, "{name:%s,arguments:%r}", p->name, p->arguments);
	out->value[KEY_TURN] = (struct str){text->p, turn_end};
	out->value[KEY_STEP] = (struct str){text->p + turn_end, step_end - turn_end};
	out->value[KEY_TOOL_CALL] = (struct str){text->p + step_end, text->n - step_end};
	out->value[KEY_STATE] = p->state;
	return !text->full;
}

bool live_is_seeded(const struct live *l)
{
	return l->result.seeded;
}

void live_note_divergence(struct live *l, int64_t calls)
{
	AUTO_BUF detail = BUF(BUF_MAX_SMALL);

	if (l->diverged)
		return;
	l->diverged = true;
	json_pack(&detail, "{calls:%i,seeded:%b}", calls, l->result.seeded);
	events_push_json(&l->events, EVENT_FORK_DIVERGED, &detail);
}

void live_ending(const struct live *l, struct buf *out)
{
	const char *status = end_status_name(l->result.status);

	if (l->failed)
		buf_text(out, l->err.text);
	else if (l->result.peer.kind != FAIL_NONE)
		buf_printf(out, "%s: %s", status, l->result.peer.text);
	else
		buf_text(out, status);
}

int live_failure(const struct live *l, struct error *err)
{
	if (l->failed) {
		*err = l->err;
		return -1;
	}
	if (!l->result.opened && l->result.peer.kind != FAIL_NONE) {
		*err = l->result.peer;
		return -1;
	}
	return 0;
}

void live_edit(struct live *l, struct str name, struct str arguments)
{
	struct proposal *p = &l->proposal;

	if (name.p)
		buf_set(&l->name, name);
	buf_set(&l->arguments, arguments);
	p->name = buf_view(&l->name);
	p->arguments = buf_view(&l->arguments);
	p->kind = PROPOSAL_CALL;
	p->edited = true;
}

void live_go(struct live *l)
{
	pthread_mutex_lock(&l->lock);
	if (l->phase == LIVE_ASKS) {
		l->phase = LIVE_RUNS;
		wake_raise(&l->wake);
	}
	pthread_mutex_unlock(&l->lock);
}

void live_end(struct live *l, bool interrupted)
{
	pthread_mutex_lock(&l->lock);
	l->ending = true;
	l->interrupted = l->interrupted || interrupted;
	if (l->phase == LIVE_RUNS)
		wake_raise(&l->stop);
	pthread_mutex_unlock(&l->lock);
	live_go(l);
	(void)live_wait(l, NULL, NULL, NULL);
}

void live_free(struct live *l)
{
	if (l) {
		live_end(l, false);
		pthread_join(l->thread, NULL);
		release(l);
	}
}
