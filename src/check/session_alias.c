/* Rule session-alias: two rollouts, one environment. */
#include "check/company.h"
#include "check/peer.h"

#include <inttypes.h>

#define ID_MIN 8 /* shorter ones ("1", "env-0") are no names of their own */

struct alias {
	uint64_t mark;  /* of id and header's meta: the same in copies of one rollout */
	bool is_shared; /* an id was seen to be another's: one finding is enough */
	struct span leaps;
	char counter[64]; /* the first rollout whose steps were counted with ours */
};

static void claim(struct alias *s, const struct rollout_facts *r, const struct moment *m,
                  char kind, const char *what, struct str id, struct findings *out)
{
	struct str text =
		json_type(id) == JSON_STRING ? json_inner(id) : (struct str){NULL, 0};
	struct str owner;
	struct span where = {0};
	char other[64] = "a rollout that ended before it", shown[64];
	if (text.n < ID_MIN || s->is_shared ||
	    !company_claim(r->company, kind, text, s->mark, &owner))
		return;
	s->is_shared = true;
	if (owner.p)
		peer_name(r->work, owner, other, sizeof(other));
	peer_name(r->work, text, shown, sizeof(shown));
	if (m->line->type == LINE_STEP)
		span_add(&where, m->line->turn, m->line->step);
	finding_say(out, SEVERITY_ERROR, &where, what,
	            "this rollout has the same environment as %s: %s", other, shown);
}

static void look_at_ids(struct alias *s, const struct rollout_facts *r,
                        const struct moment *m, struct findings *out)
{
	struct str meta = m->line->value[KEY_META];
	struct str session = {NULL, 0}, ours = {NULL, 0}, episode = {NULL, 0};
	struct json_member member;
	for (size_t cursor = 0; json_next_member(meta, &cursor, &member);) {
		if (str_eq(member.key, STR("env_session")))
			ours = member.value;
		else if (str_eq(member.key, STR("session")))
			session = member.value;
		else if (str_eq(member.key, STR("episode")))
			episode = member.value;
	}
	if (m->line->type == LINE_HEADER)
		s->mark = peer_fingerprint(meta) ^ peer_fingerprint(r->id);
	if (json_type(ours) == JSON_STRING)
		claim(s, r, m, 's', "/meta/env_session", ours, out);
	else
		claim(s, r, m, 's', "/meta/session", session, out);
	claim(s, r, m, 'e', "/meta/episode", episode, out);
}

/* The count grew by more than our one step, and another rollout's newest count is the
   number before it: somebody counts our steps and theirs together. */
static void look_at_count(struct alias *s, const struct rollout_facts *r,
                          const struct moment *m)
{
	struct str other = company_counter(r->company, r->counted, m->env_steps);
	if (!other.p || m->after_terminal)
		return;
	if (s->leaps.count == 0)
		peer_name(r->work, other, s->counter, sizeof(s->counter));
	span_add(&s->leaps, m->line->turn, m->line->step);
}

static void look_at_state(const struct rollout_facts *r, const struct moment *m,
                          struct findings *out)
{
	struct str other = company_mover(r->company);
	struct span where = {0};
	char name[64];
	if (!other.p)
		return;
	peer_name(r->work, other, name, sizeof(name));
	if (m->line->type == LINE_STEP)
		span_add(&where, m->line->turn, m->line->step);
	finding_say(out, SEVERITY_ERROR, &where, "/state",
	            "the state moved though this rollout sent nothing; %s acted "
	            "meanwhile, from or to the same state",
	            name);
}

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	struct alias *s = state;
	if (!m->is_step || r->steps == 1)
		look_at_ids(s, r, m, out);
	if (r->strayed)
		look_at_state(r, m, out);
	if (m->is_step && r->counted >= 0 && m->env_steps > r->counted + 1)
		look_at_count(s, r, m);
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	const struct alias *s = state;
	if (r->strayed && m->line)
		look_at_state(r, m, out);
	if (s->leaps.count >= 2 && !s->is_shared)
		finding_say(
			out, SEVERITY_ERROR, &s->leaps, "/env_steps",
			"%" PRId64
			" times the environment counted the steps of %s together with "
			"those of this rollout",
			s->leaps.count, s->counter);
}

const struct check check_session_alias = {
	.id = "session-alias",
	.title = "two rollouts share one environment",
	.why = "Two rollouts were given environments with the same session or episode "
	       "id; or the state of one moved while only the other one acted; or the "
	       "environment counted the steps of both together. Each then plays in "
	       "what the other left behind: observations, rewards and ends belong to "
	       "nobody, though no call fails.\n"
	       "Look at meta.env_session, meta.session and meta.episode of both "
	       "rollouts, and at where the server makes its session ids from: a hash "
	       "of seed and configuration, a constant, the client's name, one object "
	       "for all connections, a proxy that drops the session header.\n"
	       "Cure: hand every rollout a session id of its own, and make the server "
	       "keep one environment for each.",
	.needs_meta = true,
	.wants = WANT_HEADER | WANT_RESET | WANT_FIRST | WANT_STRAYED | WANT_LEAP,
	.state_size = sizeof(struct alias),
	.line = line,
	.end = end,
};
