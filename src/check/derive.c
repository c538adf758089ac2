/* From lines to moments. This runs once for every line of every recording:
   nothing here allocates, and what only failed steps need is done for failed
   steps only. */
#include "check/derive.h"

#include "check/peer.h"
#include "json/write.h"

static struct str known_hash(const struct line *l)
{
	struct str hash = line_state_hash(l);
	return hash.n <= HASH_TEXT_MAX ? hash : (struct str){NULL, 0};
}

static void keep_state(struct state_copy *copy, struct str hash)
{
	copy->n = hash.n;
	if (hash.n)
		memcpy(copy->text, hash.p, hash.n);
}

static bool same_state(const struct state_copy *copy, struct str hash)
{
	return copy->n == hash.n && memcmp(copy->text, hash.p, hash.n) == 0;
}

static enum effect effect_of(const struct open_rollout *o, struct str now)
{
	if (o->session_replaced || o->before.n == 0 || now.n == 0)
		return EFFECT_UNKNOWN;
	return same_state(&o->before, now) ? EFFECT_UNCHANGED : EFFECT_CHANGED;
}

static void count_effect(struct open_rollout *o, const struct past_step *p)
{
	struct episode *e = &o->facts.episode;
	o->tally.effective += p->effect == EFFECT_CHANGED;
	o->tally.unknown += p->effect == EFFECT_UNKNOWN;
	if (p->after_terminal)
		return;
	e->changed += p->effect == EFFECT_CHANGED;
	e->unchanged += p->effect == EFFECT_UNCHANGED;
}

/* Later states of an episode belong to it as long as no step was sent after its end. */
static void note_state(struct open_rollout *o, struct str now)
{
	if (now.n == 0)
		return;
	o->state_known = true;
	if (o->terminal && !(o->pending && !o->newest.after_terminal))
		return;
	if (o->first_state.n == 0)
		keep_state(&o->first_state, now);
	else if (!same_state(&o->first_state, now))
		o->facts.episode.state_varied = true;
}

unsigned derive_past(struct open_rollout *o, const struct line *l)
{
	struct rollout_facts *f = &o->facts;
	if (l && l->type != LINE_STEP && l->type != LINE_END && l->type != LINE_RESET)
		return 0;
	o->now = l && l->type != LINE_RESET ? known_hash(l) : (struct str){NULL, 0};
	note_state(o, o->now);
	bool pending = o->pending;
	if (pending) {
		o->newest.effect = effect_of(o, o->now);
		count_effect(o, &o->newest);
	}
	f->strayed = !pending && l && l->type != LINE_RESET &&
	             effect_of(o, o->now) == EFFECT_CHANGED;
	if (f->strayed)
		o->was = o->before;
	o->session_replaced = false;
	o->pending = false;
	keep_state(&o->before, o->now);
	if (!pending)
		return 0;
	unsigned kinds = WANT_PAST;
	bool failed = o->newest.failed || o->newest.expected;
	if (failed || o->past_failed)
		kinds |= WANT_PAST_FAILED;
	o->past_failed = failed;
	return kinds;
}

/* Names of one server differ in length, at the front or at the end. */
static size_t name_slot(struct str name)
{
	const unsigned char *p = (const unsigned char *)name.p;
	size_t n = name.n;
	return n ? (n + (size_t)3 * p[0] + (size_t)5 * p[n / 2] + (size_t)7 * p[n - 1]) %
	                       TOOL_CACHE
	         : 0;
}

static int find_tool(struct open_rollout *o, struct str name)
{
	const struct rollout_facts *f = &o->facts;
	int16_t *cached = &o->tool_cache[name_slot(name)];
	if (*cached && str_eq(f->tools[*cached - 1].name, name))
		return *cached - 1;
	for (size_t i = 0; i < f->tool_count; i++) {
		if (str_eq(f->tools[i].name, name)) {
			*cached = (int16_t)(i + 1);
			return (int)i;
		}
	}
	return TOOL_UNLISTED;
}

static int find_spelled_tool(struct open_rollout *o, struct str name)
{
	struct buf *text = &o->facts.work->text;
	int tool = find_tool(o, json_inner(name));
	if (tool >= 0 || !json_has_escape(name))
		return tool;
	buf_clear(text);
	json_decode(name, text);
	return find_tool(o, buf_view(text));
}

