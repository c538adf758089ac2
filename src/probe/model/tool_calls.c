/* The model calls a tool when asked to, and the server reports it as a call. */
#include "json/scan.h"
#include "probe/model/preflight.h"

#include <inttypes.h>

/* How to make each server parse its model's calls. */
static const struct {
	const char *profile, *fix;
} servers[] = {
	{"vllm", "start vLLM with --enable-auto-tool-choice --tool-call-parser %s"},
	{"sglang", "start SGLang with --tool-call-parser %s"},
	{"llamacpp", "start llama.cpp's server with --jinja; llama-cpp-python has no chat format "
                     "that both parses calls and shows their results to the model"},
	{"ollama", "use a model whose chat template supports tools (ollama show MODEL)"},
	{"openai", "use a model that supports function calling"},
	{"fireworks", "use a model that supports function calling"},
	{"generic", "enable the server's tool call parser (vLLM: --enable-auto-tool-choice "
                    "--tool-call-parser %s; llama.cpp: --jinja)"},
};

/* Our formats, and the matching parsers of vLLM and SGLang. */
static const struct {
	const char *format, *vllm, *sglang;
} parsers[] = {
	{"hermes", "hermes", "qwen25"},
	{"qwen-coder", "qwen3_coder", "qwen3_coder"},
	{"glm", "glm45", "glm45"},
	{"llama", "llama3_json", "llama3"},
	{"pythonic", "pythonic", "pythonic"},
	{"mistral", "mistral", "mistral"},
	{"deepseek", "deepseek_v3", "deepseekv3"},
	{"kimi", "kimi_k2", "kimi_k2"},
	{"harmony", "openai", "gpt-oss"},
	{"function-gemma", "functiongemma", "NAME"},
};

static const char *parser_of(const struct preflight *p, const char *format)
{
	bool sglang = strcmp(p->conf->profile->name, "sglang") == 0;

	for (size_t i = 0; format && i < ARRAY_LEN(parsers); i++)
		if (strcmp(parsers[i].format, format) == 0)
			return sglang ? parsers[i].sglang : parsers[i].vllm;
	return "NAME (hermes for Qwen and Hermes models)";
}

static void advise_server(const struct preflight *p, const char *format, struct property *out)
{
	for (size_t i = 0; i < ARRAY_LEN(servers); i++) {
		const char *fix = servers[i].fix, *gap = strstr(fix, "%s");

		if (strcmp(servers[i].profile, p->conf->profile->name) != 0)
			continue;
		property_fix(out, "%.*s%s%s", gap ? (int)(gap - fix) : 400, fix,
		             gap ? parser_of(p, format) : "", gap ? gap + 2 : "");
	}
}

static const struct tool_call *first_call(const struct model_answer *a)
{
	for (size_t i = 0; i < a->calls.count; i++)
		if (a->calls.items[i].outcome == OUTCOME_NONE)
			return &a->calls.items[i];
	return NULL;
}

static void report_notes(const char *what, const struct call_notes *n, struct property *out)
{
	for (size_t i = 0; i < n->count; i++)
		if (i)
			buf_printf(&out->evidence, ", %s", n->words[i]);
		else
			property_evidence(out, "%s%s", what, n->words[i]);
}

/* ---- with a call ---- */

static void judge_called(const struct preflight *p, const struct model_answer *a,
                         struct property *out)
{
	const struct tool_call *call = first_call(a);
	bool native = preflight_is_native(a);
	bool unread = !native && p->conf->tool_mode == TOOLS_NATIVE;

	property_judge(out, unread ? PROPERTY_FAIL : PROPERTY_OK, "%s%s%s", a->calls.source,
	               a->calls.format ? ":" : "", a->calls.format ? a->calls.format : "");
	if (str_eq(p->name, call->name)) {
		property_evidence(out, "%.*s was requested and called", STR_ARG(p->name));
	} else {
		property_evidence(out, "%.*s was requested, but %.*s was called", STR_ARG(p->name),
		                  STR_ARG(call->name));
	}
	report_notes("repaired: ", &a->calls.repairs, out);
	if (unread) {
		property_evidence(out, "the call came as text: the server did not parse it, so "
		                       "tool_calls is empty");
		advise_server(p, a->calls.format, out);
		property_fix(out, "or parse the text with \1tool_mode\2 text");
	}
}

