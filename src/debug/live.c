/* A policy that waits for the debugger, in front of the real one: see live.h. The rollout's thread
   waits inside decide(), and serves its connections meanwhile. */
#include "debug/live.h"

#include "base/mem.h"
#include "debug/line_copy.h"
#include "debug/live_judge.h"
#include "json/write.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS     50  /* how often the signal is looked at while an answer is awaited */
#define PATIENCE_MS 200 /* for a rollout that goes on by itself, to come to its next proposal */

enum live_phase { LIVE_RUNS, LIVE_ASKS, LIVE_OVER };

struct live {
	struct policy policy; /* first: the rollout knows us as a policy */
	struct policy_ops ops;
	const struct live_target *target;
	struct live_request request;
	struct arena arena; /* of the request */
	struct buf path;
	pthread_t thread;

	pthread_mutex_t lock; /* protects the members below */
	pthread_cond_t changed;
	enum live_phase phase;
	bool ending, pausing;
	bool interrupted; /* it ends because the program is to end */
	live_pass_fn *pass; /* while it goes on */
	void *pass_ctx;
	struct proposal proposal; /* while it asks, both threads leave it alone but by agreement */
	struct buf name, arguments, reason, state;

	/* of the rollout's thread alone */
	struct policy *inner;
	struct io *io;
	bool woken;
	struct line_copy step; /* the newest */
	bool is_new;           /* `pass` has not seen it */
	struct live_judge judge;
	int64_t sent; /* calls */
	/* A call by hand where the policy made none: what it said instead, or that it said nothing. */
	struct decision replaced;
	bool replaces, silent, spoke;
	struct rollout_result result;
	struct error err;
	int failed;

	int stop_fd, wake_fd;
};

static void signal_fd(int fd)
{
	uint64_t one = 1;
	ssize_t ignored =
		write(fd, &one, sizeof(one)); /* full means readable, which is all we want */

	(void)ignored;
}

static void drain_fd(int fd)
{
	uint64_t count;
	ssize_t ignored = read(fd, &count, sizeof(count));

	(void)ignored;
}

/* ---- the policy: in the rollout's thread ---- */

/* The interrupt was for what has ended by now. */
static void forget_stop(struct live *l)
{
	drain_fd(l->stop_fd);
	io_ignore_stop(l->io);
	io_watch_stop(l->io);
}

static int wake(void *arg, int fd, short ready, struct error *err)
{
	struct live *l = arg;

	(void)ready;
	(void)err;
	drain_fd(fd);
	l->woken = true;
	return 0;
}

static bool is_ending(struct live *l)
{
	pthread_mutex_lock(&l->lock);
	bool ending = l->ending;
	pthread_mutex_unlock(&l->lock);
	return ending;
}

static bool is_interrupted(struct live *l)
{
	pthread_mutex_lock(&l->lock);
	bool interrupted = l->interrupted;
	pthread_mutex_unlock(&l->lock);
	return interrupted;
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

/* Hands the proposal over, and waits until the debugger lets the rollout go on. */
static int ask(struct live *l, struct error *err)
{
	int failed = 0;

	pthread_mutex_lock(&l->lock);
	l->phase = LIVE_ASKS;
	pthread_cond_broadcast(&l->changed);
	pthread_mutex_unlock(&l->lock);
	l->woken = false;
	io_watch(l->io, l->wake_fd, POLLIN, wake, l);
	while (!l->woken && !failed) {
		failed = io_wait(l->io, &l->woken, UINT64_MAX, err);
		if (failed && err->kind == FAIL_INTERRUPTED) {
			forget_stop(l); /* nothing runs that could be interrupted */
			failed = 0;
		}
	}
	io_watch(l->io, l->wake_fd, 0, NULL, NULL);
	pthread_mutex_lock(&l->lock);
	l->phase = LIVE_RUNS;
	pthread_mutex_unlock(&l->lock);
	return failed;
}

static int take_line(void *ctx, const struct line *line, struct error *err)
{
	struct live *l = ctx;

	if (live_judge_line(&l->judge, line, err)) {
		return -1;
	}
	if (line->type != LINE_STEP) {
		return 0;
	}
	l->is_new = true;
	return line_copy_set(&l->step, line, err);
}

static bool passes(struct live *l)
{
	bool is_new = l->is_new;

	pthread_mutex_lock(&l->lock);
	bool asks = !l->pass || l->pausing || l->ending || l->proposal.kind == PROPOSAL_NONE;
	pthread_mutex_unlock(&l->lock);
	l->is_new = false;
	if (asks) {
		return false;
	}
	const struct moment answered = {
		.line = &l->step.line, .position = 1, .after = l->proposal.state};
	return l->pass(l->pass_ctx, is_new ? &answered : NULL);
}

/* What the real policy says; an interrupt leaves it without an answer. */
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
	l->spoke = false;
	if (!l->inner) {
		propose(l, PROPOSAL_NONE, d, v, "nothing is proposed: call NAME JSON sends a call");
		return 0;
	}
	if (!l->inner->ops->decide(l->inner, v, d, err)) {
		propose(l, kinds[d->kind], d, v, d->reason);
		l->spoke = true;
		return 0;
	}
	if (err->kind != FAIL_INTERRUPTED || is_ending(l)) {
		return -1;
	}
	forget_stop(l);
	*d = (struct decision){.kind = DECIDE_NOTHING};
	propose(l, PROPOSAL_NONE, d, v,
	        "the policy was interrupted: step asks it again, call NAME JSON sends a call");
	l->proposal.asks_again = true;
	return 0;
}

