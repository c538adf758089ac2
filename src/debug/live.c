/* The debugger's side of a rollout that runs in another thread: see live.h. */
#include "debug/live_internal.h"
#include "json/write.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define LOOK_MS     50  /* interval for polling the signal while waiting for a proposal */
#define PATIENCE_MS 200 /* time allowed for a running rollout to reach its next proposal */

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
	l->request.reset = arena_str(&l->arena, q->reset);
	l->request.task = arena_str(&l->arena, str_from(q->task)).p;
	l->request.calls = arena_str(&l->arena, q->calls);
	l->request.parent = arena_str(&l->arena, q->parent);
	l->request.parent_file = arena_str(&l->arena, str_from(q->parent_file)).p;
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
	arena_release(&l->arena);
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

static void take_verdict(void *ctx, const struct rollout_verdict *v)
{
	const struct live *l = ctx;

	if (v->rollout.p)
		l->request.verdict(l->request.verdict_user, v);
}

static int open_judge(struct live *l, struct error *err)
{
	const struct judge_conf conf = {.line = take_facts, .verdict = take_verdict, .ctx = l};

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
	keep_request(l, q);
	failed = wake_open(&l->stop) || wake_open(&l->wake)
	                 ? error_errno(err, "cannot start a live session")
	                 : t->record(t->ctx, &l->path, err) || open_judge(l, err);
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
	struct json_writer w;

	if (p->kind != PROPOSAL_CALL && !p->edited)
		return false;
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
	w = jw_begin(text);
	jw_put_str(&w, "name", p->name);
	jw_put_raw(&w, "arguments", p->arguments);
	jw_end(&w);
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
	struct buf detail = BUF(BUF_MAX_SMALL);

	if (l->diverged)
		return;
	l->diverged = true;
	struct json_writer w = jw_begin(&detail);
	jw_put_i64(&w, "calls", calls);
	jw_put_bool(&w, "seeded", l->result.seeded);
	jw_end(&w);
	events_push_json(&l->events, EVENT_FORK_DIVERGED, &detail);
	buf_release(&detail);
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
