/* Fault late-reply: a step that takes longer than the client's timeout. It acts, but its reply
   is held back until the client sends its next step or reset, and is then sent first. A client
   that mistakes it for the new reply is one reply behind from then on. */
#include "serve/fault/hooks.h"

#define LATE_STEP 2

static void send_held(struct openenv_message *t)
{
	struct openenv_session *s = t->session;

	if (s->holding && (t->kind == MESSAGE_STEP || t->kind == MESSAGE_RESET)) {
		struct buf none = t->reply->late;

		t->reply->late = s->held;
		s->held = none;
		s->holding = false;
	}
}

static void hold(struct openenv_message *t)
{
	struct openenv_session *s = t->session;

	s->holding |= t->kind == MESSAGE_STEP && s->steps == LATE_STEP;
	if (s->holding) {
		buf_str(&s->held, buf_view(&t->reply->text));
		buf_char(&s->held, '\n');
		buf_clear(&t->reply->text);
	}
}

const struct fault_hooks fault_late_reply = {.before_message = send_held, .after_message = hold};
