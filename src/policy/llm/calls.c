/* Tool calls of a reply: see calls.h. */
#define _GNU_SOURCE /* memmem */
#include "policy/llm/calls.h"

#include "base/text.h"
#include "json/write.h"
#include "policy/tool_set.h"
#include "policy/toolformats/reader.h"
#include "policy/toolformats/repair.h"

#include <stdio.h>

#define PROSE_MAX  ((size_t)64 << 10) /* bytes of text searched for tool names */
#define UNWRAP_MAX 2                  /* maximum levels of redundant JSON encoding of arguments */

struct call_reading {
	const struct calls_conf *conf;
	const struct chat_reply *reply;
	struct arena *arena;
	struct tool_calls *out;
};

/* ---- calls that cannot be sent ---- */

/* Arguments that are not an object are recorded as a string. */
static struct str quoted(struct arena *a, struct str text)
{
	struct buf b = BUF(2 * CHAT_REPLY_MAX);

	json_quote(&b, text);
	return buf_keep(&b, a);
}

static void refuse(struct call_reading *r, struct tool_call *c, enum outcome outcome,
                   enum error_class class, const char *message)
{
	c->outcome = outcome;
	c->class = class;
	c->message = arena_str(r->arena, str_from(message));
}

static void refuse_text(struct call_reading *r, struct tool_call *c, enum outcome outcome,
                        struct str text, const char *message)
{
	c->arguments = text.p ? quoted(r->arena, text) : text;
	refuse(r, c, outcome, CLASS_ARGUMENTS, message);
}

static void refuse_truncated(struct call_reading *r, struct tool_call *c, struct str text)
{
	call_note(&r->out->notes, "truncated-call");
	refuse_text(r, c, OUTCOME_NOT_SENT, text,
	            "the reply ended within this call, so it was not executed");
}

/* ---- arguments ---- */

/* Decodes a string that contains an object, up to UNWRAP_MAX times. */
static struct str unwrap(struct call_reading *r, struct str value)
{
	for (int i = 0; i < UNWRAP_MAX && json_type(value) == JSON_STRING; i++) {
		struct str inner = json_text(r->arena, value);

		if (!json_is_valid(inner))
			return value;
		value = text_trim(inner);
	}
	return value;
}

/* The first value, if another object follows directly. */
static bool is_concatenated(struct str text, struct str *first)
{
	struct json_fault fault;
	size_t used;

	if (json_validate_first(text, &used, &fault))
		return false;
	*first = text_trim((struct str){text.p, used});
	return str_starts(text_trim(str_skip(text, used)), STR("{"));
}

/* Applies the allowed repairs; false: not repairable. */
static bool repair_arguments(struct call_reading *r, struct str text, struct str *object)
{
	struct call_notes *named = &r->out->repairs, repaired = {.count = 0};
	AUTO_BUF out = BUF(CHAT_REPLY_MAX);
	size_t used = 0;
	bool good = false;

	if (is_concatenated(text, object)) {
		call_note(named, "concatenated");
		return true;
	}
	if (json_repair(text, &out, &used, &repaired) && !text_trim(str_skip(text, used)).n &&
	    repaired.count && !call_noted(&repaired, "missing-end")) {
		*object = arena_str(r->arena, buf_view(&out));
		for (size_t i = 0; i < repaired.count; i++)
			call_note(named, repaired.words[i]);
		good = true;
	}
	return good;
}

