/* The model calls a tool when asked to, and the server reports it as a call. */
#include "probe/model/preflight.h"

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

	for (size_t i = 0; format && i < ARRAY_LEN(parsers); i++) {
		if (strcmp(parsers[i].format, format) == 0) {
			return sglang ? parsers[i].sglang : parsers[i].vllm;
		}
	}
	return "NAME (hermes for Qwen and Hermes models)";
}

/* %s in the fix is replaced by the parser's name. */
static void advise_server(const struct preflight *p, const char *format, struct property *out)
{
	for (size_t i = 0; i < ARRAY_LEN(servers); i++) {
		const char *fix = servers[i].fix, *gap = strstr(fix, "%s");

		if (strcmp(servers[i].profile, p->conf->profile->name) != 0) {
			continue;
		}
		property_fix(out, "%.*s%s%s", gap ? (int)(gap - fix) : 400, fix,
		             gap ? parser_of(p, format) : "", gap ? gap + 2 : "");
	}
}

static const struct tool_call *first_call(const struct model_answer *a)
{
	for (size_t i = 0; i < a->calls.count; i++) {
		if (a->calls.items[i].outcome == OUTCOME_NONE) {
			return &a->calls.items[i];
		}
	}
	return NULL;
}

static void report_notes(const char *what, const struct call_notes *n, struct property *out)
{
	for (size_t i = 0; i < n->count; i++) {
		if (i) {
			buf_printf(&out->evidence, ", %s", n->words[i]);
		} else {
			property_evidence(out, "%s%s", what, n->words[i]);
		}
	}
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

/* Reports why there is no call, or why calls cannot be sent. */
static void report_no_call(const char *choice, const struct model_answer *a, struct property *out)
{
	if (!a->answered) {
		struct buf what = BUF(BUF_MAX_SMALL);

		buf_printf(&what, "%s: ", choice);
		preflight_quote(out, buf_cstr(&what), a);
		buf_release(&what);
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
	if (required_works(p)) {
		property_evidence(out, "required: a call");
	} else if (p->required.asked) {
		report_no_call("required", &p->required, out);
	}
	advise_server(p, NULL, out);
	property_fix(out, "or use \1tool_mode\2 json or text");
}

static bool was_cut(const struct model_answer *a)
{
	return a->calls.cause && strcmp(a->calls.cause, "finish-length") == 0;
}

static void judge_not_called(const struct preflight *p, const struct model_answer *a,
                             struct property *out)
{
	report_no_call(own_choice(p), a, out);
	if (was_cut(a)) {
		property_judge(out, PROPERTY_UNKNOWN, "truncated before any call");
		property_fix(out, "raise \"max_tokens\" in the policy's sampling");
	} else if (!p->required.asked) {
		property_judge(out, PROPERTY_UNKNOWN, "none");
		property_fix(out, "explain in the system prompt how to call a tool, or use "
		                  "another model");
	} else if (required_works(p)) {
		property_judge(out, PROPERTY_UNKNOWN, "only with tool_choice required");
		property_evidence(out, "required: a call, so the server supports it");
		property_fix(out, "ask for a tool call in the system prompt, or set "
		                  "\"sampling\": {\"tool_choice\": \"required\"}");
	} else {
		property_judge(out, PROPERTY_FAIL, "none, not even with tool_choice required");
		report_no_call("required", &p->required, out);
		advise_server(p, NULL, out);
		property_fix(out, "or use \1tool_mode\2 json or text");
	}
}

static void examine(const struct preflight *p, struct property *out)
{
	const struct model_answer *a = p->own.answered ? &p->own : &p->plain;

	if (preflight_tools_refused(&p->own) ||
	    (!p->own.answered && preflight_tools_refused(&p->plain))) {
		judge_refused(p, out);
	} else if (preflight_has_no_reply(p, out)) {
		return;
	} else if (!p->name.n) {
		property_judge(out, PROPERTY_UNKNOWN, "not tested");
		property_evidence(out, "the environment's tools are unknown");
	} else if (preflight_called(a)) {
		judge_called(p, a, out);
	} else {
		judge_not_called(p, a, out);
	}
}

const struct preflight_ops preflight_tool_calls = {examine};