/* When arguments follow as writers put them and hold no brace but their own, they end
   with the call, and need not be walked through. `rest` is the call behind its name. */
static bool take_plain_arguments(struct str rest, struct moment *m)
{
	const struct str key = STR(",\"arguments\":");
	struct str value = str_skip(rest, key.n);
	if (!str_starts(rest, key) || value.n < 3 || value.p[0] != '{' ||
	    memchr(value.p, '}', value.n) != value.p + value.n - 2)
		return false;
	m->arguments = (struct str){value.p, value.n - 1};
	return true;
}

static void look_at_call(struct open_rollout *o, struct str call, struct moment *m)
{
	struct str name = {NULL, 0};
	struct json_member member;
	size_t cursor = 0;
	while (json_next_member(call, &cursor, &member)) {
		if (str_eq(member.key, STR("arguments")))
			m->arguments = member.value;
		if (!str_eq(member.key, STR("name")))
			continue;
		name = member.value;
		if (take_plain_arguments(str_skip(call, cursor), m))
			break;
	}
	if (json_type(name) != JSON_STRING)
		return;
	m->tool_name = json_inner(name);
	m->tool = find_spelled_tool(o, name);
}

/* What later steps will find in `earlier`, and the sum over ok steps. */
static void take_reward(struct open_rollout *o, const struct line *l, bool failed)
{
	double value = 0;
	o->facts.earlier = o->latest;
	o->latest.failed = failed;
	o->latest.status_seen = o->latest.status_seen || l->terminated >= 0;
	if (!str_eq(l->value[KEY_REWARD], STR("0.0")) &&
	    !json_double(l->value[KEY_REWARD], &value))
		return;
	o->latest.reward_seen = true;
	o->latest.reward = value;
	if (failed)
		return;
	o->facts.reward_known = true;
	o->facts.reward_sum += value;
}

/* The counters tell what happened; what was expected is kept from the rules only. */
static void count_failure(struct open_rollout *o, const struct line *l,
                          const struct moment *m)
{
	struct rollout_facts *f = &o->facts;
	o->tally.failed++;
	f->episode.failed += m->failed && !m->after_terminal;
	if (++f->failed_run > o->tally.longest_failed_run)
		o->tally.longest_failed_run = f->failed_run;
	if (f->failed_run == 1 || o->newest.effect == EFFECT_CHANGED ||
	    o->newest.expected)
		peer_error(f->work, l, o->newest.error);
}

static bool is_expected(struct open_rollout *o, const struct line *l)
{
	struct str value = peer_error_value(l);
	if (o->told->error_count == 0)
		return false;
	if (json_type(value) != JSON_STRING || !json_has_escape(value))
		return told_error(o->told, l->turn,
		                  json_type(value) == JSON_STRING ? json_inner(value)
		                                                  : value,
		                  o->facts.expected_came);
	buf_clear(&o->facts.work->text);
	json_decode(value, &o->facts.work->text);
	return told_error(o->told, l->turn, buf_view(&o->facts.work->text),
	                  o->facts.expected_came);
}

static void take_newest(struct open_rollout *o, const struct line *l,
                        const struct moment *m)
{
	o->pending = true;
	o->newest.failed = m->failed;
	o->newest.expected = m->expected;
	o->newest.idle = m->idle;
	o->newest.after_terminal = m->after_terminal;
	o->newest.turn = l->turn;
	o->newest.step = l->step;
	o->newest.tool = m->tool;
}

/* Two steps or more since the newest count that is known? */
static bool take_count(struct open_rollout *o, const struct moment *m)
{
	int64_t before = o->facts.counted = o->env_steps;
	if (m->env_steps >= 0)
		o->env_steps = m->env_steps;
	return before >= 0 && m->env_steps > before + 1;
}

