/* Rule fallback-session: replies name another session than the negotiated one. */
#include "check/check.h"

#include "facts/peer.h"

#include <inttypes.h>

#define ID_TEXT  80
#define FINE_MAX 320

struct fallback {
	struct span replies; /* replies that named a foreign or made-up session */
	int64_t changes;     /* how often the foreign id changed */
	char first[ID_TEXT], last[ID_TEXT];
	char ours[ID_TEXT]; /* "" if not known */
	/* The end of the newest meta, from its session on, if the ids in it were valid, and the
	   number of bytes before it. */
	char fine[FINE_MAX];
	size_t fine_n, head;
};

/* The session ids of one step, as strings still in JSON. */
struct session_ids {
	struct str transport, env, reply;
};

static struct session_ids read_ids(struct str meta)
{
	struct session_ids ids = {{NULL, 0}, {NULL, 0}, {NULL, 0}};
	struct json_member member;
	size_t cursor = 0;

	while (json_next_member(meta, &cursor, &member)) {
		if (str_eq(member.key, STR("session"))) {
			ids.transport = member.value;
		} else if (str_eq(member.key, STR("env_session"))) {
			ids.env = member.value;
		} else if (str_eq(member.key, STR("reply_session"))) {
			ids.reply = member.value;
		}
	}
	return ids;
}

/* Session ids rarely change, and recorders write the values that always change before them, so
   most metas end exactly like the one before and need not be read. If the part before has hardly
   grown, it has no room for another member. */
static bool is_still_fine(const struct fallback *s, struct str meta)
{
	return s->fine_n > 0 && meta.n >= s->fine_n && meta.n - s->fine_n < s->head + 8 &&
	       memcmp(meta.p + meta.n - s->fine_n, s->fine, s->fine_n) == 0;
}

/* Only if the reply's id, if present, comes after the session's. */
static void keep_fine(struct fallback *s, struct str meta, struct session_ids ids)
{
	static const char key[] = "\"session\":";
	struct str session = ids.transport;
	size_t at = session.n ? (size_t)(session.p - meta.p) : 0;

	s->fine_n = 0;
	if (at < sizeof(key) || (ids.reply.p && ids.reply.p < session.p) ||
	    meta.n - at > FINE_MAX - sizeof(key) ||
	    memcmp(session.p - (sizeof(key) - 1), key, sizeof(key) - 1) != 0) {
		return;
	}
	s->head = at - (sizeof(key) - 1);
	s->fine_n = meta.n - s->head;
	memcpy(s->fine, meta.p + s->head, s->fine_n);
}

static bool is_digits(struct str s)
{
	size_t i = 0;

	while (i < s.n && s.p[i] >= '0' && s.p[i] <= '9') {
		i++;
	}
	return i == s.n;
}

/* Ids that frameworks make up when they have lost the session: the address of an object. */
static bool is_made_up(struct str id)
{
	static const struct str prefixes[] = {STR_INIT("gym_"), STR_INIT("sim_")};
	static const char word[] = "fallback";

	for (size_t i = 0; i + sizeof(word) - 1 <= id.n; i++) {
		if (memcmp(id.p + i, word, sizeof(word) - 1) == 0) {
			return true;
		}
	}
	for (size_t i = 0; i < ARRAY_LEN(prefixes); i++) {
		struct str rest = str_skip(id, prefixes[i].n);

		if (str_starts(id, prefixes[i]) && rest.n >= 8 && is_digits(rest)) {
			return true;
		}
	}
	return false;
}

/* Without a session id in meta, the error text of a failed step is searched. */
static struct str id_in_error(const struct derived_line *m)
{
	struct str id = STR_NONE;

	if (m->failed) {
		id = JSON_GET(m->line->value[KEY_OBSERVATION], "session_id");
	}
	return json_type(id) == JSON_STRING && is_made_up(json_inner(id)) ? id : STR_NONE;
}

static bool is_foreign(struct session_ids ids)
{
	if (is_made_up(json_inner(ids.reply))) {
		return true;
	}
	if (json_is_null(ids.transport) && json_is_null(ids.env)) {
		return false;
	}
	return !str_eq(ids.reply, ids.transport) && !str_eq(ids.reply, ids.env);
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m,
                 struct findings *out)
{
	(void)out;
	struct fallback *s = state;
	struct str meta = m->line->value[KEY_META];
	if (!m->failed && is_still_fine(s, meta)) {
		return;
	}
	struct session_ids ids = read_ids(meta);
	if (json_type(ids.reply) != JSON_STRING) {
		ids.reply = id_in_error(m);
	}
	if (json_type(ids.reply) != JSON_STRING || !is_foreign(ids)) {
		keep_fine(s, meta, ids);
		return;
	}
	char now[ID_TEXT];
	peer_text(r->work, ids.reply, now, sizeof(now));
	if (s->replies.count == 0) {
		memcpy(s->first, now, sizeof(now));
		peer_text(r->work, json_is_null(ids.env) ? ids.transport : ids.env, s->ours,
		          sizeof(s->ours));
	} else if (strcmp(now, s->last) != 0) {
		s->changes++;
	}
	memcpy(s->last, now, sizeof(now));
	span_add(&s->replies, m->line->turn, m->line->step);
}

static void end(void *state, const struct rollout_facts *r, const struct derived_line *m,
                struct findings *out)
{
	(void)m;
	const struct fallback *s = state;
	if (s->replies.count == 0) {
		return;
	}
	finding_say(out, s->changes > 0 ? SEVERITY_ERROR : SEVERITY_WARNING, &s->replies,
	            "/meta/reply_session",
	            "%" PRId64 " of %" PRId64 " replies name session %s%s%s%s", s->replies.count,
	            r->steps, s->first, s->ours[0] ? ", expected " : ", which looks generated",
	            s->ours, s->changes > 0 ? "; the id changes from call to call" : "");
}

const struct check check_fallback_session = {
	.id = "fallback-session",
	.title = "replies name a session that is not the negotiated one",
	.severity = SEVERITY_WARNING,
	.raised = "the id changes from call to call",
	.explains = {&check_capacity, &check_session_churn, &check_control_plane_blind,
                     &check_starts_over, &check_frozen_state, &check_stopped_moving,
                     &check_multi_step_illusion, &check_all_steps_failed, &check_failed_run,
                     &check_retry_same_error},
	.more = "rolldbg probe \1env\2 URL \1sessions\2 8",
	.why = "A reply named the session it belongs to, and that is not the negotiated one, or the "
	       "id looks generated for a single call (such as proxy_fallback_140573993008848 or "
	       "gym_140247762780320). A component between client and environment lost the session "
	       "and makes one up: each call then runs in a new environment, takes its own slot, and "
	       "soon exhausts the server's capacity.\n"
	       "Look at meta.session, meta.env_session and meta.reply_session of the steps, and at "
	       "how a proxy in between handles the mcp-session-id header and _extra.session_id of "
	       "initialize.\n"
	       "Fix: forward the session id through every component, and make each refuse a call "
	       "without one instead of generating one.",
	.needs = UINT64_C(1) << KEY_META,
	.needs_meta = true,
	.wants = KIND_OK | KIND_FAILED,
	.state_size = sizeof(struct fallback),
	.line = line,
	.end = end,
};
