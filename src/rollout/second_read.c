/* Second reads of the state by one rollout of a batch: see rollout_internal.h. */
#include "rollout/rollout_internal.h"

#include "base/hash.h"
#include "base/log.h"
#include "json/write.h"
#include "net/io.h"

enum { SECOND_NONE, SECOND_RUNS, SECOND_OVER }; /* the control */

#define WAIT_MS     1
#define WAIT_CALLS  UINT64_C(3) /* how long it waits, in durations of the last call */
#define WAIT_MS_MAX 250         /* for others to act */
/* While no other acts: the control measurement. Games in real time change within less. */
#define CONTROL_MS 120
#define FIRST_MS   500 /* how long the others wait before their first call */
#define READY_MS   60  /* how long the control waits for their first states */

/* ---- what the rollouts of a batch share ---- */

#define REQUESTS_EACH     10 /* other requests per read, rounded */
#define REQUESTS_TO_START 3  /* the session, the reset, the first state */
#define REQUESTS_A_CALL   2  /* the call, and the state after it */
#define CALLS_MAX         1000
#define REREAD_STEPS      6 /* calls of a rollout, after its first one, that a second read may precede */
#define REREADS_EACH      2 /* reads per rollout */
/* Rollouts that read again before their first call, if the control's call changed its state. The
   control waits a little until as many have read theirs. */
#define REREAD_STARTS 2

void second_read_begin(struct rollout *r)
{
	if (r->conf->rereads)
		atomic_fetch_add(&r->conf->rereads->requests, REQUESTS_TO_START);
}

void second_read_state_read(struct rollout *r)
{
	struct rereads *shared = r->conf->rereads;

	if (shared) {
		r->calls_before = atomic_load(&shared->sent);
		r->before_answers = atomic_load(&shared->answered) == 0;
		atomic_fetch_add(&shared->ready, r->steps == 0);
	}
}

void second_read_call_sent(const struct rollout *r)
{
	if (r->conf->rereads)
		atomic_fetch_add(&r->conf->rereads->sent, 1);
}

void second_read_call_answered(const struct rollout *r)
{
	if (r->conf->rereads) {
		atomic_fetch_add(&r->conf->rereads->answered, 1);
		atomic_fetch_add(&r->conf->rereads->requests, REQUESTS_A_CALL);
	}
}

/* Was a call answered that was sent after the state was read? May become true late, because only the
   number of answers is counted, not which calls they belong to. */
static bool others_acted(const struct rollout *r)
{
	return atomic_load(&r->conf->rereads->answered) > r->calls_before;
}

/* Was no call sent since the state was read, and are all before it answered? */
static bool is_quiet(const struct rollout *r)
{
	return atomic_load(&r->conf->rereads->sent) == r->calls_before &&
	       atomic_load(&r->conf->rereads->answered) == r->calls_before;
}

/* May a read be sent? With `take`, it is then counted as sent. */
static bool may_read(struct rereads *shared, bool take)
{
	long long taken = atomic_load(&shared->taken);

	do {
		if (taken * REQUESTS_EACH + REQUESTS_EACH / 2 > atomic_load(&shared->requests))
			return false;
	} while (take && !atomic_compare_exchange_weak(&shared->taken, &taken, taken + 1));
	return true;
}

/* The same for a read before a first call, of the requests that are to be expected. */
static bool take_start(struct rereads *shared, int64_t calls)
{
	long long requests = atomic_load(&shared->requests);
	long long each = calls < CALLS_MAX ? calls : CALLS_MAX;
	long long expected = requests + requests / REQUESTS_TO_START * each * REQUESTS_A_CALL;

	if ((atomic_load(&shared->taken) + 1) * REQUESTS_EACH > expected ||
	    atomic_fetch_add(&shared->starts, 1) >= REREAD_STARTS) {
		return false;
	}
	atomic_fetch_add(&shared->taken, 1);
	return true;
}

