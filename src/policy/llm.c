/* The policy that asks a model: keeps the conversation, sends one request per turn, and returns
   the calls of a reply one by one. Mistakes of the model and its server are recorded; invalid
   calls are not sent. */
#include "base/log.h"
#include "json/write.h"
#include "policy/llm/calls.h"
#include "policy/llm/chat.h"
#include "policy/llm/conversation.h"
#include "policy/llm/request.h"
#include "policy/policy.h"
#include "policy/toolformats/reader.h"

#include <stdlib.h>

/* Why there was no reply. */
static void about_failure(const struct chat_failure *f, const char *prompt_hash, struct buf *out)
{
	struct str code = buf_given(&f->code);

	buf_clear(out);
	json_pack(out, "{error:{class:%t,http_status:%d,code:%r,message:%s},prompt_hash:%t}",
	          chat_failure_name(f->class), f->status, code, buf_view(&f->message), prompt_hash);
}

extern const struct policy_ops policy_llm; /* policies.def */

#define NUDGE    "You called no tool. Call one of the tools you were given."
#define CONTINUE "Continue."
#define NAMELESS "unnamed"

#define POISON                                                                                     \
	"the same request failed twice with the same message, so the request causes "              \
	"the failure: "

struct llm_policy {
	struct policy base;
	const struct llm_conf *conf;
	struct str tools, vars; /* owned copies */
	const char *task;
	struct arena arena; /* as long as the policy */
	struct chat_request request;
	struct chat chat;
	struct event_queue events;
	struct conversation conversation;
	struct buf body, text, about, reason;
	struct str params;

	/* The current turn. */
	struct arena turn;
	struct chat_reply reply;
	struct tool_calls calls;
	size_t next;        /* index of the next call to return */
	int64_t calls_made; /* in all turns */
	int64_t turns;      /* requested so far */
	bool limit_lowered; /* the token limit of replies was lowered */
};

static void llm_begin(struct policy *base, const struct policy_view *v, struct str *messages)
{
	struct llm_policy *p = (struct llm_policy *)base;
	struct prompt_values values = {
		.observation = v->observation, .state = v->state, .task = p->task, .vars = p->vars};

	chat_prompts(p->conf, p->tools, &values, &p->conversation);
	*messages = conversation_added(&p->conversation);
}

/* ---- the reply, as the next prompt contains it ---- */

/* Some servers reject a history with arguments that are not a JSON object: unparsable arguments
   are replaced by an empty object, and noted. */
static struct str history_arguments(struct llm_policy *p, size_t i)
{
	const struct tool_call *c = &p->calls.items[i];
	const struct chat_call *sampled = &p->reply.calls[i];
	bool same = sampled->not_text || str_eq(sampled->arguments, c->arguments);

	if (json_type(c->arguments) != JSON_OBJECT) {
		call_note(&p->calls.notes, "history-differs");
		return STR("{}");
	}
	return same ? sampled->arguments : c->arguments;
}

/* Some servers also reject a call without a name. */
static struct str history_name(struct llm_policy *p, size_t i)
{
	struct str name = p->calls.items[i].name;

	if (!name.n)
		call_note(&p->calls.notes, "history-differs");
	return name.n ? name : STR(NAMELESS);
}

static void put_native_calls(struct llm_policy *p, struct json_writer *w)
{
	jw_pack(w, "tool_calls:[");
	for (size_t i = 0; i < p->calls.count; i++) {
		jw_pack(w, "{id:%s,type:'function',function:{name:%s,arguments:%s}}",
		        p->calls.items[i].id, history_name(p, i), history_arguments(p, i));
	}
	jw_end(w);
}

static void add_reply(struct llm_policy *p)
{
	const struct chat_reply *r = &p->reply;
	const struct profile *profile = p->conf->profile;
	bool native = strcmp(p->calls.source, "native") == 0;
	struct str content = r->content.p || profile->null_content ? r->content : STR("");

	buf_clear(&p->text);
	struct json_writer w =
		jw_form(&p->text, "{role:'assistant',content:%s,reasoning:%?s", content,
	                r->reasoning.n && profile->keeps_reasoning ? r->reasoning : STR_NONE);
	if (native)
		put_native_calls(p, &w);
	jw_end(&w);
	conversation_add(&p->conversation, buf_view(&p->text));
}

/* ---- deciding ---- */