/* What the debugger made of it. */
static void settle(struct live *l, struct decision *d)
{
	const struct proposal *p = &l->proposal;

	l->replaces = p->edited && d->kind != DECIDE_CALL;
	l->silent = !l->inner || !l->spoke || d->kind >= DECIDE_FINISHED;
	l->replaced = *d;
	if (is_ending(l)) {
		*d = (struct decision){.kind = DECIDE_STOPPED, .reason = "ended in the debugger"};
	} else if (p->edited) {
		if (d->kind != DECIDE_CALL) {
			*d = (struct decision){.messages = d->messages, .llm = d->llm};
		}
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

	if (v->over && l->inner) { /* the rest of the turn is not sent */
		return l->inner->ops->decide(l->inner, v, out, err);
	}
	while (again) {
		if (consult(l, v, out, err) || (!passes(l) && !is_ending(l) && ask(l, err))) {
			return -1;
		}
		again = l->proposal.kind == PROPOSAL_NONE && !l->proposal.edited && !is_ending(l);
	}
	if (is_interrupted(l)) {
		return error_set(err, FAIL_INTERRUPTED, "interrupted");
	}
	settle(l, out);
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

	/* a policy is told what came of its own decisions: a model's conversation has no place for
	   the result of a call that it did not make */
	if (!l->replaces || !l->silent) {
		l->inner->ops->observe(l->inner, l->replaces ? &own : r, messages);
	}
}

static bool event(struct policy *policy, struct event *out)
{
	struct live *l = (struct live *)policy;

	return l->inner->ops->event(l->inner, out);
}

static void close_policy(struct policy *policy)
{
	struct live *l = (struct live *)policy;

	if (l->inner) {
		l->inner->ops->close(l->inner);
	}
	l->inner = NULL;
}

static struct policy *wrap(void *ctx, struct policy *inner, struct io *io)
{
	struct live *l = ctx;

	l->inner = inner;
	l->io = io;
	l->ops = (struct policy_ops){.decide = decide, .facts = facts, .close = close_policy};
	l->ops.begin = inner && inner->ops->begin ? begin : NULL;
	l->ops.observe = inner && inner->ops->observe ? observe : NULL;
	l->ops.event = inner && inner->ops->event ? event : NULL;
	l->policy.ops = &l->ops;
	return &l->policy;
}

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

/* ---- the debugger's side ---- */

static void keep_request(struct live *l, const struct live_request *q)
{
	l->request = *q;
	l->request.reset = arena_str(&l->arena, q->reset);
	l->request.task = arena_str(&l->arena, str_from(q->task)).p;
	l->request.calls = arena_str(&l->arena, q->calls);
	l->request.parent = arena_str(&l->arena, q->parent);
	l->request.parent_file = arena_str(&l->arena, str_from(q->parent_file)).p;
	l->request.wrap = wrap;
	l->request.wrap_ctx = l;
	l->request.sink = (struct line_sink){take_line, l};
	l->request.stop_fd = l->stop_fd;
}

static void release(struct live *l)
{
	if (l->stop_fd >= 0) {
		close(l->stop_fd);
	}
	if (l->wake_fd >= 0) {
		close(l->wake_fd);
	}
	pthread_mutex_destroy(&l->lock);
	pthread_cond_destroy(&l->changed);
	arena_release(&l->arena);
	buf_release(&l->path);
	buf_release(&l->name);
	buf_release(&l->arguments);
	buf_release(&l->reason);
	buf_release(&l->state);
	line_copy_release(&l->step);
	live_judge_close(&l->judge);
	free(l);
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
	                   .stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
	                   .wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
	line_copy_init(&l->step);
	pthread_mutex_init(&l->lock, NULL);
	pthread_cond_init(&l->changed, NULL);
	keep_request(l, q);
	failed = l->stop_fd < 0 || l->wake_fd < 0 ? error_errno(err, "cannot start a live session")
	                                          : t->record(t->ctx, &l->path, err) ||
	                                                    live_judge_open(&l->judge,
	                                                                    buf_cstr(&l->path),
	                                                                    q->verdict,
	                                                                    q->verdict_user, err);
	if (!failed && (errno = pthread_create(&l->thread, NULL, run, l)) != 0) {
		failed = error_errno(err, "cannot start a thread");
	}
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

const struct effects *live_effects(const struct live *l)
{
	return &l->judge.effects;
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

void live_wait(struct live *l, bool (*interrupted)(void *ctx), bool (*resume)(void *ctx), void *ctx)
{
	int patience = 0; /* looks until an answer is not waited for any longer */

	pthread_mutex_lock(&l->lock);
	while (l->phase == LIVE_RUNS) {
		wait_a_moment(l);
		if (l->phase == LIVE_RUNS && interrupted && interrupted(ctx)) {
			l->interrupted = l->interrupted || !resume(ctx);
			l->ending = l->ending || l->interrupted;
			l->pausing = true;
			patience = PATIENCE_MS / LOOK_MS;
		} else if (l->phase == LIVE_RUNS && patience && --patience == 0) {
			signal_fd(l->stop_fd);
		}
	}
	l->pausing = false;
	pthread_mutex_unlock(&l->lock);
}

bool live_proposed_line(const struct live *l, struct buf *text, struct line *out)
{
	const struct proposal *p = &l->proposal;
	struct json_writer w;

	if (p->kind != PROPOSAL_CALL && !p->edited) {
		return false;
	}
	*out = (struct line){.type = LINE_STEP,
	                     .turn = p->turn,
	                     .step = p->step,
	                     .terminated = -1,
	                     .truncated = -1};
	buf_clear(text);
	jw_init(&w, text);
	jw_i64(&w, p->turn);
	size_t turn_end = text->n;
	jw_init(&w, text);
	jw_i64(&w, p->step);
	size_t step_end = text->n;
	jw_init(&w, text);
	jw_object(&w);
	jw_key(&w, "name");
	jw_str(&w, p->name);
	jw_key(&w, "arguments");
	jw_raw(&w, p->arguments);
	jw_end(&w);
	out->value[KEY_TURN] = (struct str){text->p, turn_end};
	out->value[KEY_STEP] = (struct str){text->p + turn_end, step_end - turn_end};
	out->value[KEY_TOOL_CALL] = (struct str){text->p + step_end, text->n - step_end};
	out->value[KEY_STATE] = p->state;
	return !text->full;
}

void live_ending(const struct live *l, struct buf *out)
{
	const char *status = end_status_name(l->result.status);

	if (l->failed) {
		buf_text(out, l->err.text);
	} else if (l->result.peer.kind != FAIL_NONE) {
		buf_printf(out, "%s: %s", status, l->result.peer.text);
	} else {
		buf_text(out, status);
	}
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

	if (name.p) {
		buf_clear(&l->name);
		buf_str(&l->name, name);
	}
	buf_clear(&l->arguments);
	buf_str(&l->arguments, arguments);
	p->name = buf_view(&l->name);
	p->arguments = buf_view(&l->arguments);
	p->kind = PROPOSAL_CALL;
	p->edited = true;
}

void live_go(struct live *l, live_pass_fn *pass, void *ctx)
{
	pthread_mutex_lock(&l->lock);
	l->pass = pass;
	l->pass_ctx = ctx;
	if (l->phase == LIVE_ASKS) {
		l->phase = LIVE_RUNS;
		signal_fd(l->wake_fd);
	}
	pthread_mutex_unlock(&l->lock);
}

void live_end(struct live *l, bool interrupted)
{
	pthread_mutex_lock(&l->lock);
	l->ending = true;
	l->interrupted = l->interrupted || interrupted;
	if (l->phase == LIVE_RUNS) {
		signal_fd(l->stop_fd);
	}
	pthread_mutex_unlock(&l->lock);
	live_go(l, NULL, NULL);
	live_wait(l, NULL, NULL, NULL);
}

void live_free(struct live *l)
{
	if (l) {
		live_end(l, false);
		pthread_join(l->thread, NULL);
		release(l);
	}
}
