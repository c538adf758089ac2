/* Which requests are sent to a model, in which order, and which are skipped when earlier
   replies make them pointless: see preflight.h. */
#include "probe/model/preflight.h"

#include "base/text.h"
#include "json/write.h"
#include "policy/call_text.h"
#include "policy/llm/request.h"

#define CALL_ID       "call00000" /* nine characters: accepted by every chat template */
#define SHORT_CALL    512         /* bytes of arguments that a model can be asked to repeat */
#define REQUIRED_ONLY "{\"tool_choice\":\"required\"}"

/* ---- queries ---- */

const struct model_answer *preflight_reply(const struct preflight *p)
{
	const struct model_answer *all[] = {&p->own, &p->plain, &p->required};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		if (all[i]->answered)
			return all[i];
	return NULL;
}

bool preflight_lost(const struct preflight *p)
{
	return p->unreachable ||
	       (!p->list_status && p->own.asked && !p->own.answered && !p->own.status);
}

bool preflight_called(const struct model_answer *a)
{
	for (size_t i = 0; i < a->calls.count; i++)
		if (a->calls.items[i].outcome == OUTCOME_NONE)
			return true;
	return false;
}

bool preflight_is_native(const struct model_answer *a)
{
	return a->answered && strcmp(a->calls.source, "native") == 0;
}

static bool mentions(struct str text, const char *pattern)
{
	return text_glob(str_from(pattern), text);
}

bool preflight_tools_refused(const struct model_answer *a)
{
	bool by_request =
		a->class == CHAT_REQUEST || a->class == CHAT_SERVER || a->class == CHAT_POISON;

	return a->asked && !a->answered && by_request && a->status != 404 &&
	       (str_starts(a->param, STR("tool")) ||
	        (!a->param.n &&
	         (mentions(a->message, "*tool*") || mentions(a->message, "*Tool*"))));
}

int64_t preflight_offered(const struct preflight *p)
{
	const struct model_answer *reply = preflight_reply(p);

	return p->offered.answered ? p->offered.prompt_tokens : reply ? reply->prompt_tokens : -1;
}

void preflight_quote(struct property *out, const char *what, const struct model_answer *a)
{
	if (a->status) {
		property_evidence(out, "%sHTTP %d (%s): %.*s", what, a->status,
		                  chat_failure_name(a->class), STR_ARG(a->message));
	} else {
		property_evidence(out, "%s%.*s", what, STR_ARG(a->message));
	}
}

bool preflight_has_no_reply(const struct preflight *p, struct property *out)
{
	if (preflight_reply(p))
		return false;
	property_say(out, PROPERTY_UNKNOWN, "not tested", "the model did not reply", NULL);
	return true;
}

/* ---- the call to ask for ---- */

/* A call that succeeded already, else one that fits the schema. It is never made. */
static void choose_call(struct preflight *p)
{
	struct str tool = json_first(p->tools);
	AUTO_BUF arguments = BUF(BUF_MAX_MESSAGE);

	if (p->good_name.p && p->good_arguments.n <= SHORT_CALL) {
		p->name = p->good_name;
		p->arguments = p->good_arguments;
		return;
	}
	p->name = json_text(&p->arena, JSON_GET(tool, "name"));
	call_example_arguments(tool, &arguments);
	p->arguments =
		arguments.n <= SHORT_CALL ? arena_str(&p->arena, buf_view(&arguments)) : STR("{}");
}

static void add_request(struct preflight *p, struct conversation *conversation)
{
	struct llm_conf conf = *p->conf;
	AUTO_BUF text = BUF(BUF_MAX_SMALL), vars = BUF(BUF_MAX_SMALL);
	struct prompt_values values = {.task = ""};

	if (p->name.n) {
		buf_printf(&text,
		           "Call the tool %.*s with exactly these arguments: %.*s\n"
		           "Make that one call, and say nothing else.",
		           STR_ARG(p->name), STR_ARG(p->arguments));
	} else {
		buf_text(&text, "Say yes.");
	}
	json_pack(&vars, "{preflight:%s}", buf_view(&text));
	values.vars = buf_view(&vars);
	conf.user = "{preflight}";
	chat_prompts(&conf, p->tools, &values, conversation);
}

