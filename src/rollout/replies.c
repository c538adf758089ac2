/* Replies that nobody gave, and replies that must stay: see replies.h. */
#include "rollout/replies.h"

void reply_blame(const struct error *e, struct env_reply *out)
{
	bool late = e->kind == FAIL_TIMEOUT, protocol = e->kind == FAIL_PROTOCOL;

	*out = (struct env_reply){
		.outcome = late       ? OUTCOME_TIMEOUT
	                   : protocol ? OUTCOME_PROTOCOL_ERROR
	                              : OUTCOME_TRANSPORT_ERROR,
		.error = {.code = e->kind == FAIL_INTERRUPTED ? STR("\"interrupted\"")
	                                                      : (struct str){NULL, 0},
	                  .class = late       ? CLASS_TIMEOUT
	                           : protocol ? CLASS_PROTOCOL
	                                      : CLASS_TRANSPORT,
	                  .layer = protocol ? LAYER_HTTP : LAYER_TRANSPORT,
	                  .message = str_from(e->text)},
		.terminated = -1,
		.truncated = -1,
		.env_steps = -1};
}

bool reply_came(const struct env_reply *reply)
{
	return reply->outcome == OUTCOME_OK || reply->error.layer != LAYER_TRANSPORT;
}

bool reply_salvage(const struct error *err, struct env_reply *reply)
{
	if (reply->outcome != OUTCOME_NONE) {
		reply->reward = (struct str){NULL, 0};
		reply->terminated = reply->truncated = -1;
		reply->env_steps = -1;
		return true;
	}
	if (err->kind != FAIL_INTERRUPTED) {
		return false;
	}
	reply_blame(err, reply);
	reply->error.message = STR("interrupted before the answer came");
	return true;
}

void reply_keep(struct env_reply *reply, struct arena *a)
{
	struct str *all[] = {
		&reply->error.code, &reply->error.message, &reply->observation,
		&reply->structured, &reply->raw,           &reply->reward,
		&reply->session,    &reply->env_session,   &reply->reply_session};

	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		*all[i] = arena_str(a, *all[i]);
	}
}
