/* Sessions side by side: opened one by one, the first acts, the others are looked at
   before and after, then act once themselves. */
#include "env/mcp_tools.h"
#include "policy/tools.h"
#include "probe/inside.h"
#include "probe/words.h"

#define RETRY_MS   250 /* a session that has just ended may hold on to its room so long */
#define TICK_MS    1100 /* clocks that go by seconds have moved */
#define DRAWS_VAIN 8    /* so many in vain, and the server's own words are tried */

/* ---- opening ---- */

/* Is the one that got no answer waiting for another to end? */
static int ask_queue(struct probe *p, struct error *err)
{
	struct session *last = &p->sessions[--p->opened];

	session_close(last);
	if (session_open(&p->asking, last, NULL, err)) {
		return -1;
	}
	p->queued = session_is_open(last);
	p->opened += p->queued;
	return 0;
}

static int open_next(struct probe *p, struct session *s, struct error *err)
{
	if (session_open(&p->asking, s, NULL, err)) {
		return -1;
	}
	if (s->how == SESSION_REFUSED && s->last.outcome == OUTCOME_CAPACITY) {
		return probe_pause(p, RETRY_MS, err) ||
		       session_open(&p->asking, s, NULL, err);
	}
	return 0;
}

int probe_open_sessions(struct probe *p, struct error *err)
{
	struct session *s = p->sessions;

	while (p->tried < p->conf->sessions) {
		s = &p->sessions[p->tried++];
		if (open_next(p, s, err)) {
			return -1;
		}
		if (!session_is_open(s)) {
			break;
		}
		p->opened++;
	}
	p->how_refused = s->how;
	p->refusal = s->last;
	p->limited = s->how == SESSION_REFUSED || s->how == SESSION_LATE;
	return s->how == SESSION_LATE && p->opened ? ask_queue(p, err) : 0;
}

/* ---- what to act with ---- */

static bool user_acts(const struct probe *p)
{
	return p->conf->policy.actions || p->conf->policy.spec;
}

/* Environments are there to be acted in. Other servers' tools may do anything: there
   calls are only drawn where a state was named, which shows what they did. */
static bool may_draw(const struct env_facts *f)
{
	return strcmp(f->protocol, "mcp") != 0 || strcmp(f->state_kind, "none") != 0;
}

static void add_writing_tools(struct str tools, struct buf *out)
{
	struct str tool;
	struct buf name = BUF(BUF_MAX_SMALL);
	size_t cursor = 0;

	buf_char(out, '[');
	while (json_next(tools, &cursor, &tool)) {
		buf_clear(&name);
		json_decode(JSON_GET(tool, "name"), &name);
		if (!mcp_tool_reads_only(tools, buf_view(&name))) {
			buf_text(out, out->n > 1 ? "," : "");
			buf_str(out, tool);
		}
	}
	buf_char(out, ']');
	buf_release(&name);
}

static int open_policy(struct probe *p, struct policy **out, struct error *err)
{
	const struct env_facts *f = session_facts(&p->sessions[0]);
	struct policy_conf conf = p->conf->policy;
	struct buf writing = BUF(BUF_MAX_MESSAGE);

	conf.tools = f->tools;
	if (!json_count(f->tools)) {
		p->no_acts = "the server offers no tools";
	} else if (!user_acts(p) && !may_draw(f)) {
		p->no_acts = "no state would show what a call did, and nobody named one "
			     "that may be tried";
	} else if (!user_acts(p)) {
		add_writing_tools(f->tools, &writing);
		conf.tools = buf_view(&writing);
		conf.spec = "random:1";
		p->no_acts = json_count(conf.tools)
		                     ? NULL
		                     : "every tool says that it only reads";
	}
	int failed = p->no_acts ? 0 : policy_open(&conf, out, err);
	buf_release(&writing);
	return failed;
}

/* ---- acting in the first session ---- */

struct exploring {
	struct policy *policy;
	struct moment before, after;
	struct buf last_error;
	size_t ok, lost; /* lost: in a row, without any answer */
	bool done;
};