/* ---- an earlier turn in the prompt ---- */

static void append_words(struct buf *out, const char *word)
{
	for (int i = 0; i < PREFLIGHT_WORDS; i++)
		buf_printf(out, "%s%s", i ? " " : "", word);
}

static void add_call(const struct preflight *p, struct conversation *conversation)
{
	AUTO_BUF arguments = BUF(BUF_MAX_SMALL), message = BUF(BUF_MAX_SMALL);

	buf_text(&arguments, "{\"note\":\"");
	append_words(&arguments, "north");
	buf_text(&arguments, "\"}");
	json_pack(&message,
	          "{role:'assistant',content:%t,tool_calls:[{id:'" CALL_ID
	          "',type:'function',function:{name:%s,arguments:%s}}]}",
	          p->conf->profile->null_content ? NULL : "", p->name, buf_view(&arguments));
	conversation_add(conversation, buf_view(&message));
}

/* ---- which parameters may be sent ---- */

static bool refuses(const struct model_answer *a, struct str name)
{
	AUTO_BUF pattern = BUF(BUF_MAX_SMALL);

	if (a->param.n)
		return str_eq(a->param, name);
	buf_printf(&pattern, "*%.*s*", STR_ARG(name));
	return text_glob(buf_view(&pattern), a->message);
}

/* A message may contain several parameter names, one within another: the longest is meant. */
static void find_refused(struct preflight *p)
{
	struct chat_request r;
	struct json_member m;

	chat_request_init(&r, p->conf, p->tools, 0);
	const struct str all[] = {buf_view(&r.sent), p->conf->extra};
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		for (size_t cursor = 0; json_next_member(all[i], &cursor, &m);)
			if (m.key.n > p->refused.n && refuses(&p->own, m.key))
				p->refused = arena_str(&p->arena, m.key);
	}
	if (!p->refused.n && p->own.param.n)
		p->refused = p->own.param;
	chat_request_release(&r);
}

/* Only the parameters that affect the prompt: others do not change its size, but may be refused. */
static struct str measuring(struct preflight *p)
{
	static const char *const kept[] = {"tool_choice", "chat_template_kwargs"};
	struct buf text = BUF(BUF_MAX_SMALL);

	if (!p->own.answered && !p->plain.answered)
		return STR(REQUIRED_ONLY);
	struct json_writer w = jw_form(&text, "{");
	for (size_t i = 0; i < ARRAY_LEN(kept) && p->own.answered; i++) {
		struct str value = json_get(p->conf->asked, str_from(kept[i]));

		if (value.p)
			jw_put_raw(&w, kept[i], value);
	}
	jw_end(&w);
	return buf_keep(&text, &p->arena);
}

static struct model_question question(const struct preflight *p, struct str messages)
{
	struct model_question q = {.conf = *p->conf, .messages = messages, .tools = p->tools};

	q.conf.retries = 0;
	return q;
}

static struct model_question simple_question(const struct preflight *p, struct str messages)
{
	struct model_question q = question(p, messages);

	q.conf.asked = STR("{}");
	q.conf.stream = q.conf.tokens = false;
	q.limit = PREFLIGHT_TOKENS;
	if (!p->own.answered)
		q.conf.extra = STR_NONE;
	return q;
}

/* ---- the requests in order ---- */

/* Could the same request without the policy's parameters succeed? */
static bool is_about_request(const struct model_answer *a)
{
	return (a->class == CHAT_REQUEST || a->class == CHAT_CONTEXT || a->class == CHAT_SERVER ||
	        a->class == CHAT_POISON) &&
	       a->status != 404;
}

