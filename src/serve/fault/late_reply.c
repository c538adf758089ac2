/* Fault late-reply: a step that takes longer than its client's patience. It acts, and
   from then on nothing is answered until the client, tired of waiting, takes its next
   step or resets: then first comes what was held back. Whoever takes that for the answer
   is behind from there on. */
#include "serve/fault.h"

#define LATE_STEP 2

static void let_go(struct turn *t)
{
	struct openenv_session *s = t->session;

	if (s->holding && (t->kind == TURN_STEP || t->kind == TURN_RESET)) {
		struct buf none = t->reply->late;

		t->reply->late = s->held;
		s->held = none;
		s->holding = false;
	}
}

static void hold(struct turn *t)
{
	struct openenv_session *s = t->session;

	s->holding |= t->kind == TURN_STEP && s->steps == LATE_STEP;
	if (s->holding) {
		buf_str(&s->held, buf_view(&t->reply->text));
		buf_char(&s->held, '\n');
		buf_clear(&t->reply->text);
	}
}

const struct fault_hooks fault_late_reply = {.before_turn = let_go, .after_turn = hold};
