/* The verbs that move. */
#include "base/text.h"
#include "debug/debugger.h"

/* Conditions that end a movement. */
struct travel {
	struct debugger *d;
	int64_t left; /* steps or turns; 0: no limit */
	bool by_turn, ignores_points;
	int64_t turn; /* the turn at the start, or the last one counted */
};

/* A new turn begins with its first step. */
static bool counts_down(struct travel *t, const struct moment *m)
{
	if (!t->left || (t->by_turn && m->line->turn == t->turn))
		return false;
	t->turn = m->line->turn;
	return --t->left == 0;
}

static struct known known_at(struct debugger *d, const struct moment *m)
{
	struct known k = debugger_known(d);

	k.moment = m;
	return k;
}

static int is_end_of_travel(void *ctx, const struct moment *m, struct error *err)
{
	struct travel *t = ctx;
	struct known k = known_at(t->d, m);

	return counts_down(t, m) ||
	       (!t->ignores_points && points_stop(&t->d->points, &k, PHASE_RECORDED));
}

static void report_end(struct debugger *d)
{
	const struct cursor_facts *f = cursor_facts(d->cursor);
	AUTO_BUF text = BUF(BUF_MAX_MESSAGE);

	if (d->live && !live_is_over(d->live)) {
		buf_text(&text, "this is the newest step: the next step sends a call");
	} else if (f->end.text.p) {
		buf_printf(&text, "end of the rollout: %s: ", end_status_name(f->end.status));
		json_text_or_json(f->end.value[KEY_REASON], &text);
	} else if (f->torn) {
		buf_text(&text, "end of the recording: its last line is truncated");
	} else {
		buf_text(&text, "end of the recording: it has no end line");
	}
	text_escape_line(&d->out, buf_view(&text));
}

/* Prints the new position and the points that stop there. */
static void arrive(struct debugger *d, bool over, enum point_phase phase)
{
	debugger_refresh(d);
	struct known k = debugger_known(d);

	d->moved = true;
	if (d->now.position > 0 && !over)
		points_hit(&d->points, &k, phase, &d->out);
	stop_print(d);
}

static bool needs_findings(const struct travel *t)
{
	return !t->ignores_points && points_ask_rules(&t->d->points);
}

/* ---- over recorded facts ---- */

static int travel_forward(struct travel *t, struct error *err)
{
	struct debugger *d = t->d;

	if (needs_findings(t) && debugger_judge(d, err))
		return -1;
	int64_t before = d->now.position;
	int got = cursor_search(d->cursor, false, is_end_of_travel, t, err);
	if (got < 0) {
		debugger_refresh(d);
		return -1;
	}
	if (got == 0)
		report_end(d);
	debugger_refresh(d);
	if (got == 0 && d->now.position == before)
		return 0; /* it was there already */
	arrive(d, t->ignores_points, PHASE_RECORDED);
	return 0;
}

/* ---- live ---- */

static bool stops_at_answer(struct travel *t)
{
	struct known k = debugger_known(t->d);

	return !t->ignores_points && points_stop(&t->d->points, &k, PHASE_ANSWERED);
}

/* Checks points on the next call, as a step line before it is sent. */
static bool stops_at_proposal(struct travel *t, bool report)
{
	struct debugger *d = t->d;
	struct line l;
	bool stops = false;

	if (!t->ignores_points && points_look_ahead(&d->points) && !live_is_over(d->live) &&
	    live_proposed_line(d->live, &d->proposed, &l)) {
		struct moment m = {.position = d->now.position + 1, .line = &l};
		struct known k = known_at(d, &m);

		stops = points_stop(&d->points, &k, PHASE_PROPOSED);
		if (stops && report)
			points_hit(&d->points, &k, PHASE_PROPOSED, &d->out);
	}
	return stops;
}

/* The rollout waits before each call: sends calls until something stops. */
static int send_calls(struct travel *t, struct error *err)
{
	struct debugger *d = t->d;
	bool stop = false, judges = needs_findings(t);

	while (!stop) {
		int64_t before = d->now.position;

		live_go(d->live);
		bool interrupted = debugger_wait(d) || debugger_is_interrupted(d);
		if (debugger_to_newest(d, err) || (judges && debugger_note_new_findings(d, err)))
			return -1;
		bool moved = d->now.position > before;
		stop = (interrupted && (debugger_goes_on(d), true)) || live_is_over(d->live) ||
		       live_proposal(d->live)->kind == PROPOSAL_NONE ||
		       (moved && (counts_down(t, &d->now) || stops_at_answer(t))) ||
		       stops_at_proposal(t, false);
	}
	return 0;
}

