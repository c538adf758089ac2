/* The prompt holds the tools that are offered: it is longer with them than without. */
#include "json/scan.h"
#include "probe/preflight.h"

#include <inttypes.h>

#define TOKENS_EACH 8 /* a tool's name and braces alone are more */

static void judge_sizes(const struct preflight *p, struct property *out)
{
	int64_t with = preflight_offered(p), without = p->bare.prompt_tokens;
	int64_t tools = (int64_t)json_count(p->tools);

	property_saw(out,
	             "%" PRId64 " tokens with %" PRId64 " tool%s, %" PRId64 " without",
	             with, tools, plural((size_t)tools), without);
	if (with > without + TOKENS_EACH * tools) {
		property_judge(out, PROPERTY_OK, "there");
	} else if (with <= without) {
		property_judge(out, PROPERTY_RED, "not there");
		property_advise(out,
		                "the server ignores the tools: serve the model with a "
		                "chat template that has them, or --tool-mode text, "
		                "which puts them into the prompt");
	} else {
		property_judge(out, PROPERTY_UNKNOWN, "hardly there");
		property_advise(out, "fewer tokens than the tools should take: does the "
		                     "template show their parameters?");
	}
}

static void examine(const struct preflight *p, struct property *out)
{
	if (p->conf->tool_mode != TOOLS_NATIVE) {
		property_judge(out, PROPERTY_SKIPPED, "there by --tool-mode %s",
		               tool_mode_names[p->conf->tool_mode]);
	} else if (preflight_mute(p, out)) {
		return;
	} else if (p->bare.prompt_tokens >= 0 && p->bare.answered &&
	           preflight_offered(p) >= 0) {
		judge_sizes(p, out);
	} else if (p->bare.asked && !p->bare.answered) {
		property_judge(out, PROPERTY_UNKNOWN, "no answer");
		preflight_quote(out, "without tools: ", &p->bare);
	} else {
		property_judge(out, PROPERTY_UNKNOWN, "not told");
		property_saw(out, p->bare.asked ? "the server does not say how many "
		                                  "tokens a prompt has (usage)"
		                                : "it was not asked");
	}
}

const struct preflight_ops preflight_tool_prompt = {examine};