static void weigh_act(struct probe *p, struct exploring *x, struct act *a)
{
	bool ok = a->answer.outcome == OUTCOME_OK;

	x->ok += ok;
	x->lost = ok || a->answer.layer != LAYER_TRANSPORT ? 0 : x->lost + 1;
	if (ok && a->changed && p->changer == ACTS_MAX) {
		p->changer = p->act_count;
	}
	if (a->answer.outcome == OUTCOME_CAPACITY && !p->step_refused) {
		p->step_refused = p->limited = true;
		p->no_room = 1;
		p->step_refusal = a->answer;
	}
	p->act_count++;
	x->done = a->answer.over || x->lost > 1 || p->step_refused ||
	          !session_is_open(&p->sessions[0]) || p->act_count == ACTS_MAX ||
	          (x->ok >= GOOD_MAX && p->changer < ACTS_MAX && !probe_uncounted(p));
}

static int act_once(struct probe *p, struct exploring *x, const struct decision *d,
                    struct error *err)
{
	struct session *s = &p->sessions[0];
	struct act *a = &p->acts[p->act_count];

	a->name = arena_str(&p->arena, d->name);
	a->arguments = arena_str(&p->arena, d->arguments);
	if (session_step(&p->asking, s, a->name, a->arguments, &a->answer, err)) {
		return -1;
	}
	buf_clear(&x->last_error);
	buf_text(&x->last_error, a->answer.message);
	if (session_look(&p->asking, s, &x->after, err)) {
		return -1;
	}
	a->known = x->before.known && x->after.known;
	a->changed = a->known && strcmp(x->before.hash, x->after.hash) != 0;
	x->before.known = x->after.known;
	memcpy(x->before.hash, x->after.hash, sizeof(x->before.hash));
	weigh_act(p, x, a);
	return 0;
}

static int explore(struct probe *p, struct exploring *x, struct error *err)
{
	struct decision d;

	while (!x->done && (x->ok || user_acts(p) || p->act_count < DRAWS_VAIN)) {
		struct policy_view view = {.turn = (int64_t)p->act_count,
		                           .last_error = buf_view(&x->last_error)};

		if (p->act_count) {
			view.last = p->acts[p->act_count - 1].answer.outcome;
		}
		if (x->policy->ops->decide(x->policy, &view, &d, err)) {
			return -1;
		}
		if (d.kind != DECIDE_CALL) {
			break;
		}
		if (act_once(p, x, &d, err)) {
			return -1;
		}
	}
	return 0;
}

/* The words of the last error first: it says what was wrong. */
static void collect_words(struct str tools, const struct exploring *x, struct words *w)
{
	struct buf text = BUF(BUF_MAX_SMALL);
	struct str tool;
	size_t cursor = 0;

	words_add(w, buf_view(&x->last_error));
	while (json_next(tools, &cursor, &tool)) {
		buf_clear(&text);
		json_decode(JSON_GET(tool, "description"), &text);
		words_add(w, buf_view(&text));
	}
	buf_release(&text);
}

static int try_tool(struct probe *p, struct exploring *x, struct str tool,
                    const struct words *w, struct error *err)
{
	struct buf name = BUF(BUF_MAX_SMALL), arguments = BUF(BUF_MAX_SMALL);
	struct str key, schema;
	struct error does_not_fit;
	int failed = 0;

	json_decode(JSON_GET(tool, "name"), &name);
	if (tool_action_property(tool, &key, &schema, &does_not_fit)) {
		key = (struct str){NULL, 0};
	}
	for (size_t i = 0; key.p && !failed && !x->done && i < w->count; i++) {
		struct decision d = {.kind = DECIDE_CALL, .name = buf_view(&name)};

		buf_clear(&arguments);
		if (!tool_action_arguments(tool, key, schema, w->item[i], &arguments,
		                           &does_not_fit)) {
			d.arguments = buf_view(&arguments);
			failed = act_once(p, x, &d, err);
		}
	}
	buf_release(&name);
	buf_release(&arguments);
	return failed;
}

/* A tool that takes any string, and means four: drawn strings never fit. */
static int try_words(struct probe *p, struct exploring *x, struct error *err)
{
	struct str tools = arena_str(&p->arena, session_facts(&p->sessions[0])->tools);
	struct words words = {.count = 0};
	struct str tool;
	size_t cursor = 0;
	int failed = 0;

	collect_words(tools, x, &words);
	while (!failed && !x->done && json_next(tools, &cursor, &tool)) {
		failed = try_tool(p, x, tool, &words, err);
	}
	words_release(&words);
	return failed;
}