static void read_arguments(struct call_reading *r, struct tool_call *c, struct str text, bool last)
{
	bool limited = last && str_is(r->reply->finish_reason, "length");
	bool repair = r->conf->repair;
	struct str object = text_trim(text);
	struct json_fault fault = {0};
	struct error why = {0};

	if (limited && !object.n) {
		refuse_truncated(r, c, text);
		return;
	}
	if (!object.n || str_is(object, "null")) { /* json_is_null expects valid JSON */
		call_note(&r->out->notes, "empty-arguments");
		if (json_count(JSON_GET(tool_schema(tool_find(r->conf->tools, c->name)),
		                        "required")) == 0) {
			c->arguments = STR("{}");
			return;
		}
		refuse_text(r, c, OUTCOME_UNPARSED, text, "the arguments are empty");
		return;
	}
	if (json_validate(object, &fault)) {
		if (limited && fault.at >= object.n) {
			refuse_truncated(r, c, text);
			return;
		}
		if (!repair || !repair_arguments(r, object, &object)) {
			error_set(&why, FAIL_INPUT, "the arguments are not JSON: %s", fault.why);
			refuse_text(r, c, OUTCOME_UNPARSED, text, why.text);
			return;
		}
	}
	if (json_type(object) == JSON_STRING && repair) {
		object = unwrap(r, object);
		if (json_type(object) == JSON_OBJECT)
			call_note(&r->out->repairs, "double-encoded");
	}
	if (json_type(object) != JSON_OBJECT) {
		error_set(&why, FAIL_INPUT, "the arguments must be an object, not %s",
		          json_type_phrase(json_type(object)));
		refuse_text(r, c, OUTCOME_UNPARSED, text, why.text);
		return;
	}
	c->arguments = object;
}

/* ---- names ---- */

static bool is_offered(const struct call_reading *r, struct str name)
{
	return tool_find(r->conf->tools, name).p != NULL;
}

/* Some prompts show tool names as "functions.lake_move". */
static void check_name(struct call_reading *r, struct tool_call *c)
{
	struct error why = {0};

	if (c->outcome == OUTCOME_NONE && is_offered(r, c->name))
		return;
	struct str bare = tool_bare_name(c->name);
	if (!is_offered(r, c->name) && is_offered(r, bare) && r->conf->repair) {
		bool functions = str_starts(c->name, STR("functions."));

		c->name = bare;
		call_note(&r->out->repairs, functions ? "functions-prefix" : "namespace-prefix");
	}
	if (c->outcome == OUTCOME_NONE && !c->name.n)
		refuse(r, c, OUTCOME_UNPARSED, CLASS_ARGUMENTS, "the call has no tool name");
	if (c->outcome == OUTCOME_NONE && tool_require(r->conf->tools, c->name, &why))
		refuse(r, c, OUTCOME_NOT_SENT, CLASS_UNKNOWN_TOOL, why.text);
}

/* Nine letters and digits, the form that every chat template accepts. */
static struct str generate_id(struct call_reading *r, size_t i)
{
	char id[32];

	snprintf(id, sizeof(id), "call%05lld", (long long)((r->conf->first + (int64_t)i) % 100000));
	return arena_str(r->arena, str_from(id));
}

/* ---- native calls ---- */

/* Does an earlier call have the id? Their results could then not be distinguished. */
static bool is_repeated(const struct chat_reply *reply, size_t i)
{
	for (size_t j = 0; j < i; j++)
		if (reply->calls[i].id.n && str_eq(reply->calls[j].id, reply->calls[i].id))
			return true;
	return false;
}

static void read_native(struct call_reading *r)
{
	const struct chat_reply *reply = r->reply;
	struct tool_calls *out = r->out;

	out->source = "native";
	out->count = reply->call_count;
	out->items = arena_new(r->arena, (out->count + 1) * sizeof(*out->items));
	for (size_t i = 0; i < out->count; i++) {
		const struct chat_call *call = &reply->calls[i];
		struct tool_call *c = &out->items[i];

		c->name = call->name.p ? call->name : STR("");
		c->id = call->id.n ? call->id : generate_id(r, i);
		if (call->not_text)
			call_note(&out->notes, "arguments-not-a-string");
		if (is_repeated(reply, i))
			call_note(&out->notes, "same-id");
		check_name(r, c);
		struct tool_call arguments = {.name = c->name};
		read_arguments(r, &arguments, call->arguments, i + 1 == out->count);
		c->arguments = arguments.arguments;
		if (c->outcome == OUTCOME_NONE) {
			c->outcome = arguments.outcome;
			c->class = arguments.class;
			c->message = arguments.message;
		}
	}
	if (reply->calls_dropped)
		call_note(&out->notes, "too-many-calls");
	if (str_is(reply->finish_reason, "stop"))
		call_note(&out->notes, "finish-reason-disagrees");
}

