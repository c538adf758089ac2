/* Rule session-alias: two rollouts share one environment. */
#include "base/hash.h"
#include "check/rule.h"
#include "evidence/sharing.h"

#define ID_MIN  8 /* shorter ids ("1", "env-0") are not unique */
#define HEX_MIN 8 /* generated ids have as many hex digits in a row */
struct alias {
	uint64_t mark;  /* a hash of the id and the header's meta: equal in copies of one rollout */
	bool is_shared; /* reported: one finding is enough */
};

/* Generated for one episode, and not a label ("episode-1") or a time? */
static bool is_generated(struct str id)
{
	size_t digits = 0, letters = 0;

	for (size_t i = 0; i < id.n; i++) {
		bool digit = id.p[i] >= '0' && id.p[i] <= '9';
		bool letter = id.p[i] && strchr("abcdefABCDEF", id.p[i]);

		digits = digit || letter ? digits + digit : 0;
		letters = digit || letter ? letters + letter : 0;
		if (digits + letters >= HEX_MIN && digits > 0 && letters > 0)
			return true;
	}
	return false;
}

/* Where a connection is the session, an id only names the episode: it may be a label, or drawn
   from the seed. */
static bool is_name(const struct rollout_facts *r, struct str id)
{
	return protocol_has(r->protocol, IS_CONNECTION) && !is_generated(id);
}

static uint64_t mark_of(const struct alias *s, const struct rollout_facts *r)
{
	return protocol_has(r->protocol, IS_CONNECTION) && r->has_seed
	               ? map_hash_with(0, (uint64_t)r->seed)
	               : s->mark;
}

static void claim(struct alias *s, const struct rollout_facts *r, const struct derived_line *m,
                  char kind, const char *what, struct str id, struct findings *out)
{
	struct str text = json_type(id) == JSON_STRING ? json_inner(id) : STR_NONE;
	struct str owner;
	struct span where = {0};
	char other[64] = "a rollout that ended before it", shown[64];

	if (text.n < ID_MIN || s->is_shared || is_name(r, text) ||
	    !sharing_claim(r->sharing, kind, text, mark_of(s, r), &owner)) {
		return;
	}
	s->is_shared = true;
	if (owner.p)
		peer_name(r->work, owner, other, sizeof(other));
	peer_name(r->work, text, shown, sizeof(shown));
	span_add(&where, m->line->turn, m->line->step);
	finding_add(out, SEVERITY_ERROR, m->line->type == LINE_STEP ? &where : NULL, what,
	            "this rollout has the same environment as %s: %s", other, shown);
}

static void check_ids(struct alias *s, const struct rollout_facts *r, const struct derived_line *m,
                      struct findings *out)
{
	struct str meta = m->line->value[KEY_META];
	struct str session = STR_NONE, ours = STR_NONE, episode = STR_NONE;
	struct json_member member;

	for (size_t cursor = 0; json_next_member(meta, &cursor, &member);)
		if (str_eq(member.key, STR("env_session")))
			ours = member.value;
		else if (str_eq(member.key, STR("session")))
			session = member.value;
		else if (str_eq(member.key, STR("episode")))
			episode = member.value;
	if (m->line->type == LINE_HEADER)
		s->mark = fingerprint(meta) ^ fingerprint(r->id);
	if (json_type(ours) == JSON_STRING)
		claim(s, r, m, 's', "/meta/env_session", ours, out);
	else
		claim(s, r, m, 's', "/meta/session", session, out);
	claim(s, r, m, 'e', "/meta/episode", episode, out);
}

static void find(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	struct alias *s = state;

	if (!m->is_step || r->steps == 1)
		check_ids(s, r, m, out);
}

static void report_member(const struct rollout_facts *r, const struct member *m,
                          struct findings *out)
{
	char name[64], pointer[80];

	peer_name(r->work, m->pointer, name, sizeof(name));
	snprintf(pointer, sizeof(pointer), "/state%s", name);
	finding_add(out, SEVERITY_ERROR, NULL, pointer,
	            "%s, which this rollout's calls change, also changed between the calls of "
	            "rollouts: in %" PRId64 " of %" PRId64 " readings, while others called tools",
	            name[0] ? name : "the state", r->sharing->shown, r->sharing->busy);
}

static void report_continued(const struct rollout_facts *r, struct findings *out)
{
	finding_add(out, SEVERITY_ERROR, NULL, "/state",
	            "%" PRId64 " rollouts up to this one each began in the state in which the "
	            "previous one had ended: the reset does not restore the environment",
	            r->continued);
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	const struct alias *s = state;

	if (s->is_shared)
		return;
	if (!protocol_has(r->protocol, HAS_SESSIONS) && r->concurrent) {
		finding_add(out, SEVERITY_ERROR, NULL, "/env/protocol",
		            "%s has no sessions: rollouts that run at the same time share one "
		            "environment, or each call runs in a new one",
		            protocol_name(r->protocol));
	} else if (r->shared) {
		report_member(r, r->shared, out);
	} else if (r->continued == CONTINUED_ROLLOUTS && r->effective > 0) {
		report_continued(r, out);
	}
}

const struct check check_session_alias = {
	.id = "session-alias",
	.title = "two rollouts share one environment",
	.severity = SEVERITY_ERROR,
	.explains = {&check_session_churn, &check_post_terminal, &check_effect_despite_error,
                     &check_starts_over},
	.more = "rolldbg probe \1env\2 URL \1sessions\2 8",
	.why = "Two rollouts got the same environment: they report one session or generated "
	       "episode id, ran at once in a protocol without sessions, or changed each other's "
	       "state; or three in a row each began where the one before ended. Rewards are "
	       "meaningless, although no call fails.\n"
	       "Look at meta.env_session, meta.session and meta.episode of both, and at how the "
	       "server makes session ids: a hash of the seed, a constant, one object for all "
	       "connections, a proxy that drops the session header.\n"
	       "Fix: give every rollout its own session id, keep one environment per session, "
	       "and let reset() restore everything that steps change.",
	.needs = FACT(META),
	.needs_meta = true,
	.wants = KIND_HEADER | KIND_RESET | KIND_FIRST,
	.state_size = sizeof(struct alias),
	.find = find,
	.end = end,
};