/* "model: rate-limit (HTTP 429): slow down" */
static void put_reason(const struct llm_policy *p, const struct chat_failure *f, struct buf *out)
{
	buf_set(out, STR("model: "));
	if (f->class != CHAT_TRANSPORT) {
		buf_text(out, chat_failure_name(f->class));
		if (f->status >= 400 && !strstr(buf_cstr(&f->message), "HTTP"))
			buf_printf(out, " (HTTP %d)", f->status);
		buf_text(out, ": ");
	}
	buf_printf(out, "%s%s%s", f->class == CHAT_POISON ? POISON : "", buf_cstr(&f->message),
	           f->class == CHAT_AUTH && !p->conf->key ? " (no API key was sent)" : "");
}

static void end_rollout(struct llm_policy *p, const struct chat_failure *f, struct decision *out)
{
	bool context = f->class == CHAT_CONTEXT;

	put_reason(p, f, &p->reason);
	about_failure(f, p->conversation.hash, &p->about);
	*out = (struct decision){.kind = context                          ? DECIDE_STOPPED
	                                 : chat_failure_refused(f->class) ? DECIDE_REFUSED
	                                                                  : DECIDE_LOST,
	                         .llm = buf_view(&p->about),
	                         .reason = buf_cstr(&p->reason)};
}

/* Some servers reject a prompt that leaves no room for the longest allowed reply: a lower limit
   is then requested, once. */
static bool lower_limit(struct llm_policy *p, const struct chat_failure *f)
{
	if (f->class != CHAT_CONTEXT || p->limit_lowered || f->context <= f->prompt || !f->prompt)
		return false;
	p->limit_lowered = true;
	chat_request_limit(&p->request, f->context - f->prompt);
	buf_clear(&p->text);
	buf_printf(&p->text,
	           "{\"what\":\"model\",\"class\":\"context-length\",\"max_tokens\":%llu}",
	           (unsigned long long)(f->context - f->prompt));
	events_push_json(&p->events, EVENT_RETRY, &p->text);
	return true;
}

/* A chat template that rejects the history says why in its error: the history is then sent in a
   form that it accepts. */
static bool change_form(struct llm_policy *p, const struct chat_failure *f)
{
	enum history_form form =
		f->class == CHAT_REQUEST || f->class == CHAT_SERVER || f->class == CHAT_POISON
			? chat_history_wanted(&p->conversation.history, buf_view(&f->message))
			: HISTORY_USUAL;

	if (form == HISTORY_USUAL)
		return false;
	chat_history_reform(&p->conversation.history, form, buf_view(&p->conversation.messages));
	buf_clear(&p->text);
	buf_printf(&p->text, "{\"what\":\"model\",\"class\":\"%s\",\"history\":\"%s\"}",
	           chat_failure_name(f->class), chat_history_form_name(form));
	events_push_json(&p->events, EVENT_RETRY, &p->text);
	log_info("the chat template rejected the history (%s): sent again as %s",
	         buf_cstr(&f->message), chat_history_form_name(form));
	return true;
}

/* One request. The environment's results may have made the conversation too long to send. */
static int ask_once(struct llm_policy *p, struct chat_failure *failure, bool *answered,
                    struct error *err)
{
	chat_request_write(&p->request, buf_view(&p->conversation.history.sent), &p->body);
	if (!p->body.full && !p->conversation.messages.full && !p->conversation.history.sent.full)
		return chat_ask(&p->chat, buf_view(&p->body), &p->reply, failure, answered, err);
	failure->class = CHAT_CONTEXT;
	buf_clear(&failure->message);
	buf_printf(&failure->message, "the conversation is over %zu MiB", BUF_MAX_MESSAGE >> 20);
	*answered = false;
	return 0;
}

/* 0: *answered, or *out is the end of the rollout. */
static int ask(struct llm_policy *p, struct decision *out, bool *answered, struct error *err)
{
	struct chat_failure failure;
	int failed;

	chat_failure_init(&failure);
	do {
		failed = ask_once(p, &failure, answered, err);
	} while (!failed && !*answered && (lower_limit(p, &failure) || change_form(p, &failure)));
	if (!failed && !*answered)
		end_rollout(p, &failure, out);
	chat_failure_release(&failure);
	return failed;
}

static void next_call(struct llm_policy *p, const struct policy_view *v, struct decision *out)
{
	const struct tool_call *c = &p->calls.items[p->next++];

	*out = (struct decision){.kind = DECIDE_CALL,
	                         .more = p->next < p->calls.count,
	                         .id = c->id,
	                         .name = c->name,
	                         .arguments = c->arguments};
	p->calls_made++;
	if (c->outcome != OUTCOME_NONE) {
		out->kind = DECIDE_UNSENT;
		out->outcome = c->outcome;
		out->class = c->class;
		out->message = c->message;
	} else if (v->over) {
		out->kind = DECIDE_UNSENT;
		out->outcome = OUTCOME_NOT_SENT;
		out->class = CLASS_OTHER;
		out->message = STR("an earlier call of this turn ended the episode");
	}
}