/* ---- no call ---- */

static bool names_a_tool(const struct call_reading *r, struct str text)
{
	struct str tool;

	text.n = text.n < PROSE_MAX ? text.n : PROSE_MAX;
	for (size_t cursor = 0; json_next(r->conf->tools, &cursor, &tool);) {
		struct str name = json_inner(JSON_GET(tool, "name"));

		if (name.n && text.n && memmem(text.p, text.n, name.p, name.n))
			return true;
	}
	return false;
}

/* Of a reply without any text. */
static const char *cause_without_text(const struct call_reading *r)
{
	return reading_marked(r->out->reasoning)               ? "in-reasoning"
	       : str_is(r->reply->finish_reason, "tool_calls") ? "calls-missing"
	       : r->out->reasoning.n                           ? "only-reasoning"
	                                                       : "empty";
}

static const char *cause_of(const struct call_reading *r, struct str text, bool marked)
{
	if (str_is(r->reply->finish_reason, "length"))
		return "finish-length";
	if (str_is(r->reply->finish_reason, "content_filter"))
		return "content-filter";
	if (str_is(r->reply->finish_reason, "error") || str_is(r->reply->finish_reason, "abort"))
		return "finish-error";
	if (r->reply->calls_no_list)
		return "calls-not-a-list";
	if (marked)
		return "markup";
	if (r->reply->refusal.n)
		return "refusal";
	if (!text_trim(text).n)
		return cause_without_text(r);
	return names_a_tool(r, text) ? "names-a-tool" : "prose";
}

/* ---- calls as text ---- */

/* The call is only the name of an offered tool without parameters, and the model stopped on its
   own: it is complete. */
static bool needs_nothing(const struct call_reading *r, const struct found_call *found)
{
	struct str schema = tool_schema(tool_find(r->conf->tools, found->name)), tool;

	if (found->arguments.n || found->begun || !is_offered(r, found->name) ||
	    str_is(r->reply->finish_reason, "length") ||
	    json_count(JSON_GET(schema, "properties")) || JSON_GET(schema, "required").p) {
		return false;
	}
	for (size_t cursor = 0; json_next(r->conf->tools, &cursor, &tool);) {
		struct str name = json_inner(JSON_GET(tool, "name"));

		if (name.n > found->name.n && str_starts(name, found->name))
			return false; /* an argument may have been intended */
	}
	return true;
}

static void read_found(struct call_reading *r, const struct found_call *found, size_t i)
{
	struct tool_call *c = &r->out->items[i];
	struct error why = {0};

	c->name = found->name.p ? found->name : STR("");
	c->id = found->id.n ? found->id : generate_id(r, i);
	switch (found->how) {
	case FOUND_WHOLE:
		read_arguments(r, c, found->arguments, false);
		break;
	case FOUND_CUT:
		if (needs_nothing(r, found)) {
			call_note(&r->out->notes, "end-mark-missing");
			c->arguments = STR("{}");
		} else {
			refuse_truncated(r, c, found->arguments);
		}
		break;
	case FOUND_BAD:
		error_set(&why, FAIL_INPUT, "the call cannot be parsed: %s", found->why);
		refuse_text(r, c, OUTCOME_UNPARSED, found->arguments, why.text);
		break;
	}
	check_name(r, c);
}

static void add_found(struct call_reading *r, const struct reading *found)
{
	struct tool_calls *out = r->out;

	out->source = "text";
	out->format = found->format;
	out->count = found->count;
	out->items = arena_new(r->arena, (out->count + 1) * sizeof(*out->items));
	for (size_t i = 0; i < found->count; i++)
		read_found(r, &found->calls[i], i);
}

