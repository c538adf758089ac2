/* Which turn a call comes from: see joining.h. */
#include "tap/episode_internal.h"

#include "base/log.h"
#include "base/text.h"
#include "json/canon.h"
#include "policy/llm/conversation.h"

#include <stdlib.h>

#define WAITING_MAX 4096                         /* turns; the oldest is then recorded apart */
#define WAIT_NS     (UINT64_C(600) * 1000000000) /* the same after this time */

struct asking {
	struct tap_joiner *j;
	struct tap_session *s;
	struct tap_talk *talk;
	const struct call_fields *call;
};

struct set {
	struct model_turn **at;
	size_t n;
};

/* ---- names of rollouts ---- */

static uint64_t name_hash(const struct model_turn *t)
{
	return map_hash_with(map_hash(str_from(t->request->rung)), map_hash(t->request->rollout));
}

/* A name that is the same in all requests tells nothing. */
static bool is_telling(const struct tap_joiner *j, const struct model_turn *t)
{
	uint64_t hash = t->request->rollout.p ? name_hash(t) : 0;

	return t->request->rollout.p &&
	       (!t->request->weak || (j->several && !map_find(&j->shared, hash, STR_NONE)));
}

static bool names_session(const struct tap_session *s, const struct model_turn *t)
{
	return str_eq(t->request->rollout, buf_view(&s->session)) ||
	       str_eq(t->request->rollout, buf_view(&s->env_session)) ||
	       str_eq(t->request->rollout, buf_view(&s->episode->id));
}

static bool has_name(const struct asking *a, const struct model_turn *t)
{
	return is_telling(a->j, t) && (a->talk->rollout == name_hash(t) || names_session(a->s, t));
}

static void note_name(struct tap_joiner *j, const struct model_turn *t)
{
	if (t->request->rollout.p && t->request->weak) {
		uint64_t hash = name_hash(t);

		j->several |= j->name && j->name != hash;
		j->name = hash;
	}
}

/* The same name in two open episodes: it is none of a rollout. */
static void bind_name(struct tap_joiner *j, struct tap_session *s, const struct model_turn *t)
{
	uint64_t hash = t->request->rollout.p ? name_hash(t) : 0;

	for (struct tap_session *o = j->r->sessions; o && hash && t->request->weak; o = o->next)
		if (o != s && o->episode && o->episode->talk.rollout == hash)
			map_find_or_add(&j->shared, hash, NULL, sizeof(struct map_item));
	s->episode->talk.rollout = hash;
}

/* ---- what a turn continues ---- */

static bool continues(const struct asking *a, const struct model_turn *t)
{
	return model_turn_precedes(a->talk->turn, t->prompt, true);
}

/* Its prompt is the last one and more, but not with the reply as it was. */
static bool continues_prompt(const struct asking *a, const struct model_turn *t)
{
	return model_turn_precedes(a->talk->turn, t->prompt, false);
}

static bool has_result(const struct asking *a, const struct model_turn *t)
{
	return a->talk->calls > 0 && t->prompt->result.p &&
	       str_eq(t->prompt->result, text_trim(buf_view(&a->talk->result)));
}

static bool is_first(const struct asking *a, const struct model_turn *t)
{
	return a->talk->calls == 0 && t->prompt->results == 0;
}

static bool is_asked_since(const struct asking *a, const struct model_turn *t)
{
	return t->request->asked_ns >= a->talk->answered_ns;
}

/* Does it belong to another open episode? */
static bool is_anothers(const struct asking *a, const struct model_turn *t)
{
	bool telling = is_telling(a->j, t);

	if (has_name(a, t))
		return false;
	if (telling && a->talk->rollout && a->talk->rollout != name_hash(t))
		return true;
	for (struct tap_session *o = a->j->r->sessions; o; o = o->next) {
		if (o == a->s || !o->episode)
			continue;
		const struct tap_talk *k = &o->episode->talk;
		if ((telling && (k->rollout == name_hash(t) || names_session(o, t))) ||
		    (model_turn_precedes(k->turn, t->prompt, true) && !continues(a, t))) {
			return true;
		}
	}
	return false;
}

