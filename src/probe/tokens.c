/* Token ids and log-probs come where they were asked for, and agree with what is counted.
 */
#include "json/scan.h"
#include "policy/llm/profile.h"
#include "probe/preflight.h"

#include <inttypes.h>

struct tokens {
	size_t prompt_ids, reply_ids, log_probs;
};

/* OpenAI's form of log-probs, or the older one. */
static struct tokens count(const struct chat_reply *r)
{
	struct str now = JSON_GET(r->logprobs, "content");
	struct str older = JSON_GET(r->logprobs, "token_logprobs");

	return (struct tokens){.prompt_ids = json_count(r->prompt_token_ids),
	                       .reply_ids = json_count(r->token_ids),
	                       .log_probs = json_count(json_is_null(now) ? older : now)};
}

static void see(const struct tokens *t, struct property *out)
{
	property_saw(out, "%zu ids of the prompt, %zu of the reply, %zu log-probs",
	             t->prompt_ids, t->reply_ids, t->log_probs);
}

static void judge_missing(const struct preflight *p, struct property *out)
{
	property_judge(out, PROPERTY_RED, "not all came");
	property_advise(out,
	                "see how the server is started and which release it is, or name "
	                "its own --profile: %s was taken",
	                p->conf->profile->name);
}

static void judge(const struct preflight *p, const struct tokens *t, struct property *out)
{
	const struct profile *profile = p->conf->profile;
	bool ids = profile->tokens != NULL, probs = profile_accepts(profile, "logprobs");
	int64_t counted = p->own.prompt_tokens;

	if (!ids && !probs) {
		property_judge(out, PROPERTY_UNKNOWN, "not asked for");
		property_saw(out, "profile %s has none", profile->name);
		property_advise(out, "name the server's own --profile");
		return;
	}
	see(t, out);
	if ((ids && (!t->prompt_ids || !t->reply_ids)) || (probs && !t->log_probs)) {
		judge_missing(p, out);
	} else if (ids && counted >= 0 && (size_t)counted != t->prompt_ids) {
		property_judge(out, PROPERTY_RED, "miscounted");
		property_saw(out, "usage says %" PRId64 " for the prompt", counted);
		property_advise(out,
		                "one more or less is a beginning of text that stands "
		                "there twice or is missing: see the chat template");
	} else {
		property_judge(out, PROPERTY_OK, ids ? "there" : "log-probs only");
	}
}

static void examine(const struct preflight *p, struct property *out)
{
	if (!p->conf->tokens) {
		property_judge(out, PROPERTY_SKIPPED, "not asked for (--tokens)");
	} else if (preflight_mute(p, out)) {
		return;
	} else if (!p->own.answered) {
		property_judge(out, PROPERTY_UNKNOWN, "not judged");
		property_saw(out, "the policy's own request was refused");
	} else {
		struct tokens t = count(&p->own.reply);

		judge(p, &t, out);
	}
}

const struct preflight_ops preflight_tokens = {examine};