/* ---- without a call ---- */

/* The policy's tool_choice, for messages. */
static const char *own_choice(const struct preflight *p)
{
	bool plain = p->conf->tool_mode == TOOLS_NATIVE &&
	             !JSON_GET(p->conf->asked, "tool_choice").p &&
	             profile_accepts(p->conf->profile, "tool_choice");

	return plain ? "auto" : "as in a run";
}

static void report_no_call(const char *choice, const struct model_answer *a, struct property *out)
{
	if (!a->answered) {
		AUTO_BUF what = BUF(BUF_MAX_SMALL);

		buf_printf(&what, "%s: ", choice);
		preflight_quote(out, buf_cstr(&what), a);
	} else if (a->calls.count) {
		property_evidence(out, "%s: a call that cannot be sent: %.*s", choice,
		                  STR_ARG(a->calls.items[0].message));
	} else {
		property_evidence(out, "%s: no call (%s)", choice, a->calls.cause);
	}
}

static bool required_works(const struct preflight *p)
{
	return preflight_is_native(&p->required) && preflight_called(&p->required);
}

/* The policy's own request was refused because of its tools, so it does not help that
   tool_choice required works. */
static void judge_refused(const struct preflight *p, struct property *out)
{
	property_judge(out, PROPERTY_FAIL, "refused");
	report_no_call(own_choice(p), &p->own, out);
	if (required_works(p))
		property_evidence(out, "required: a call");
	else if (p->required.asked)
		report_no_call("required", &p->required, out);
	advise_server(p, NULL, out);
	property_fix(out, "or use \1tool_mode\2 json or text");
}

static void judge_not_called(const struct preflight *p, const struct model_answer *a,
                             struct property *out)
{
	report_no_call(own_choice(p), a, out);
	if (a->calls.cause && strcmp(a->calls.cause, "finish-length") == 0) {
		property_say(out, PROPERTY_UNKNOWN, "truncated before any call", NULL,
		             "raise \"max_tokens\" in the policy's sampling");
	} else if (!p->required.asked) {
		property_say(
			out, PROPERTY_UNKNOWN, "none", NULL,
			"explain in the system prompt how to call a tool, or use another model");
	} else if (required_works(p)) {
		property_say(out, PROPERTY_UNKNOWN, "only with tool_choice required",
		             "required: a call, so the server supports it",
		             "ask for a tool call in the system prompt, or set \"sampling\": "
		             "{\"tool_choice\": \"required\"}");
	} else {
		property_judge(out, PROPERTY_FAIL, "none, not even with tool_choice required");
		report_no_call("required", &p->required, out);
		advise_server(p, NULL, out);
		property_fix(out, "or use \1tool_mode\2 json or text");
	}
}

void preflight_tool_calls(const struct preflight *p, struct property *out)
{
	const struct model_answer *a = p->own.answered ? &p->own : &p->plain;

	if (preflight_tools_refused(&p->own) ||
	    (!p->own.answered && preflight_tools_refused(&p->plain))) {
		judge_refused(p, out);
	} else if (preflight_has_no_reply(p, out)) {
		return;
	} else if (!p->name.n) {
		property_say(out, PROPERTY_UNKNOWN, "not tested",
		             "the environment's tools are unknown", NULL);
	} else if (preflight_called(a)) {
		judge_called(p, a, out);
	} else {
		judge_not_called(p, a, out);
	}
}

/* ---- the prompt includes the tools: it is longer with them than without ---- */

#define TOKENS_EACH 8 /* fewer than a tool's name and braces need */