/* ---- calls ---- */

static bool is_call(const struct asking *a, const struct tool_call *c)
{
	bool unnamed = a->s->protocol == PROTOCOL_OPENENV; /* which does not name tools */

	return (unnamed || str_eq(c->name, a->call->name)) && c->arguments.p &&
	       json_equal(c->arguments, a->call->arguments);
}

/* The turn's call that this is; its number of calls if there is none. */
static size_t call_in(const struct asking *a, const struct model_turn *t)
{
	size_t i = t->next_call;

	while (i < t->calls.count && !is_call(a, &t->calls.items[i]))
		i++;
	return i;
}

static bool has_call(const struct asking *a, const struct model_turn *t)
{
	return call_in(a, t) < t->calls.count;
}

/* ---- choosing ---- */

/* Keeps those that fit, if there are any. */
static bool narrow(struct set *s, const struct asking *a,
                   bool (*fits)(const struct asking *a, const struct model_turn *t))
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++) {
		struct model_turn *t = s->at[i];

		if (fits(a, t)) {
			s->at[i] = s->at[n];
			s->at[n++] = t;
		}
	}
	s->n = n ? n : s->n;
	return n > 0;
}

static bool are_twins(const struct set *s)
{
	for (size_t i = 1; i < s->n; i++)
		if (!str_eq(s->at[i]->said, s->at[0]->said) ||
		    !str_eq(s->at[i]->prompt->text, s->at[0]->prompt->text))
			return false;
	return true;
}

static struct model_turn *oldest(const struct set *s)
{
	struct model_turn *first = s->at[0];

	for (size_t i = 1; i < s->n; i++) {
		const struct model_turn *t = s->at[i];

		first = t->request->number < first->request->number ||
		                        (t->request == first->request && t->row < first->row)
		                ? s->at[i]
		                : first;
	}
	return first;
}

/* A trainer makes the calls of a batch one by one, in its order: are all candidates of one reply,
   and is this the first of its turns that has a call and was not taken? */
static bool is_next_in_batch(const struct asking *a, const struct set *s,
                             const struct model_turn *first)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->at[i]->request != first->request)
			return false;
	for (const struct model_turn *t = a->j->first; t; t = t->next)
		if (t->request == first->request && t->row < first->row && t->calls.count)
			return false;
	return true;
}

/* Of a call in a batch. */
static uint64_t guess_hash(const struct asking *a, const struct model_turn *t)
{
	return map_hash_with(map_hash(a->call->arguments), t->request->number);
}

/* Which of several that fit by content? */
static struct model_turn *choose_by_time(const struct asking *a, struct set *s)
{
	(void)narrow(s, a, is_asked_since);
	struct model_turn *first = oldest(s);

	if (s->n > 1 && !are_twins(s) && !is_next_in_batch(a, s, first))
		return NULL;
	a->j->guessed = guess_hash(a, first);
	return first;
}

static bool is_alone(const struct asking *a)
{
	for (const struct tap_session *o = a->j->r->sessions; o; o = o->next)
		if (o != a->s && o->episode)
			return false;
	return true;
}

static void gather(const struct asking *a, struct set *s, bool called)
{
	s->n = 0;
	for (struct model_turn *t = a->j->first; t; t = t->next) {
		bool caused = a->talk->calls == 0 || is_asked_since(a, t);

		if (caused && (called ? has_call(a, t) : t->calls.count > t->next_call) &&
		    !is_anothers(a, t)) {
			s->at[s->n++] = t;
		}
	}
}

/* The call was made by other means than the model wrote it: only a turn that names the rollout,
   continues it, or is the only one for the only episode can be its origin. */
