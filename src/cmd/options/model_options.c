/* Reads the options of a model: see model_options.h. */
#include "cmd/options/model_options.h"

#include "cmd/options/credentials.h"
#include "policy/policy.h"
#include "policy/toolformats/reader.h"

#include <inttypes.h>

#define ROWS model
#include "cmd/options/rows.h"
const struct option_group model_group = {model_opts, ARRAY_LEN(model_opts), "model options"};

int model_read(const struct context *c, const char *policy, const struct model_options *o,
               struct env_target *t, struct llm_conf **out, struct error *err)
{
	const struct opt *stray = options_given(&model_group, o);
	struct llm_options options = o->llm;

	if (o->llm.base_url)
		credentials_add_target(t->secrets, o->llm.base_url);
	options.allowed_keys = o->allowed_keys.item;
	options.allowed_key_count = o->allowed_keys.count;
	options.has_timeout = o->timeout.given;
	options.timeout_ms = o->timeout.value;
	options.has_retries = o->retries.given;
	options.retries = o->retries.value;
	if (llm_conf_new(policy, &options, c->variable, out, err))
		return -1;
	if (!*out && stray && policy_check(&(struct policy_conf){.spec = policy}, err))
		return -1; /* invalid policy: unknown whether it uses a model */
	if (!*out && stray) {
		return error_set(
			err, FAIL_USAGE,
			"--%s needs a policy that asks a model: --policy llm, or a policy file of "
			"kind llm",
			stray->name);
	}
	if (!*out || !(*out)->key)
		return 0;
	secrets_add(t->secrets, str_from((*out)->key));
	return child_variables_withhold(&t->variables, &t->options->passed_variables,
	                                (*out)->key_variable, err);
}

/* ---- waiting time and usage ---- */

bool model_say_waiting(struct llm_usage *u, uint64_t now_ns, struct buf *out)
{
	struct llm_usage_now now = llm_usage_now(u);

	if (!now.waiting || now_ns < now.since_ns)
		return false;
	buf_printf(out, "turn %" PRId64 ": waiting for the model · %" PRIu64 " s", now.turn,
	           (now_ns - now.since_ns) / 1000000000);
	if (now.pieces)
		buf_printf(out, " · %" PRIu64 " tokens", now.pieces);
	return true;
}

void model_say_tokens(struct llm_usage *u, struct buf *out)
{
	struct llm_usage_now now = llm_usage_now(u);
	uint64_t tokens = now.prompt_tokens + now.completion_tokens;

	if (tokens)
		buf_printf(out, " · %" PRIu64 " tokens", tokens);
}

static double cost_of(const struct llm_usage_now *now, const struct llm_price *price)
{
	uint64_t cached =
		now->cached_tokens < now->prompt_tokens ? now->cached_tokens : now->prompt_tokens;

	return ((double)(now->prompt_tokens - cached) * price->input +
	        (double)cached * price->cached + (double)now->completion_tokens * price->output) /
	       1e6;
}

void model_say_usage(struct llm_usage *u, const struct llm_conf *c, struct buf *out)
{
	struct llm_usage_now now = llm_usage_now(u);

	if (!now.requests)
		return;
	buf_printf(out, "model: %" PRIu64 " request%s", now.requests, plural(now.requests));
	if (now.prompt_tokens || now.completion_tokens) {
		buf_printf(out, " · %" PRIu64 " prompt tokens", now.prompt_tokens);
		if (now.cached_tokens)
			buf_printf(out, " (%" PRIu64 " cached)", now.cached_tokens);
		buf_printf(out, " · %" PRIu64 " completion tokens", now.completion_tokens);
		if (c->price.given)
			buf_printf(out, " · %.4g %s", cost_of(&now, &c->price), c->price.currency);
	}
	if (now.unknown) {
		buf_printf(out, " · %" PRIu64 " repl%s without usage", now.unknown,
		           now.unknown == 1 ? "y" : "ies");
	}
	buf_char(out, '\n');
}