static void decide_without_call(const struct llm_policy *p, struct decision *out)
{
	*out = (struct decision){.kind = DECIDE_NOTHING};
	if (p->conf->on_no_tool == NO_TOOL_STOP) {
		out->kind = DECIDE_FINISHED;
		out->reason = "the model called no tool";
	}
}

/* Other parsers, such as a trainer's, do not recognize a call without its end mark. */
static void warn_stop_string(const struct llm_policy *p)
{
	bool stops = json_type(p->reply.stop_reason) == JSON_STRING ||
	             JSON_GET(p->conf->asked, "stop").p;

	if (stops && call_noted(&p->calls.notes, "end-mark-missing") &&
	    llm_usage_first_time(p->chat.usage)) {
		log_warn("a stop string ends the model's reply inside its call, before the end "
		         "mark: parsers that need the mark find no call; remove it from \"stop\", "
		         "or keep it in the text (vLLM: include_stop_str_in_output, SGLang: "
		         "no_stop_trim)");
	}
}

static bool is_stopped(const void *io)
{
	return io_stopped(io);
}

static int llm_decide(struct policy *base, const struct policy_view *v, struct decision *out,
                      struct error *err)
{
	struct llm_policy *p = (struct llm_policy *)base;
	char prompt_hash[HASH_HEX + 1];
	bool answered = false;

	if (p->next < p->calls.count) {
		next_call(p, v, out);
		return 0;
	}
	chat_reply_release(&p->reply);
	arena_reset(&p->turn);
	p->calls = (struct tool_calls){.count = 0};
	p->next = 0;
	memcpy(prompt_hash, p->conversation.hash, sizeof(prompt_hash));
	llm_usage_turn(p->chat.usage, v->turn, io_now_ns(p->chat.io));
	chat_request_turn(&p->request, p->turns++);
	if (ask(p, out, &answered, err))
		return -1;
	if (!answered)
		return 0;
	struct calls_conf conf = {.tools = p->tools,
	                          .mode = p->conf->tool_mode,
	                          .format = p->conf->tool_format,
	                          .repair = p->conf->repair,
	                          .first = p->calls_made,
	                          .stopped = is_stopped,
	                          .ctx = p->chat.io};
	calls_read(&conf, &p->reply, &p->turn, &p->calls);
	if (p->calls.stopped)
		return error_set(err, FAIL_INTERRUPTED, "interrupted");
	add_reply(p);
	warn_stop_string(p);
	if (p->calls.count)
		next_call(p, v, out);
	else
		decide_without_call(p, out);
	/* copied: the conversation grows before the decision is recorded */
	out->messages = arena_str(&p->turn, conversation_added(&p->conversation));
	about_reply(&p->reply, &p->calls, p->request.turn_seed, prompt_hash, &p->about);
	out->llm = buf_view(&p->about);
	return 0;
}

/* ---- results ---- */

/* If the prompt does not say in which form results come, the format that the model was trained on;
   else NULL. */
static const char *result_format(const struct llm_policy *p)
{
	return p->conf->tool_mode == TOOLS_NATIVE ? p->calls.format : NULL;
}

/* A call made through the API needs a message of role tool as its result, in any tool mode. A
   call made as text has one where the model's chat template renders it; APIs other than chat
   completions accept it only after a call of their own. */
static enum tool_mode answer_mode(const struct llm_policy *p)
{
	bool role = !p->conf->api->request && tool_format_has_role(result_format(p));

	if (strcmp(p->calls.source, "native") == 0 || role)
		return TOOLS_NATIVE;
	return p->conf->tool_mode == TOOLS_NATIVE ? TOOLS_TEXT : p->conf->tool_mode;
}

static void add_result(struct llm_policy *p, const struct decision *d, struct str text)
{
	AUTO_BUF wrapped = BUF(2 * BUF_MAX_MESSAGE);

	switch (answer_mode(p)) {
	case TOOLS_NATIVE:
		conversation_add_result(&p->conversation, d->id,
		                        p->conf->profile->names_results ? d->name : STR_NONE, text);
		break;
	case TOOLS_JSON:
		buf_text(&wrapped, "Observation: ");
		buf_str(&wrapped, text);
		conversation_add_text(&p->conversation, "user", buf_view(&wrapped));
		break;
	case TOOLS_TEXT:
		tool_format_result(result_format(p), d->id, d->name, text, &wrapped);
		conversation_add_text(&p->conversation, "user", buf_view(&wrapped));
		break;
	}
}