static void read_text(struct call_reading *r)
{
	const struct reading_conf conf = {
		.tools = r->conf->tools,
		.format = r->conf->format,
		.repair = r->conf->repair,
		.asked_for_json = r->conf->mode == TOOLS_JSON,
		.limited = str_is(r->reply->finish_reason, "length"),
		.stopped = r->conf->stopped,
		.ctx = r->conf->ctx,
	};
	struct tool_calls *out = r->out;
	struct reading found;

	reading_text(&conf, r->reply->content, r->arena, &found);
	out->content = found.content;
	out->stopped = found.stopped;
	if (!out->reasoning.n)
		out->reasoning = found.reasoning;
	call_notes_add(&out->notes, &found.notes);
	call_notes_add(&out->repairs, &found.repairs);
	if (found.count)
		add_found(r, &found);
	else
		out->cause = cause_of(r, found.content, found.marked);
}

/* Calls of an interrupted stream may be incomplete and must not be executed. */
static void refuse_all(struct call_reading *r)
{
	call_note(&r->out->notes, "stream-incomplete");
	for (size_t i = 0; i < r->out->count; i++) {
		struct tool_call *c = &r->out->items[i];

		if (c->class != CLASS_UNKNOWN_TOOL) {
			refuse(r, c, OUTCOME_NOT_SENT, CLASS_TRANSPORT,
			       "the model's stream was cut off, so this call was not executed");
		}
	}
}

void calls_read(const struct calls_conf *conf, const struct chat_reply *reply, struct arena *arena,
                struct tool_calls *out)
{
	struct call_reading r = {.conf = conf, .reply = reply, .arena = arena, .out = out};

	*out = (struct tool_calls){
		.source = "none", .content = reply->content, .reasoning = reply->reasoning};
	if (reply->call_count) {
		read_native(&r);
	} else {
		read_text(&r);
		if (out->count && conf->mode == TOOLS_NATIVE)
			call_note(&out->notes, "server-without-parser");
		if (str_is(reply->finish_reason, "tool_calls"))
			call_note(&out->notes, "finish-reason-disagrees");
	}
	if (reply->incomplete)
		refuse_all(&r);
}

/* ---- in the recording ---- */

static void put_notes(struct json_writer *w, const char *key, const struct call_notes *n)
{
	if (!n->count)
		return;
	jw_put_array(w, key);
	for (size_t i = 0; i < n->count; i++)
		jw_text(w, n->words[i]);
	jw_end(w);
}

static void put_parse(struct json_writer *w, const struct tool_calls *c)
{
	jw_pack(w, "parse:{source:%t,format:%?t,cause:%?t", c->source, c->format, c->cause);
	put_notes(w, "notes", &c->notes);
	put_notes(w, "repairs", &c->repairs);
	jw_end(w);
}

/* Absent where there is no text. */
static struct str given(struct str text)
{
	return text.n ? text : STR_NONE;
}

void about_reply(const struct chat_reply *r, const struct tool_calls *calls, struct str seed,
                 const char *prompt_hash, struct buf *out)
{

	buf_clear(out);
	struct json_writer w =
		jw_form(out, "{finish_reason:%s,stop_reason:%?r", r->finish_reason, r->stop_reason);
	if (r->incomplete)
		jw_pack(&w, "incomplete:true");
	put_parse(&w, calls);
	jw_pack(&w, "usage:%?r,seed:%?r,prompt_hash:%t,reasoning:%?s,refusal:%?s", r->usage, seed,
	        prompt_hash, given(calls->reasoning), given(r->refusal));
	jw_pack(&w, "prompt_token_ids:%?r,token_ids:%?r,logprobs:%?r}", r->prompt_token_ids,
	        r->token_ids, r->logprobs);
}