/* Counts one call that was sent. */
static unsigned take_step(struct open_rollout *o, const struct line *l, struct moment *m)
{
	struct rollout_facts *f = &o->facts;
	unsigned kinds = f->steps++ == 0 ? WANT_FIRST : 0;
	bool ok = l->outcome == OUTCOME_OK;
	m->expected = !ok && is_expected(o, l);
	m->failed = !ok && !m->expected;
	/* what was out when the user stopped the run is nobody's failure */
	if (!ok && peer_is(JSON_GET(l->value[KEY_ERROR], "code"), STR("interrupted")))
		m->after_terminal = true;
	m->idle = (m->tool >= 0 && f->tools[m->tool].read_only) ||
	          ((o->told->noop || o->told->read_only) &&
	           told_idle(o->told, m->tool_name, m->arguments));
	m->env_steps = line_count(l->value[KEY_ENV_STEPS]);
	f->episode.steps += !m->after_terminal;
	f->episode.idle += m->idle && !m->after_terminal;
	if (ok)
		f->failed_run = 0;
	else
		count_failure(o, l, m);
	take_reward(o, l, !ok);
	take_newest(o, l, m);
	if (take_count(o, m))
		kinds |= WANT_LEAP;
	if (!line_has(l, KEY_STATE))
		kinds |= WANT_STATELESS;
	if (!line_has(l, KEY_REWARD) || l->terminated < 0)
		kinds |= WANT_UNREAD;
	if (m->expected)
		return 0;
	return kinds | (m->failed ? WANT_FAILED : WANT_OK);
}

static unsigned take_turn(struct open_rollout *o, const struct line *l, struct moment *m)
{
	struct rollout_facts *f = &o->facts;
	unsigned kinds = o->terminal ? WANT_LATE : 0;
	m->after_terminal = o->terminal;
	if (l->turn < 0 || l->turn != f->last_turn)
		f->turns++;
	f->last_turn = l->turn;
	if (line_has(l, KEY_TOOL_CALL))
		look_at_call(o, l->value[KEY_TOOL_CALL], m);
	m->is_step = l->step >= 0;
	kinds |= m->is_step ? take_step(o, l, m) : WANT_TURN;
	if (m->tool == TOOL_UNLISTED && !m->expected)
		kinds |= WANT_UNLISTED;
	if (f->strayed)
		kinds |= WANT_STRAYED;
	if (line_has(l, KEY_LLM))
		kinds |= WANT_LLM;
	if (!o->terminal && (l->terminated == 1 || l->truncated == 1)) {
		o->terminal = true;
		f->ended_turn = l->turn;
	}
	return kinds;
}

static unsigned take_event(struct open_rollout *o, const struct line *l)
{
	if (peer_is(l->value[KEY_EVENT], STR("session-replaced")))
		o->session_replaced = true;
	return WANT_EVENT;
}

unsigned derive_line(struct open_rollout *o, const struct line *l, struct moment *m)
{
	*m = (struct moment){.line = l, .tool = TOOL_NONE, .env_steps = -1};
	switch (l->type) {
	case LINE_STEP:
		return take_turn(o, l, m);
	case LINE_RESET:
		o->terminal = false;
		return WANT_RESET;
	case LINE_EVENT:
		return take_event(o, l);
	case LINE_HEADER:
	case LINE_END:
	case LINE_TYPES:
	case LINE_UNKNOWN:
		return 0;
	}
	return 0;
}

void derive_number(bool known, double value, char out[32])
{
	struct buf text = BUF(32); /* a double takes 24 bytes at most */
	struct json_writer json;
	jw_init(&json, &text);
	if (known)
		jw_double(&json, value);
	else
		jw_null(&json);
	memcpy(out, buf_cstr(&text), text.n + 1);
	buf_release(&text);
}

void derive_tally(struct open_rollout *o, const struct line *end)
{
	struct tally *t = &o->tally;
	t->turns = o->facts.turns;
	t->steps = o->facts.steps;
	/* Without a single step the answer is 0 where there was a state to look at. */
	if (t->steps > 0 ? t->unknown == t->steps : !o->state_known)
		t->effective = -1;
	struct str total = {NULL, 0};
	if (end && line_has(end, KEY_TOTAL_REWARD))
		total = end->value[KEY_TOTAL_REWARD];
	if (total.n > 0 && total.n < sizeof(t->reward)) {
		memcpy(t->reward, total.p, total.n);
		t->reward[total.n] = '\0';
		return;
	}
	double value = o->facts.reward_sum;
	bool known = json_double(total, &value) || o->facts.reward_known;
	derive_number(known, value, t->reward);
}
