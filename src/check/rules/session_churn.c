/* Rule session-churn: the session or episode changed, or the step count decreased, without a
   reset. */
#include "check/check.h"

#include "facts/peer.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#define COUNTED_MIN 2 /* minimum calls that increased the count by exactly one */
#define BACK_MIN    2 /* minimum number of decreases, and of increases */
#define RESTART_MIN 2 /* minimum number of counts that had not grown over unread ones */

#define POINTS_MAX 32 /* remembered; later ones are none */
#define CALLS_MAX  32 /* the same */
#define LEARNED    64 /* calls from which they are learned */

/* Where the environment was: its count, and the beginning of its state's hash. */
struct known_point {
	int64_t count;
	uint64_t state;
};

struct churn {
	struct known_point points[POINTS_MAX];
	size_t point_count;
	uint64_t counted[CALLS_MAX]; /* calls over which the count rose */
	size_t counted_count;
	int64_t learned;
	bool may_return; /* the newest call is none of them, and the count fell; when: */
	int64_t fell_from, turn, step;
	bool returned; /* it did return to an earlier point; does it go on from there? */
	struct span session, episode, falls;
	struct span
		restarts; /* the count is not above the last known one, with unread ones between */
	int64_t unread;   /* steps since the last known count */
	int64_t count;    /* the environment's last step count, if known */
	int64_t from, to; /* of the first decrease */
	int64_t rises;
	bool known;
	double best; /* the greatest reward of a step over which the count rose */
};

/* An autoreset after the step that ends the episode is not churn. */
static void add_event(struct churn *s, const struct rollout_facts *r, const struct line *l)
{
	if (l->event == EVENT_SESSION_ID_CHANGED) {
		span_add(&s->session, l->turn, -1);
	} else if (l->event == EVENT_EPISODE_CHANGED && r->ended_turn < 0) {
		span_add(&s->episode, l->turn, -1);
	}
}

static bool is_done(const struct line *l)
{
	return l->terminated == 1 || l->truncated == 1;
}

static double reward_of(const struct line *l)
{
	double reward = 0;

	return json_double(l->value[KEY_REWARD], &reward) ? reward : 0;
}

/* A level was completed, and the next one counts its own steps: a reward as no other step
   earned. */
static bool is_level_end(const struct churn *s, const struct line *l)
{
	return reward_of(l) > fmax(s->best, 0);
}

static bool was_counted(const struct churn *s, uint64_t call)
{
	for (size_t i = 0; i < s->counted_count; i++) {
		if (s->counted[i] == call) {
			return true;
		}
	}
	return false;
}

static void note_fall(struct churn *s, int64_t from, int64_t turn, int64_t step)
{
	if (s->falls.count == 0) {
		s->from = from;
		s->to = s->count;
	}
	span_add(&s->falls, turn, step);
}

/* Takes the state at this line, with the count so far; true if both were the same before. */
static bool take_point(struct churn *s, const struct line *l)
{
	struct str hash = line_state_hash(l);
	struct known_point now = {s->known ? s->count : 0, 0};

	if (hash.n < sizeof(now.state)) {
		return false;
	}
	memcpy(&now.state, hash.p, sizeof(now.state));
	for (size_t i = 0; i < s->point_count; i++) {
		if (s->points[i].count == now.count && s->points[i].state == now.state) {
			return true;
		}
	}
	if (s->point_count < POINTS_MAX) {
		s->points[s->point_count++] = now;
	}
	return false;
}

/* A call that takes the environment back to where it was (undo, load) takes back the count, too. */
static void look_back(struct churn *s, const struct line *l)
{
	bool learns = s->may_return || s->point_count < POINTS_MAX;
	bool returned = l && learns && take_point(s, l);

	if (s->may_return && !returned) {
		note_fall(s, s->fell_from, s->turn, s->step);
	}
	s->returned = s->returned || (s->may_return && returned);
	s->may_return = false;
}

/* The count fell, not with the end of an episode. */
static void take_fall(struct churn *s, int64_t from, const struct line *l, bool counted)
{
	s->may_return = !counted;
	s->fell_from = from;
	s->turn = l->turn;
	s->step = l->step;
	if (counted) {
		note_fall(s, from, l->turn, l->step);
	}
}

/* A call over which the count rose before, or rises now. */
static void take_counted(struct churn *s, uint64_t call, bool counted, bool rises)
{
	if (s->returned && counted) {
		if (!rises) {
			note_fall(s, s->fell_from, s->turn, s->step);
		}
		s->returned = false;
	}
	if (rises && !counted && s->counted_count < CALLS_MAX) {
		s->counted[s->counted_count++] = call;
	}
}