static int travel_live(struct travel *t, struct error *err)
{
	struct debugger *d = t->d;
	const struct proposal *p = live_proposal(d->live);

	if (p->kind == PROPOSAL_NONE && !p->asks_again && !p->edited)
		return error_set(err, FAIL_USAGE, "%.*s", STR_ARG(p->reason));
	if (send_calls(t, err))
		return -1;
	arrive(d, t->ignores_points, PHASE_ANSWERED);
	(void)stops_at_proposal(t, true);
	return live_is_over(d->live) ? live_session_report(d, err) : 0;
}

/* Moves through the recorded steps first, then continues live. */
static int travel(struct travel *t, struct error *err)
{
	struct debugger *d = t->d;

	t->turn = d->now.line->turn;
	if (debugger_mode(d) != MODE_REC)
		return travel_live(t, err);
	return travel_forward(t, err);
}

/* ---- the verbs ---- */

int verb_step(struct debugger *d, int how, struct str arguments, struct error *err)
{
	struct travel t = {
		.d = d, .by_turn = how == TRAVEL_TURNS, .ignores_points = how == TRAVEL_TO_END};
	bool counts = how == TRAVEL_STEPS || how == TRAVEL_TURNS;

	return (counts && argument_count(arguments, &t.left, err)) || travel(&t, err) ? -1 : 0;
}

/* Does not stop at breakpoints in between. */
int verb_reverse_step(struct debugger *d, int how, struct str arguments, struct error *err)
{
	int64_t count, to;

	if (argument_count(arguments, &count, err))
		return -1;
	to = d->now.position - count;
	if (to < 0)
		buf_text(&d->out, "No more reverse-execution history.\n");
	if (d->now.position == 0)
		return 0;
	if (cursor_go(d->cursor, to > 0 ? to : 0, err) < 0)
		return -1;
	arrive(d, false, PHASE_RECORDED);
	return 0;
}

int verb_reverse_continue(struct debugger *d, int how, struct str arguments, struct error *err)
{
	struct travel t = {.d = d};

	if (needs_findings(&t) && debugger_judge(d, err))
		return -1;
	if (d->now.position == 0) {
		buf_text(&d->out, "No more reverse-execution history.\n");
		return 0;
	}
	int got = cursor_search(d->cursor, true, is_end_of_travel, &t, err);
	if (got < 0)
		return -1;
	buf_text(&d->out, got ? "" : "No more reverse-execution history.\n");
	arrive(d, false, PHASE_RECORDED);
	return 0;
}

int go_to_place(struct debugger *d, bool turn, int64_t number, struct error *err)
{
	const char *what = named_facts[turn ? FACT_TURN : FACT_STEP].name;
	int got = cursor_find(d->cursor, turn, number, err);

	if (got < 0)
		return -1;
	debugger_refresh(d);
	return got ? 0
	           : error_set(err, FAIL_USAGE, "the recording has no %s %lld%s", what,
	                       (long long)number, turn ? "" : "; to name a turn, write: turn N");
}

int verb_goto(struct debugger *d, int how, struct str arguments, struct error *err)
{
	struct str word = text_trim(arguments);
	bool turn;
	int64_t number;

	if (str_is(word, "end") || str_is(word, "start")) {
		bool end = str_is(word, "end");

		if (end && cursor_read_all(d->cursor, err))
			return -1;
		if (cursor_go(d->cursor, end ? cursor_facts(d->cursor)->steps : 0, err) < 0)
			return -1;
	} else if (argument_place(arguments, &turn, &number, err) ||
	           go_to_place(d, turn, number, err)) {
		return -1;
	}
	arrive(d, true, PHASE_RECORDED);
	return 0;
}

int verb_rollout(struct debugger *d, int how, struct str arguments, struct error *err)
{
	AUTO_BUF name = BUF(BUF_MAX_SMALL);
	struct str id = text_trim(arguments);

	if (!id.n)
		return error_set(err, FAIL_USAGE, "which rollout? 'info rollouts' lists them");
	if (d->live && !live_is_over(d->live))
		return error_set(err, FAIL_USAGE, "the live session has no other rollout");
	buf_str(&name, id);
	if (debugger_open(d, cursor_facts(d->cursor)->path, buf_cstr(&name), err))
		return -1;
	arrive(d, true, PHASE_RECORDED);
	return 0;
}
