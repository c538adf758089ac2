/* Second reads of the state by one rollout of a batch: see rollout_internal.h. */
#include "rollout/rollout_internal.h"

#include "base/hash.h"
#include "base/log.h"
#include "json/write.h"
#include "net/io.h"
#include "rollout/rereads.h"

#define WAIT_MS     1
#define WAIT_CALLS  UINT64_C(3) /* how long it waits, in durations of the last call */
#define WAIT_MS_MAX 250         /* for others to act */
/* While no other acts: the control measurement. Games in real time change within less. */
#define CONTROL_MS 120
#define FIRST_MS   500 /* how long the others wait before their first call */
#define READY_MS   60  /* how long the control waits for their first states */

void second_read_state_read(struct rollout *r)
{
	if (r->conf->rereads) {
		r->calls_before = rereads_calls_sent(r->conf->rereads);
		r->before_answers = atomic_load(&r->conf->rereads->answered) == 0;
		atomic_fetch_add(&r->conf->rereads->ready, r->steps == 0);
	}
}

void second_read_call_sent(const struct rollout *r)
{
	if (r->conf->rereads)
		rereads_sent(r->conf->rereads);
}

void second_read_call_answered(const struct rollout *r)
{
	if (r->conf->rereads) {
		rereads_answered(r->conf->rereads);
		rereads_count(r->conf->rereads, 2); /* the call and the state after it, or more */
	}
}

/* Are there other rollouts, and is a request needed to read the state? */
static bool is_possible(const struct rollout *r)
{
	return r->conf->rereads && state_kind_asks_server(rollout_env_facts(r)->state_kind);
}

int rollout_put_reread(struct rollout *r, struct str state, bool quiet, struct error *err)
{
	struct buf detail = BUF(BUF_MAX_MESSAGE);
	int failed = 0;
	struct json_writer w = jw_begin(&detail);

	jw_put_raw(&w, "state", state);
	if (quiet)
		jw_put_bool(&w, "quiet", true);
	jw_end(&w);
	if (detail.full) {
		log_warn("a second read of the state is too large to be recorded: %zu bytes",
		         state.n);
	} else {
		const struct event e = {.kind = EVENT_STATE_REREAD, .detail = buf_view(&detail)};

		failed = line_writer_event(&r->writer, r->turns, &e, err);
	}
	buf_release(&detail);
	return failed;
}

static int put_second_read(struct rollout *r, bool quiet, struct error *err)
{
	struct str again;

	r->rereads++;
	if (env_state(r->env, &again, err))
		return -1;
	quiet = quiet && rereads_is_quiet(r->conf->rereads, r->calls_before);
	return again.p ? rollout_put_reread(r, again, quiet, err) : 0;
}

static uint64_t wait_ms(const struct rollout *r, uint64_t calls, uint64_t most)
{
	uint64_t ms = calls * r->latency_us / 1000 + 3;

	return ms < most ? ms : most;
}

/* ---- the control ---- */

int second_read_await_control(struct rollout *r, struct error *err)
{
	struct rereads *shared = r->conf->rereads;
	int failed = 0;

	if (r->steps > 0 || !is_possible(r))
		return 0;
	r->is_control = rereads_begin_control(shared);
	for (int ms = 0; r->is_control && !failed && ms < READY_MS && !rereads_are_ready(shared);
	     ms += WAIT_MS) {
		failed = io_wait(r->conf->io, NULL, WAIT_MS, err);
	}
	for (int ms = 0; !r->is_control && !failed && ms < FIRST_MS && rereads_control_runs(shared);
	     ms += WAIT_MS) {
		failed = io_wait(r->conf->io, NULL, WAIT_MS, err);
	}
	return failed;
}

void second_read_end(struct rollout *r)
{
	if (r->is_control) {
		rereads_end_control(r->conf->rereads);
		r->is_control = false;
	}
}

static int reread_as_control(struct rollout *r, struct error *err)
{
	struct rereads *shared = r->conf->rereads;
	bool quiet = rereads_is_quiet(shared, r->calls_before);
	int failed = 0;

	for (uint64_t ms = wait_ms(r, 2 * WAIT_CALLS, CONTROL_MS); quiet && !failed && ms > 0;
	     ms--) {
		failed = io_wait(r->conf->io, NULL, WAIT_MS, err);
		quiet = rereads_is_quiet(shared, r->calls_before);
	}
	if (quiet && !failed) {
		rereads_take(shared);
		failed = put_second_read(r, true, err);
	}
	second_read_end(r);
	return failed;
}

/* ---- all others ---- */

/* The first call of the control changed its state: in a shared environment the state that this rollout
   has read may be out of date. */
static int reread_before_first_call(struct rollout *r, struct error *err)
{
	struct rereads *shared = r->conf->rereads;

	return r->before_answers && atomic_load(&shared->moved) &&
	                       rereads_take_start(shared, r->max_turns)
	               ? put_second_read(r, false, err)
	               : 0;
}

/* Did other rollouts act since this one read the state? Waits a little for them. */
static int await_others(struct rollout *r, bool *acted, struct error *err)
{
	struct rereads *shared = r->conf->rereads;
	int failed = 0;

	*acted = rereads_is_answered(shared, r->calls_before);
	if (*acted || !rereads_begin_wait(shared))
		return 0;
	for (uint64_t ms = wait_ms(r, WAIT_CALLS, WAIT_MS_MAX); !failed && !*acted && ms > 0;
	     ms--) {
		failed = io_wait(r->conf->io, NULL, WAIT_MS, err);
		*acted = rereads_is_answered(shared, r->calls_before);
	}
	rereads_end_wait(shared);
	return failed;
}

int second_read_if_due(struct rollout *r, struct str state, struct error *err)
{
	struct rereads *shared = r->conf->rereads;
	bool acted;

	if (!is_possible(r) || !state.p || r->steps > REREAD_STEPS)
		return 0;
	if (r->steps == 0) {
		r->first_state = fingerprint(state);
		return r->is_control ? 0 : reread_before_first_call(r, err);
	}
	if (r->is_control) {
		atomic_store(&shared->moved, fingerprint(state) != r->first_state);
		return reread_as_control(r, err);
	}
	if (r->rereads == REREADS_EACH || !rereads_may_read(shared, false))
		return 0;
	if (await_others(r, &acted, err))
		return -1;
	if (!acted || !rereads_may_read(shared, true))
		return 0;
	return put_second_read(r, false, err);
}