static struct model_turn *choose_otherwise(const struct asking *a, struct set *s, const char **rung)
{
	gather(a, s, false);
	if (s->n && narrow(s, a, has_name))
		*rung = s->at[0]->request->rung;
	else if (s->n && narrow(s, a, continues))
		*rung = "content";
	else if (s->n && is_alone(a))
		*rung = "time";
	else
		return NULL;
	return s->n == 1 ? s->at[0] : NULL;
}

static struct model_turn *choose(const struct asking *a, struct set *s, const char **rung)
{
	gather(a, s, true);
	if (!s->n)
		return choose_otherwise(a, s, rung);
	*rung = narrow(s, a, has_name) ? s->at[0]->request->rung : "content";
	if (!narrow(s, a, continues))
		(void)narrow(s, a, continues_prompt);
	(void)(narrow(s, a, has_result) || narrow(s, a, is_first));
	if (s->n == 1) { /* or what the last guess has left */
		bool left = !strcmp(*rung, "content") && a->j->guessed == guess_hash(a, s->at[0]);

		*rung = left ? "time" : *rung;
		return s->at[0];
	}
	*rung = "time";
	return choose_by_time(a, s);
}

/* ---- joining ---- */

void tap_join_remove(struct tap_joiner *j, struct model_turn *t)
{
	struct model_turn **at = &j->first, *before = NULL;

	while (*at != t) {
		before = *at;
		at = &before->next;
	}
	*at = t->next;
	j->last = j->last == t ? before : j->last;
	t->next = NULL;
	j->waiting--;
}

static void count(struct tap_joiner *j, const char *rung)
{
	struct tap_join_counts *c = &j->r->counts.model;

	*(!strcmp(rung, "content") ? &c->content
	  : !strcmp(rung, "time")  ? &c->time
	                           : &c->named) += 1;
}

static void join(struct asking *a, struct model_turn *t, const char *rung, struct tap_step *step)
{
	AUTO_BUF messages = BUF(BUF_MAX_MESSAGE), llm = BUF(BUF_MAX_MESSAGE);
	struct tap_talk *k = a->talk;

	tap_join_remove(a->j, t);
	count(a->j, rung);
	bind_name(a->j, a->s, t);
	tap_talk_add(a->j, k, t, &messages, &llm);
	step->turn = k->turns++;
	step->joined = rung;
	step->messages = arena_str(&step->arena, buf_view(&messages));
	step->llm = arena_str(&step->arena, buf_view(&llm));
}

/* The step has the id that the model gave the call. */
static void take_call(struct asking *a, struct model_turn *t, struct tap_step *step)
{
	size_t i = call_in(a, t);

	i = i < t->calls.count ? i : t->next_call;
	if (i < t->calls.count && !step->call.id.p)
		step->call.id = arena_str(&step->arena, t->calls.items[i].id);
	t->next_call = i + 1;
}

void tap_join_call(struct tap_session *s, struct tap_step *step)
{
	struct tap_joiner *j = tap_joiner_of(s->r);
	struct tap_talk *k = &s->episode->talk;
	struct asking a = {.j = j, .s = s, .talk = k, .call = &step->call};
	const char *rung = NULL;

	step->turn = -1;
	if (!j)
		return;
	if (k->turn && has_call(&a, k->turn)) {
		step->turn = k->turns - 1;
		take_call(&a, k->turn, step);
		k->calls++;
		return;
	}
	struct set set = {.at = mem_array(j->waiting + 1, sizeof(void *))};
	struct model_turn *t = choose(&a, &set, &rung);
	if (t) {
		join(&a, t, rung, step);
		take_call(&a, t, step);
	} else {
		step->turn = k->turns++;
		step->joined = set.n ? "ambiguous" : NULL;
		j->r->counts.model.ambiguous += set.n > 0;
	}
	k->calls++;
	free(set.at);
}

/* ---- turns without a call ---- */

