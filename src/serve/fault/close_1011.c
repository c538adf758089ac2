/* Fault close-1011: the connection is closed during the episode, with the message of a server
   whose pings were not answered; the current step is not executed. */
#include "serve/fault/hooks.h"

#define STEPS_BEFORE 2

static void close_after_third(struct openenv_message *t)
{
	if (t->kind == MESSAGE_STEP && t->session->steps >= STEPS_BEFORE) {
		t->done = true;
		t->reply->close = 1011;
		t->reply->reason = "keepalive ping timeout";
	}
}

const struct fault_hooks fault_close_1011 = {.before_message = close_after_third};