static void note_count(struct churn *s, const struct derived_line *m)
{
	int64_t before = s->known ? s->count : 0;
	bool known = s->known;

	look_back(s, m->line);
	s->unread += m->env_steps < 0 && !m->failed;
	if (m->env_steps < 0 || m->outside_episode) {
		return;
	}
	if (known && s->unread > 0 && m->env_steps > 0 && m->env_steps <= before) {
		span_add(&s->restarts, m->line->turn, m->line->step);
	}
	s->unread = 0;
	bool rises = m->env_steps > before;
	bool falls =
		known && m->env_steps < before && !is_done(m->line) && !is_level_end(s, m->line);
	s->count = m->env_steps;
	s->known = true;
	s->rises += known && rises;
	s->best = rises ? fmax(s->best, reward_of(m->line)) : s->best;
	if (s->learned++ >= LEARNED && !falls && !s->returned) {
		return;
	}
	bool counted = was_counted(s, m->call);
	if (falls) {
		take_fall(s, before, m->line, counted);
	}
	take_counted(s, m->call, counted, rises);
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	(void)out;
	struct churn *s = state;
	if (m->is_step) {
		note_count(s, m);
	} else if (m->line->type == LINE_EVENT) {
		add_event(s, r, m->line);
	} else {
		s->known = false;
	}
}

/* A decreasing count is evidence only if calls were counted one by one: counts of remaining
   moves decrease, and counts of frames jump. But neither goes up and down repeatedly. */
static bool is_evidence(const struct churn *s, const struct rollout_facts *r)
{
	bool counts_calls = r->env_count.by_one >= COUNTED_MIN && r->env_count.by_more == 0;

	return s->falls.count > 0 &&
	       (counts_calls || (s->falls.count >= BACK_MIN && s->rises >= BACK_MIN));
}

static void report_change(const char *what, const struct span *when, struct findings *out)
{
	if (when->count == 1) {
		finding_add(out, SEVERITY_ERROR, when, "/event",
		            "the %s id changed without a reset", what);
	} else if (when->count > 1) {
		finding_add(out, SEVERITY_ERROR, when, "/event",
		            "the %s id changed %" PRId64 " times without a reset", what,
		            when->count);
	}
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	struct churn *s = state;

	look_back(s, m->line);
	report_change("session", &s->session, out);
	report_change("episode", &s->episode, out);
	if (is_evidence(s, r)) {
		char times[40] = "";

		if (s->falls.count > 1) {
			snprintf(times, sizeof(times), " (%" PRId64 " times)", s->falls.count);
		}
		finding_add(out, SEVERITY_ERROR, &s->falls, "/env_steps",
		            "the environment's own step count fell from %" PRId64 " to %" PRId64
		            " without a reset%s",
		            s->from, s->to, times);
	} else if (s->restarts.count >= RESTART_MIN) {
		finding_add(out, SEVERITY_ERROR, &s->restarts, "/env_steps",
		            "%" PRId64 " times the environment's own step count could not be read, "
		            "and had not grown when it could be read again: it is %" PRId64
		            " after %" PRId64 " steps",
		            s->restarts.count, s->count, r->steps);
	}
}

const struct check check_session_churn = {
	.id = "session-churn",
	.title = "session or episode changed, or the step count decreased, without a reset",
	.severity = SEVERITY_ERROR,
	.explains = {&check_starts_over, &check_frozen_state, &check_stopped_moving,
                     &check_control_plane_blind},
	.more = "rolldbg probe \1env\2 URL \1sessions\2 8",
	.why = "Between two steps of one rollout the server changed its session id or episode "
	       "id, or its own step count decreased, without a reset. The steps after that ran "
	       "in a different environment from those before: the rollout is not one "
	       "trajectory, and its rewards belong to several.\n"
	       "A decreasing step count is evidence if every counted call, at least two of them, "
	       "increased it by one, or if it rose and fell at least twice each. It is not "
	       "evidence:\n"
	       "- if it counts frames, or remaining moves;\n"
	       "- after a step that reported the end of the episode: environments with autoreset "
	       "start again then;\n"
	       "- with a step whose reward is above zero and above that of every counted step: a "
	       "level may end with it;\n"
	       "- if a call that never increased it (undo, load) restores an earlier state together "
	       "with its count, and counting continues from there.\n"
	       "A count is also evidence if at least twice it could not be read after a step and "
	       "was no higher when it could be read again: the session was lost and created "
	       "anew.\n"
	       "Look at the turn where it first happened and at the server's log at that time: a "
	       "restart, an expired or evicted session, a load balancer without sticky sessions, "
	       "an automatic reset at the end of an episode, or another client that resets the "
	       "same environment.\n"
	       "Fix: keep a session on one server process, raise the idle timeout, and give "
	       "every rollout its own session id.",
	/* Imported formats lack the session ids and the resets that meta records. Not needs_meta:
	   in our own recordings the events and step counts judged here survive strip, so a stripped
	   one is checked. */
	.needs = UINT64_C(1) << KEY_META,
	.wants = KIND_RESET | KIND_OK | KIND_FAILED | KIND_EVENT,
	.state_size = sizeof(struct churn),
	.line = line,
	.end = end,
};
