/* The prompt holds the calls that were made and what came of them: it is longer with them
   than without. */
#include "probe/preflight.h"

#include <inttypes.h>

/* Of so many words; what stands around a message is far less than half of them. */
#define TOKENS_SHOWN (PREFLIGHT_WORDS / 2)

static void judge_swallowed(const char *what, struct property *out)
{
	property_judge(out, PROPERTY_RED, "%s not shown", what);
	property_advise(out, "the chat template swallows them, and the model acts blind: "
	                     "another template (vLLM: --chat-template), or --tool-mode "
	                     "text, which tells them as a user's message");
}

static void judge_sizes(const struct preflight *p, struct property *out)
{
	int64_t before = preflight_offered(p);
	int64_t brief = p->brief.prompt_tokens, wordy = p->wordy.prompt_tokens;

	property_saw(out,
	             "%" PRId64 " tokens with a call and a word as its result, %" PRId64
	             " with %d words",
	             brief, wordy, PREFLIGHT_WORDS);
	if (before >= 0) {
		property_saw(out, "%" PRId64 " before the call", before);
	}
	if (wordy - brief < TOKENS_SHOWN) {
		judge_swallowed("results are", out);
	} else if (before >= 0 && brief - before < TOKENS_SHOWN) {
		judge_swallowed("the model's own calls are", out);
	} else {
		property_judge(out, PROPERTY_OK, "shown");
	}
}

static void judge_refused(const struct model_answer *a, struct property *out)
{
	bool passing = a->class == CHAT_TRANSPORT || a->class == CHAT_RATE_LIMIT ||
	               a->class == CHAT_OVERLOAD || a->class == CHAT_QUOTA;

	property_judge(out, passing ? PROPERTY_UNKNOWN : PROPERTY_RED,
	               passing ? "no answer" : "refused");
	preflight_quote(out, "a call and its result: ", a);
	if (!passing) {
		property_advise(out, "a chat template that has tool messages (vLLM: "
		                     "--chat-template), or --tool-mode text or json, "
		                     "which tell results as a user's message");
	}
}

static void examine(const struct preflight *p, struct property *out)
{
	if (p->conf->tool_mode != TOOLS_NATIVE) {
		property_judge(out, PROPERTY_SKIPPED,
		               "told as a user's message (--tool-mode "
		               "%s)",
		               tool_mode_names[p->conf->tool_mode]);
	} else if (preflight_mute(p, out)) {
		return;
	} else if (p->brief.asked && !p->brief.answered) {
		judge_refused(&p->brief, out);
	} else if (p->wordy.asked && !p->wordy.answered) {
		judge_refused(&p->wordy, out);
	} else if (!p->wordy.asked) {
		property_judge(out, PROPERTY_UNKNOWN, "not asked");
	} else if (p->brief.prompt_tokens < 0 || p->wordy.prompt_tokens < 0) {
		property_judge(out, PROPERTY_UNKNOWN, "taken");
		property_saw(out,
		             "whether they are shown cannot be told: the server does "
		             "not say how many tokens a prompt has (usage)");
	} else {
		judge_sizes(p, out);
	}
}

const struct preflight_ops preflight_tool_results = {examine};
