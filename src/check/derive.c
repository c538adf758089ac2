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

const struct past_step *derive_past(struct open_rollout *o, const struct line *l)
{
	struct str now = {NULL, 0};
	if (l && l->type != LINE_STEP && l->type != LINE_END && l->type != LINE_RESET)
		return NULL;
	if (l && l->type != LINE_RESET)
		now = known_hash(l);
	note_state(o, now);
	if (!o->pending)
		return NULL;
	o->newest.effect = effect_of(o, now);
	count_effect(o, &o->newest);
	o->pending = false;
	o->session_replaced = false;
	return &o->newest;
}

static int find_tool(const struct rollout_facts *f, struct str name)
{
	for (size_t i = 0; i < f->tool_count; i++) {
		if (str_eq(f->tools[i].name, name))
			return (int)i;
	}
	return TOOL_UNLISTED;
}

static int find_spelled_tool(const struct rollout_facts *f, struct str name)
{
	if (!json_has_escape(name))
		return find_tool(f, json_inner(name));
	buf_clear(&f->work->text);
	json_decode(name, &f->work->text);
	return find_tool(f, buf_view(&f->work->text));
}

static void look_at_call(const struct rollout_facts *f, struct str call, struct moment *m)
{
	struct str name = {NULL, 0};
	struct json_member member;
	size_t cursor = 0;
	while (json_next_member(call, &cursor, &member)) {
		if (str_eq(member.key, STR("name")))
			name = member.value;
		else if (str_eq(member.key, STR("arguments")))
			m->arguments = member.value;
	}
	if (json_type(name) != JSON_STRING)
		return;
	m->tool_name = json_inner(name);
	m->tool = find_spelled_tool(f, name);
}

static void add_reward(struct open_rollout *o, struct str reward)
{
	double value = 0;
	if (!str_eq(reward, STR("0.0")) && !json_double(reward, &value))
		return;
	o->reward_known = true;
	o->reward_sum += value;
}

/* Counts one call that was sent. */
static void take_step(struct open_rollout *o, const struct line *l, struct moment *m)
{
	struct rollout_facts *f = &o->facts;
	f->steps++;
	f->episode.steps += !m->after_terminal;
	if (m->failed) {
		o->tally.failed++;
		f->episode.failed += !m->after_terminal;
		if (++o->failed_run > o->tally.longest_failed_run)
			o->tally.longest_failed_run = o->failed_run;
	} else {
		o->failed_run = 0;
		add_reward(o, l->value[KEY_REWARD]);
	}
	o->pending = true;
	o->newest.failed = m->failed;
	o->newest.after_terminal = m->after_terminal;
	o->newest.turn = l->turn;
	o->newest.step = l->step;
	o->newest.tool = m->tool;
	if (m->failed)
		peer_error(f->work, l, o->newest.error);
}

static unsigned take_turn(struct open_rollout *o, const struct line *l, struct moment *m)
{
	struct rollout_facts *f = &o->facts;
	m->after_terminal = o->terminal;
	if (l->turn < 0 || l->turn != f->last_turn)
		f->turns++;
	f->last_turn = l->turn;
	if (line_has(l, KEY_TOOL_CALL))
		look_at_call(f, l->value[KEY_TOOL_CALL], m);
	m->is_step = l->step >= 0;
	if (m->is_step) {
		m->failed = l->outcome != OUTCOME_OK;
		json_i64(l->value[KEY_ENV_STEPS], &m->env_steps);
		keep_state(&o->before, known_hash(l));
		take_step(o, l, m);
	}
	if (l->terminated == 1 || l->truncated == 1)
		o->terminal = true;
	if (!m->is_step)
		return WANT_TURN;
	return m->failed ? WANT_FAILED : WANT_OK;
}

static unsigned take_event(struct open_rollout *o, const struct line *l)
{
	if (o->pending && peer_is(l->value[KEY_EVENT], STR("session-replaced")))
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
	double value = o->reward_sum;
	bool known = json_double(total, &value) || o->reward_known;
	derive_number(known, value, t->reward);
}