/* Have enough other rollouts read their first state? */
static bool are_ready(struct rereads *shared)
{
	size_t wanted = shared->most <= REREAD_STARTS ? shared->most : REREAD_STARTS + 1;

	return (size_t)atomic_load(&shared->ready) >= wanted;
}

/* Are there other rollouts, and is a request needed to read the state? */
static bool is_possible(const struct rollout *r)
{
	return r->conf->rereads && state_kind_asks_server(rollout_env_facts(r)->state_kind);
}

/* quiet: no other rollout acted since the read before. */
static int put_second_read(struct rollout *r, bool quiet, struct error *err)
{
	AUTO_BUF detail = BUF(BUF_MAX_MESSAGE);
	struct str again;
	int failed = 0;

	r->rereads++;
	if (env_state(r->env, &again, err))
		return -1;
	quiet = quiet && is_quiet(r);
	json_pack(&detail, quiet ? "{state:%r,quiet:true}" : "{state:%r}", again);
	if (detail.full) {
		log_warn("a second read of the state is too large to be recorded: %zu bytes",
		         again.n);
	} else if (again.p) {
		const struct event e = {.kind = EVENT_STATE_REREAD, .detail = buf_view(&detail)};

		failed = line_writer_event(&r->writer, r->turns, &e, err);
	}
	return failed;
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
	int failed = 0, none = SECOND_NONE;

	if (r->steps > 0 || !is_possible(r))
		return 0;
	r->is_control = atomic_compare_exchange_strong(&shared->control, &none, SECOND_RUNS);
	for (int ms = 0; r->is_control && !failed && ms < READY_MS && !are_ready(shared);
	     ms += WAIT_MS) {
		failed = io_wait(r->conf->io, NULL, WAIT_MS, err);
	}
	for (int ms = 0; !r->is_control && !failed && ms < FIRST_MS &&
	                 atomic_load(&shared->control) == SECOND_RUNS;
	     ms += WAIT_MS) {
		failed = io_wait(r->conf->io, NULL, WAIT_MS, err);
	}
	return failed;
}

void second_read_end(struct rollout *r)
{
	if (r->is_control) {
		atomic_store(&r->conf->rereads->control, SECOND_OVER);
		r->is_control = false;
	}
}

static int reread_as_control(struct rollout *r, struct error *err)
{
	struct rereads *shared = r->conf->rereads;
	bool quiet = is_quiet(r);
	int failed = 0;

	for (uint64_t ms = wait_ms(r, 2 * WAIT_CALLS, CONTROL_MS); quiet && !failed && ms > 0;
	     ms--) {
		failed = io_wait(r->conf->io, NULL, WAIT_MS, err);
		quiet = is_quiet(r);
	}
	if (quiet && !failed) {
		atomic_fetch_add(&shared->taken, 1);
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

	return r->before_answers && atomic_load(&shared->moved) && take_start(shared, r->max_turns)
	               ? put_second_read(r, false, err)
	               : 0;
}

/* Did other rollouts act since this one read the state? Waits a little for them. */
static int await_others(struct rollout *r, bool *acted, struct error *err)
{
	struct rereads *shared = r->conf->rereads;
	int failed = 0;

	*acted = others_acted(r);
	if (*acted || atomic_exchange(&shared->waiting, true))
		return 0;
	for (uint64_t ms = wait_ms(r, WAIT_CALLS, WAIT_MS_MAX); !failed && !*acted && ms > 0;
	     ms--) {
		failed = io_wait(r->conf->io, NULL, WAIT_MS, err);
		*acted = others_acted(r);
	}
	atomic_store(&shared->waiting, false);
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
	if (r->rereads == REREADS_EACH || !may_read(shared, false))
		return 0;
	if (await_others(r, &acted, err))
		return -1;
	if (!acted || !may_read(shared, true))
		return 0;
	return put_second_read(r, false, err);
}
