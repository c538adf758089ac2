/* Text about a model's waiting time and usage: see model_usage.h. */
#include "cmd/options/model_usage.h"

#include <inttypes.h>

bool model_say_waiting(struct llm_usage *u, uint64_t now_ns, struct buf *out)
{
	struct llm_usage_now now = llm_usage_now(u);

	if (!now.waiting || now_ns < now.since_ns) {
		return false;
	}
	buf_printf(out, "turn %" PRId64 ": waiting for the model · %" PRIu64 " s", now.turn,
	           (now_ns - now.since_ns) / 1000000000);
	if (now.pieces) {
		buf_printf(out, " · %" PRIu64 " tokens", now.pieces);
	}
	return true;
}

void model_say_tokens(struct llm_usage *u, struct buf *out)
{
	struct llm_usage_now now = llm_usage_now(u);
	uint64_t tokens = now.prompt_tokens + now.completion_tokens;

	if (tokens) {
		buf_printf(out, " · %" PRIu64 " tokens", tokens);
	}
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

	if (!now.requests) {
		return;
	}
	buf_printf(out, "model: %" PRIu64 " request%s", now.requests, now.requests == 1 ? "" : "s");
	if (now.prompt_tokens || now.completion_tokens) {
		buf_printf(out, " · %" PRIu64 " prompt tokens", now.prompt_tokens);
		if (now.cached_tokens) {
			buf_printf(out, " (%" PRIu64 " cached)", now.cached_tokens);
		}
		buf_printf(out, " · %" PRIu64 " completion tokens", now.completion_tokens);
		if (c->price.given) {
			buf_printf(out, " · %.4g %s", cost_of(&now, &c->price), c->price.currency);
		}
	}
	if (now.unknown) {
		buf_printf(out, " · %" PRIu64 " repl%s without usage", now.unknown,
		           now.unknown == 1 ? "y" : "ies");
	}
	buf_char(out, '\n');
}
