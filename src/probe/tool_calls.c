/* Asked to call a tool, the model does, and the server hands the call on as one. */
#include "probe/preflight.h"

/* What a server has to be told so that it reads its model's calls. */
static const struct {
	const char *profile, *cure;
} servers[] = {
	{"vllm", "start vLLM with --enable-auto-tool-choice --tool-call-parser %s"},
	{"sglang", "start SGLang with --tool-call-parser %s"},
	{"llamacpp", "start llama.cpp's server with --jinja; llama-cpp-python's has no "
                     "format that both reads calls and shows their results to the model"},
	{"ollama", "use a model whose template has tools (ollama show MODEL)"},
	{"openai", "use a model that can call functions"},
	{"fireworks", "use a model that can call functions"},
	{"generic", "switch on the server's parser for tool calls (vLLM: "
                    "--enable-auto-tool-choice --tool-call-parser %s; llama.cpp: "
                    "--jinja)"},
};

/* Our formats, by the names that vLLM and SGLang have for their parsers. */
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

/* The cure is ours, but for the one place where the parser's name goes. */
static void advise_server(const struct preflight *p, const char *format,
                          struct property *out)
{
	for (size_t i = 0; i < ARRAY_LEN(servers); i++) {
		const char *cure = servers[i].cure, *gap = strstr(cure, "%s");

		if (strcmp(servers[i].profile, p->conf->profile->name) != 0) {
			continue;
		}
		property_advise(out, "%.*s%s%s", gap ? (int)(gap - cure) : 400, cure,
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

static void see_notes(const char *what, const struct call_notes *n, struct property *out)
{
	for (size_t i = 0; i < n->count; i++) {
		if (i) {
			buf_printf(&out->evidence, ", %s", n->words[i]);
		} else {
			property_saw(out, "%s%s", what, n->words[i]);
		}
	}
}

/* ---- a call came ---- */

static void judge_called(const struct preflight *p, const struct model_answer *a,
                         struct property *out)
{
	const struct tool_call *call = first_call(a);
	bool native = preflight_is_native(a);
	bool unread = !native && p->conf->tool_mode == TOOLS_NATIVE;

	property_judge(out, unread ? PROPERTY_RED : PROPERTY_OK, "%s%s%s",
	               a->calls.source, a->calls.format ? ":" : "",
	               a->calls.format ? a->calls.format : "");
	property_saw(out, "asked for %.*s, %.*s was called", STR_ARG(p->name),
	             STR_ARG(call->name));
	see_notes("mended: ", &a->calls.repairs, out);
	if (unread) {
		property_saw(out, "the call came as text: the server does not read it, "
		                  "and whoever looks at tool_calls finds none");
		advise_server(p, a->calls.format, out);
		property_advise(out, "or say that text is meant: --tool-mode text");
	}
}

/* ---- none came ---- */

/* How the policy has it choose. */
static const char *own_choice(const struct preflight *p)
{
	bool plain = p->conf->tool_mode == TOOLS_NATIVE &&
	             !JSON_GET(p->conf->asked, "tool_choice").p &&
	             profile_accepts(p->conf->profile, "tool_choice");

	return plain ? "auto" : "as in a run";
}

/* "prose", or what is wrong with the calls that cannot be sent. */
static void see_failure(const char *choice, const struct model_answer *a,
                        struct property *out)
{
	if (!a->answered) {
		struct buf what = BUF(BUF_MAX_SMALL);

		buf_printf(&what, "%s: ", choice);
		preflight_quote(out, buf_cstr(&what), a);
		buf_release(&what);
	} else if (a->calls.count) {
		property_saw(out, "%s: a call that cannot be sent: %.*s", choice,
		             STR_ARG(a->calls.items[0].message));
	} else {
		property_saw(out, "%s: no call (%s)", choice, a->calls.cause);
	}
}

static bool required_works(const struct preflight *p)
{
	return preflight_is_native(&p->required) && preflight_called(&p->required);
}

/* The policy's own request was refused for its tools: that the server can be forced does
   not help it. */
static void judge_refused(const struct preflight *p, struct property *out)
{
	property_judge(out, PROPERTY_RED, "refused");
	see_failure(own_choice(p), &p->own, out);
	if (required_works(p)) {
		property_saw(out, "required: a call");
	} else if (p->required.asked) {
		see_failure("required", &p->required, out);
	}
	advise_server(p, NULL, out);
	property_advise(out, "or do without: --tool-mode json, or text");
}

static bool was_cut(const struct model_answer *a)
{
	return a->calls.cause && strcmp(a->calls.cause, "finish-length") == 0;
}

static void judge_not_called(const struct preflight *p, const struct model_answer *a,
                             struct property *out)
{
	see_failure(own_choice(p), a, out);
	if (was_cut(a)) {
		property_judge(out, PROPERTY_UNKNOWN, "cut off before any call");
		property_advise(out, "a larger \"max_tokens\" in the policy's sampling");
	} else if (!p->required.asked) {
		property_judge(out, PROPERTY_UNKNOWN, "none");
		property_advise(out, "it is up to prompt or model: say in the system "
		                     "prompt how to call, or take a model that does");
	} else if (required_works(p)) {
		property_judge(out, PROPERTY_UNKNOWN, "only when it must");
		property_saw(out, "required: a call, so the server can");
		property_advise(out,
		                "it is up to prompt or model: say in the system prompt "
		                "that a tool is to be called, or \"sampling\": "
		                "{\"tool_choice\": \"required\"}");
	} else {
		property_judge(out, PROPERTY_RED, "none, not even when it must");
		see_failure("required", &p->required, out);
		advise_server(p, NULL, out);
		property_advise(out, "or do without: --tool-mode json, or text");
	}
}

static void examine(const struct preflight *p, struct property *out)
{
	const struct model_answer *a = p->own.answered ? &p->own : &p->plain;

	if (preflight_tools_refused(&p->own) ||
	    (!p->own.answered && preflight_tools_refused(&p->plain))) {
		judge_refused(p, out);
	} else if (preflight_mute(p, out)) {
		return;
	} else if (!p->name.n) {
		property_judge(out, PROPERTY_UNKNOWN, "not asked");
		property_saw(out, "the environment's tools are not known");
	} else if (preflight_called(a)) {
		judge_called(p, a, out);
	} else {
		judge_not_called(p, a, out);
	}
}

const struct preflight_ops preflight_tool_calls = {examine};
