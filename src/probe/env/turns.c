/* Calls by all sessions in turn. A server may show each session the last observation it got itself
   although all act on one environment: then only the replies show it, in a number that continues
   from session to session (evidence/reply_sequence.h). */
#include "evidence/fingerprint.h"
#include "probe/probe_internal.h"

#define TURNS 6 /* calls; four must contradict separate environments */

static void note(struct probe *p, size_t i, const struct probe_call *call)
{
	static const struct member_changes none = {0};
	/* sessions call one after the other */
	int64_t now = 2 * (int64_t)p->replies.count;
	struct sequence_reply reply = {.rollout = (int64_t)i,
	                               .reset = !call,
	                               .sent_ms = now + 1,
	                               .answered_ms = now + 2,
	                               .states = &none,
	                               .observation = buf_view(&p->sessions[i].observation)};

	if (call) {
		reply.call = fingerprint(call->name) ^ 3 * fingerprint(call->arguments);
	}
	if (reply.observation.n) {
		reply_sequence_add(&p->replies, &reply);
	}
}

void probe_note_reset(struct probe *p, size_t i)
{
	note(p, i, NULL);
}

void probe_note_call(struct probe *p, size_t i, const struct probe_call *call)
{
	if (p->sessions[i].last.outcome == OUTCOME_OK) {
		note(p, i, call);
	}
}

int probe_take_turns(struct probe *p, const struct probe_call *call, struct error *err)
{
	struct probe_reply reply;

	for (size_t turn = 0; turn < TURNS && p->replies.number_count > 0; turn++) {
		size_t i = turn % p->opened;
		struct session *s = &p->sessions[i];

		if (!session_is_open(s) || s->last.over) {
			return 0;
		}
		if (session_step(&p->pool, s, call->name, call->arguments, &reply, err)) {
			return -1;
		}
		probe_note_call(p, i, call);
	}
	return 0;
}
