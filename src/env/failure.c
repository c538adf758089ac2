/* Outcomes of failed calls: see failure.h. */
#include "env/failure.h"

enum outcome error_class_outcome(enum error_class c, enum outcome fallback)
{
	return c == CLASS_CAPACITY  ? OUTCOME_CAPACITY
	       : c == CLASS_SESSION ? OUTCOME_SESSION_LOST
	                            : fallback;
}

enum error_class http_status_class(int status)
{
	switch (status) {
	case 401:
	case 403:
		return CLASS_AUTH;
	case 408:
	case 504:
		return CLASS_TIMEOUT;
	case 429:
	case 503:
		return CLASS_CAPACITY;
	default:
		return CLASS_PROTOCOL;
	}
}

enum error_class web_page_class(enum error_class of_status)
{
	return of_status == CLASS_AUTH || of_status == CLASS_TIMEOUT ? of_status : CLASS_PROTOCOL;
}

enum outcome http_error_outcome(int status, enum error_class c, enum outcome fallback)
{
	bool unanswered = c == CLASS_TIMEOUT && http_status_class(status) == CLASS_TIMEOUT;

	return unanswered ? OUTCOME_TIMEOUT : error_class_outcome(c, fallback);
}

void env_reply_from_error(const struct error *e, struct env_reply *out)
{
	bool late = e->kind == FAIL_TIMEOUT, protocol = e->kind == FAIL_PROTOCOL;

	*out = (struct env_reply){
		.outcome = late       ? OUTCOME_TIMEOUT
	                   : protocol ? OUTCOME_PROTOCOL_ERROR
	                              : OUTCOME_TRANSPORT_ERROR,
		.error = {.code = e->kind == FAIL_INTERRUPTED ? STR("\"interrupted\"") : STR_NONE,
	                  .class = late       ? CLASS_TIMEOUT
	                           : protocol ? CLASS_PROTOCOL
	                                      : CLASS_TRANSPORT,
	                  .layer = protocol ? LAYER_HTTP : LAYER_TRANSPORT,
	                  .message = str_from(e->text)},
		REPLY_UNKNOWN};
}

bool env_reply_received(const struct env_reply *reply)
{
	return reply->outcome == OUTCOME_OK || reply->error.layer != LAYER_TRANSPORT;
}

bool env_reply_of_failed_step(const struct error *err, struct env_reply *reply)
{
	if (reply->outcome != OUTCOME_NONE) {
		reply->reward = STR_NONE;
		reply->terminated = reply->truncated = -1;
		reply->env_steps = -1;
		return true;
	}
	if (err->kind != FAIL_INTERRUPTED)
		return false;
	env_reply_from_error(err, reply);
	reply->error.message = STR("interrupted before the reply");
	return true;
}
