/* The prompt includes earlier calls and their results: it is longer with them than without. */
#include "probe/model/preflight.h"

#include <inttypes.h>

/* Half of the words: the template's text around a message is far shorter. */
#define TOKENS_SHOWN (PREFLIGHT_WORDS / 2)

static void judge_missing(const char *what, struct property *out)
{
	property_judge(out, PROPERTY_FAIL, "%s missing", what);
	property_fix(out, "the chat template drops them, so the model never sees them: use "
	                  "another template (vLLM: --chat-template), or \1tool_mode\2 text, "
	                  "which sends them as a user message");
}

static void judge_sizes(const struct preflight *p, struct property *out)
{
	int64_t before = preflight_offered(p);
	int64_t brief = p->brief.prompt_tokens, wordy = p->wordy.prompt_tokens;

	property_evidence(out,
	                  "%" PRId64 " tokens with a call and a word as its result, %" PRId64
	                  " with %d words",
	                  brief, wordy, PREFLIGHT_WORDS);
	if (before >= 0) {
		property_evidence(out, "%" PRId64 " before the call", before);
	}
	if (wordy - brief < TOKENS_SHOWN) {
		judge_missing("results are", out);
	} else if (before >= 0 && brief - before < TOKENS_SHOWN) {
		judge_missing("the model's own calls are", out);
	} else {
		property_judge(out, PROPERTY_OK, "included");
	}
}

static void judge_refused(const struct model_answer *a, struct property *out)
{
	bool passing = a->class == CHAT_TRANSPORT || a->class == CHAT_RATE_LIMIT ||
	               a->class == CHAT_OVERLOAD || a->class == CHAT_QUOTA;

	property_judge(out, passing ? PROPERTY_UNKNOWN : PROPERTY_FAIL,
	               passing ? "no reply" : "refused");
	preflight_quote(out, "a call and its result: ", a);
	if (!passing) {
		property_fix(out, "use a chat template that supports tool messages (vLLM: "
		                  "--chat-template), or \1tool_mode\2 text or json, which send "
		                  "results as a user message");
	}
}

static void examine(const struct preflight *p, struct property *out)
{
	if (p->conf->tool_mode != TOOLS_NATIVE) {
		property_judge(out, PROPERTY_SKIPPED, "sent as a user message (\1tool_mode\2 %s)",
		               tool_mode_names[p->conf->tool_mode]);
	} else if (preflight_has_no_reply(p, out)) {
		return;
	} else if (p->brief.asked && !p->brief.answered) {
		judge_refused(&p->brief, out);
	} else if (p->wordy.asked && !p->wordy.answered) {
		judge_refused(&p->wordy, out);
	} else if (!p->wordy.asked) {
		property_judge(out, PROPERTY_UNKNOWN, "not tested");
	} else if (p->brief.prompt_tokens < 0 || p->wordy.prompt_tokens < 0) {
		property_judge(out, PROPERTY_UNKNOWN, "accepted");
		property_evidence(out, "cannot check whether the prompt includes them: the server "
		                       "does not report the number of prompt tokens (usage)");
	} else {
		judge_sizes(p, out);
	}
}

const struct preflight_ops preflight_tool_results = {examine};