static void judge_sizes_of_tools(const struct preflight *p, struct property *out)
{
	int64_t with = preflight_offered(p), without = p->bare.prompt_tokens;
	int64_t tools = (int64_t)json_count(p->tools);

	property_evidence(out, "%" PRId64 " tokens with %" PRId64 " tool%s, %" PRId64 " without",
	                  with, tools, plural((size_t)tools), without);
	if (with > without + TOKENS_EACH * tools) {
		property_judge(out, PROPERTY_OK, "included");
	} else if (with <= without) {
		property_say(
			out, PROPERTY_FAIL, "missing", NULL,
			"the server ignores the tools: use a chat template that includes them, "
			"or \1tool_mode\2 text, which adds them to the prompt");
	} else {
		property_say(out, PROPERTY_UNKNOWN, "barely included", NULL,
		             "the prompt grew by fewer tokens than the tools need: check that the "
		             "chat template includes their parameters");
	}
}

void preflight_tool_prompt(const struct preflight *p, struct property *out)
{
	if (p->conf->tool_mode != TOOLS_NATIVE) {
		property_judge(out, PROPERTY_SKIPPED, "included by \1tool_mode\2 %s",
		               tool_mode_names[p->conf->tool_mode]);
	} else if (preflight_has_no_reply(p, out)) {
		return;
	} else if (p->bare.prompt_tokens >= 0 && p->bare.answered && preflight_offered(p) >= 0) {
		judge_sizes_of_tools(p, out);
	} else if (p->bare.asked && !p->bare.answered) {
		property_judge(out, PROPERTY_UNKNOWN, "no reply");
		preflight_quote(out, "without tools: ", &p->bare);
	} else {
		property_say(
			out, PROPERTY_UNKNOWN, "inconclusive",
			p->bare.asked
				? "the server does not report the number of prompt tokens (usage)"
				: "the request was not sent",
			NULL);
	}
}

/* ---- the prompt includes earlier calls and their results ---- */

/* Half of the words: the template's text around a message is far shorter. */
#define TOKENS_SHOWN (PREFLIGHT_WORDS / 2)

static void judge_missing_results(const char *what, struct property *out)
{
	property_judge(out, PROPERTY_FAIL, "%s missing", what);
	property_fix(out, "the chat template drops them, so the model never sees them: use "
	                  "another template (vLLM: --chat-template), or \1tool_mode\2 text, "
	                  "which sends them as a user message");
}

static void judge_sizes_results(const struct preflight *p, struct property *out)
{
	int64_t before = preflight_offered(p);
	int64_t brief = p->brief.prompt_tokens, wordy = p->wordy.prompt_tokens;

	property_evidence(out,
	                  "%" PRId64 " tokens with a call and a word as its result, %" PRId64
	                  " with %d words",
	                  brief, wordy, PREFLIGHT_WORDS);
	if (before >= 0)
		property_evidence(out, "%" PRId64 " before the call", before);
	if (wordy - brief < TOKENS_SHOWN)
		judge_missing_results("results are", out);
	else if (before >= 0 && brief - before < TOKENS_SHOWN)
		judge_missing_results("the model's own calls are", out);
	else
		property_judge(out, PROPERTY_OK, "included");
}

static void judge_refused_results(const struct model_answer *a, struct property *out)
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

void preflight_tool_results(const struct preflight *p, struct property *out)
{
	if (p->conf->tool_mode != TOOLS_NATIVE) {
		property_judge(out, PROPERTY_SKIPPED, "sent as a user message (\1tool_mode\2 %s)",
		               tool_mode_names[p->conf->tool_mode]);
	} else if (preflight_has_no_reply(p, out)) {
		return;
	} else if (p->brief.asked && !p->brief.answered) {
		judge_refused_results(&p->brief, out);
	} else if (p->wordy.asked && !p->wordy.answered) {
		judge_refused_results(&p->wordy, out);
	} else if (!p->wordy.asked) {
		property_judge(out, PROPERTY_UNKNOWN, "not tested");
	} else if (p->brief.prompt_tokens < 0 || p->wordy.prompt_tokens < 0) {
		property_say(out, PROPERTY_UNKNOWN, "accepted",
		             "cannot check whether the prompt includes them: the server does not "
		             "report the number of prompt tokens (usage)",
		             NULL);
	} else {
		judge_sizes_results(p, out);
	}
}
