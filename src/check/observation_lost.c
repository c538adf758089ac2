/* Rule observation-lost: the reply had content, and the policy or the record has none. */
#include "base/text.h"
#include "check/peer.h"

#include <inttypes.h>

/* A client that loses answers loses all of them, and reading every message takes longer
   than all other rules together: the first steps tell. */
#define LOOKS 4

struct lost {
	struct span unsaid; /* not in the conversation */
	struct span unread; /* not in the record: another key, bytes that were no JSON */
	char near[64];      /* the key that was perhaps meant */
	int looked;
};

static bool is_empty(struct str value)
{
	return json_is_null(value) || peer_is(value, STR(""));
}

/* Does the line keep a conversation, and does a message of it hand something to the
   model? */
static bool is_untold(const struct line *l)
{
	struct str message;
	bool talks = false;

	for (size_t cursor = 0; json_next(l->value[KEY_MESSAGES], &cursor, &message);) {
		if (peer_is(JSON_GET(message, "role"), STR("assistant")))
			talks = true;
		else if (!is_empty(JSON_GET(message, "content")))
			return false;
	}
	return talks;
}

/* "observations" for "observation", and the like. Structure alone is no loss: some
   servers say everything there. */
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

static void line(void *state, const struct rollout_facts *r, const struct moment *m,
                 struct findings *out)
{
	struct lost *s = state;
	const struct line *l = m->line;

	(void)out;
	if (!is_empty(l->value[KEY_OBSERVATION])) {
		if (s->looked < LOOKS && ++s->looked && is_untold(l))
			span_add(&s->unsaid, l->turn, l->step);
	} else if (has_near(s, r->work, l->value[KEY_STRUCTURED]) ||
	           !is_empty(l->value[KEY_RAW])) {
		span_add(&s->unread, l->turn, l->step);
	}
}

static void end(void *state, const struct rollout_facts *r, const struct moment *m,
                struct findings *out)
{
	struct lost *s = state;

	(void)r, (void)m;
	if (s->unsaid.count)
		finding_say(out, SEVERITY_ERROR, &s->unsaid, "/messages",
		            "%" PRId64 " of the first %d answer%s never reached the "
		            "conversation",
		            s->unsaid.count, s->looked, s->looked == 1 ? "" : "s");
	if (s->unread.count)
		finding_say(out, SEVERITY_ERROR, &s->unread, "/observation",
		            "%" PRId64 " answer%s had content but no observation%s%s",
		            s->unread.count, s->unread.count == 1 ? "" : "s",
		            s->near[0] ? "; a near name is there: " : "", s->near);
}

const struct check check_observation_lost = {
	.id = "observation-lost",
	.title = "the environment answered and the policy never saw it",
	.why = "The environment's answer had content, and the next prompt has none of it "
	       "or the record none at all. A policy that acts blindly repeats itself; "
	       "its rewards are noise.\n"
	       "Look at the messages of the turns named (show --turn N), and at the key "
	       "under which the environment puts what it has to say: \"observations\" "
	       "for \"observation\" has cost people weeks.\n"
	       "Cure: hand the whole answer on, error text included; read the key that "
	       "the environment writes.",
	.wants = WANT_OK,
	.state_size = sizeof(struct lost),
	.line = line,
	.end = end,
};
