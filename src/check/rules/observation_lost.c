/* Rule observation-lost: a reply had content, but did not reach the policy or the recording. */
#include "base/text.h"
#include "check/rule.h"

/* Only the first steps are checked: a client that loses replies loses all of them, and searching
   every message would take longer than all other rules together. */
#define LOOKS 4

struct lost {
	struct span not_in_conversation; /* replies missing from the conversation */
	struct span unread; /* replies missing from the record: under another key, or not JSON */
	char near[64];      /* a similar key */
	int looked;
	struct span empty; /* replies without any content */
	int64_t replies;
};

static bool is_empty(struct str value)
{
	return json_is_null(value) || json_is(value, STR(""));
}

/* Does the line have a conversation without a message that contains the reply? */
static bool is_missing_in_conversation(const struct line *l)
{
	static const struct str keys[] = {STR_INIT("role"), STR_INIT("content")};
	struct str values[ARRAY_LEN(keys)], messages = l->value[KEY_MESSAGES];
	bool has_reply = false;

	for (size_t cursor = 0; json_next_picked(messages, &cursor, keys, ARRAY_LEN(keys), values);)
		if (json_is(values[0], STR("assistant")))
			has_reply = true;
		else if (!is_empty(values[1]))
			return false;
	return has_reply;
}

/* Finds "observations" instead of "observation" and the like. Structured content without an
   observation is not a loss: some servers put everything there. */
static bool has_near(struct lost *s, struct workspace *w, struct str value)
{
	static const char *const meant[] = {"observation"};
	struct json_member m;

	for (size_t cursor = 0; json_next_member(value, &cursor, &m);) {
		if (!is_empty(m.value) && text_nearest(m.key, meant, 1)) {
			peer_name(w, m.key, s->near, sizeof(s->near));
			return true;
		}
	}
	return false;
}

static void line(void *state, const struct rollout_facts *r, const struct derived_line *m)
{
	struct lost *s = state;
	const struct line *l = m->line;

	s->replies++;
	if (is_empty(l->value[KEY_OBSERVATION]) && is_empty(l->value[KEY_STRUCTURED]))
		span_add(&s->empty, l->turn, l->step);
	if (!is_empty(l->value[KEY_OBSERVATION])) {
		if (s->looked < LOOKS && ++s->looked && is_missing_in_conversation(l))
			span_add(&s->not_in_conversation, l->turn, l->step);
	} else if (has_near(s, r->work, l->value[KEY_STRUCTURED]) || !is_empty(l->value[KEY_RAW])) {
		span_add(&s->unread, l->turn, l->step);
	}
}

static void end(void *state, const struct rollout_facts *r, struct findings *out)
{
	struct lost *s = state;

	finding_add(out, SEVERITY_ERROR, &s->not_in_conversation, "/messages",
	            "%" PRId64 " of the first %d repl%s did not reach the conversation",
	            s->not_in_conversation.count, s->looked, s->looked == 1 ? "y" : "ies");
	finding_add(out, SEVERITY_ERROR, &s->unread, "/observation",
	            "no observation was recorded for %" PRId64 " repl%s with content%s%s",
	            s->unread.count, s->unread.count == 1 ? "y" : "ies",
	            s->near[0] ? "; a similar key exists: " : "", s->near);
	if (!s->unread.count && s->empty.count == s->replies && s->replies >= STILL_CALLS) {
		finding_add(out, SEVERITY_WARNING, &s->empty, "/observation",
		            "all %" PRId64 " replies are empty: the policy saw nothing",
		            s->replies);
	}
}

const struct check check_observation_lost = {
	.id = "observation-lost",
	.title = "the environment's reply did not reach the policy",
	.severity = SEVERITY_ERROR,
	.lowered = "all replies are merely empty",
	.explains = {&check_loop, &check_retry_same_error},
	.why = "The environment's reply had content, but the next prompt does not contain it, or "
	       "no observation was recorded. A policy that does not see its observations repeats "
	       "itself, and its rewards are noise.\n"
	       "Look at the messages of the turns named (show \1turn\2 N), and at the key under "
	       "which the environment returns its observation: \"observations\" instead of "
	       "\"observation\" is a common mistake.\n"
	       "Fix: pass on the whole reply, error text included, and read the key that the "
	       "environment writes.",
	.wants = KIND_OK,
	.state_size = sizeof(struct lost),
	.line = line,
	.end = end,
};