/* The result as text for the model. An empty text would be ambiguous, so it is stated. */
static void put_answer(const struct policy_result *r, struct buf *out)
{
	enum json_type type = json_type(r->observation);
	bool none = type == JSON_ABSENT || type == JSON_NULL ||
	            (type == JSON_ARRAY && json_count(r->observation) == 0);

	if (!none || json_is_null(r->structured))
		tool_result_text(r->observation, out);
	else
		json_text_or_json(r->structured, out);
	if (!out->n)
		buf_str(out, r->raw.n ? r->raw : r->message);
}

static void llm_observe(struct policy *base, const struct policy_result *r, struct str *messages)
{
	struct llm_policy *p = (struct llm_policy *)base;
	bool nudge = p->conf->on_no_tool == NO_TOOL_NUDGE;

	if (r->decision->kind == DECIDE_NOTHING) {
		if (nudge)
			events_push(&p->events, EVENT_NUDGE, STR("{\"why\":\"no tool call\"}"));
		conversation_add_text(&p->conversation, "user", nudge ? STR(NUDGE) : STR(CONTINUE));
	} else {
		buf_clear(&p->text);
		put_answer(r, &p->text);
		add_result(p, r->decision, buf_view(&p->text));
	}
	*messages = conversation_added(&p->conversation);
}

static bool llm_event(struct policy *base, struct event *out)
{
	return events_take(&((struct llm_policy *)base)->events, out);
}

/* ---- open and close ---- */

static void llm_facts(const struct policy *base, struct policy_facts *out)
{
	const struct llm_policy *p = (const struct llm_policy *)base;

	*out = (struct policy_facts){
		.kind = POLICY_LLM, .name = p->conf->name, .params = p->params, .length = -1};
}

static void llm_close(struct policy *base)
{
	struct llm_policy *p = (struct llm_policy *)base;

	if (!p)
		return;
	BUFS_RELEASE(&p->body, &p->text, &p->about, &p->reason);
	chat_reply_release(&p->reply);
	chat_request_release(&p->request);
	chat_release(&p->chat);
	conversation_release(&p->conversation);
	events_release(&p->events);
	arena_release(&p->turn);
	arena_release(&p->arena);
	free(p);
}

/* The parameters as requested, and those actually sent. */
static struct str describe(struct llm_policy *p)
{
	struct buf text = BUF(BUF_MAX_MESSAGE);

	buf_str(&text, p->conf->params);
	buf_cut(&text, text.n - 1);
	buf_text(&text, ",\"sent\":");
	buf_str(&text, buf_view(&p->request.sent));
	buf_char(&text, '}');
	return buf_keep(&text, &p->arena);
}

static int llm_open(const struct policy_conf *conf, struct policy **out, struct error *err)
{
	if (!conf->llm && strchr(conf->spec, ':')) {
		return error_set(err, FAIL_USAGE,
		                 "\1policy\2 llm has no argument, not '%s': use \1model\2 NAME "
		                 "and \1base_url\2 URL",
		                 conf->spec);
	}
	if (!conf->llm)
		return error_set(err, FAIL_USAGE, "\1policy\2 llm: no model given");
	if (!out)
		return 0;
	struct llm_policy *p = mem_new(sizeof(*p));

	p->base.ops = &policy_llm;
	p->conf = conf->llm;
	p->tools = arena_str(&p->arena, conf->tools);
	p->vars = arena_str(&p->arena, conf->vars);
	p->task = conf->task ? arena_str(&p->arena, str_from(conf->task)).p : "";
	p->body = p->text = p->about = p->reason = BUF(BUF_MAX_MESSAGE);
	chat_request_init(&p->request, p->conf, p->tools, conf->sample);
	chat_init(&p->chat, p->conf, conf->io, &p->events, (uint64_t)conf->sample);
	p->chat.usage = conf->usage;
	conversation_init(&p->conversation);
	p->params = describe(p);
	*out = &p->base;
	return 0;
}

const struct policy_ops policy_llm = {
	.kind = POLICY_LLM,
	.keys = &llm_file_keys,
	.spelled = "llm",
	.help = "asks a model through an OpenAI-compatible API",
	.open = llm_open,
	.decide = llm_decide,
	.facts = llm_facts,
	.begin = llm_begin,
	.observe = llm_observe,
	.event = llm_event,
	.close = llm_close,
};