static void write_turn(struct tap_joiner *j, struct tap_session *s, struct model_turn *t)
{
	struct tap_episode *e = s->episode;
	struct step_fields f = {.step = e->steps,
	                        .state = s->state_known ? buf_view(&s->state) : STR_NONE,
	                        .ignore = e->ignored.paths,
	                        .joined = t->joined};

	bind_name(j, s, t);
	tap_talk_write(j, &e->talk, t, &e->lines, f);
	e->last_ns = tap_now_ns(s->r);
}

static void write_waiting(struct tap_joiner *j, struct tap_session *s)
{
	struct tap_talk *k = &s->episode->talk;

	while (k->waiting && !tap_in_flight(s)) {
		struct model_turn *t = k->waiting;

		k->waiting = t->next;
		t->next = NULL;
		write_turn(j, s, t);
	}
}

/* The only open episode that the prompt continues, or whose name it has. */
static struct tap_session *owner(struct tap_joiner *j, const struct model_turn *t,
                                 const char **rung)
{
	struct tap_session *found = NULL;

	for (struct tap_session *s = j->r->sessions; s; s = s->next) {
		struct asking a = {.j = j, .s = s};

		if (!s->episode)
			continue;
		a.talk = &s->episode->talk;
		bool named = has_name(&a, t);
		if (!named && !continues(&a, t))
			continue;
		if (found)
			return NULL;
		found = s;
		*rung = named ? t->request->rung : "content";
	}
	return found;
}

/* Without tools, text that looks like a call may be one. */
static bool may_be_call(const struct model_turn *t)
{
	return t->calls.count ||
	       (!t->request->tools.p && t->calls.cause && !strcmp(t->calls.cause, "markup"));
}

void tap_joiner_add(struct tap_joiner *j, struct model_turn *t)
{
	const char *rung = NULL;

	j->r->counts.model.turns++;
	note_name(j, t);
	struct tap_session *s = may_be_call(t) ? NULL : owner(j, t, &rung);
	if (s) {
		struct model_turn **end = &s->episode->talk.waiting;

		while (*end)
			end = &(*end)->next;
		*end = t;
		t->joined = rung;
		count(j, rung);
		write_waiting(j, s);
		return;
	}
	*(j->last ? &j->last->next : &j->first) = t;
	j->last = t;
	j->waiting++;
}

void tap_joiner_fail(struct tap_joiner *j, struct model_request *q, struct str detail)
{
	const char *rung;
	struct model_turn asked = {.request = q, .prompt = q->prompts};
	struct tap_session *s = q->prompt_count == 1 ? owner(j, &asked, &rung) : NULL;

	j->r->counts.model.failed++;
	if (s)
		tap_event(s, EVENT_RETRY, detail);
	else
		log_info("a request to the model failed: %.*s", STR_ARG(detail));
}

/* ---- what sessions report ---- */

void tap_join_answered(struct tap_session *s, const struct env_reply *reply)
{
	struct tap_joiner *j = tap_joiner_of(s->r);
	struct tap_talk *k = &s->episode->talk;

	if (!j)
		return;
	k->result.max = BUF_MAX_MESSAGE;
	buf_clear(&k->result);
	tool_result_text(reply->observation, &k->result);
	if (!k->result.n)
		buf_str(&k->result, reply->raw.n ? reply->raw : reply->error.message);
	write_waiting(j, s);
}

void tap_join_end(struct tap_session *s)
{
	struct tap_joiner *j = tap_joiner_of(s->r);
	struct tap_talk *k = &s->episode->talk;

	if (j)
		write_waiting(j, s);
	model_turn_free(k->turn);
	BUFS_RELEASE(&k->result, &k->sent);
}

void tap_joiner_tick(struct tap_joiner *j, bool all)
{
	while (j && j->first &&
	       (all || j->waiting > WAITING_MAX ||
	        tap_now_ns(j->r) - j->first->replied_ns > WAIT_NS)) {
		tap_join_apart(j, j->first);
	}
}
