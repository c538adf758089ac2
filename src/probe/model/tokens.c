/* Token ids and logprobs are returned when requested, and agree with the usage. */
#include "json/scan.h"
#include "policy/llm/profile.h"
#include "probe/model/preflight.h"

#include <inttypes.h>

struct token_counts {
	size_t prompt_ids, reply_ids, log_probs;
};

/* OpenAI's format of logprobs, or the older one. */
static struct token_counts count(const struct chat_reply *r)
{
	struct str now = JSON_GET(r->logprobs, "content");
	struct str older = JSON_GET(r->logprobs, "token_logprobs");

	return (struct token_counts){.prompt_ids = json_count(r->prompt_token_ids),
	                             .reply_ids = json_count(r->token_ids),
	                             .log_probs = json_count(json_is_null(now) ? older : now)};
}

static void report_counts(const struct token_counts *t, struct property *out)
{
	property_evidence(out, "%zu prompt token ids, %zu completion token ids, %zu logprobs",
	                  t->prompt_ids, t->reply_ids, t->log_probs);
}

static void judge_missing(const struct preflight *p, struct property *out)
{
	property_judge(out, PROPERTY_FAIL, "incomplete");
	property_fix(out,
	             "check the server's options and version, or use its own \1profile\2 "
	             "instead of %s",
	             p->conf->profile->name);
}

static void judge(const struct preflight *p, const struct token_counts *t, struct property *out)
{
	const struct profile *profile = p->conf->profile;
	bool ids = profile->tokens != NULL, probs = profile_accepts(profile, "logprobs");
	int64_t counted = p->own.prompt_tokens;

	if (!ids && !probs) {
		property_judge(out, PROPERTY_UNKNOWN, "not requested");
		property_evidence(out, "profile %s requests none", profile->name);
		property_fix(out, "use the server's own \1profile\2");
		return;
	}
	report_counts(t, out);
	if ((ids && (!t->prompt_ids || !t->reply_ids)) || (probs && !t->log_probs)) {
		judge_missing(p, out);
	} else if (ids && counted >= 0 && (size_t)counted != t->prompt_ids) {
		property_judge(out, PROPERTY_FAIL, "wrong count");
		property_evidence(out, "usage reports %" PRId64 " prompt tokens", counted);
		property_fix(out, "a difference of one is a duplicate or missing BOS token: "
		                  "check the chat template");
	} else {
		property_judge(out, PROPERTY_OK, ids ? "included" : "logprobs only");
	}
}

static void examine(const struct preflight *p, struct property *out)
{
	if (!p->conf->tokens) {
		property_judge(out, PROPERTY_SKIPPED, "not requested (\1tokens\2)");
	} else if (preflight_has_no_reply(p, out)) {
		return;
	} else if (!p->own.answered) {
		property_judge(out, PROPERTY_UNKNOWN, "not tested");
		property_evidence(out, "the policy's own request was refused");
	} else {
		struct token_counts t = count(&p->own.reply);

		judge(p, &t, out);
	}
}

const struct preflight_ops preflight_tokens = {examine};
