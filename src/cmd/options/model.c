/* Reads the options of a model: see model.h. */
#include "cmd/options/model.h"

#include "policy/policy.h"
#include "policy/toolformats/reader.h"
#include "recording/redact/credentials.h"

#include <inttypes.h>

#define FIELD(f) offsetof(struct model_options, f)

static const struct opt model_rows[] = {
	OPT_STRING(0, "model", OPT_REACH + OPT_COMMON, "NAME", FIELD(llm.model),
                   "name of the model, for --policy llm"),
	OPT_STRING(0, "base-url", OPT_REACH + OPT_COMMON, "URL", FIELD(llm.base_url),
                   "OpenAI-compatible server of the model: http(s)://HOST[/v1]"),
	OPT_CHOICE(0, "profile", OPT_REACH, "NAME", PROFILE_CHOICES, FIELD(llm.profile),
                   "kind of model server; determines which parameters are sent (default: generic)"),
	OPT_CHOICE(0, "api", OPT_REACH, "NAME", API_CHOICES, FIELD(llm.api),
                   "API to call the model with: chat completions, OpenAI's Responses or "
                   "Anthropic's Messages (default: the profile's, usually chat)"),
	OPT_STRING(0, "key-env", OPT_POWER, "VARIABLE", FIELD(llm.key_env),
                   "environment variable that holds the API key (default: the profile's)"),
	OPT_LIST(0, "allow-key-env", OPT_NEVER, "VARIABLE", FIELD(allowed_keys),
                 "let a policy file's key_env send this variable to a server that is not on this "
                 "host; may be given several times"),
	OPT_FLAG(0, "model-insecure", OPT_POWER, FIELD(llm.insecure),
                 "accept any TLS certificate of the model's server"),
	OPT_CHOICE(0, "tool-mode", OPT_HARMLESS, "MODE", "native|json|text", FIELD(llm.tool_mode),
                   "how the model calls tools: native, through the API; json, its whole reply is "
                   "a call; text, as the prompt tells it to (default: native)"),
	OPT_CHOICE(0, "tool-format", OPT_HARMLESS, "NAME", tool_format_choices,
                   FIELD(llm.tool_format),
                   "format in which the model writes calls as text, if the server does not parse "
                   "them (default: auto-detect)"),
	OPT_CHOICE(0, "on-no-tool", OPT_HARMLESS, "WHAT", "stop|nudge|continue",
                   FIELD(llm.on_no_tool),
                   "what to do when the model calls no tool: stop, nudge (tell it to call one) "
                   "or continue (default: stop)"),
	OPT_FLAG(0, "no-repair", OPT_HARMLESS, FIELD(llm.no_repair),
                 "do not repair malformed calls (for training data)"),
	OPT_FLAG(0, "tokens", OPT_HARMLESS, FIELD(llm.tokens),
                 "request token ids and log-probabilities"),
	OPT_FLAG(0, "stream", OPT_HARMLESS, FIELD(llm.stream), "request streamed replies"),
	OPT_DURATION(0, "model-timeout", OPT_HARMLESS, FIELD(timeout),
                     "how long to wait for a reply of the model (default 5m)"),
	OPT_NUMBER(0, "model-retries", OPT_HARMLESS, "N", FIELD(retries),
                   "retry up to N times if the model does not reply (default 4)"),
};
const struct option_group model_group = {model_rows, ARRAY_LEN(model_rows), "model options"};

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
	return env_target_withhold(t, (*out)->key_variable, err);
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
	buf_printf(out, "model: %" PRIu64 " request%s", now.requests, now.requests == 1 ? "" : "s");
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
