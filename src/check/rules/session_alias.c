/* Rule session-alias: two rollouts share one environment. */
#include "check/check.h"

#include "facts/cross_rollout.h"
#include "facts/fingerprint.h"
#include "facts/peer.h"

#include <inttypes.h>
#include <stdio.h>

#define ID_MIN  8 /* shorter ids ("1", "env-0") are not unique */
#define HEX_MIN 8 /* generated ids have as many hex digits in a row */
/* Rollouts that began where the one before had ended; two only if the rollouts changed the state
   in at least as many steps: else both may begin there by chance. */
#define CONTINUED_MIN         3
#define CONTINUED_MIN_CHANGES 6

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
		if (digits + letters >= HEX_MIN && digits > 0 && letters > 0) {
			return true;
		}
	}
	return false;
}

/* Where a connection is the session, an id only names the episode: it may be a label, or drawn
   from the seed. */
static bool is_name(const struct rollout_facts *r, struct str id)
{
	return protocol_is_one_connection(r->protocol) && !is_generated(id);
}

static uint64_t mark_of(const struct alias *s, const struct rollout_facts *r)
{
	return protocol_is_one_connection(r->protocol) && r->has_seed
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
	    !cross_rollout_claim(r->cross_rollout, kind, text, mark_of(s, r), &owner)) {
		return;
	}
	s->is_shared = true;
	if (owner.p) {
		peer_name(r->work, owner, other, sizeof(other));
	}
	peer_name(r->work, text, shown, sizeof(shown));
	if (m->line->type == LINE_STEP) {
		span_add(&where, m->line->turn, m->line->step);
	}
	finding_add(out, SEVERITY_ERROR, &where, what,
	            "this rollout has the same environment as %s: %s", other, shown);
}

static void check_ids(struct alias *s, const struct rollout_facts *r, const struct derived_line *m,
                      struct findings *out)
{
	struct str meta = m->line->value[KEY_META];
	struct str session = STR_NONE, ours = STR_NONE, episode = STR_NONE;
	struct json_member member;

	for (size_t cursor = 0; json_next_member(meta, &cursor, &member);) {
		if (str_eq(member.key, STR("env_session"))) {
			ours = member.value;
		} else if (str_eq(member.key, STR("session"))) {
			session = member.value;
		} else if (str_eq(member.key, STR("episode"))) {
			episode = member.value;
		}
	}
	if (m->line->type == LINE_HEADER) {
		s->mark = fingerprint(meta) ^ fingerprint(r->id);
	}
	if (json_type(ours) == JSON_STRING) {
		claim(s, r, m, 's', "/meta/env_session", ours, out);
	} else {
		claim(s, r, m, 's', "/meta/session", session, out);
	}
	claim(s, r, m, 'e', "/meta/episode", episode, out);
}

static void check_state(const struct rollout_facts *r, const struct derived_line *m,
                        struct findings *out)
{
	struct str other = cross_rollout_mover(r->cross_rollout);
	struct span where = {0};
	char name[64];

	if (!other.p) {
		return;
	}
	peer_name(r->work, other, name, sizeof(name));
	if (m->line->type == LINE_STEP) {
		span_add(&where, m->line->turn, m->line->step);
	}
	finding_add(out, SEVERITY_ERROR, &where, "/state",
	            "the state changed although this rollout made no call; a call of %s began "
	            "or ended in the same state meanwhile",
	            name);
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	struct alias *s = state;

	if (!m->is_step || r->steps == 1) {
		check_ids(s, r, m, out);
	}
	if (r->changed_without_call) {
		check_state(r, m, out);
	}
}

static void report_change(const struct rollout_facts *r, struct findings *out)
{
	const struct pauses *p = r->pauses;
	char key[64], before[48], after[48], pointer[80];
	struct span where = {0};

	peer_name(r->work, p->key, key, sizeof(key));
	peer_name(r->work, p->before, before, sizeof(before));
	peer_name(r->work, p->after, after, sizeof(after));
	snprintf(pointer, sizeof(pointer), "/state/%s", key);
	span_add(&where, p->turn, p->step);
	finding_add(out, SEVERITY_ERROR, &where, pointer,
	            "%s changed from %s to %s between two calls of this rollout, while others "
	            "called tools; the state changed in %" PRId64 " of %" PRId64 " such intervals",
	            key, before, after, p->changed, p->busy);
}

static void report_counts(const struct count_sequence *s, struct findings *out)
{
	char twice[64] = "";

	if (s->again > 0) {
		snprintf(twice, sizeof(twice), ", and %" PRId64 " of them occurred twice",
		         s->again);
	}
	finding_add(out, SEVERITY_ERROR, NULL, "/env_steps",
	            "the environment counted the steps of %" PRId64 " rollouts together: "
	            "their %" PRId64 " counts run from %" PRId64 " to %" PRId64 "%s",
	            s->rollouts, s->taken, s->lowest, s->highest, twice);
}

static void report_sequence(const struct rollout_facts *r, const struct sequence_found *q,
                            struct findings *out)
{
	char number[96], pointer[sizeof("/observation") + sizeof(number)];