static int ask_policy(struct preflight *p, struct str messages, struct error *err)
{
	struct model_question q = question(p, messages);

	q.conf.retries = p->conf->retries ? 1 : 0;
	q.limit = JSON_GET(p->conf->asked, "max_tokens").p ? 0 : PREFLIGHT_TOKENS;
	if (preflight_ask(p, &q, &p->own, err))
		return -1;
	if (p->own.answered || preflight_tools_refused(&p->own) || !is_about_request(&p->own))
		return 0;
	find_refused(p);
	q = simple_question(p, messages);
	return preflight_ask(p, &q, &p->plain, err);
}

/* Skipped for servers without this field and for modes that do not use it. */
static int ask_required(struct preflight *p, struct str messages, struct error *err)
{
	const struct model_answer *reply = preflight_reply(p);
	struct model_question q = simple_question(p, messages);

	if (p->conf->tool_mode != TOOLS_NATIVE || (reply && preflight_called(reply)) ||
	    !profile_accepts(p->conf->profile, "tool_choice")) {
		return 0;
	}
	q.conf.asked = STR(REQUIRED_ONLY);
	return preflight_ask(p, &q, &p->required, err);
}

static int measure(struct preflight *p, struct str messages, struct str tools,
                   struct model_answer *out, struct error *err)
{
	struct model_question q = simple_question(p, messages);

	q.conf.asked = tools.p ? measuring(p) : STR("{}");
	q.tools = tools;
	q.limit = PREFLIGHT_FEW_TOKENS;
	return preflight_ask(p, &q, out, err);
}

static int ask_with_results(struct preflight *p, struct conversation *conversation,
                            struct error *err)
{
	AUTO_BUF words = BUF(BUF_MAX_SMALL);
	size_t before = conversation->messages.n;
	int failed;

	conversation_add_result(conversation, STR(CALL_ID), p->name, STR("ok"));
	failed = measure(p, buf_view(&conversation->messages), p->tools, &p->brief, err);
	buf_cut(&conversation->messages, before);
	append_words(&words, "south");
	conversation_add_result(conversation, STR(CALL_ID), p->name, buf_view(&words));
	if (!failed && p->brief.answered)
		failed = measure(p, buf_view(&conversation->messages), p->tools, &p->wordy, err);
	return failed;
}

static int ask_sizes(struct preflight *p, struct conversation *conversation, struct error *err)
{
	struct str messages = buf_view(&conversation->messages), none = STR_NONE;

	if (p->conf->tool_mode != TOOLS_NATIVE || !preflight_reply(p))
		return 0;
	if (measure(p, messages, none, &p->bare, err))
		return -1;
	if (p->bare.prompt_tokens >= 0 && preflight_offered(p) < 0 &&
	    measure(p, messages, p->tools, &p->offered, err)) {
		return -1;
	}
	add_call(p, conversation);
	return ask_with_results(p, conversation, err);
}

static int ask(struct preflight *p, struct conversation *conversation, struct error *err)
{
	add_request(p, conversation);
	if (preflight_list(p, err))
		return -1;
	if (p->unreachable)
		return 0;
	if (ask_policy(p, buf_view(&conversation->messages), err))
		return -1;
	if (!p->name.n || (!preflight_reply(p) && !preflight_tools_refused(&p->own)))
		return 0;
	return ask_required(p, buf_view(&conversation->messages), err) ||
	                       ask_sizes(p, conversation, err)
	               ? -1
	               : 0;
}

int preflight_ask_all(struct preflight *p, struct error *err)
{
	struct conversation conversation;

	choose_call(p);
	conversation_init(&conversation);
	int failed = ask(p, &conversation, err);
	conversation_release(&conversation);
	return failed;
}

void preflight_release(struct preflight *p)
{
	struct model_answer *all[] = {&p->own,   &p->plain,   &p->required, &p->bare,
	                              &p->brief, &p->offered, &p->wordy};

	for (size_t i = 0; i < ARRAY_LEN(all); i++)
		chat_reply_release(&all[i]->reply);
	arena_release(&p->arena);
}
