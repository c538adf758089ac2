/* The server accepts what the policy requests: parameters, streaming, logprobs. */
#include "json/scan.h"
#include "policy/llm/api.h"
#include "probe/model/preflight.h"

#include <inttypes.h>

/* "generic, openai": the profiles that omit the parameter. */
static void put_profiles_without(const char *name, struct buf *out)
{
	for (size_t i = 0; i < profiles_count; i++)
		if (!profile_accepts(&profiles[i], name))
			buf_printf(out, "%s%s", out->n ? ", " : "", profiles[i].name);
}

static void advise(const struct preflight *p, struct property *out)
{
	const struct llm_conf *c = p->conf;
	struct str sent = p->refused;
	bool limit = str_is(sent, c->profile->max_tokens);
	const char *name = limit ? "max_tokens" : sent.p;
	AUTO_BUF without = BUF(BUF_MAX_SMALL);

	put_profiles_without(name, &without);

	if (json_get(c->extra, sent).p) {
		property_fix(out, "remove %s from the policy's \"extra\", which is sent unchanged",
		             name);
	} else if (str_starts(sent, STR("stream"))) {
		property_fix(out, "omit \1stream\2 (\"stream\": false)");
	} else if (str_starts(sent, STR("max_"))) {
		property_fix(out,
		             "the server names this parameter differently from profile %s: use "
		             "another \1profile\2",
		             c->profile->name);
	} else if (c->tokens && (str_starts(sent, STR("return_")) || !json_get(c->asked, sent).p)) {
		property_fix(out, "omit \1tokens\2, or use the server's own \1profile\2");
	} else {
		property_fix(out, "remove %s from the policy's \"sampling\"%s%s", name,
		             without.n ? ", or use a profile that omits it: " : "",
		             buf_cstr(&without));
	}
}

static void judge_refused(const struct preflight *p, struct property *out)
{
	if (p->own.class == CHAT_CONTEXT) {
		property_say(out, PROPERTY_FAIL, "max_tokens too large", NULL,
		             "lower \"max_tokens\": prompt and reply together must fit the model's "
		             "context");
	} else if (p->refused.n) {
		property_judge(out, PROPERTY_FAIL, "%.*s is refused", STR_ARG(p->refused));
		advise(p, out);
	} else {
		property_say(out, PROPERTY_FAIL, "refused", NULL,
		             "without the policy's sampling and extra the same request succeeds: "
		             "remove what the message names, or use the server's defaults "
		             "\1profile\2");
	}
	preflight_quote(out, "", &p->own);
}

void preflight_sampling(const struct preflight *p, struct property *out)
{
	size_t asked = json_count(p->conf->asked) + json_count(p->conf->extra);

	if (p->own.answered) {
		property_judge(out, PROPERTY_OK, asked ? "accepted" : "the server's defaults");
	} else if (preflight_tools_refused(&p->own)) {
		property_say(out, PROPERTY_UNKNOWN, "not tested",
		             "the request was refused because of its tools", NULL);
	} else if (!preflight_has_no_reply(p, out)) {
		judge_refused(p, out);
	}
}

struct token_counts {
	size_t prompt_ids, reply_ids, log_probs;
};

/* OpenAI's format of logprobs, or the older one. */
static struct token_counts count_tokens(const struct chat_reply *r)
{
	struct str now = JSON_GET(r->logprobs, "content");
	struct str older = JSON_GET(r->logprobs, "token_logprobs");

	return (struct token_counts){.prompt_ids = json_count(r->prompt_token_ids),
	                             .reply_ids = json_count(r->token_ids),
	                             .log_probs = json_count(json_is_null(now) ? older : now)};
}

static void judge_tokens(const struct preflight *p, const struct token_counts *t,
                         struct property *out)
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
	property_evidence(out, "%zu prompt token ids, %zu completion token ids, %zu logprobs",
	                  t->prompt_ids, t->reply_ids, t->log_probs);
	if ((ids && (!t->prompt_ids || !t->reply_ids)) || (probs && !t->log_probs)) {
		property_judge(out, PROPERTY_FAIL, "incomplete");
		property_fix(out,
		             "check the server's options and version, or use its own \1profile\2 "
		             "instead of %s",
		             profile->name);
	} else if (ids && counted >= 0 && (size_t)counted != t->prompt_ids) {
		property_judge(out, PROPERTY_FAIL, "wrong count");
		property_evidence(out, "usage reports %" PRId64 " prompt tokens", counted);
		property_fix(out, "a difference of one is a duplicate or missing BOS token: "
		                  "check the chat template");
	} else {
		property_judge(out, PROPERTY_OK, ids ? "included" : "logprobs only");
	}
}

void preflight_tokens(const struct preflight *p, struct property *out)
{
	if (!p->conf->tokens) {
		property_judge(out, PROPERTY_SKIPPED, "not requested (\1tokens\2)");
	} else if (preflight_has_no_reply(p, out)) {
		return;
	} else if (!p->own.answered) {
		property_say(out, PROPERTY_UNKNOWN, "not tested",
		             "the policy's own request was refused", NULL);
	} else {
		struct token_counts t = count_tokens(&p->own.reply);

		judge_tokens(p, &t, out);
	}
}

/* A group that fits only in part waits for the next batch or trains on fewer rollouts. */
static void judge_room(const struct trainer_plan *t, size_t room, struct property *out)
{
	size_t whole = room / (size_t)t->group_size;

	if (room >= t->sessions)
		return;
	out->status = PROPERTY_FAIL;
	property_evidence(out, "%zu get an environment: %zu complete group%s at a time", room,
	                  whole, plural(whole));
	property_fix(out,
	             "raise the environment limit to %" PRIu64
	             ", or set the trainer's generation_batch_size to at most %zu",
	             t->sessions, room);
}

static void judge_tasks(const struct trainer_plan *t, const struct tasks *tasks,
                        struct property *out)
{
	if (!tasks || tasks->count >= t->groups)
		return;
	out->status = PROPERTY_FAIL;
	property_evidence(out,
	                  "%zu task%s for %" PRIu64
	                  " prompts per batch: TRL drops incomplete batches, so none is left",
	                  tasks->count, plural(tasks->count), t->groups);
	property_fix(out, "add tasks, or use a smaller batch");
}

static bool is_greedy(const struct llm_conf *c)
{
	double t;

	return json_double(JSON_GET(c->asked, "temperature"), &t) && t == 0;
}

static void judge_spread(const struct preflight *p, struct property *out)
{
	if (is_greedy(p->conf)) {
		out->status = PROPERTY_UNKNOWN;
		property_evidence(out, "at temperature 0 the rollouts of a group differ only where "
		                       "the environment is random");
		property_fix(out, "use a temperature above 0, as in the trainer");
	}
}

void preflight_groups(const struct preflight *p, struct property *out)
{
	const struct trainer_plan *t = p->trainer;

	if (!t || !t->groups) {
		property_judge(out, PROPERTY_SKIPPED, "no trainer settings given");
		return;
	}
	property_judge(out, PROPERTY_OK,
	               "%" PRIu64 " prompt%s x %" PRIu64 " generation%s = %" PRIu64
	               " session%s at once",
	               t->groups, plural((size_t)t->groups), t->group_size,
	               plural((size_t)t->group_size), t->sessions, plural((size_t)t->sessions));
	judge_spread(p, out);
	judge_tasks(t, p->tasks, out);
	judge_room(t, p->sessions, out);
}
