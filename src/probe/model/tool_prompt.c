/* The prompt includes the tools: it is longer with them than without. */
#include "json/scan.h"
#include "probe/model/preflight.h"

#include <inttypes.h>

#define TOKENS_EACH 8 /* fewer than a tool's name and braces need */

static void judge_sizes(const struct preflight *p, struct property *out)
{
	int64_t with = preflight_offered(p), without = p->bare.prompt_tokens;
	int64_t tools = (int64_t)json_count(p->tools);

	property_evidence(out, "%" PRId64 " tokens with %" PRId64 " tool%s, %" PRId64 " without",
	                  with, tools, plural((size_t)tools), without);
	if (with > without + TOKENS_EACH * tools) {
		property_judge(out, PROPERTY_OK, "included");
	} else if (with <= without) {
		property_judge(out, PROPERTY_FAIL, "missing");
		property_fix(out, "the server ignores the tools: use a chat template that "
		                  "includes them, or \1tool_mode\2 text, which adds them to the "
		                  "prompt");
	} else {
		property_judge(out, PROPERTY_UNKNOWN, "barely included");
		property_fix(out, "the prompt grew by fewer tokens than the tools need: check "
		                  "that the chat template includes their parameters");
	}
}

static void examine(const struct preflight *p, struct property *out)
{
	if (p->conf->tool_mode != TOOLS_NATIVE) {
		property_judge(out, PROPERTY_SKIPPED, "included by \1tool_mode\2 %s",
		               tool_mode_names[p->conf->tool_mode]);
	} else if (preflight_has_no_reply(p, out)) {
		return;
	} else if (p->bare.prompt_tokens >= 0 && p->bare.answered && preflight_offered(p) >= 0) {
		judge_sizes(p, out);
	} else if (p->bare.asked && !p->bare.answered) {
		property_judge(out, PROPERTY_UNKNOWN, "no reply");
		preflight_quote(out, "without tools: ", &p->bare);
	} else {
		property_judge(out, PROPERTY_UNKNOWN, "inconclusive");
		property_evidence(out, p->bare.asked ? "the server does not report the number of "
		                                       "prompt tokens (usage)"
		                                     : "the request was not sent");
	}
}

const struct preflight_ops preflight_tool_prompt = {examine};