/* What is repeated later: calls that worked, the one that changed something among them.
 */
static void choose_good(struct probe *p)
{
	bool has_changer = p->changer == ACTS_MAX;

	for (size_t i = 0; i < p->act_count && p->good_count < GOOD_MAX; i++) {
		if (p->acts[i].answer.outcome == OUTCOME_OK) {
			p->good[p->good_count++] = i;
			has_changer |= i == p->changer;
		}
	}
	if (!has_changer && p->good_count) {
		p->good[p->good_count - 1] = p->changer;
	}
}

static int act_in_first(struct probe *p, struct error *err)
{
	struct exploring x = {.last_error = BUF(BUF_MAX_SMALL),
	                      .after = {.json = BUF(0)}};

	if (open_policy(p, &x.policy, err)) {
		return -1;
	}
	if (p->no_acts) {
		return 0;
	}
	x.before.known = p->sessions[0].start.known;
	memcpy(x.before.hash, p->sessions[0].start.hash, sizeof(x.before.hash));
	int failed = explore(p, &x, err);
	if (!failed && !x.ok && !x.done && !user_acts(p)) {
		failed = try_words(p, &x, err) || explore(p, &x, err) ? -1 : 0;
	}
	choose_good(p);
	x.policy->ops->close(x.policy);
	buf_release(&x.last_error);
	buf_release(&x.after.json);
	return failed;
}

/* ---- the others ---- */

static const struct act *own_act(const struct probe *p)
{
	size_t place = p->changer < ACTS_MAX ? p->changer : p->good[0];

	return p->good_count ? &p->acts[place] : NULL;
}

/* Does the state move although nobody acts? Then that it moved says nothing. */
static int wait_for_move(struct probe *p, struct session *s, struct error *err)
{
	struct moment now = {.json = BUF(0)};

	if (probe_pause(p, TICK_MS, err) || session_look(&p->asking, s, &now, err)) {
		return -1;
	}
	p->restless = now.known && strcmp(now.whole, s->later.whole) != 0;
	return 0;
}

static int visit(struct probe *p, size_t i, struct error *err)
{
	struct session *s = &p->sessions[i];
	struct visit *v = &p->visits[i];
	const struct act *a = own_act(p);

	if (session_look(&p->asking, s, &s->later, err)) {
		return -1;
	}
	v->looked = s->start.known && s->later.known &&
	            strcmp(session_facts(s)->state_kind, "observation") != 0;
	v->moved = v->looked && strcmp(s->start.whole, s->later.whole) != 0;
	if (v->moved && !p->restless && wait_for_move(p, s, err)) {
		return -1;
	}
	if (!a || !session_is_open(s)) {
		return 0;
	}
	v->acted = true;
	if (session_step(&p->asking, s, a->name, a->arguments, &v->answer, err)) {
		return -1;
	}
	if (v->answer.outcome == OUTCOME_CAPACITY && !p->step_refused) {
		p->step_refused = p->limited = true;
		p->no_room = i + 1;
		p->step_refusal = v->answer;
	}
	return 0;
}

/* Twice at once: what differs then moves by itself. */
static int look_at_start(struct probe *p, struct error *err)
{
	struct session *first = &p->sessions[0];

	for (size_t i = 0; i < p->opened; i++) {
		if (session_look(&p->asking, &p->sessions[i], &p->sessions[i].start,
		                 err)) {
			return -1;
		}
	}
	if (session_look(&p->asking, first, &first->later, err)) {
		return -1;
	}
	p->restless = first->start.known && first->later.known &&
	              strcmp(first->start.whole, first->later.whole) != 0;
	return 0;
}

int probe_act(struct probe *p, struct error *err)
{
	p->named = user_acts(p);
	p->no_acts = p->opened ? NULL : "no session was opened";
	if (!p->opened) {
		return 0;
	}
	if (look_at_start(p, err) || act_in_first(p, err)) {
		return -1;
	}
	for (size_t i = 1; i < p->opened; i++) {
		if (session_is_open(&p->sessions[i]) && visit(p, i, err)) {
			return -1;
		}
	}
	return 0;
}