	peer_name(r->work, str_from(q->pointer), number, sizeof(number));
	snprintf(pointer, sizeof(pointer), "/observation%s", number);
	finding_add(out, SEVERITY_ERROR, NULL, pointer,
	            "%zu rollouts change one number, %s: in one order of their %zu calls each "
	            "continues from the one before, from %.10g to %.10g; %zu of the calls do not "
	            "continue from the previous reply to their own rollout",
	            q->rollouts, pointer, q->steps, q->first, q->last, q->contradicting);
}

static bool is_continued(const struct rollout_facts *r)
{
	return r->continued >= CONTINUED_MIN ||
	       (r->continued == CONTINUED_MIN - 1 &&
	        r->cross_rollout->succession.changes >= CONTINUED_MIN_CHANGES);
}

static void report_continued(const struct rollout_facts *r, struct findings *out)
{
	char before[24] = "one";

	if (r->continued > 2) {
		snprintf(before, sizeof(before), "%" PRId64, r->continued - 1);
	}
	finding_add(out, SEVERITY_ERROR, NULL, "/state",
	            "this rollout and the %s before it each began in the state in which the "
	            "previous rollout had ended: the reset does not restore the environment",
	            before);
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	const struct alias *s = state;
	struct cross_rollout *c = r->cross_rollout;
	struct sequence_found sequence;

	if (r->changed_without_call && m->line) {
		check_state(r, m, out);
	}
	if (s->is_shared) {
		return;
	}
	if (!protocol_has_sessions(r->protocol) && r->concurrent) {
		finding_add(out, SEVERITY_ERROR, NULL, "/env/protocol",
		            "%s has no sessions: rollouts that run at the same time share one "
		            "environment, or each call runs in a new one",
		            protocol_name(r->protocol));
	} else if (r->pauses->changed > 0 && sharing_is_seen(&c->sharing)) {
		report_change(r, out);
	} else if (r->env_count.reported > 0 && cross_rollout_counts_together(c)) {
		report_counts(&c->counts, out);
	} else if (r->in_sequence && reply_sequence_find(&c->replies, &sequence)) {
		report_sequence(r, &sequence, out);
	} else if (is_continued(r)) {
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
	.why = "Two rollouts got the same environment: each continues what the other did. "
	       "Observations, rewards and episode ends are meaningless, although no call "
	       "fails.\n"
	       "Look at meta.env_session, meta.session and meta.episode of both rollouts, "
	       "and at how the server creates its session ids: a hash of seed and "
	       "configuration, a constant, the client's name, one object for all "
	       "connections, a proxy that drops the session header.\n"
	       "Fix: give every rollout its own session id, and make the server keep one "
	       "environment per session; make reset() restore everything that steps change.\n"
	       "Any of these is evidence:\n"
	       "- both got the same session id or episode id (over the WebSockets of OpenEnv "
	       "only an id that was generated, and not if both used the same seed, from "
	       "which it may be derived);\n"
	       "- the protocol has no sessions (such as openenv-http), and the rollouts ran "
	       "at the same time;\n"
	       "- the state of one changed while only others acted;\n"
	       "- the environment's step counts of several rollouts form one sequence: at "
	       "least eight counts, none of which occurs twice; or counts that differ "
	       "between the rollouts, grow with the total number of calls, and were seen to "
	       "increase by one per call while the other rollouts did nothing;\n"
	       "- at least three rollouts that ran one after the other each began in the "
	       "state in which the previous one had ended, no two of them in the same state; "
	       "or two did, and the rollouts changed the state in six or more steps;\n"
	       "- a member of the state changed between two calls of a rollout while other "
	       "rollouts called tools, and never while none did. It changed in at least two of "
	       "these intervals and in at least one of eight, mostly to a value that another "
	       "rollout had read; calls usually change it, and no other member always keeps "
	       "the value that the rollout's own calls gave it. If such members only grow, they "
	       "may count the requests of a server with separate environments: then calls must "
	       "not change another member unevenly that other rollouts leave alone;\n"
	       "- the state was read twice between two calls, and at least two of the second "
	       "reads, and at least half of them, differ from the first, though not the one made "
	       "while no other rollout acted; and the same step leads to different states, none "
	       "of which recurs within a rollout;\n"
	       "- two rollouts read the state twice before their first call, and the second read "
	       "showed what the first call of another rollout had left;\n"
	       "- a number in the replies continues across rollouts: there is an order of the "
	       "calls, consistent with their times, in which equal calls always change it by the "
	       "same amount (or, at a limit, not at all), and at least four calls do not continue "
	       "from the previous reply to their own rollout. Unrelated numbers are unlikely to "
	       "fit (one in 10,000). What else changes must be another such number, count the "
	       "calls of each rollout, or be words that depend on the call alone. If every change "
	       "is by the same amount, the states must show the number, too, and nothing else may "
	       "change: it may count a server's requests.\n"
	       "To detect such changes with \1jobs\2 2 or more, run reads the state once after the "
	       "first call of the first rollout, while the others wait; a second time before the "
	       "first call of two others, if that call changed the state; and before a few of the "
	       "later ones.",
	.needs = FACT(META),
	.needs_meta = true,
	.wants = KIND_HEADER | KIND_RESET | KIND_FIRST | KIND_CHANGED_WITHOUT_CALL,
	.state_size = sizeof(struct alias),
	.line = line,
	.end = end,
};
